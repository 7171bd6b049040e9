// The page's charts as lists of items (paint() draws them): a matrix (patterns, distances, heads
// by relations) and bars with intervals; plot.js has lines with dots and intervals. Each carries
//
//   name, title, sentence (for screen readers), width, height, items,
//   table()  the numbers that it shows, as {head, rows}
//   marks    {rows, cols(r), box(r, c), text(r, c), find(x, y)}: what pointer and arrow keys visit
//
// so that readout, keyboard, table and export work the same for all of them.
import {range} from '../engine/numbers.js';
import {pooled, remember} from './draw.js';

export const rect = (x, y, w, h, more) => ({type: 'rect', x, y, w, h, ...more});
export const line = (points, more) => ({type: 'line', points, stroke: 'ink', ...more});
/// A line that can be seen on any colour.
const onPaper = (points, thick, around) => [
  line(points, {stroke: 'paper', thick: around}), line(points, {thick}),
];
export const label = (x, y, words, more) => ({
  type: 'text', x, y, text: words, size: 12, fill: 'ink', ...more,
});

export const small = (x, y, words, more) => label(x, y, words, {size: 11, fill: 'muted', ...more});

/// The width of a text, near enough without a document; a wide script counts double.
export function textWidth(words, size = 12, mono = false) {
  const narrow = mono ? 1.02 : 1.03;
  let units = 0;
  for (const c of words) units += c.codePointAt(0) >= 0x2e80 ? 1.7 : narrow;
  return units * size * 0.6;
}

export function shortened(words, room, size, mono) {
  const characters = [...words];
  while (characters.length > 1 && textWidth(characters.join(''), size, mono) > room) {
    characters.pop();
    characters[characters.length - 1] = '…';
  }
  return characters.join('');
}

/// Round numbers between two values, about `wanted` of them.
export function ticks(low, high, wanted = 5) {
  const span = high - low || 1;
  const raw = span / wanted;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => span / s <= wanted) || 10 * unit;
  const out = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-6; v += step)
    out.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return out;
}

/// Four significant digits, no exponent where none is needed.
export function digits(v, places = 4) {
  if (v == null || !Number.isFinite(v)) return '–';
  if (v === 0) return '0';
  const size = Math.abs(v);
  if (size < 1e-4 || size >= 1e6)
    return v.toExponential(2).replace('e+', 'e').replace('-', '−').replace('e-', 'e−');
  return String(Number(v.toPrecision(places))).replace('-', '−');
}
/// An attention weight, or another share of attention, from 0 to 1; with four places to the fourth
/// decimal.
export function weightText(v, places = 2) {
  const least = places < 4 ? 0.001 : 0.0001;
  return v > 0 && v < least ? `<\u00a0${least}` : digits(v, places);
}
export const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

/// The legend of the colours: the scale from its least to its largest value.
function legend(x, {kind, top, root}) {
  const values = Float32Array.from({length: 50}, (_, i) =>
    kind === 'sign' ? (i / 24.5 - 1) * top : (i / 49) * top,
  );
  return [
    small(x - 4, 8, kind === 'sign' ? digits(-top, 2) : '0', {anchor: 'end'}),
    {type: 'map', x, y: 3, w: 70, h: 10, values, rows: 1, cols: 50, kind, top, root},
    rect(x - 0.5, 2.5, 71, 11, {stroke: 'edge'}),
    small(x + 75, 8, digits(top, 2)),
  ];
}

/// Lays out the cells of a matrix. Names wider than a column are rotated.
function gridOf(options) {
  const {rowNames, colNames, width, cell = 40, tall, leastTall = 0, rowBar, numbers} = options;
  const rows = rowNames.length;
  const cols = colNames.length;
  const room = options.vectors ? 20 : 0;
  const longest = (names, most) =>
    Math.min(most, Math.max(10, ...names.map((t) => textWidth(t, 12, true))));
  const left = longest(rowNames, Math.min(150, width * 0.4)) + 12 + room;
  const right = rowBar ? 56 : 8;
  const side = Math.min(cell, (width - left - right) / Math.max(cols, 1));
  const high = Math.min(tall || side, Math.max(side, leastTall));
  const shown = side >= 11;
  const turned = shown && colNames.some((t) => textWidth(t, 12, true) > side - 1);
  const above = (turned ? longest(colNames, 90) + 34 : 40) + (numbers && shown ? 14 : 0) + room;
  const box = (r, c) => [left + c * side, above + r * high, side, high];
  return {rows, cols, left, right, side, tall: high, shown, turned, above, box, room};
}

/// Returns n if every n-th name is drawn: a name needs the width `wanted` and has `room`.
const labelStep = (room, wanted) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * room >= wanted) || 2000;

function matrixNames({rowNames, colNames, first = [0, 0], rowFill, numbers}, g) {
  const items = [];
  const across = {anchor: 'middle', mono: true};
  for (let c = 0; c < g.cols; ++c) {
    const x = g.left + (c + 0.5) * g.side;
    const named = shortened(colNames[c], g.turned ? 90 : g.side + 8, 12, true);
    const look = g.turned ? {turn: -90, mono: true} : across;
    if (g.shown) items.push(label(x, g.above - 8 - g.room, named, look));
    if ((g.shown ? numbers : numbers !== false) && (c + first[1]) % labelStep(g.side, 26) === 0)
      items.push(small(x, g.shown ? 30 : g.above - 8, String(c + first[1]), across));
  }
  for (let r = 0; r < g.rows; ++r)
    if (g.tall >= 11 || (r + first[0]) % labelStep(g.tall, 14) === 0)
      items.push(label(g.left - 6 - g.room, g.above + (r + 0.5) * g.tall,
        g.tall >= 11 ? shortened(rowNames[r], g.left - 10, 12, true) : String(r + first[0]),
        {anchor: 'end', mono: true, fill: rowFill?.(r) || 'ink'}));
  return items;
}

/// A vector as a picture: 3 n^2 numbers as n x n cells of red, green and blue, others as a row of
/// greys, from -1, dark, to 1, bright.
export function swatch(vector, x, y, size) {
  const n = Math.sqrt(vector.length / 3);
  const colored = Number.isInteger(n);
  const [cols, rows] = colored ? [n, n] : [vector.length, 1];
  const w = size / cols;
  const h = size / rows;
  const shade = (v) => Math.round(255 * Math.min(1, Math.max(0, (v + 1) / 2)));
  return range(rows * cols, (i) => {
    const color = range(3, (c) => shade(vector[colored ? 3 * i + c : i]));
    return rect(x + (i % cols) * w, y + Math.floor(i / cols) * h, w, h, {fill: `rgb(${color})`});
  });
}

/// A map of weights with its look: those of long inputs are small, so they are shaded by their
/// root, up to the largest of the second half of the rows, in which queries see many keys.
export const shaded = (map) => remember(map.values, 'shaded', () => {
  const root = Math.max(map.rows, map.cols) >= 32;
  const late = map.values.subarray(root ? Math.floor(map.rows / 2) * map.cols : map.values.length);
  return {...map, kind: 'weight', root, top: late.reduce((a, b) => Math.max(a, b), 0) || 1};
});

/// The vectors of rows and columns between their names and the map, where there is room.
const swatches = ({rows, cols}, g) => !g.shown ? [] : [
  ...rows.flatMap((v, r) => swatch(v, g.left - 20, g.above + (r + 0.5) * g.tall - 8, 16)),
  ...cols.flatMap((v, c) => swatch(v, g.left + (c + 0.5) * g.side - 8, g.above - 20, 16)),
];

/// A map of `rows` x `cols` values with labels on its left and on top.
///   rowNames, colNames (strings), numbers (whether columns are numbered too; false: not even those
///   without room for their names), values, kind, top (value of the darkest colour), say(r, c),
///   rowBar(r): a share drawn after the row's end;
///   vectors: {rows, cols}, what is read at each, as pictures;
///   over(box): further items, such as outlines.
export function matrix(options) {
  const {values, colNames, rowNames} = options;
  const g = gridOf(options);
  const {rows, cols} = g;
  const {kind, top, root} = options.kind || options.top ? {kind: 'weight', ...options}
    : shaded({values, rows, cols});
  const w = g.side * cols;
  const h = g.tall * rows;
  const room = Math.max(1, Math.min(4, Math.floor(Math.max(rows, cols) / 700)));
  const map = remember(values, `pooled ${room}`,
    () => pooled(values, rows, cols, options.kind === 'sign' ? 1 : room));
  const bar = (_, r) => rect(g.left + w + 6, g.above + r * g.tall + 1, 46 * options.rowBar(r),
    Math.max(g.tall - 2, 1), {fill: 'edge'});
  const items = [
    {type: 'map', x: g.left, y: g.above, w, h, ...map, kind, top, root},
    rect(g.left - 0.5, g.above - 0.5, w + 1, h + 1, {stroke: 'edge'}),
    ...matrixNames(options, g), ...(options.vectors ? swatches(options.vectors, g) : []),
    ...(options.axes && g.left + w > 330 ? [small(4, 8, options.axes)] : []),
    ...legend(Math.max(g.left + w - 110, 40), {kind, top, root}),
    ...(options.rowBar ? rowNames.map(bar) : []), ...(options.over?.(g.box) || []),
  ];
  const row = (name, r) => [name, ...colNames.map((_, c) => tableNumber(values[r * cols + c]))];
  return {
    ...options.about, width: Math.max(g.left + w + g.right, 160), height: g.above + h + 8, items,
    table: options.table || (() => ({head: ['', ...colNames], rows: rowNames.map(row)})),
    marks: {
      rows, cols: () => cols, box: g.box, text: options.say,
      find(x, y) {
        const r = Math.floor((y - g.above) / g.tall);
        const c = Math.floor((x - g.left) / g.side);
        return r >= 0 && c >= 0 && r < rows && c < cols ? [r, c] : null;
      },
    },
  };
}

export const tableNumber = (v) => (Number.isFinite(v) ? Number(v.toPrecision(6)) : '');

/// The ends of an axis: those that are given, or those of the values.
export const extent = (values, low, high) =>
  [low ?? Math.min(...values), high ?? Math.max(...values)];

/// The items of one bar: its name, the bar from zero, its interval, its tick, and at the end of the
/// row, where no tick is, its number.
function barItems(row, y, {left, end, at, number}) {
  const items = [
    label(left - 6, y + 9, shortened(row.name, left - 8), {anchor: 'end', bold: row.strong}),
  ];
  if (Number.isFinite(row.value)) {
    const from = at(Math.min(0, row.value));
    const to = at(Math.max(0, row.value));
    const fill = row.color || (row.value < 0 ? 's1' : 's0');
    items.push(rect(from, y + 2, Math.max(to - from, 1), 14, {fill}));
    if (Number.isFinite(row.low))
      items.push(...onPaper([[at(row.low), y + 9], [at(row.high), y + 9]], 1.5, 4));
    items.push(label(end, y + 9, number(row.value, 3), {size: 11}));
  }
  if (Number.isFinite(row.tick))
    items.push(...onPaper([[at(row.tick), y - 1], [at(row.tick), y + 19]], 2, 5));
  return items;
}

/// Horizontal bars from zero. rows: [{name, value, low, high, tick, color, strong}]; a tick is a
/// value to compare with, such as a baseline. `number` makes the texts of values.
export function bars(options) {
  const {about, width, rows, unit, low, high, tickName, say, number = digits} = options;
  const names = rows.map((r) => r.name);
  const left = Math.min(width * 0.42, Math.max(30, ...names.map((t) => textWidth(t))) + 10);
  const values = rows.flatMap((r) => [r.value, r.low, r.high, r.tick, 0])
    .filter((v) => Number.isFinite(v));
  const [a, b] = extent(values, low, high);
  const wide = width - left - 76;  // a number fits into the rest
  const at = (v) => left + ((Math.min(Math.max(v, a), b) - a) / (b - a || 1)) * wide;
  const step = 22;
  const top = 6;
  const bottom = top + rows.length * step;
  const places = {left, end: left + wide + 8, at, number};
  const items = rows.flatMap((row, i) => barItems(row, top + i * step, places));
  items.push(line([[at(0), top - 4], [at(0), bottom]], {stroke: 'edge'}));
  items.push(small(left, bottom + 9, tickName ? `${unit}   ┃ ${tickName}` : unit));
  const ends = rows.some((r) => Number.isFinite(r.low)) ? ['low', 'high'] : [];
  const text = (r) => `${rows[r].name}: ${number(rows[r].value)} ${unit}` +
    (Number.isFinite(rows[r].low) ? ` (${digits(rows[r].low)} to ${digits(rows[r].high)})` : '') +
    (Number.isFinite(rows[r].tick) ? `; ${tickName} ${digits(rows[r].tick)}` : '');
  return {
    ...about, width, height: bottom + 20, items,
    table: () => ({
      head: ['', unit, ...ends, ...(tickName ? [tickName] : [])],
      rows: rows.map((r) => [
        r.name, ...['value', ...ends, ...(tickName ? ['tick'] : [])].map((k) => tableNumber(r[k])),
      ]),
    }),
    marks: {
      rows: rows.length, cols: () => 1, box: (r) => [at(a), top + r * step, wide, 18],
      find: (x, y) => (y >= top && y < bottom ? [Math.floor((y - top) / step), 0] : null),
      text: say || text,
    },
  };
}
