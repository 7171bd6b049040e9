// The page's charts as lists of items (paint() draws them): a matrix (patterns, distances, heads
// by
// relations), lines with dots and intervals, and bars with intervals. Each carries
//
//   name, title, sentence (what a reader who does not see it is told), width, height, items,
//   table()  the numbers behind it, as {head, rows}
//   marks    {rows, cols(r), box(r, c), text(r, c), find(x, y)}: what pointer and arrow keys visit
//
// so that readout, keyboard, table and export work the same for all of them.
import {DASHES, SERIES, SHAPES, pooled, remember} from './draw.js';

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
  for (const c of words) units += c.codePointAt(0) >= 0x1100 ? 1.7 : mono ? 1.02 : 1.03;
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

/// A map of `rows` x `cols` values with labels on its left and on top.
///   rowNames, colNames (strings), values, kind, top (value of the darkest colour), say(r, c),
///   rowBar(r): a share drawn behind the row's end; over(box): further items, such as outlines.
export function matrix(options) {
  const {rowNames, colNames, values, width} = options;
  const [rows, cols, size] = [rowNames.length, colNames.length, 12];
  const longest = (names, most) =>
    Math.min(most, Math.max(10, ...names.map((t) => textWidth(t, size, true))));
  const left = longest(rowNames, Math.min(150, width * 0.4)) + 12;
  const right = options.rowBar ? 56 : 8;
  const side = Math.min(options.cell || 40, (width - left - right) / Math.max(cols, 1));
  const tall = Math.min(options.tall || side, Math.max(side, options.leastTall || 0));
  const turned = colNames.some((t) => textWidth(t, size, true) > side - 2);
  const shown = side >= 11;
  const above = turned && shown ? longest(colNames, 90) + 34 : 40;
  const [kind, top, root] = [
    options.kind || 'weight', options.top || 1, !options.kind && Math.max(rows, cols) > 64,
  ];
  const [w, h] = [side * cols, tall * rows];
  const box = (r, c) => [left + c * side, above + r * tall, side, tall];
  const room = Math.max(1, Math.min(4, Math.floor(Math.max(rows, cols) / 700)));
  const map = remember(values, `pooled ${room}`, () =>
    pooled(values, rows, cols, options.kind === 'sign' ? 1 : room),
  );
  const items = [{type: 'map', x: left, y: above, w, h, ...map, kind, top, root}];
  items.push(rect(left - 0.5, above - 0.5, w + 1, h + 1, {stroke: 'edge'}));
  const first = options.first || [0, 0];
  const every = (s, room) =>
    s >= 11 ? 1 : [2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * s >= room) || 2000;
  for (let c = 0; c < cols; ++c) {
    if ((c + first[1]) % every(side, 34)) continue;
    const [x, y] = [left + (c + 0.5) * side, above - 8];
    const words = shortened(colNames[c], turned ? 90 : side + 8, size, true);
    items.push(
      label(x, y, shown ? words : String(c + first[1]),
        turned && shown ? {turn: -90, mono: true} : {anchor: 'middle', mono: true},
      ),
    );
  }
  for (let r = 0; r < rows; ++r)
    if ((r + first[0]) % every(tall, 14) === 0)
      items.push(
        label(left - 6, above + (r + 0.5) * tall,
          tall >= 11 ? shortened(rowNames[r], left - 10, size, true) : String(r + first[0]),
          {anchor: 'end', mono: true, fill: options.rowFill?.(r) || 'ink'},
        ),
      );
  if (options.axes && left + w > 330) items.push(small(4, 8, options.axes));
  items.push(...legend(Math.max(left + w - 110, 40), {kind, top, root}));
  if (options.rowBar)
    for (let r = 0; r < rows; ++r)
      items.push(
        rect(left + w + 6, above + r * tall + 1, 46 * options.rowBar(r), Math.max(tall - 2, 1), {
          fill: 'edge',
        }),
      );
  items.push(...(options.over?.(box) || []));
  return {
    ...options.about, width: Math.max(left + w + right, 160), height: above + h + 8, items,
    table:
      options.table ||
      (() => ({
        head: ['', ...colNames],
        rows: rowNames.map((name, r) => [
          name,
          ...colNames.map((_, c) => tableNumber(values[r * cols + c])),
        ]),
      })),
    marks: {
      rows, cols: () => cols, box, text: options.say,
      find(x, y) {
        const [r, c] = [Math.floor((y - above) / tall), Math.floor((x - left) / side)];
        return r >= 0 && c >= 0 && r < rows && c < cols ? [r, c] : null;
      },
    },
  };
}

export function tableNumber(v) {
  return v == null || !Number.isFinite(v) ? '' : Number(v.toPrecision(6));
}

/// Horizontal bars from zero. rows: [{name, value, low, high, tick, color, strong}]; a tick is a
/// value to compare with, such as chance.
export function bars({about, width, rows, unit, low, high, tickName, say}) {
  const names = rows.map((r) => r.name);
  const left = Math.min(width * 0.42, Math.max(30, ...names.map((t) => textWidth(t))) + 10);
  const values = rows
    .flatMap((r) => [r.value, r.low, r.high, r.tick, 0])
    .filter((v) => Number.isFinite(v));
  const [a, b] = extent(values, low, high);
  const right = 64;
  const at = (v) =>
    left + ((Math.min(Math.max(v, a), b) - a) / (b - a || 1)) * (width - left - right);
  const [step, top] = [22, 6];
  const items = [];
  const boxes = rows.map((row, i) => {
    const y = top + i * step;
    items.push(
      label(left - 6, y + 9, shortened(row.name, left - 8), {anchor: 'end', bold: row.strong}),
    );
    if (Number.isFinite(row.value)) {
      const [from, to] = [at(Math.min(0, row.value)), at(Math.max(0, row.value))];
      items.push(
        rect(from, y + 2, Math.max(to - from, 1), 14, {
          fill: row.color || (row.value < 0 ? 's1' : 's0'),
        }),
      );
      if (Number.isFinite(row.low))
        items.push(...onPaper([[at(row.low), y + 9], [at(row.high), y + 9]], 1.5, 4));
      items.push(
        label(at(Math.max(row.value, row.high ?? 0, row.tick ?? 0, 0)) + 6, y + 9,
          digits(row.value, 3), {size: 11},
        ),
      );
    }
    if (Number.isFinite(row.tick))
      items.push(...onPaper([[at(row.tick), y - 1], [at(row.tick), y + 19]], 2, 5));
    return [[at(a), y, width - left - right, 18]];
  });
  const bottom = top + rows.length * step;
  items.push(line([[at(0), top - 4], [at(0), bottom]], {stroke: 'edge'}));
  items.push(small(left, bottom + 9, `${unit}${tickName ? `   ┃ ${tickName}` : ''}`));
  const hasInterval = rows.some((r) => Number.isFinite(r.low));
  return {
    ...about, width, height: bottom + 20, items,
    table: () => ({
      head: ['', unit, ...(hasInterval ? ['low', 'high'] : []), ...(tickName ? [tickName] : [])],
      rows: rows.map((r) => [
        r.name, tableNumber(r.value),
        ...(hasInterval ? [tableNumber(r.low), tableNumber(r.high)] : []),
        ...(tickName ? [tableNumber(r.tick)] : []),
      ]),
    }),
    marks: {
      rows: rows.length, cols: () => 1, box: (r) => boxes[r][0],
      find: (x, y) => (y >= top && y < bottom ? [Math.floor((y - top) / step), 0] : null),
      text:
        say ||
        ((r) =>
          `${rows[r].name}: ${digits(rows[r].value)} ${unit}${Number.isFinite(rows[r].low) ? ` ` +
            `(${digits(rows[r].low)} to ` +
            `${digits(rows[r].high)})` : ''}${Number.isFinite(rows[r].tick) ? `; ${tickName} ` +
            `${digits(rows[r].tick)}` : ''}`),
    },
  };
}
// Lines of points with intervals, on plain or logarithmic axes: above stands what a chart
// carries.

/// The mark whose box lies nearest to a point, within 24 px.
export function nearestMark(boxes) {
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

const extent = (values, low, high) =>
  [low ?? Math.min(...values), high ?? Math.max(...values)];

/// Lines of points. series: [{name, points: [[x, y, low, high]], color, dash, shape, line, dots}];
/// x, y: {label, log, low, high, names}; lines: [{x, name}] are marks across the chart.
export function plot({about, width, height = 300, series, x, y, lines = [], names = true, say}) {
  const all = series.flatMap((s) => s.points);
  const [xs, ys] = [all.map((p) => p[0]), all.flatMap((p) => [p[1], p[2] ?? p[1], p[3] ?? p[1]])];
  const scale = (axis, values, from, to) => {
    let [a, b] = extent(values.filter((v) => !axis.log || v > 0), axis.low, axis.high);
    if (!Number.isFinite(a)) [a, b] = [axis.log ? 0.1 : 0, 1];
    if (axis.log) [a, b] = [Math.log10(a), Math.log10(b)];
    if (b - a < 1e-12) [a, b] = [a - 0.5, b + 0.5];
    const on = (v) => Math.min(Math.max(axis.log ? Math.log10(Math.max(v, 1e-300)) : v, a), b);
    const at = (v) => from + ((on(v) - a) / (b - a)) * (to - from);
    const decades = axis.log
      ? ticks(Math.floor(a), Math.ceil(b))
          .filter((v) => v === Math.round(v) && v >= a - 0.05 && v <= b + 0.05)
          .map((v) => 10 ** v)
      : [];
    const marks =
      axis.names ||
      (decades.length > 1
        ? decades
        : axis.log
          ? ticks(10 ** a, 10 ** b).filter((v) => v > 0)
          : ticks(a, b));
    return {at, marks};
  };
  const named = names && series.length > 1 && width > 520;
  const right = named ? Math.min(170, Math.max(...series.map((s) => textWidth(s.name))) + 20) : 14;
  const [left, top, bottom] = [58, lines.length ? 46 : 14, 40];
  const [sx, sy] = [scale(x, xs, left, width - right), scale(y, ys, height - bottom, top)];
  const items = [];
  for (const v of sy.marks) {
    items.push(line([[left, sy.at(v)], [width - right, sy.at(v)]], {stroke: 'rule'}));
    items.push(small(left - 6, sy.at(v), digits(v, 3), {anchor: 'end'}));
  }
  for (const v of sx.marks)
    items.push(small(sx.at(v), height - bottom + 14, digits(v, 4), {anchor: 'middle'}));
  items.push(label((left + width - right) / 2, height - 9, x.label, {anchor: 'middle', size: 11}));
  items.push(
    label(10, (top + height - bottom) / 2, y.label, {anchor: 'middle', turn: -90, size: 11}),
  );
  const ends = [0, 0, 0]; // where the words of each of three rows end
  [...lines]
    .sort((p, q) => p.x - q.x)
    .forEach(({x: at, name, strong}) => {
      const start = Math.min(sx.at(at) + 3, width - textWidth(name, 11));
      const row = Math.max(0, ends.findIndex((end) => end < start));
      ends[row] = start + textWidth(name, 11) + 4;
      items.push(
        line(
          [[sx.at(at), 2 + row * 13], [sx.at(at), height - bottom]],
          {stroke: strong ? 'accent' : 'edge', dash: strong ? [] : [2, 3], thick: strong ? 2 : 1},
        ),
      );
      items.push(small(start, 8 + row * 13, name, strong && {fill: 'accent'}));
    });
  const boxes = series.map((s, i) => seriesItems(items, s, i, sx.at, sy.at));
  if (named) endLabels(items, series, sx.at, sy.at, top, height - bottom);
  return {
    ...about, width, height, items,
    table: () => ({
      head: ['series', x.label, y.label, 'low', 'high'],
      rows: series.flatMap((s) =>
        s.points.map((p) => [s.name, ...[0, 1, 2, 3].map((i) => tableNumber(p[i]))]),
      ),
    }),
    marks: {
      rows: series.length, cols: (r) => series[r].points.length, box: (r, c) => boxes[r][c],
      find: nearestMark(boxes),
      text:
        say ||
        ((r, c) =>
          `${series[r].name}: ${x.label} ${digits(series[r].points[c][0])}, ${y.label} ` +
            `${digits(series[r].points[c][1])}${intervalText(series[r].points[c])}`),
    },
  };
}

const intervalText = (p) => (p[2] == null ? '' : ` (${digits(p[2])} to ${digits(p[3])})`);

function seriesItems(items, s, i, atX, atY) {
  const [color, shape] = [
    s.color || SERIES[i % SERIES.length], s.shape || SHAPES[i % SHAPES.length],
  ];
  if (s.line !== false)
    items.push(
      line(
        s.points.map((p) => [atX(p[0]), atY(p[1])]),
        {stroke: color, thick: s.thick || 1.8, dash: s.dash ?? DASHES[i % DASHES.length]},
      ),
    );
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
function endLabels(items, series, atX, atY, top, bottom) {
  const ends = series
    .map((s, i) => ({s, i, last: s.points[s.points.length - 1]}))
    .filter((e) => e.last)
    .map((e) => ({...e, y: atY(e.last[1])}))
    .sort((a, b) => a.y - b.y);
  let floor = top;
  for (const e of ends) floor = (e.y = Math.max(e.y, floor)) + 14;
  let ceiling = bottom;
  for (const e of ends.reverse()) ceiling = (e.y = Math.min(e.y, ceiling)) - 14;
  const x = Math.max(...ends.map((e) => atX(e.last[0]))) + 8;
  for (const {s, i, y} of ends)
    items.push(
      label(x, y, s.name, {fill: s.color || SERIES[i % SERIES.length], size: 11.5, bold: s.bold}),
    );
}
