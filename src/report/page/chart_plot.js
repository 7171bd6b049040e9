// Lines of points with intervals, on plain or logarithmic axes: charts.js says what a chart carries.

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

/// Lines of points. series: [{name, points: [[x, y, low, high]], color, dash, shape, line, dots}];
/// x, y: {label, log, low, high, names}; lines: [{x, name}] are marks across the chart.
function plot({about, width, height = 300, series, x, y, lines = [], names = true, say}) {
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
          `${series[r].name}: ${x.label} ${digits(series[r].points[c][0])}, ${y.label} ${digits(series[r].points[c][1])}${intervalText(series[r].points[c])}`),
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
