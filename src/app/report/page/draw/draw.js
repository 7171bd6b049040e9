// Pictures. A picture is a list of simple items (map, rect, line, dot, text) whose colours are
// names of roles; paint() puts the list on a canvas, svg() writes it as text, csv() writes its
// table. No item knows of the document, so the lists are made and tested without one.
// Charts make the lists; style.css says which colour a role has in light and in dark.
import {range} from '../engine/numbers.js';

/// cividis (Nuñez, Anderton, Renslow 2018) at nine equal steps: lightness rises all the way, and
/// it looks the same to readers with and without the common colour blindnesses.
const CIVIDIS = [
  '#00224e', '#1d3a6d', '#424f6b', '#60646e', '#7d7c78', '#9c9474', '#bcae6c', '#dec958', '#fee838',
];

/// Okabe-Ito's order of categories, as roles; shapes and dashes repeat what the colour says.
export const SERIES = ['s0', 's1', 's2', 's3', 's4', 's5', 's6'];
export const SHAPES = ['circle', 'square', 'diamond', 'triangle', 'cross'];
export const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 3]];

const remembered = new WeakMap();

/// Returns the result of `make` for this object and key; calls it at most once while the object
/// lives.
export function remember(object, key, make) {
  if (!remembered.has(object)) remembered.set(object, new Map());
  const known = remembered.get(object);
  if (!known.has(key)) known.set(key, make());
  return known.get(key);
}

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

export function hexOf(channels) {
  return '#' + channels.map((v) => Math.round(v).toString(16).padStart(2, '0')).join('');
}

/// The colour at `t` (0 to 1) between equal stops.
export function between(stops, t) {
  const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  const a = rgb(stops[i]);
  const b = rgb(stops[i + 1]);
  return hexOf(a.map((v, c) => v + (b[c] - v) * (at - i)));
}

/// Relative luminance of WCAG 2.
export function luminance(hex) {
  const [r, g, b] = rgb(hex).map((v) => {
    const s = v / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/// 256 colours of a scale. `weight`: zero is the paper, so that nothing looks like nothing, and the
/// map runs towards the other end of cividis; `sign`: blue below zero, orange above; `tint ROLE`:
/// from the paper to the colour of a role.
export function scaleColors(palette, kind) {
  const dark = luminance(palette.paper) < 0.2;
  if (kind?.startsWith('tint ')) {
    const stops = [palette.paper, palette[kind.slice('tint '.length)]];
    return range(256, (i) => between(stops, i / 255));
  }
  if (kind === 'sign') {
    const stops = [palette.low, palette.paper, palette.high];
    return range(256, (i) => between(stops, i / 255));
  }
  const stops = dark ? CIVIDIS : [...CIVIDIS].reverse();
  return range(256, (i) => {
    const t = i / 255;
    return t < 0.1 ? between([palette.paper, between(stops, 0.1)], t * 10) : between(stops, t);
  });
}

/// Returns the level of a value on its scale, 0 to 255. `root`: the level of its square root, for
/// the small weights of long inputs. A value that is no number has no colour (-1).
function levelOf(value, item) {
  if (Number.isNaN(value)) return -1;
  const top = item.top || 1;
  let t = value / top;
  if (item.kind === 'sign') t = 0.5 + value / (2 * top);
  else if (item.root) t = Math.sqrt(Math.max(value, 0) / top);
  return Math.round(Math.min(Math.max(t, 0), 1) * 255);
}

/// The largest of each block of `step` x `step` values: one bright cell must not vanish.
export function pooled(values, rows, cols, step) {
  if (step <= 1) return {values, rows, cols};
  const r2 = Math.ceil(rows / step);
  const c2 = Math.ceil(cols / step);
  const out = new Float32Array(r2 * c2).fill(-Infinity);
  for (let r = 0; r < rows; ++r) {
    const to = Math.floor(r / step) * c2;
    for (let c = 0; c < cols; ++c) {
      const at = to + Math.floor(c / step);
      const v = values[r * cols + c];
      if (v > out[at]) out[at] = v;
    }
  }
  return {values: out, rows: r2, cols: c2};
}

/// The map on a canvas of one pixel for each cell.
export function mapBitmap(item, palette, canvas = document.createElement('canvas')) {
  const {values, rows, cols, kind} = item;
  const colors = remember(palette, `pixels ${kind}`, () =>
    Uint32Array.from([...scaleColors(palette, kind), palette.paper], (hex) => {
      const [r, g, b] = rgb(hex);
      return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    }),
  );
  [canvas.width, canvas.height] = [cols, rows];
  const context = canvas.getContext('2d');
  const image = context.createImageData(cols, rows);
  const pixels = new Uint32Array(image.data.buffer); // little-endian, as all browsers' machines are
  for (let i = 0; i < values.length; ++i) {
    const level = levelOf(values[i], item);
    pixels[i] = colors[level < 0 ? 256 : level];
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

const FONT = 'Helvetica, Arial, "Liberation Sans", sans-serif';
const MONO = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

function paintItem(context, item, palette) {
  const color = (role) => palette[role] || role;
  context.setLineDash(item.dash || []);
  context.lineWidth = item.thick || 1;
  context.globalAlpha = item.alpha ?? 1;
  context.fillStyle = item.fill ? color(item.fill) : 'transparent';
  context.strokeStyle = item.stroke ? color(item.stroke) : 'transparent';
  if (item.type === 'map') {
    context.imageSmoothingEnabled = false;
    const bitmap = remember(item.values, palette, () => mapBitmap(item, palette));
    context.drawImage(bitmap, item.x, item.y, item.w, item.h);
  } else if (item.type === 'text') {
    context.font = `${item.bold ? 'bold ' : ''}${item.size || 12}px ${item.mono ? MONO : FONT}`;
    context.textAlign = {middle: 'center', end: 'right'}[item.anchor] || 'left';
    context.textBaseline = 'middle';
    context.save();
    context.translate(item.x, item.y);
    if (item.turn) context.rotate((item.turn * Math.PI) / 180);
    context.fillText(item.text, 0, 0);
    context.restore();
  } else {
    context.beginPath();
    for (const [x, y, move] of outline(item)) {
      if (move) context.moveTo(x, y);
      else context.lineTo(x, y);
    }
    if (item.type === 'dot' && item.shape === 'circle')
      context.arc(item.x, item.y, item.r, 0, 2 * Math.PI);
    else if (item.type !== 'line') context.closePath();
    if (item.fill) context.fill();
    if (item.stroke) context.stroke();
  }
}

/// The corners of a rect, a line or a dot, as [x, y, begins a new stroke].
function outline(item) {
  const {x, y, r} = item;
  if (item.type === 'rect')
    return [[x, y, true], [x + item.w, y], [x + item.w, y + item.h], [x, y + item.h]];
  if (item.type === 'line') return item.points.map(([px, py], i) => [px, py, i === 0]);
  if (item.shape === 'square')
    return outline({type: 'rect', x: x - r, y: y - r, w: 2 * r, h: 2 * r});
  if (item.shape === 'diamond')
    return [[x, y - r * 1.3, true], [x + r * 1.3, y], [x, y + r * 1.3], [x - r * 1.3, y]];
  if (item.shape === 'triangle')
    return [[x, y - r * 1.2, true], [x + r * 1.2, y + r], [x - r * 1.2, y + r]];
  if (item.shape === 'cross')
    return [[x - r, y - r, true], [x + r, y + r], [x + r, y - r, true], [x - r, y + r]];
  return [];
}

/// Paints a picture at (0, 0) of a canvas' context that is scaled already.
export function paint(context, picture, palette) {
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, picture.width, picture.height);
  for (const item of picture.items) paintItem(context, item, palette);
  context.globalAlpha = 1;
  context.setLineDash([]);
}

/// Characters that XML 1.0 does not allow become visible signs; the rest is escaped.
export function xml(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\ud800-\udfff]/gu, '\ufffd')
    .replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
}

export const number = (v) => String(Math.round(v * 100) / 100);

/// A map is one path for each of its colours, sharp at any size; of a large one the largest value
/// of each square.
function svgMap(item, palette) {
  const step = Math.ceil(Math.max(item.rows, item.cols) / 128);
  const map = {...item, ...pooled(item.values, item.rows, item.cols, step)};
  const table = scaleColors(palette, item.kind);
  const paths = new Map();
  const w = item.w / map.cols;
  const h = item.h / map.rows;
  map.values.forEach((value, i) => {
    const level = levelOf(value, item);
    if (level < 0 || table[level] === palette.paper) return;
    const color = table[Math.min(level & ~3, 252) + (level > 251 ? 3 : 0)]; // 64 levels
    const at = `M${number(item.x + (i % map.cols) * w)} ` +
      `${number(item.y + Math.floor(i / map.cols) * h)}h${number(w)}v${number(h)}h${number(-w)}z`;
    paths.set(color, (paths.get(color) || '') + at);
  });
  return [...paths].map(([color, d]) => `<path fill="${color}" d="${d}"/>`).join('\n');
}

function svgItem(item, palette) {
  const color = (role) => (role ? palette[role] || role : 'none');
  const look = ` fill="${color(item.fill)}"` +
    (item.stroke ? ` stroke="${color(item.stroke)}"` + ` stroke-width="${item.thick || 1}"` : '') +
    (item.alpha != null ? ` opacity="${item.alpha}"` : '') +
    (item.dash && item.dash.length ? ` stroke-dasharray="${item.dash.join(' ')}"` : '');
  if (item.type === 'map') return svgMap(item, palette);
  if (item.type === 'text')
    return (
      `<text x="${number(item.x)}" y="${number(item.y)}" font-size="${item.size || 12}" ` +
      `font-family="${xml(item.mono ? MONO : FONT)}" dominant-baseline="central" direction="ltr" ` +
      `text-anchor="${item.anchor || 'start'}" fill="${color(item.fill)}"` +
      (item.bold ? ' font-weight="bold"' : '') +
      (item.turn ? ` transform="rotate(${item.turn} ${number(item.x)} ${number(item.y)})"` : '') +
      ` xml:space="preserve">${xml(item.text)}</text>`
    );
  if (item.type === 'dot' && item.shape === 'circle')
    return `<circle cx="${number(item.x)}" cy="${number(item.y)}" r="${number(item.r)}"${look}/>`;
  const d = outline(item).map(([x, y, move]) => `${move ? 'M' : 'L'}${number(x)} ${number(y)}`);
  return `<path d="${d.join('')}${item.type === 'line' ? '' : 'z'}"${look}/>`;
}

/// Names the language; nothing is fetched there.
export const SVG_NAMES = 'http' + '://www.w3.org/2000/svg';

/// The picture as an SVG document; `about` (head, example, seed, command) goes into its metadata.
export function svg(picture, palette, about) {
  const w = number(picture.width);
  const h = number(picture.height);
  return (
    `<svg xmlns="${SVG_NAMES}" width="${w}" height="${h}" ` +
    `viewBox="0 0 ${w} ${h}" role="img" aria-label="${xml(picture.title)}">\n` +
    `<title>${xml(picture.title)}</title>\n<desc>${xml(picture.sentence)}</desc>\n` +
    `<metadata>${xml(about)}</metadata>\n<rect width="${w}" height="${h}" ` +
    `fill="${palette.paper}"/>\n` +
    picture.items.map((item) => svgItem(item, palette)).join('\n') +
    '\n</svg>\n'
  );
}

/// A table as CSV (RFC 4180). Words stay as they are, for programs; a spreadsheet may read =1 as a
/// formula.
export function csv(table) {
  const cell = (v) => {
    const text = v == null ? '' : String(v);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [table.head, ...table.rows].map((row) => row.map(cell).join(',') + '\r\n').join('');
}
