// Lines of points with intervals, on plain or logarithmic axes, as a picture (charts.js says what a
// picture carries). src/app/report/plot.cc draws the same pictures in the program.
import {range} from '../engine/numbers.js';
import {DASHES, SERIES, SHAPES} from './draw.js';
import {digits, extent, label, line, small, tableNumber, textWidth, ticks} from './charts.js';

/// The mark whose box lies nearest to a point, within 24 px.
function nearestMark(boxes) {
  return (x, y) => {
    let best = 24 ** 2;
    let found = null;
    boxes.forEach((row, r) =>
      row.forEach(([bx, by, bw, bh], c) => {
        const dx = x - bx - bw / 2;
        const dy = Math.max(0, Math.abs(y - by - bh / 2) - bh / 2);
        if (dx * dx + dy * dy < best) [best, found] = [dx * dx + dy * dy, [r, c]];
      }),
    );
    return found;
  };
}

/// 1, 2 and 5 times the powers of ten whose logarithms lie from a to b.
function logTicks(a, b) {
  const powers = range(Math.floor(b) - Math.floor(a) + 1, (i) => 10 ** (Math.floor(a) + i));
  const found = powers.flatMap((power) => [1, 2, 5].map((m) => m * power))
    .filter((v) => Math.log10(v) >= a - 1e-9 && Math.log10(v) <= b + 1e-9);
  return found.length ? found : [10 ** a, 10 ** b];
}

/// Returns the scale of an axis from `from` to `to`: positions of values, ticks, and the ticks with
/// numbers, if a number needs `room`, or as much as the last one. Same as src/app/report/plot.cc.
function scaleOf(axis, values, from, to, room) {
  const {log} = axis;
  const measure = (v) => (log ? Math.log10(Math.max(v, 1e-300)) : v);
  const known = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
  const emptyAxis = [log ? 0.1 : 0, 1];
  const ends = known.length ? extent(known) : emptyAxis;
  let a = measure(axis.low ?? ends[0]);
  let b = measure(axis.high ?? ends[1]);
  if (b - a < 1e-12) [a, b] = [a - 0.5, b + 0.5];
  const pad = 0.04 * (b - a);
  [a, b] = [axis.low == null ? a - pad : a, axis.high == null ? b + pad : b];
  const at = (v) => from + ((Math.min(Math.max(measure(v), a), b) - a) / (b - a)) * (to - from);
  const roundTicks = log ? logTicks : ticks;
  const marks = axis.ticks?.length ? axis.ticks : roundTicks(a, b);
  const powers = marks.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
  const each = room || textWidth(digits(marks.at(-1)), 11) + 8;
  const few = log && marks.length * each > Math.abs(to - from) && powers.length > 1;
  const name = axis.label + (log ? ' (log scale)' : '');
  return {at, marks, numbered: few ? powers : marks, name, zero: !log && a < 0 && b > 0};
}

/// The axes of a plot, whose frame lies so: rules, ticks, numbers, names.
function axisItems({left, top, last, bottom}, sx, sy) {
  const tick = (points) => line(points, {stroke: 'ink'});
  return [
    ...sy.numbered.flatMap((v) => [
      line([[left, sy.at(v)], [last, sy.at(v)]], {stroke: 'rule'}),
      small(left - 7, sy.at(v), digits(v), {anchor: 'end'}),
    ]),
    ...sy.marks.map((v) => tick([[left - 4, sy.at(v)], [left, sy.at(v)]])),
    ...sx.numbered.map((v) => small(sx.at(v), bottom + 13, digits(v), {anchor: 'middle'})),
    ...sx.marks.map((v) => tick([[sx.at(v), bottom], [sx.at(v), bottom + 4]])),
    ...(sy.zero ? [line([[left, sy.at(0)], [last, sy.at(0)]], {stroke: 'edge'})] : []),
    tick([[left, top], [left, bottom], [last, bottom]]),
    label((left + last) / 2, bottom + 31, sx.name, {anchor: 'middle', size: 11}),
    label(9, (top + bottom) / 2, sy.name, {anchor: 'middle', turn: -90, size: 11}),
  ];
}

/// Lines across a chart with their names above the frame: from the right to the left, each above
/// those to its right that it reaches, so that no line goes through a name.
function placesAcross(lines, at, width) {
  const places = [];
  for (const one of [...lines].sort((p, q) => q.x - p.x)) {
    const from = at(one.x);
    const wide = textWidth(one.name, 11);
    const start = Math.min(from + 3, width - wide);
    const rows = places.map((p) => (p.from < start + wide + 8 ? p.row + 1 : 0));
    places.unshift({...one, from, start, row: Math.max(0, ...rows)});
  }
  return places;
}

const acrossItems = (places, top, bottom) => places.flatMap(
  ({name, from, start, row, strong, color = strong ? 'accent' : 'muted'}) => {
    const y = top - 8 - 14 * row;
    const look = strong ? {thick: 2} : {dash: [2, 3]};
    return [
      line([[from, y - 5], [from, bottom]], {stroke: color, ...look}),
      small(start, y, name, {fill: color}),
    ];
  });

/// The marks of a series at places [x, y, low, high]: its line, its intervals, with an arrow where
/// they go on below `floor`, and its dots.
function markItems(s, i, places, floor = Infinity) {
  const kind = s.like ?? i;
  const {color = SERIES[kind % SERIES.length], shape = SHAPES[kind % SHAPES.length], r = 3.2} = s;
  const look = {stroke: color, thick: s.thick ?? 1.8, dash: DASHES[kind % DASHES.length]};
  const bar = {stroke: color, thick: 1.5};
  const fill = s.hollow || shape === 'cross' ? {stroke: color, thick: 1.6} : {fill: color};
  return [
    s.line !== false && places.length > 1 && line(places.map(([x, y]) => [x, y]), look),
    ...places.flatMap(([x, y, low, high]) => [
      low != null && line([[x, Math.min(low, floor)], [x, high]], bar),
      low >= floor - 1e-9 && line([[x - 3, floor - 5], [x, floor], [x + 3, floor - 5]], bar),
      r > 0 && {type: 'dot', x, y, r, shape, ...fill},
    ]),
  ].filter(Boolean);
}

/// The names of the series one after the other, in as many rows as they need, with their marks.
function legendItems(series, left, width) {
  let x = left;
  let row = 0;
  const items = series.flatMap((s, i) => {
    if (!s.name) return [];
    const wide = 46 + textWidth(s.name, 11);
    if (x > left && x + wide > width) [x, row] = [left, row + 1];
    const from = x;
    const y = 8 + 14 * row;
    const floor = s.hollow ? y + 6 : Infinity;
    x += wide;
    return [
      ...markItems({...s, r: 0}, i, [[from, y], [from + 26, y]]),
      ...(s.bar ? markItems({color: 'ink', r: 0}, i, [[from + 13, y, y + 6, y - 6]], floor) : []),
      ...markItems(s, i, [[from + 13, y]]),
      label(from + 32, y, s.name, {size: 11, bold: s.bold}),
    ];
  });
  return {items, high: items.length ? 14 * (row + 1) : 0};
}

/// Lines of points, drawn as src/app/report/plot.cc draws them. series: [{name, points: [[x, y,
/// low, high]], line, hollow, thick, r, like, bar, color, shape, bold}]; one without points is
/// in the legend alone. x, y: {label, log, low, high, ticks}; lines: [{x, name, color, strong}] go
/// across the chart.
export function plot({about, width, height, series, x, y, lines = [], say}) {
  const all = series.flatMap((s) => s.points);
  const ys = all.flatMap((p) => [p[1], p[2] ?? p[1], p[3] ?? p[1]]);
  const left = 56;
  const last = width - 12;
  const sx = scaleOf(x, all.map((p) => p[0]), left, last);
  const across = placesAcross(lines, sx.at, width);
  const names = legendItems(series, left, width);
  const top = 10 + names.high + 14 * Math.max(0, ...across.map((p) => p.row + 1));
  const high = Math.max(height || Math.min(360, 0.62 * width) + 20, top + 140);
  const bottom = high - 40;
  const sy = scaleOf(y, ys, bottom, top, 14);
  const barred = series.filter((s) => s.like == null && s.points.some((p) => p[2] != null)).length;
  const beside = (i) => (barred < 2 ? 0 : 4 * (i - (barred - 1) / 2));
  const place = (i) => ([px, ...rest]) => [sx.at(px) + beside(i), ...rest.map(sy.at)];
  const drawn = series.map((s, i) => ({s, i, places: s.points.map(place(s.like ?? i))}))
    .filter(({places}) => places.length);
  const box = (r, c) => [drawn[r].places[c][0] - 5, drawn[r].places[c][1] - 5, 10, 10];
  const point = (r, c) => drawn[r].s.points[c];
  const items = [
    ...names.items, ...axisItems({left, top, last, bottom}, sx, sy),
    ...acrossItems(across, top, bottom),
    ...drawn.flatMap(({s, i, places}) => markItems(s, i, places, bottom)),
  ];
  return {
    ...about, width, height: high, items,
    table: () => ({
      head: ['series', x.label, y.label, 'low', 'high'],
      rows: drawn.flatMap(({s}) =>
        s.points.map((p) => [s.name, ...range(4, (i) => tableNumber(p[i]))])),
    }),
    marks: {
      rows: drawn.length, cols: (r) => drawn[r].places.length, box, point,
      find: nearestMark(drawn.map(({places}, r) => places.map((_, c) => box(r, c)))),
      text: say ||
        ((r, c) => pointText(drawn[r].s.name, {x: x.label, y: y.label}, point(r, c))),
    },
  };
}

function pointText(name, labels, [x, y, low, high]) {
  const point = `${labels.x} ${digits(x)}, ${labels.y} ${digits(y)}`;
  const interval = low == null ? '' : ` (${digits(low)} to ${digits(high)})`;
  return (name ? `${name}: ` : '') + point + interval;
}

/// A plot that the program has drawn as well, from what it drew (Picture::data): the same picture
/// at this width. `lines` are what a reader adds. The sentence is about the first plot.
export function programPlot({title, sentence, plots}, width, {name, lines = [], i = 0}) {
  const one = plots[i];
  const about = {name, title: one.title || title, sentence: i > 0 ? '' : sentence};
  return plot({...one, width, lines: [...one.lines, ...lines], about});
}
