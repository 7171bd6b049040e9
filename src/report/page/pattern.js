// The pattern of a head: zoomed and moved, with the truth drawn on it, and as lines between tokens.
import {range, remember} from './draw.js';
import {digits, label, line, matrix, rect, shortened, small, tableNumber} from './charts.js';
import {note, quoted, visible} from './ui.js';
import {app, chosen, example, exampleIndex, go, noPattern, run, task, trace} from './state.js';

export const tokenTexts = (tokens) =>
  Array.from(tokens, (v) => visible(task().tokens[v] ?? String(v)));

/// The tokens of a module's queries and keys in the example shown.
export function sides(m) {
  const shown = example();
  const {kind} = run().modules[m];
  return remember(shown, kind, () => {
    const source = () =>
      tokenTexts(shown.source).slice(0, shown.sourceLength || shown.source.length);
    const own = () => tokenTexts(shown.tokens).slice(0, shown.length || shown.tokens.length);
    return {
      queries: kind === 'encoder' ? source() : own(), keys: kind === 'self' ? own() : source(),
    };
  });
}

/// A pattern cut to the positions that count: {values, rows, cols}.
export function patternOf(pass, m, place) {
  const {queries, keys} = sides(m);
  const all = pass.pattern(m, place);
  const [rows, cols, across] = [queries.length, keys.length, pass.modules[m].keys];
  if (cols === across)
    return remember(all, 'map', () => ({values: all.subarray(0, rows * cols), rows, cols}));
  return remember(all, `map ${rows} ${cols}`, () => {
    const values = new Float32Array(rows * cols);
    for (let t = 0; t < rows; ++t)
      values.set(all.subarray(t * across, t * across + cols), t * cols);
    return {values, rows, cols};
  });
}

/// The rows and columns shown when zoomed: [first query, last, first key, last].
function windowOf(rows, cols) {
  const [, a, b, c, d] = /^(\d+)-(\d+),(\d+)-(\d+)$/.exec(app.state.win || '') || [];
  if (
    a === undefined ||
    Number(b) >= rows ||
    Number(d) >= cols ||
    Number(a) > Number(b) ||
    Number(c) > Number(d)
  )
    return [0, rows - 1, 0, cols - 1];
  return [a, b, c, d].map(Number);
}

export function zoomBy(factor, at, rows, cols) {
  const [a, b, c, d] = windowOf(rows, cols);
  if (factor === Infinity) return go({win: null});
  const span = (first, last, n, middle) => {
    const size = Math.max(4, Math.min(n, Math.round((last - first + 1) * factor)));
    const start = Math.max(0, Math.min(Math.round(middle - size / 2), n - size));
    return [start, start + size - 1];
  };
  const q = span(a, b, rows, a + (at ? at[0] : (b - a) / 2));
  const k = span(c, d, cols, c + (at ? at[1] : (d - c) / 2));
  return go({
    win:
      q[1] - q[0] + 1 >= rows && k[1] - k[0] + 1 >= cols ? null : `${q[0]}-${q[1]},${k[0]}-${k[1]}`,
  });
}

/// Moves the part shown by half its size; false at the edge.
export function panBy(down, right, rows, cols) {
  const [a, b, c, d] = windowOf(rows, cols);
  const move = (first, last, n, by) =>
    Math.max(-first, Math.min(n - 1 - last, Math.ceil((by * (last - first + 1)) / 2)));
  const [dq, dk] = [move(a, b, rows, down), move(c, d, cols, right)];
  if (dq || dk) go({win: `${a + dq}-${b + dq},${c + dk}-${d + dk}`});
  return Boolean(dq || dk);
}

/// What is true of each query: its gold keys, the attention on them, and whether that is a hit.
function truthRows(m, map, rel) {
  if (rel < 0) return null;
  const rows = range(map.rows, (t) => example().gold(rel, t));
  if (rows.some((keys) => keys === null)) return null;
  return rows.map((keys, t) => {
    const mass = keys.reduce((sum, s) => sum + map.values[t * map.cols + s], 0);
    return {keys, mass, hit: mass >= 0.5};
  });
}

export function patternPicture(
  width,
  {head, pass = trace(), values, title, kind, top, rel = -1, say: words},
) {
  const {queries, keys} = sides(head.m);
  const map = values || patternOf(pass, head.m, head.place);
  const [r0, r1, c0, c1] = windowOf(map.rows, map.cols);
  const [rows, cols] = [r1 - r0 + 1, c1 - c0 + 1];
  let shown = map.values;
  if (rows < map.rows || cols < map.cols) {
    shown = new Float32Array(rows * cols);
    for (let r = 0; r < rows; ++r)
      shown.set(
        map.values.subarray((r0 + r) * map.cols + c0, (r0 + r) * map.cols + c1 + 1),
        r * cols,
      );
  }
  const truth = kind === 'sign' ? null : truthRows(head.m, map, rel);
  const left = values ? null : pass.left?.(head.m, head.place);
  const unstored = left
    ? ` Only the largest weights of each row are stored; ` +
      `${digits((100 * left.slice(0, map.rows).reduce((a, b) => a + b, 0)) / map.rows, 2)} % of ` +
      `the attention is not (bars).`
    : '';
  const name = (t, list) => `${t} ${list[t]}`;
  const value = (t, s) => map.values[t * map.cols + s];
  return matrix({
    rowNames: queries
      .slice(r0, r1 + 1)
      .map((_, i) =>
        truth && !truth[r0 + i].keys.length ? `(${name(r0 + i, queries)})` : name(r0 + i, queries),
      ),
    rowFill: (r) => (app.state.q.includes(r0 + r) ? 'accent' : 'ink'),
    first: [r0, c0],
    colNames: keys.slice(c0, c1 + 1).map((_, i) => name(c0 + i, keys)),
    values: shown, kind, top, width, cell: 36,
    axes: `queries down, keys across${!kind && Math.max(rows, cols) > 64 ? '; shaded by the ' +
      'root' : ''}`,
    rowBar: left
      ? (r) => left[r0 + r]
      : truth && ((r) => (truth[r0 + r].keys.length ? Math.max(0, 1 - truth[r0 + r].mass) : 0)),
    over: (box) => overlay(box, truth, [r0, r1, c0, c1]),
    about: {
      name: `head-${head.at}-example-${exampleIndex()}`, title,
      sentence: patternSentence(map, queries, keys, truth, rel, kind) + unstored,
    },
    say: words
      ? (r, c) => words(r0 + r, c0 + c)
      : (r, c) => {
          const [t, s] = [r0 + r, c0 + c];
          const gold =
            truth && truth[t].keys.includes(s)
              ? ` · gold ${task().relations[rel].name}, ${truth[t].hit ? 'hit' : 'missed'}`
              : '';
          return `query ${t} ${quoted(queries[t])} → key ${s} ${quoted(keys[s])}: ` +
            `${digits(value(t, s))}${gold}`;
        },
  });
}

/// Outlines on gold cells: full for a hit, dashed for a miss; each over a wider one of the paper's
/// colour, so that it can be seen on any cell.
function overlay(box, truth, [r0, r1, c0, c1]) {
  const items = [];
  for (let t = r0; truth && t <= r1; ++t)
    for (const s of truth[t].keys) {
      if (s < c0 || s > c1) continue;
      const [x, y, w, h] = box(t - r0, s - c0);
      const pad = w > 8 ? 2 : 0;
      const at = [x + pad, y + pad, Math.max(w - 2 * pad, 3), Math.max(h - 2 * pad, 3)];
      items.push(
        rect(...at, {stroke: 'paper', thick: w > 8 ? 4 : 2}),
        rect(...at, {
          stroke: truth[t].hit ? 'ink' : 'bad', thick: w > 8 ? 2 : 1,
          dash: truth[t].hit ? [] : [4, 3],
        }),
      );
    }
  return items;
}

function patternSentence(map, queries, keys, truth, rel, kind) {
  const locked = app.state.q.filter((t) => t < map.rows);
  const asked = truth ? truth.filter((row) => row.keys.length) : [];
  const legend = truth
    ? ` ${task().relations[rel].name}: ${asked.filter((row) => row.hit).length} of ` +
      `${asked.length} questions hit (full outline)${asked.every((row) => row.hit) ? '' : ', ' +
      'the others missed (dashed)'}; bars: attention elsewhere; (brackets): no question.`
    : '';
  if (kind === 'sign') return 'Blue where the second is higher, orange where the first is.';
  if (locked.length) {
    const row = rowOf(map, locked);
    const best = row.indexOf(Math.max(...row));
    const sum = row.reduce((a, b) => a + b, 0);
    return `Locked: ${locked.map((t) => `query ${t} ${quoted(queries[t])}`).join(' and ')}: ` +
      `${digits((100 * row[best]) / (sum || 1), 3)} % of the attention is on key ${best} ` +
      `${quoted(keys[best])}; ${keys.length - 1} other keys share the rest.${legend}`;
  }
  const mean = remember(map, 'mean', () => {
    let sum = 0;
    for (let t = 0; t < map.rows; ++t)
      sum += map.values
        .subarray(t * map.cols, (t + 1) * map.cols)
        .reduce((a, b) => Math.max(a, b), 0);
    return sum / (map.rows || 1);
  });
  return `On average ${digits(100 * mean, 3)} % of a query's attention is on its strongest ` +
    `key.${legend}`;
}

/// The attention of one query, or of several summed or averaged.
export function rowOf(map, locked) {
  const row = new Float32Array(map.cols);
  for (const t of locked)
    for (let s = 0; s < map.cols; ++s)
      row[s] += map.values[t * map.cols + s] / (app.state.sum === 'mean' ? locked.length : 1);
  return row;
}

/// Locks the cell of the chosen head's pattern that stands at this row and column of the picture.
export function lockShown(r, c, event) {
  const {queries, keys} = sides(chosen().m);
  const [r0, , c0] = windowOf(queries.length, keys.length);
  lockQuery(r0 + r, c0 + c, event.shiftKey);
}

/// The chosen head's pattern on the example, where there is one.
export function chosenPicture(width, {title = `Head ${chosen()?.at}, example ` +
  `${exampleIndex()}`, rel}) {
  if (!chosen()) return note('No head to show.');
  return trace() ? patternPicture(width, {head: chosen(), rel, title}) : noPattern();
}

/// The command that draws the pattern in a terminal.
export const patternCommand = (key = 'h') => () =>
  chosen(key) && !Object.keys(app.state.edit).length &&
  `headlab heads ${run().name} --pattern ${chosen(key).at} --example ${exampleIndex()}`;

export function lockQuery(t, s, add) {
  const {q} = app.state;
  if (add)
    return go({
      q: q.includes(t) ? q.filter((v) => v !== t) : [...q, t].sort((a, b) => a - b),
      k: s,
    });
  return go(q.length === 1 && q[0] === t && app.state.k === s ? {q: [], k: null} : {q: [t], k: s});
}

/// Two rails of tokens with a line for each weight; faint ones are left out, and how much that was
/// is said.
export function railPicture(width, head) {
  const {queries, keys} = sides(head.m);
  const map = patternOf(trace(), head.m, head.place);
  if (Math.max(map.rows, map.cols) > 64)
    return note(
      'Lines between tokens are drawn for at most 64 tokens; the pattern above has all of them.',
    );
  const locked = app.state.q.filter((t) => t < map.rows);
  const at = (i, n) => 24 + ((width - 48) * (i + 0.5)) / n;
  const [top, bottom] = [28, 150];
  const row = rowOf(map, locked);
  const items = [];
  let [kept, total] = [0, 0];
  for (const t of locked.length ? locked : queries.keys()) {
    const weights = map.values.subarray(t * map.cols, (t + 1) * map.cols);
    let mass = 0;
    for (const s of range(map.cols).sort((a, b) => weights[b] - weights[a])) {
      const w = weights[s];
      if (mass >= app.state.mass || w < 0.01) break;
      mass += w;
      items.push(
        line(
          [[at(t, map.rows), bottom - 10], [at(s, map.cols), top + 10]],
          {stroke: 's0', thick: 0.5 + 3.5 * w, alpha: Math.max(0.15, Math.min(1, w))},
        ),
      );
    }
    kept += mass;
    total += weights.reduce((sum, w) => sum + w, 0);
  }
  const room = (width - 48) / Math.max(map.rows, map.cols);
  keys.forEach((words, s) => {
    if (locked.length)
      items.push(
        rect(at(s, map.cols) - room / 2 + 1, 2, room - 2, 18, {
          fill: 's0', alpha: Math.min(0.85, row[s]),
        }),
      );
    items.push(
      label(at(s, map.cols), 11, shortened(words, room, 12, true), {anchor: 'middle', mono: true}),
    );
  });
  queries.forEach((words, t) =>
    items.push(
      label(at(t, map.rows), bottom + 8, shortened(words, room, 12, true), {
        anchor: 'middle', mono: true, bold: locked.includes(t),
        fill: locked.includes(t) ? 'accent' : 'ink',
      }),
    ),
  );
  items.push(small(2, 11, 'k'), small(2, bottom + 8, 'q'));
  return {
    name: `lines-${head.at}`, title: 'Who looks at whom', width, height: bottom + 22, items,
    sentence: `${locked.length ? 'The locked queries' : 'All queries'} (below) and their keys ` +
      `(above); weights are drawn until ${Math.round(100 * app.state.mass)} % of a query's ` +
      `attention is, so ${digits(100 * (1 - kept / (total || 1)), 2)} % is left out.`,
    table: () => ({
      head: ['query', 'token', 'key', 'token', 'weight'],
      rows: queries.flatMap((q, t) => {
        const v = Array.from(map.values.subarray(t * map.cols, (t + 1) * map.cols));
        const s = v.indexOf(Math.max(...v));
        return [[t, q, s, keys[s], tableNumber(v[s])]];
      }),
    }),
    marks: {
      rows: 1, cols: () => map.rows,
      box: (r, t) => [at(t, map.rows) - room / 2, bottom - 2, room, 20],
      find: (x) =>
        x > 24 && x < width - 24 ? [0, Math.floor(((x - 24) / (width - 48)) * map.rows)] : null,
      text: (r, t) => `query ${t} ${quoted(queries[t])}; Enter locks it`,
    },
  };
}
