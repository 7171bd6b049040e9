// The page's charts as lists of items (draw.js paints them): a matrix (patterns, distances, heads by
// relations), lines with dots and intervals, and bars with intervals. Each carries
//
//   name, title, sentence (what a reader who does not see it is told), width, height, items,
//   table()  the numbers behind it, as {head, rows}
//   marks    {rows, cols(r), box(r, c), text(r, c), find(x, y)}: what pointer and arrow keys visit
//
// so that readout, keyboard, table and export work the same for all of them.
const rect = (x, y, w, h, more) => ({type: 'rect', x, y, w, h, ...more});
const line = (points, more) => ({type: 'line', points, stroke: 'ink', ...more});
/// A line that can be seen on any colour.
const onPaper = (points, thick, around) => [
  line(points, {stroke: 'paper', thick: around}), line(points, {thick}),
];
const label = (x, y, words, more) => ({
  type: 'text', x, y, text: words, size: 12, fill: 'ink', ...more,
});

const small = (x, y, words, more) => label(x, y, words, {size: 11, fill: 'muted', ...more});

/// The width of a text, near enough without a document; a wide script counts double.
function textWidth(words, size = 12, mono = false) {
  let units = 0;
  for (const c of words) units += c.codePointAt(0) >= 0x1100 ? 1.7 : mono ? 1.02 : 1.03;
  return units * size * 0.6;
}

function shortened(words, room, size, mono) {
  const characters = [...words];
  while (characters.length > 1 && textWidth(characters.join(''), size, mono) > room) {
    characters.pop();
    characters[characters.length - 1] = '…';
  }
  return characters.join('');
}

/// Round numbers between two values, about `wanted` of them.
function ticks(low, high, wanted = 5) {
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
function digits(v, places = 4) {
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
function matrix(options) {
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

function tableNumber(v) {
  return v == null || !Number.isFinite(v) ? '' : Number(v.toPrecision(6));
}

/// Horizontal bars from zero. rows: [{name, value, low, high, tick, color, strong}]; a tick is a
/// value to compare with, such as chance.
function bars({about, width, rows, unit, low, high, tickName, say}) {
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
          `${rows[r].name}: ${digits(rows[r].value)} ${unit}${Number.isFinite(rows[r].low) ? ` (${digits(rows[r].low)} to ${digits(rows[r].high)})` : ''}${Number.isFinite(rows[r].tick) ? `; ${tickName} ${digits(rows[r].tick)}` : ''}`),
    },
  };
}
