// The pattern of a head: zoomed and moved, with the truth drawn on it; and one query of a sentence,
// as arcs to the tokens that it must look at and to those that a head looks at.
import {range} from '../engine/numbers.js';
import {remember} from '../draw/draw.js';
import {digits, matrix, rect, shaded, weightText} from '../draw/charts.js';
import {note, quoted, visible} from '../draw/ui.js';
import {
  app, chosen, example, exampleIndex, go, isStored, noPattern, run, task, trace,
} from '../state/state.js';
import {spokenName} from './task_words.js';

const tokenTexts = (tokens) => Array.from(tokens, (v) => visible(task().tokens[v] ?? String(v)));

/// The tokens of an attention layer's queries and keys in the example shown.
export function tokensOf(m) {
  const shown = example();
  const {kind} = run().attentionLayers[m];
  return remember(shown, kind, () => {
    const source = () =>
      tokenTexts(shown.source).slice(0, shown.sourceLength || shown.source.length);
    const own = () => tokenTexts(shown.tokens).slice(0, shown.length || shown.tokens.length);
    return {
      queries: kind === 'encoder' ? source() : own(), keys: kind === 'self' ? own() : source(),
    };
  });
}

/// The tokens that can be typed: of a source where there is one.
export function typableTokens() {
  const {source, sourceLength, tokens, length} = example();
  return Array.from(source ? source.slice(0, sourceLength) : tokens.slice(0, length));
}

/// The vector that is read at position t, or null where tokens are read.
function vectorAt(t) {
  const {vectors} = example();
  const {features: F} = task();
  return vectors && vectors.subarray(t * F, (t + 1) * F);
}

/// A pattern cut to the positions that count: {values, rows, cols}.
export function patternOf(pass, m, place) {
  const {queries, keys} = tokensOf(m);
  const all = pass.pattern(m, place);
  const rows = queries.length;
  const cols = keys.length;
  const across = pass.attentionLayers[m].keys;
  return remember(all, `map ${rows} ${cols}`, () => {
    if (cols === across) return {values: all.subarray(0, rows * cols), rows, cols};
    const values = new Float32Array(rows * cols);
    for (let t = 0; t < rows; ++t)
      values.set(all.subarray(t * across, t * across + cols), t * cols);
    return {values, rows, cols};
  });
}

export const rowOf = (map, t) => map.values.subarray(t * map.cols, (t + 1) * map.cols);
const largest = (row) => row.reduce((best, v, s) => (v > row[best] ? s : best), 0);

/// The locked cell of a head's pattern, or, where none is, the strongest of its second half, in
/// which queries see many keys: [query, key].
export function lockedCell(head) {
  const map = patternOf(trace(), head.m, head.place);
  let t = app.state.q;
  if (t == null || t >= map.rows) {
    const rows = range(map.rows).slice(Math.floor(map.rows / 2));
    t = rows.reduce((a, b) => (Math.max(...rowOf(map, b)) > Math.max(...rowOf(map, a)) ? b : a));
  }
  const s = app.state.q === t && app.state.k < map.cols ? app.state.k : null;
  return [t, s ?? largest(rowOf(map, t))];
}

/// The rows and columns shown when zoomed: [first query, last, first key, last].
function windowOf(rows, cols) {
  const [, a, b, c, d] = /^(\d+)-(\d+),(\d+)-(\d+)$/.exec(app.state.win || '') || [];
  const bad = a === undefined || Number(b) >= rows || Number(d) >= cols ||
    Number(a) > Number(b) || Number(c) > Number(d);
  return bad ? [0, rows - 1, 0, cols - 1] : [a, b, c, d].map(Number);
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
  const whole = q[1] - q[0] + 1 >= rows && k[1] - k[0] + 1 >= cols;
  return go({win: whole ? null : `${q[0]}-${q[1]},${k[0]}-${k[1]}`});
}

/// Moves the part shown by half its size; false at the edge.
export function panBy(down, right, rows, cols) {
  const [a, b, c, d] = windowOf(rows, cols);
  const move = (first, last, n, by) =>
    Math.max(-first, Math.min(n - 1 - last, Math.ceil((by * (last - first + 1)) / 2)));
  const dq = move(a, b, rows, down);
  const dk = move(c, d, cols, right);
  if (dq || dk) go({win: `${a + dq}-${b + dq},${c + dk}-${d + dk}`});
  return Boolean(dq || dk);
}

/// The sum of a row of a pattern, which shares of attention are taken of: 1 if the function
/// normalises.
function rowSum(map, t) {
  if (run().facts.normalises) return 1;
  return rowOf(map, t).reduce((sum, weight) => sum + weight, 0) || 1;
}

/// The ground truth of each query: its right keys, the attention on them, and whether that is a
/// hit.
function truthRows(map, rel) {
  if (rel < 0) return null;
  const rows = range(map.rows, (t) => example().truth(rel, t));
  if (rows.some((keys) => keys === null)) return null;
  return rows.map((keys, t) => {
    const mass = keys.reduce((sum, s) => sum + map.values[t * map.cols + s], 0) / rowSum(map, t);
    return {keys, mass, hit: mass >= 0.5};
  });
}

function cut(map, [r0, r1, c0, c1]) {
  const rows = r1 - r0 + 1;
  const cols = c1 - c0 + 1;
  if (rows === map.rows && cols === map.cols) return map.values;
  const values = new Float32Array(rows * cols);
  for (let r = 0; r < rows; ++r) values.set(rowOf(map, r0 + r).subarray(c0, c1 + 1), r * cols);
  return values;
}

const rightKeyWords = (rel, hit) =>
  ` · right key of ${spokenName(task().relations[rel].name, task())}, ${hit ? 'found' : 'missed'}`;

/// options: head, rel (the relation whose truth is drawn), title; values for a map that is no
/// pattern of this pass; lock (the head whose locked row is marked); say(query, key).
export function patternPicture(width, {head, lock = head, values, title, rel = -1, say: words}) {
  const {queries, keys} = tokensOf(head.m);
  const map = values || patternOf(trace(), head.m, head.place);
  const shown = windowOf(map.rows, map.cols);
  const [r0, r1, c0, c1] = shown;
  const truth = truthRows(map, rel);
  const left = values ? null : trace().left?.(head.m, head.place);
  const {kind, top, root} = shaded(map);
  const outside = c1 - c0 + 1 < map.cols && ((r) =>
    1 - rowOf(map, r0 + r).subarray(c0, c1 + 1).reduce((a, b) => a + b, 0) / rowSum(map, r0 + r));
  const [locked] = lockedCell(lock);
  const said = (t, s) => {
    const isRight = truth && truth[t].keys.includes(s);
    const found = isRight ? rightKeyWords(rel, truth[t].hit) : '';
    return `query ${t} ${quoted(queries[t])} → key ${s} ${quoted(keys[s])}: ` +
      `${weightText(map.values[t * map.cols + s], 4)}${found}`;
  };
  const isScored = (t) => !truth || truth[t].keys.length > 0;
  const missed = (r) => (isScored(r0 + r) ? Math.max(0, 1 - truth[r0 + r].mass) : 0);
  let rowBar = truth ? missed : outside;
  if (left) rowBar = (r) => left[r0 + r];
  return matrix({
    rowNames: queries.slice(r0, r1 + 1).map((words, i) =>
      isScored(r0 + i) ? `${r0 + i} ${words}` : `(${r0 + i} ${words})`),
    rowFill: (r) => (locked === r0 + r ? 'accent' : 'ink'), first: [r0, c0],
    colNames: keys.slice(c0, c1 + 1), numbers: true, values: cut(map, shown), width, cell: 36,
    kind, top, root, axes: `queries down, keys across${root ? '; shaded by the root' : ''}`,
    rowBar,
    over: (box) => overlay(box, truth, shown),
    vectors: example().vectors && {
      rows: range(r1 - r0 + 1, (r) => vectorAt(r0 + r)),
      cols: range(c1 - c0 + 1, (c) => vectorAt(c0 + c)),
    },
    about: {
      name: `head-${head.at}-example-${exampleIndex()}`, title,
      sentence: patternSentence({map, truth, rel, left, outside, queries, keys, locked}),
    },
    say: (r, c) => (words || said)(r0 + r, c0 + c),
  });
}

/// Outlines on right cells: full where found, dashed where missed; each over a wider one of the
/// paper's colour, so that it can be seen on any cell.
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

/// The meaning of the bars after the rows of a pattern, unless they are those of the truth.
function barSentence({left, outside, truth}) {
  if (left) {
    const share = left.reduce((a, b) => a + b, 0) / left.length;
    return ` Bars: ${digits(100 * share, 2)} % of the attention is on weights too small to be ` +
      'stored.';
  }
  return outside && !truth ? ' Bars: the rest of the row, on keys that are not shown.' : '';
}

function patternSentence({map, truth, rel, left, outside, queries, keys, locked}) {
  const row = rowOf(map, locked);
  const best = largest(row);
  const scored = truth ? truth.filter((one) => one.keys.length) : [];
  const found = scored.filter((one) => one.hit).length;
  const others = found < scored.length ? ', the others missed (dashed)' : '';
  const relationName = truth && spokenName(task().relations[rel].name, task());
  const foundWords = truth
    ? ` ${relationName}: ${found} of ${scored.length} right keys found (outlined)` +
      `${others}; bars: attention elsewhere; (brackets): nothing is asked.`
    : '';
  const barWords = barSentence({left, outside, truth});
  const share = 100 * row[best] / rowSum(map, locked);
  return `Query ${locked} ${quoted(queries[locked])} gives ${digits(share, 3)} % of ` +
    `its attention to key ${best} ${quoted(keys[best])}.${foundWords}${barWords}`;
}

/// Locks the cell of the chosen head's pattern at this row and column of the picture.
export function lockShown(r, c) {
  const {queries, keys} = tokensOf(chosen().m);
  const [r0, , c0] = windowOf(queries.length, keys.length);
  const q = r0 + r;
  const k = c0 + c;
  go(app.state.q === q && app.state.k === k ? {q: null, k: null} : {q, k});
}

export function chosenPicture(width, {rel, title}) {
  const head = chosen();
  if (!head) return note('No head to show.');
  if (!trace()) return noPattern();
  return patternPicture(width, {
    head, rel, title: title || `Head ${head.at}, example ${exampleIndex()}`,
  });
}

export const patternCommand = () =>
  chosen() && !app.state.tokens.length && app.state.step == null &&
  (isStored() ? app.page.facts.command
    : `headlab pattern ${run().name} ${chosen().at} --example ${exampleIndex()}`);

// ---- one query -------------------------------------------------------------------------------

/// The first attention layer that the task's relations speak of.
const askingLayer = () => {
  const layers = run().attentionLayers;
  const first = layers.findIndex(({kind}) => task().relations.some((r) => r.kind === kind));
  return first >= 0 ? first : layers.findIndex(({kind}) => kind !== 'encoder');
};

/// The query with the most right keys; the last of equals.
export function busiestQuery() {
  const {length} = tokensOf(askingLayer()).queries;
  const keysOf = (t) => task().relations.filter((_, r) => example().truth(r, t)?.length).length;
  return range(length).reduce((a, b) => (keysOf(b) >= keysOf(a) ? b : a), 0);
}
