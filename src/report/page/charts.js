// The page's charts as lists of items (paint() draws them): a matrix (patterns, distances, heads
// by relations), lines with dots and intervals, and bars with intervals. Each carries
//
//   name, title, sentence (what a reader who does not see it is told), width, height, items,
//   table()  the numbers behind it, as {head, rows}
//   marks    {rows, cols(r), box(r, c), text(r, c), find(x, y)}: what pointer and arrow keys visit
//
// so that readout, keyboard, table and export work the same for all of them.
import {DASHES, SERIES, SHAPES, pooled, range, remember} from './draw.js';

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
  let units = 0;
  for (const c of words) units += c.codePointAt(0) >= 0x2e80 ? 1.7 : mono ? 1.02 : 1.03;
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
export const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

/// What the colours mean: the scale from its least to its largest value.
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

/// Where the cells of a matrix lie: names are turned where they are wider than a column.
function gridOf(options) {
  const {rowNames, colNames, width, cell = 40, tall, leastTall = 0, rowBar, numbers} = options;
  const [rows, cols] = [rowNames.length, colNames.length];
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

/// Every how many of a row of names one is drawn.
const every = (room, wanted) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * room >= wanted) || 2000;

function matrixNames({rowNames, colNames, first = [0, 0], rowFill, numbers}, g) {
  const items = [];
  const across = {anchor: 'middle', mono: true};
  for (let c = 0; c < g.cols; ++c) {
    const x = g.left + (c + 0.5) * g.side;
    const named = shortened(colNames[c], g.turned ? 90 : g.side + 8, 12, true);
    const look = g.turned ? {turn: -90, mono: true} : across;
    if (g.shown) items.push(label(x, g.above - 8 - g.room, named, look));
    if ((g.shown ? numbers : true) && (c + first[1]) % every(g.side, 26) === 0)
      items.push(small(x, g.shown ? 30 : g.above - 8, String(c + first[1]), across));
  }
  for (let r = 0; r < g.rows; ++r)
    if (g.tall >= 11 || (r + first[0]) % every(g.tall, 14) === 0)
      items.push(label(g.left - 6 - g.room, g.above + (r + 0.5) * g.tall,
        g.tall >= 11 ? shortened(rowNames[r], g.left - 10, 12, true) : String(r + first[0]),
        {anchor: 'end', mono: true, fill: rowFill?.(r) || 'ink'}));
  return items;
}

/// A vector as a picture: 3 n^2 numbers as n x n cells of red, green and blue, others as a row of
/// greys, from -1, dark, to 1, bright.
export function swatch(vector, x, y, size) {
  const n = Math.sqrt(vector.length / 3), colored = Number.isInteger(n);
  const [cols, rows] = colored ? [n, n] : [vector.length, 1];
  const [w, h] = [size / cols, size / rows];
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
///   rowNames, colNames (strings), numbers (whether columns are numbered too), values, kind, top
///   (value of the darkest colour), say(r, c), rowBar(r): a share drawn after the row's end;
///   vectors: {rows, cols}, what is read at each, as pictures;
///   over(box): further items, such as outlines.
export function matrix(options) {
  const {values, colNames, rowNames} = options;
  const g = gridOf(options);
  const [rows, cols] = [g.rows, g.cols];
  const {kind, top, root} = options.kind || options.top ? {kind: 'weight', ...options}
    : shaded({values, rows, cols});
  const [w, h] = [g.side * cols, g.tall * rows];
  const room = Math.max(1, Math.min(4, Math.floor(Math.max(rows, cols) / 700)));
  const map = remember(values, `pooled ${room}`, () =>
    pooled(values, rows, cols, options.kind === 'sign' ? 1 : room),
  );
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
        const [r, c] = [Math.floor((y - g.above) / g.tall), Math.floor((x - g.left) / g.side)];
        return r >= 0 && c >= 0 && r < rows && c < cols ? [r, c] : null;
      },
    },
  };
}

export function tableNumber(v) {
  return v == null || !Number.isFinite(v) ? '' : Number(v.toPrecision(6));
}

/// The items of one bar: its name, the bar from zero, its interval, its tick, and at the end of the
/// row, where no tick is, its number.
function barItems(row, y, {left, end, at}) {
  const items = [
    label(left - 6, y + 9, shortened(row.name, left - 8), {anchor: 'end', bold: row.strong}),
  ];
  if (Number.isFinite(row.value)) {
    const [from, to] = [at(Math.min(0, row.value)), at(Math.max(0, row.value))];
    const fill = row.color || (row.value < 0 ? 's1' : 's0');
    items.push(rect(from, y + 2, Math.max(to - from, 1), 14, {fill}));
    if (Number.isFinite(row.low))
      items.push(...onPaper([[at(row.low), y + 9], [at(row.high), y + 9]], 1.5, 4));
    if (row.left) items.push(rect(at(-row.left), y + 2, at(0) - at(-row.left), 14, {fill: 's1'}));
    items.push(label(end, y + 9, digits(row.value, 3), {size: 11}));
  }
  if (Number.isFinite(row.tick))
    items.push(...onPaper([[at(row.tick), y - 1], [at(row.tick), y + 19]], 2, 5));
  return items;
}

/// Horizontal bars from zero. rows: [{name, value, low, high, tick, color, strong}]; a tick is a
/// value to compare with, such as chance; `left` is another value, drawn to the left of zero.
export function bars({about, width, rows, unit, low, high, tickName, say}) {
  const names = rows.map((r) => r.name);
  const left = Math.min(width * 0.42, Math.max(30, ...names.map((t) => textWidth(t))) + 10);
  const values = rows.flatMap((r) => [r.value, r.low, r.high, r.tick, 0])
    .filter((v) => Number.isFinite(v));
  const [a, b] = extent(values, low, high);
  const wide = width - left - 76;  // a number fits into the rest
  const at = (v) => left + ((Math.min(Math.max(v, a), b) - a) / (b - a || 1)) * wide;
  const [step, top] = [22, 6];
  const bottom = top + rows.length * step;
  const places = {left, end: left + wide + 8, at};
  const items = rows.flatMap((row, i) => barItems(row, top + i * step, places));
  items.push(line([[at(0), top - 4], [at(0), bottom]], {stroke: 'edge'}));
  items.push(small(left, bottom + 9, `${unit}${tickName ? `   ┃ ${tickName}` : ''}`));
  const sides = rows.some((r) => Number.isFinite(r.low)) ? ['low', 'high']
    : rows.some((r) => r.left) ? ['left'] : [];
  const text = (r) => `${rows[r].name}: ${digits(rows[r].value)} ${unit}` +
    (Number.isFinite(rows[r].low) ? ` (${digits(rows[r].low)} to ${digits(rows[r].high)})` : '') +
    (Number.isFinite(rows[r].tick) ? `; ${tickName} ${digits(rows[r].tick)}` : '');
  return {
    ...about, width, height: bottom + 20, items,
    table: () => ({
      head: ['', unit, ...sides, ...(tickName ? [tickName] : [])],
      rows: rows.map((r) => [
        r.name, ...['value', ...sides, ...(tickName ? ['tick'] : [])].map((k) => tableNumber(r[k])),
      ]),
    }),
    marks: {
      rows: rows.length, cols: () => 1, box: (r) => [at(a), top + r * step, wide, 18],
      find: (x, y) => (y >= top && y < bottom ? [Math.floor((y - top) / step), 0] : null),
      text: say || text,
    },
  };
}
// Lines of points with intervals, on plain or logarithmic axes: above stands what a chart carries.

/// The mark whose box lies nearest to a point, within 24 px.
function nearestMark(boxes) {
  return (x, y) => {
    let [best, found] = [24 ** 2, null];
    boxes.forEach((row, r) =>
      row.forEach(([bx, by, bw, bh], c) => {
        const [dx, dy] = [x - bx - bw / 2, Math.max(0, Math.abs(y - by - bh / 2) - bh / 2)];
        if (dx * dx + dy * dy < best) [best, found] = [dx * dx + dy * dy, [r, c]];
      }),
    );
    return found;
  };
}

const extent = (values, low, high) => [low ?? Math.min(...values), high ?? Math.max(...values)];

/// 1, 2 and 5 times the powers of ten whose logarithms lie from a to b.
function logTicks(a, b) {
  const powers = range(Math.floor(b) - Math.floor(a) + 1, (i) => 10 ** (Math.floor(a) + i));
  const found = powers.flatMap((power) => [1, 2, 5].map((m) => m * power))
    .filter((v) => Math.log10(v) >= a - 1e-9 && Math.log10(v) <= b + 1e-9);
  return found.length ? found : [10 ** a, 10 ** b];
}

/// Where values lie on an axis that is drawn from one place to another, its ticks, and those that
/// are numbered if one takes `room`. As src/report/plot.cc has it.
function scaleOf(axis, values, from, to, room) {
  const {log, whole} = axis;
  const measure = (v) => (log ? Math.log10(Math.max(v, 1e-300)) : v);
  const known = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
  const ends = known.length ? extent(known) : [log ? 0.1 : 0, 1];
  let [a, b] = [measure(axis.low ?? ends[0]), measure(axis.high ?? ends[1])];
  if (b - a < 1e-12) [a, b] = [a - 0.5, b + 0.5];
  const pad = 0.04 * (b - a);
  [a, b] = [axis.low == null ? a - pad : a, axis.high == null ? b + pad : b];
  const at = (v) => from + ((Math.min(Math.max(measure(v), a), b) - a) / (b - a)) * (to - from);
  const step = Math.max(1, Math.ceil((ends[1] - ends[0]) / 16));
  const marks = whole ? range(Math.floor((ends[1] - ends[0]) / step) + 1, (i) => ends[0] + i * step)
    : log ? logTicks(a, b) : ticks(a, b);
  const powers = marks.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
  const few = log && marks.length * room > Math.abs(to - from) && powers.length > 1;
  const name = axis.label + (log ? ' (log scale)' : '');
  return {at, marks, numbered: few ? powers : marks, name};
}

/// The axes of a plot, whose frame lies so: rules, ticks, numbers, names.
function axisItems({left, top, last, bottom}, sx, sy) {
  const tick = (points) => line(points, {stroke: 'ink'});
  return [
    ...sy.numbered.flatMap((v) => [
      line([[left, sy.at(v)], [last, sy.at(v)]], {stroke: 'rule'}),
      small(left - 7, sy.at(v), digits(v, 3), {anchor: 'end'}),
    ]),
    ...sy.marks.map((v) => tick([[left - 4, sy.at(v)], [left, sy.at(v)]])),
    ...sx.numbered.map((v) => small(sx.at(v), bottom + 14, digits(v, 4), {anchor: 'middle'})),
    ...sx.marks.map((v) => tick([[sx.at(v), bottom], [sx.at(v), bottom + 4]])),
    tick([[left, top], [left, bottom], [last, bottom]]),
    label((left + last) / 2, bottom + 31, sx.name, {anchor: 'middle', size: 11}),
    label(10, (top + bottom) / 2, sy.name, {anchor: 'middle', turn: -90, size: 11}),
  ];
}

/// The words of lines across a chart, in four rows so that they do not meet.
function lineItems(lines, at, width, bottom) {
  const ends = [0, 0, 0, 0];
  return [...lines].sort((p, q) => p.x - q.x).flatMap(({x, name, strong}) => {
    const start = Math.min(at(x) + 3, width - textWidth(name, 11));
    const free = ends.findIndex((end) => end < start);
    const row = free < 0 ? ends.indexOf(Math.min(...ends)) : free;
    ends[row] = start + textWidth(name, 11) + 4;
    const look = {stroke: strong ? 'accent' : 'edge', dash: strong ? [] : [2, 3]};
    return [
      line([[at(x), 2 + row * 13], [at(x), bottom]], {...look, thick: strong ? 2 : 1}),
      small(start, 8 + row * 13, name, strong && {fill: 'accent'}),
    ];
  });
}

/// Lines of points. series: [{name, points: [[x, y, low, high]], color, dash, shape, line, dots}];
/// x, y: {label, log, low, high, whole}; lines: [{x, name}] are marks across the chart.
export function plot({about, width, height = 300, series, x, y, lines = [], names = true, say}) {
  const all = series.flatMap((s) => s.points);
  const [xs, ys] = [all.map((p) => p[0]), all.flatMap((p) => [p[1], p[2] ?? p[1], p[3] ?? p[1]])];
  const room = Math.min(170, Math.max(...series.map((s) => textWidth(s.name))) + 20);
  const named = names && series.length > 1 && (width > 520 || room < width / 3);
  const right = named ? room : 14;
  const [left, top, bottom, last] = [58, lines.length ? 60 : 14, height - 40, width - right];
  const [sx, sy] = [scaleOf(x, xs, left, last, 40), scaleOf(y, ys, bottom, top, 14)];
  const items = [
    ...axisItems({left, top, last, bottom}, sx, sy), ...lineItems(lines, sx.at, width, bottom),
  ];
  const boxes = series.map((s, i) => seriesItems(items, s, i, sx.at, sy.at));
  if (named) endLabels(items, series, {x: last + 6, atY: sy.at, top, bottom});
  const point = (r, c) => series[r].points[c];
  return {
    ...about, width, height, items,
    table: () => ({
      head: ['series', x.label, y.label, 'low', 'high'],
      rows: series.flatMap((s) =>
        s.points.map((p) => [s.name, ...[0, 1, 2, 3].map((i) => tableNumber(p[i]))])),
    }),
    marks: {
      rows: series.length, cols: (r) => series[r].points.length, box: (r, c) => boxes[r][c],
      find: nearestMark(boxes),
      text: say || ((r, c) => `${series[r].name}: ${x.label} ${digits(point(r, c)[0])}, ` +
        `${y.label} ${digits(point(r, c)[1])}${intervalText(point(r, c))}`),
    },
  };
}

const intervalText = (p) => (p[2] == null ? '' : ` (${digits(p[2])} to ${digits(p[3])})`);

function seriesItems(items, s, i, atX, atY) {
  const {color = SERIES[i % SERIES.length], shape = SHAPES[i % SHAPES.length]} = s;
  if (s.line !== false)
    items.push(line(s.points.map((p) => [atX(p[0]), atY(p[1])]),
      {stroke: color, thick: s.thick || 1.8, dash: s.dash ?? DASHES[i % DASHES.length]}));
  return s.points.map((p) => {
    const [px, py] = [atX(p[0]), atY(p[1])];
    if (p[2] != null)
      items.push(line([[px, atY(p[2])], [px, atY(p[3])]], {stroke: color, thick: 1.5}));
    if (s.dots !== false || s.points.length === 1)
      items.push({
        type: 'dot', x: px, y: py, r: s.r || 3.2, shape,
        ...(s.hollow || shape === 'cross' ? {stroke: color, thick: 1.6} : {fill: color}),
      });
    return [px - 5, py - 5, 10, 10];
  });
}

/// Names at the ends of their lines, pushed apart where they would meet.
function endLabels(items, series, {x, atY, top, bottom}) {
  const ends = series.map((s, i) => ({s, i, last: s.points[s.points.length - 1]}))
    .filter((e) => e.last)
    .map((e) => ({...e, y: atY(e.last[1])}))
    .sort((a, b) => a.y - b.y);
  let floor = top;
  for (const e of ends) floor = (e.y = Math.max(e.y, floor)) + 14;
  let ceiling = bottom;
  for (const e of ends.reverse()) ceiling = (e.y = Math.min(e.y, ceiling)) - 14;
  for (const {s, i, y} of ends) {
    const {name, color = SERIES[i % SERIES.length], bold} = s;
    items.push(label(x, y, name, {fill: color, size: 11.5, bold}));
  }
}
