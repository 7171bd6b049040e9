// A document for the page under node: enough of elements, selectors and events to open a page, press
// its keys and read its words. Nothing is laid out: the cells of a grid are in the rows that hold
// them, and a canvas keeps the list of what was drawn on it. openPage(html, hash) starts the page.
import {pageTexts} from './page_of.mjs';

class TextNode {
  constructor(data) {
    this.data = String(data);
  }
  get textContent() {
    return this.data;
  }
}

/// Calls on a canvas: [name, ...arguments] for each call, and the values that were set.
export function recorder() {
  const calls = [];
  const context = new Proxy({calls}, {
    get: (target, name) => name === 'calls' ? calls : target[name] ??
      ((...values) => {
        calls.push([String(name), ...values]);
        return name === 'createImageData' ? {data: new Uint8ClampedArray(values[0] * values[1] * 4)}
          : undefined;
      }),
    set: (target, name, value) => {
      target[name] = value;
      calls.push([`${String(name)} =`, value]);
      return true;
    },
  });
  return context;
}

class Element {
  constructor(tag) {
    Object.assign(this, {
      tag, parent: null, nodes: [], attributes: {}, listeners: {}, style: {}, hidden: false,
      clientWidth: 800, clientHeight: 600, offsetWidth: 100, offsetHeight: 20, tabIndex: -1,
    });
    const attributes = this.attributes;
    this.dataset = new Proxy({}, {
      get: (_, name) => attributes[`data-${String(name)}`],
      set(_, name, value) {
        attributes[`data-${String(name)}`] = String(value);
        return true;
      },
    });
    this.classList = {
      toggle: (name, on) => {
        const others = this.classes.filter((one) => one !== name);
        this.className = [...others, ...(on ? [name] : [])].join(' ');
      },
    };
  }
  get classes() {
    return this.className.split(' ').filter(Boolean);
  }
  get className() {
    return this.attributes.class ?? '';
  }
  set className(value) {
    this.attributes.class = value;
  }
  get id() {
    return this.attributes.id ?? '';
  }
  get firstChild() {
    return this.nodes[0] ?? null;
  }
  get children() {
    return this.nodes.filter((node) => node instanceof Element);
  }
  get isConnected() {
    return this === document.body || Boolean(this.parent?.isConnected);
  }
  get offsetTop() {
    const row = this.closest('[role="row"]');
    return row ? 100 * row.parent.children.indexOf(row) : 0;
  }
  hasChildNodes() {
    return this.nodes.length > 0;
  }
  get textContent() {
    return this.nodes.map((node) => node.textContent).join('');
  }
  set textContent(words) {
    this.replaceChildren(words);
  }
  append(...nodes) {
    for (const node of nodes) {
      if (node instanceof Element) {
        node.remove();
        node.parent = this;
      }
      this.nodes.push(node instanceof Element ? node : new TextNode(node));
    }
  }
  get parentNode() {
    return this.parent;
  }
  get nextSibling() {
    const all = this.parent?.nodes ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }
  after(node) {
    node.remove();
    node.parent = this.parent;
    this.parent.nodes.splice(this.parent.nodes.indexOf(this) + 1, 0, node);
  }
  /// A copy of the element with its attributes and all that is in it.
  cloneNode() {
    const copy = new Element(this.tag);
    Object.assign(copy.attributes, this.attributes);
    copy.append(...this.nodes.map((node) => node.cloneNode?.() ?? node.textContent));
    return copy;
  }
  appendChild(node) {
    this.append(node);
    return node;
  }
  replaceChildren(...nodes) {
    for (const node of this.children) node.parent = null;
    this.nodes = [];
    this.append(...nodes);
  }
  remove() {
    if (this.parent) this.parent.nodes = this.parent.nodes.filter((node) => node !== this);
    this.parent = null;
  }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name === 'hidden') this.hidden = true;
  }
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }
  removeAttribute(name) {
    delete this.attributes[name];
  }
  addEventListener(name, act) {
    (this.listeners[name] ||= []).push(act);
  }
  /// An event at this element, which rises to the document unless it is stopped.
  dispatch(name, more = {}) {
    let stopped = false;
    const event = {
      target: this, preventDefault() {}, stopPropagation: () => (stopped = true), ...more,
    };
    for (let node = this; node && !stopped; node = node.parent)
      for (const act of node.listeners[name] || []) act(event);
    if (!stopped) for (const act of documentListeners[name] || []) act(event);
  }
  click() {
    this.dispatch('click');
  }
  focus() {
    document.activeElement = this;
    for (const act of this.listeners.focus || []) act({target: this});
  }
  contains(node) {
    for (let at = node; at; at = at.parent) if (at === this) return true;
    return false;
  }
  matches(selector) {
    return selector.split(',').some((one) => isMatch(this, one.trim().split(/ +/)));
  }
  closest(selector) {
    for (let at = this; at; at = at.parent) if (at.matches(selector)) return at;
    return null;
  }
  querySelectorAll(selector) {
    return this.children.flatMap((child) => [
      ...(child.matches(selector) ? [child] : []), ...child.querySelectorAll(selector)]);
  }
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
  getBoundingClientRect() {
    return {left: 0, top: this.offsetTop, right: 100, bottom: this.offsetTop + 20};
  }
  getContext() {
    return (this.context ||= recorder());
  }
}

/// Whether an element matches parts such as ["#view", ".tools", "summary"], the last of them its own.
function isMatch(element, parts) {
  const own = parts.at(-1).replace(/:not\([^)]*\)/g, '');
  const simple = own.match(/[#.]?[\w-]+|\[[^\]]+\]/g) || [];
  const fits = simple.every((part) => {
    if (part[0] === '#') return element.id === part.slice(1);
    if (part[0] === '.') return element.classes.includes(part.slice(1));
    if (part[0] !== '[') return element.tag === part;
    const [, name, value] = /^\[([\w-]+)(?:="([^"]*)")?\]$/.exec(part);
    return name in element.attributes && (value === undefined || element.attributes[name] === value);
  });
  if (!fits || parts.length === 1) return fits;
  for (let at = element.parent; at; at = at.parent) if (isMatch(at, parts.slice(0, -1))) return true;
  return false;
}

const documentListeners = {};

/// The elements of page.html that the scripts ask for.
const OWN = ['run', 'check', 'tools', 'link', 'theme', 'keys', 'static', 'lessons', 'app', 'views',
  'controls', 'banner', 'notices', 'view', 'readout', 'meaning', 'skip', 'help'];

function makeGlobals(hash) {
  const body = new Element('body'), root = new Element('html');
  globalThis.Node = Element;
  globalThis.document = {
    body, documentElement: root, activeElement: body, title: '',
    createElement: (tag) => new Element(tag),
    createElementNS: (_, tag) => new Element(tag),
    getElementById: (id) => body.querySelector(`#${id}`),
    querySelector: (selector) => body.querySelector(selector),
    querySelectorAll: (selector) => body.querySelectorAll(selector),
    addEventListener: (name, act) => (documentListeners[name] ||= []).push(act),
  };
  globalThis.window = {
    devicePixelRatio: 1, innerHeight: 800, addEventListener() {}, scrollTo() {},
  };
  globalThis.location = {hash, pathname: '/page.html', search: '', href: ''};
  const move = (_, __, place) => (location.hash = place.startsWith('#') ? place : '');
  globalThis.history = {pushState: move, replaceState: move};
  globalThis.getComputedStyle = () => ({color: 'rgb(10, 20, 30)'});
  globalThis.matchMedia = () => ({matches: false, addEventListener() {}});
  for (const id of OWN) {
    const element = new Element('div');
    element.setAttribute('id', id);
    element.hidden = id === 'help';
    body.append(element);
  }
}

/// The static texts of lessons: a section for each, of which only the title is kept.
function addLessons(html) {
  const lessons = document.getElementById('lessons');
  for (const [, id, words] of html.matchAll(/<section id="(lesson-[a-z]+)">\s*<h3[^>]*>([^<]*)</g)) {
    const section = new Element('section'), title = new Element('h3');
    section.setAttribute('id', id);
    title.append(words);
    section.append(title);
    lessons.append(section);
  }
}

/// Opens a page of the program. Gives {app, go, words(id), press(element or null, key)}.
export async function openPage(html, hash = '') {
  makeGlobals(hash);
  for (const [id, text] of pageTexts(html)) {
    const script = new Element('script');
    script.setAttribute('id', id);
    script.append(text);
    document.body.append(script);
  }
  addLessons(html);
  const {start} = await import('../../src/app/report/page/app.js');
  const {app, go} = await import('../../src/app/report/page/state/state.js');
  await start();
  return {
    app, go, words: (id) => document.getElementById(id)?.textContent ?? null,
    press: (element, key) => (element || document.body).dispatch('keydown', {key}),
  };
}
