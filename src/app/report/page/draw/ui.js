// The document's side of a picture, and the few kinds of elements that all views are made of. Every
// word of a run reaches the document as a text node: nothing here parses markup. A view makes its
// elements once; what depends on the state is made by functions that refresh() calls again.
import {SERIES, SVG_NAMES, csv, hexOf, paint, svg} from './draw.js';
import {digits} from './charts.js';

export const byId = (id) => document.getElementById(id);

/// An element: properties whose names begin with "on" are listeners, the rest are attributes.
export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value == null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'value' || key === 'checked') node[key] = value;
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat(9).filter((child) => child != null && child !== false));
  return node;
}

/// An element of SVG; all properties are attributes.
export function svgNode(tag, props, ...children) {
  const node = document.createElementNS(SVG_NAMES, tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value != null) node.setAttribute(key, String(value));
  }
  node.append(...children.flat(9).filter(Boolean));
  return node;
}

let refreshers = [];
/// The figures of the open view, and what a saved picture says of the page that it is from.
export const figures = [];
export const saved = {about: () => ''};

/// Forgets the elements of the view before.
export function startOver() {
  refreshers = [];
  figures.length = 0;
}

/// Calls `update` now and whenever the state changes, until another view is built.
export function live(update) {
  refreshers.push(update);
  update();
}

/// An element whose children are what `make` returns.
export function dynamic(tag, props, make) {
  const node = el(tag, props);
  let last;
  live(() => {
    const made = [make()].flat(9).filter((child) => child != null && child !== false);
    const words = made.every((child) => typeof child === 'string') ? made.join('') : null;
    if (words === null || words !== last) node.replaceChildren(...made);
    last = words;
  });
  return node;
}

export function refresh() {
  for (const update of refreshers) update();
}

/// Writes to the line at the foot of the window. It is a live region: what the pointer or the arrow
/// keys reach is written here, never into a box that would cover the data.
export function say(words) {
  const line = byId('readout');
  if (line.firstChild) line.firstChild.data = words;
  else line.append(words);
}

export const button = (words, act, props) =>
  el('button', {type: 'button', onclick: act, ...props}, words);

/// A link that acts; with a key held it opens what it names, as all links do.
export function link(words, act, props) {
  const onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    act();
  };
  return el('a', {href: '#', ...props, onclick}, words);
}

/// A list that shows `value()`, where there is one; `act` gets what the reader chooses. Options are
/// [value, words], or a function that returns them.
export function choice(id, name, options, act, value) {
  const list = el('select', {id, onchange: (event) => act(event.target.value)});
  const fill = (all) =>
    list.replaceChildren(...all.map(([value, words]) =>
      el('option', {value, disabled: value === null}, words)));
  if (typeof options !== 'function') fill(options);
  live(() => {
    if (typeof options === 'function') fill(options());
    if (value && document.activeElement !== list) list.value = value() ?? '';
  });
  return el('label', null, name, ' ', list);
}

/// A slider with the value `value()`, with the value as text next to it.
export function sliderOf(id, name, {value, act, words = String, ...props}) {
  const slider = el('input', {
    type: 'range', id, ...props, oninput: (event) => act(Number(event.target.value)),
  });
  const out = el('output', {for: id});
  live(() => {
    slider.value = value();
    out.textContent = words(value());
    slider.setAttribute('aria-valuetext', out.textContent);
  });
  return el('label', null, `${name} `, slider, out);
}

export const code = (words) => el('code', null, words);
export const note = (...children) => el('p', {class: 'note'}, ...children);
export const aside = (...children) => el('p', {class: 'small muted'}, ...children);

/// A token as it can be read: blanks and control characters get a sign, and directions do not leak.
export function visible(token) {
  if (token === '') return '∅';
  return token.replace(/ /g, '␣').replace(/\n/g, '⏎')
    .replace(/[\u0000-\u001f]/g, (c) => String.fromCodePoint(0x2400 + c.codePointAt(0)))
    .replace(/[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '\ufffd');
}

/// Isolated from the words around it.
export const quoted = (token) => `\u2068${visible(token)}\u2069`;

// ---- words -----------------------------------------------------------------------------------

/// Meanings of words by word: those of the glossary, set when the page starts.
export const meanings = new Map();
const EXPLAINED = new RegExp(
  '\\b(lift|baseline|mass|loss|nats?|owns|owner|relation|emerges|ablated|entropy|focus|regret|' +
  'knee|diversity|redundant|compensates|' +
  'p(?= [.\\d]))\\b|^(p)$');

/// A word that opens its meaning under the pointer, with the focus, or by a tap.
export function term(words, meaning) {
  const box = byId('meaning');
  const hide = () => {
    box.hidden = true;
  };
  const open = (event) => {
    const at = event.target.getBoundingClientRect();
    box.textContent = meaning;
    box.hidden = false;
    const left = Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - 4);
    const above = at.bottom + box.offsetHeight > window.innerHeight;
    box.style.left = `${Math.max(4, left)}px`;
    box.style.top = `${above ? at.top - box.offsetHeight - 4 : at.bottom + 4}px`;
  };
  return button(words, open, {
    class: 'term', 'aria-describedby': 'meaning', onpointerenter: open, onfocus: open,
    onpointerleave: hide, onblur: hide,
  });
}

/// A text in which the first of each statistical word opens its meaning; texts may share `seen`. A
/// mark of punctuation stays on the line of its word.
export function explained(words, seen = new Set()) {
  const parts = words.split(EXPLAINED).filter(Boolean);
  return parts.map((part, i) => {
    const meaning = meanings.get(part);
    const follows = /^[.,;:)”]+/.exec(parts[i + 1] ?? '')?.[0] ?? '';
    const isNew = meaning && !seen.has(meaning);
    if (isNew) {
      seen.add(meaning);
      parts[i + 1] = parts[i + 1]?.slice(follows.length);
    }
    if (!isNew) return parts[i] ?? '';
    return el('span', {class: 'nowrap'}, term(part, meaning), follows);
  });
}

/// A table that scrolls by itself and can be reached by keyboard; long ones show their first
/// rows. A title of a column may be a node.
export function tableOf(caption, head, rows, most = 64) {
  const cell = (v, i) => {
    if (typeof v === 'number') return el('td', {class: 'number'}, digits(v, 5));
    const content = v ?? '';
    return i === 0 ? el('th', {scope: 'row'}, content) : el('td', null, content);
  };
  const titled = (words) =>
    el('th', {scope: 'col'}, typeof words === 'string' ? explained(words) : words);
  return el('div', {class: 'table', tabindex: 0, role: 'region', 'aria-label': caption},
    el('table', null,
      el('caption', null, caption,
        rows.length > most ? `: the first ${most} of ${rows.length} rows; CSV has all` : ''),
      el('thead', null, el('tr', null, head.map(titled))),
      el('tbody', null,
        rows.slice(0, most).map((row) => el('tr', null, row.slice(0, 66).map(cell))))));
}

// ---- colours -------------------------------------------------------------------------------

/// The roles of the colours of questions in their order, and of what belongs to no question.
export const QUESTION_COLORS = ['q0', 'q1', 'q2', 'q3', 'q4', 'none'];

export let palettes = {};

export function forgetColors() {
  palettes = {};
}

/// The roles' colours as "#rrggbb" under a scheme: 'light', 'dark', or what the page shows.
export function palette(scheme = '') {
  if (palettes[scheme]) return palettes[scheme];
  const probe = document.body.appendChild(el('i', {hidden: true}));
  if (scheme) probe.style.colorScheme = scheme;
  const found = {};
  for (const role of [
    'paper', 'panel', 'ink', 'muted', 'rule', 'edge', 'accent', 'good', 'bad', 'low', 'high',
    ...QUESTION_COLORS, ...SERIES,
  ]) {
    probe.style.color = `var(--${role})`;
    found[role] = hexOf(getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number));
  }
  probe.remove();
  palettes[scheme] = found;
  return found;
}

// ---- figures -------------------------------------------------------------------------------

/// A picture with its caption, keyboard, readout and tools. `make(width)` gives the picture, or a
/// node to show instead. options: id, again (the command that makes its numbers), choose(r, c) for
/// click and Enter, point(r, c) for the pointer, group (figures that share a cursor), zoom(factor,
/// mark), pan(down, right), most (width), drawn(picture) after each drawing.
export function figure(make, options = {}) {
  const self = {
    make, options, picture: null, at: null,
    canvas: el('canvas', {role: 'img', tabindex: 0, id: options.id}),
    over: el('canvas', {class: 'over', 'aria-hidden': 'true'}),
    caption: el('figcaption'), stead: el('div'),
    more: toolsOf(() => self.picture, () => commandOf(options)),
  };
  self.frame = el('div', {class: 'canvas'}, self.canvas, self.over);
  self.node = el('figure', null, self.caption, self.frame, self.stead, self.more);
  self.mark = (at, quiet) => markOn(self, at, quiet);
  self.draw = () => drawFigure(self);
  options.group?.push(self);
  live(() => (self.node.isConnected ? self.draw() : queueMicrotask(self.draw)));
  pointerAndKeys(self);
  figures.push(self);
  return self.node;
}

function drawFigure(self) {
  const {node, options, canvas} = self;
  if (!node.isConnected) return;
  const made = self.make(Math.max(240, Math.min(node.clientWidth || 600, options.most || 1180)));
  const shown = made && made.items;
  for (const part of [self.caption, self.frame, self.more]) part.hidden = !shown;
  self.stead.replaceChildren(...(shown || !made ? [] : [made]));
  if (!shown) return;
  self.picture = made;
  self.caption.replaceChildren(el('b', null, made.title), ' ', ...explained(made.sentence));
  canvas.setAttribute('aria-label', `${made.title}. ${made.sentence}`);
  sizeCanvas(canvas, made);
  sizeCanvas(self.over, made);
  paint(canvas.getContext('2d'), made, palette());
  drawCursor(self.over, made, self.at);
  options.drawn?.(made);
  self.more.fill();
}

/// A button that opens the table of a picture, its files, and the command that makes it.
function toolsOf(picture, command) {
  const content = el('div');
  const summary = el('summary', {'aria-label': 'Table, files and command of this picture'}, '⋯');
  const node = el('details', {class: 'tools', ontoggle: () => node.fill()}, summary, content);
  node.fill = () => {
    if (!node.open || !picture()) return;
    const {title, table} = picture();
    const again = command();
    content.replaceChildren(
      ...['SVG', 'PNG', 'CSV'].map((kind) => button(kind,
        () => save(picture(), kind.toLowerCase(), again), {'aria-label': `${kind} of ${title}`})),
      again ? el('p', {class: 'again'}, 'command: ', code(again)) : '',
      tableOf(title, table().head.map((words) => el('span', null, words)), table().rows),
    );
  };
  return node;
}

function markOn(self, at, quiet) {
  self.at = at;
  if (at && !quiet) self.options.point?.(...at);
  drawCursor(self.over, self.picture, at);
  if (quiet) return;
  if (at) say(self.picture.marks.text(...at));
  for (const other of self.options.group || [])
    if (other !== self && other.picture) other.mark(at, true);
}

const commandOf = ({again}) => (typeof again === 'function' ? again() : again) || '';

export function sizeCanvas(canvas, {width, height}) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
}

/// A frame around the mark under the cursor, on a canvas of its own: hovering paints nothing else.
function drawCursor(over, picture, at) {
  const context = over.getContext('2d');
  context.clearRect(0, 0, picture.width, picture.height);
  if (!at || at[0] >= picture.marks.rows || at[1] >= picture.marks.cols(at[0])) return;
  const [x, y, w, h] = picture.marks.box(at[0], at[1]);
  for (const [color, thick] of [[palette().paper, 5], [palette().accent, 2.5]]) {
    context.strokeStyle = color;
    context.lineWidth = thick;
    context.strokeRect(x, y, w, h);
  }
}

function pointerAndKeys(self) {
  const {canvas, options} = self;
  const find = (event) => self.picture.marks.find(event.offsetX, event.offsetY);
  canvas.addEventListener('pointermove', (event) => {
    const at = find(event);
    if (at && String(at) !== String(self.at)) self.mark(at);
  });
  canvas.addEventListener('click', (event) => {
    const at = find(event);
    if (!at) return;
    self.mark(at);
    options.choose?.(...at);
  });
  const wheel = (event) => {
    if (!options.zoom || !(event.ctrlKey || event.shiftKey)) return;
    event.preventDefault();
    options.zoom(event.deltaY < 0 ? 0.5 : 2, self.at);
  };
  canvas.addEventListener('wheel', wheel, {passive: false});
  canvas.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Enter' && self.at) options.choose?.(...self.at);
    else if (options.zoom && '+-0'.includes(event.key))
      options.zoom({'+': 0.5, '-': 2, 0: Infinity}[event.key], self.at);
    else if (!stepCursor(self, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

const STEPS = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
  PageUp: [-8, 0], PageDown: [8, 0], Home: [0, -1e9], End: [0, 1e9],
};

/// Moves the cursor by a key; beyond the edge of a zoomed picture the picture moves.
function stepCursor(self, key) {
  const {rows, cols} = self.picture.marks;
  if (!STEPS[key] || !rows) return false;
  const [down, right] = self.at ? STEPS[key] : [0, 0];
  const [r, c] = self.at || [0, 0];
  const past = r + down < 0 || c + right < 0 || r + down >= rows || c + right >= cols(0);
  if (past && self.options.pan?.(Math.sign(down), Math.sign(right))) return true;
  const clamp = (v, n) => Math.max(0, Math.min(v, n - 1));
  const row = clamp(r + down, rows);
  self.mark([row, clamp(c + right, cols(row))]);
  return true;
}

/// Saves a picture. Exports are always in the light colours, and carry the page's link and command.
export async function save(picture, kind, again) {
  const about = again ? `command: ${again} · ${saved.about()}` : saved.about();
  const name = `${picture.name}.${kind}`;
  if (kind === 'svg') return download(name, 'image/svg+xml', svg(picture, palette('light'), about));
  if (kind === 'csv') return download(name, 'text/csv', csv(picture.table()));
  const canvas = el('canvas', {
    width: Math.round(picture.width * 2), height: Math.round(picture.height * 2),
  });
  const context = canvas.getContext('2d');
  context.scale(2, 2);
  paint(context, picture, palette('light'));
  const blob = await new Promise((done) => canvas.toBlob(done));
  return download(name, 'image/png', blob);
}

export function download(name, type, data) {
  const url = URL.createObjectURL(new Blob([data], {type}));
  const link = el('a', {href: url, download: name.replace(/[^\w.-]+/g, '-')});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  say(`Saved ${name}.`);
}
