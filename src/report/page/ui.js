// The document's side of a picture, and the few kinds of elements that all views are made of. Every
// word of a run reaches the document as a text node: nothing here parses markup. A view makes its
// elements once; what depends on the state is made by functions that refresh() calls again.
import {SERIES, csv, hexOf, paint, svg} from './draw.js';
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
  const focus = document.activeElement?.id;
  for (const update of refreshers) update();
  if (focus && document.activeElement === document.body) byId(focus)?.focus();
}

/// The line at the foot of the window. It is a live region: what the pointer or the arrow keys
/// reach
/// is written here, never into a box that would cover the data.
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

/// A list that shows `value()`, where there is one; `act` gets what the reader chooses.
export function choice(id, name, options, act, value) {
  const list = el('select', {id, onchange: (event) => act(event.target.value)},
    options.map(([key, words]) => el('option', {value: key}, words)),
  );
  if (value)
    live(() => {
      if (document.activeElement !== list) list.value = value() ?? '';
    });
  return el('label', null, name, ' ', list);
}

/// A slider that stands at `value()`, with that in words beside it.
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
export const againLine = (command) => el('p', {class: 'again'}, 'again: ', code(command));
export const note = (...children) => el('p', {class: 'note'}, ...children);
export const aside = (...children) => el('p', {class: 'small muted'}, ...children);

/// A token as it can be read: blanks and control characters get a sign, and directions do not leak.
export function visible(token) {
  if (token === '') return '∅';
  return token
    .replace(/ /g, '␣')
    .replace(/\n/g, '⏎')
    .replace(/[\u0000-\u001f]/g, (c) => String.fromCodePoint(0x2400 + c.codePointAt(0)))
    .replace(/[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '\ufffd');
}

/// Isolated from the words around it.
export const quoted = (token) => `\u2068${visible(token)}\u2069`;

/// A table that scrolls by itself and can be reached by keyboard; long ones show their first rows.
export function tableOf(caption, head, rows, most = 64) {
  const cell = (v, i) =>
    typeof v === 'number'
      ? el('td', {class: 'number'}, digits(v, 5))
      : el(i === 0 ? 'th' : 'td', i === 0 ? {scope: 'row'} : null,
          v == null ? '' : v instanceof Node ? v : String(v),
        );
  return el('div', {class: 'table', tabindex: 0, role: 'region', 'aria-label': caption},
    el('table', null,
      el('caption', null, caption,
        rows.length > most ? `: the first ${most} of ${rows.length} rows; CSV has all` : '',
      ),
      el('thead', null, el('tr', null, head.map((words) => el('th', {scope: 'col'}, words)))),
      el('tbody', null,
        rows.slice(0, most).map((row) => el('tr', null, row.slice(0, 66).map(cell))),
      ),
    ),
  );
}

// ---- colours -------------------------------------------------------------------------------

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
    ...SERIES,
  ]) {
    probe.style.color = `var(--${role})`;
    found[role] = hexOf(getComputedStyle(probe) .color.match(/[\d.]+/g) .slice(0, 3) .map(Number));
  }
  probe.remove();
  return (palettes[scheme] = found);
}

// ---- figures -------------------------------------------------------------------------------

/// A picture with its caption, keyboard, readout, table and export. `make(width)` gives the
/// picture,
/// or a node to show instead. options: id, again (the command that makes its numbers), choose(r, c,
/// event) for click and Enter, group (figures that share a cursor), zoom(factor, mark), pan(down,
/// right), most (width).
export function figure(make, options = {}) {
  const canvas = el('canvas', {role: 'img', tabindex: 0, id: options.id});
  const over = el('canvas', {class: 'over', 'aria-hidden': 'true'});
  const caption = el('figcaption');
  const [stead, table] = [el('div'), el('div', {hidden: true})];
  const self = {canvas, picture: null, at: null};
  const toggle = button('Table',
    () => {
      table.hidden = !table.hidden;
      toggle.setAttribute('aria-expanded', String(!table.hidden));
      fillTable();
    },
    {'aria-expanded': 'false', class: 'table-button'},
  );
  const fillTable = () => {
    if (table.hidden) return;
    const {title, table: made} = self.picture;
    table.replaceChildren(tableOf(title, made().head, made().rows));
  };
  const tools = el('div', {class: 'tools'}, toggle,
    saveButtons(() => self.picture, () => commandOf(options), {class: 'save-button'}),
  );
  const again = el('p', {class: 'again'});
  const frame = el('div', {class: 'canvas'}, canvas, over);
  const node = el('figure', null, caption, frame, stead, tools, table, again);
  self.mark = (at, quiet) => {
    self.at = at;
    drawCursor(over, self.picture, at);
    if (at && !quiet) say(self.picture.marks.text(at[0], at[1]));
    if (!quiet)
      options.group?.forEach((other) => other !== self && other.picture && other.mark(at, true));
  };
  options.group?.push(self);
  live(() => {
    if (!node.isConnected && self.picture === null) queueMicrotask(draw);
    else draw();
  });
  function draw() {
    if (!node.isConnected) return;
    const made = make(Math.max(240, Math.min(node.clientWidth || 600, options.most || 1180)));
    const shown = made && made.items;
    for (const part of [caption, frame, tools, again]) part.hidden = !shown;
    stead.replaceChildren(...(shown || !made ? [] : [made]));
    if (!shown) return;
    self.picture = made;
    caption.replaceChildren(el('b', null, made.title), ` ${made.sentence}`);
    canvas.setAttribute('aria-label', `${made.title}. ${made.sentence}`);
    again.replaceChildren(...(commandOf(options) ? ['again: ', code(commandOf(options))] : []));
    sizeCanvas(canvas, made);
    sizeCanvas(over, made);
    paint(canvas.getContext('2d'), made, palette());
    drawCursor(over, made, self.at);
    fillTable();
  }
  pointerAndKeys(self, options);
  figures.push(self);
  self.draw = draw;
  return node;
}

export const saveButtons = (picture, command, props) =>
  ['SVG', 'PNG', 'CSV'].map((kind) =>
    button(kind, () => save(picture(), kind.toLowerCase(), command()), {
      'aria-label': `${kind}: save this picture`, ...props,
    }),
  );

const commandOf = (options) =>
  (typeof options.again === 'function' ? options.again() : options.again) || '';

function sizeCanvas(canvas, {width, height}) {
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

function pointerAndKeys(self, options) {
  const {canvas} = self;
  canvas.addEventListener('pointermove', (event) => {
    const at = self.picture.marks.find(event.offsetX, event.offsetY);
    if (at && !(self.at && at[0] === self.at[0] && at[1] === self.at[1])) self.mark(at);
  });
  canvas.addEventListener('click', (event) => {
    const at = self.picture.marks.find(event.offsetX, event.offsetY);
    if (!at) return;
    self.mark(at);
    options.choose?.(at[0], at[1], event);
  });
  canvas.addEventListener(
    'wheel',
    (event) => {
      if (options.zoom && (event.ctrlKey || event.shiftKey)) {
        event.preventDefault();
        options.zoom(event.deltaY < 0 ? 0.5 : 2, self.at);
      }
    },
    {passive: false},
  );
  canvas.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Enter' && self.at) options.choose?.(self.at[0], self.at[1], event);
    else if (options.zoom && '+-0'.includes(event.key))
      options.zoom({'+': 0.5, '-': 2, 0: Infinity}[event.key], self.at);
    else if (!moved(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  const moved = (key) => {
    const [down, right] =
      {
        ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
        PageUp: [-8, 0], PageDown: [8, 0], Home: [0, -1e9], End: [0, 1e9],
      }[key] || [];
    if (down === undefined || !self.picture.marks.rows) return false;
    const clamp = (v, n) => Math.max(0, Math.min(v, n - 1));
    const past = self.at && [self.at[0] + down, self.at[1] + right];
    if (
      past &&
      (past[0] < 0 ||
        past[1] < 0 ||
        past[0] >= self.picture.marks.rows ||
        past[1] >= self.picture.marks.cols(0)) &&
      options.pan?.(Math.sign(down), Math.sign(right))
    )
      return true;
    const r = clamp((self.at?.[0] ?? 0) + (self.at ? down : 0), self.picture.marks.rows);
    self.mark([r, clamp((self.at?.[1] ?? 0) + (self.at ? right : 0), self.picture.marks.cols(r))]);
    return true;
  };
}

/// Saves a picture. Exports are always in the light colours, and carry the page's link and command.
export async function save(picture, kind, again) {
  const about = `${again ? `again: ${again} · ` : ''}${saved.about()}`;
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

function download(name, type, data) {
  const url = URL.createObjectURL(new Blob([data], {type}));
  const link = el('a', {href: url, download: name.replace(/[^\w.-]+/g, '-')});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  say(`Saved ${name}.`);
}
