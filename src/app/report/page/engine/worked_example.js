// The computations of the lessons, without any document: attention in heads of worlds small
// enough to do by hand or of a run, and statistics of patterns. A world is {name, tokens, q, k,
// v: [T][d], heads, W_O}; the program embeds the worlds (lab/heads/lessons/lessons.h), a run
// becomes one by worldOfRun(). Numbers are kept in double. Read next: attend.js.
import {attentionFunctionOf, attentionFunctions, positionKinds} from './kinds.js';
import {keysSeen} from './model.js';
import {entropyOfRow, jsDistance, randomFrom, range, sharesOf} from './numbers.js';

export const columns = (M, from, to) => M.map((row) => row.slice(from, to));
export const times = (A, B) =>
  A.map((row) => B[0].map((_, j) => row.reduce((sum, v, i) => sum + v * B[i][j], 0)));
export const identity = (n) => range(n, (i) => range(n, (j) => Number(i === j)));
export const l2 = (M) => Math.sqrt(M.flat().reduce((sum, v) => sum + v * v, 0));
export const minus = (A, B) => A.map((row, i) => row.map((v, j) => v - B[i][j]));

/// How the world itself is computed: the positions of all switches at the start.
export function usualSwitches(world) {
  const name = world.function === 'softmax_composed' ? 'softmax' : world.function ?? 'softmax';
  return {heads: world.heads, mask: world.masked ?? false, root: true, name};
}

/// The keys that query t sees: from ... to - 1. The world's own keys are those of its task.
export function keysOfQuery(world, t, mask) {
  const all = world.k.length;
  const isOwn = Boolean(mask) === Boolean(world.masked);
  if (isOwn && world.visible) return [world.from ? world.from[t] : 0, world.visible[t]];
  return [0, mask ? Math.min(t + 1, all) : all];
}

/// Returns how much one position of distance lowers the scores of head h of H.
function slopeOf(world, h, H) {
  if (!world.slope) return 0;
  return H === world.heads ? world.slopes[h] : world.slope(h, H);
}

/// The dot products of one head, its scores, and those that the mask leaves.
function scoresOfHead(world, {q, k}, {slope, mask, root}) {
  const D = q[0].length;
  const dots = times(q, k[0].map((_, i) => k.map((row) => row[i])));
  const scores = dots.map((row, t) => row.map((dot, s) =>
    dot / (root ? Math.sqrt(D) : 1) - slope * Math.abs(t - s)));
  const masked = scores.map((row, t) => {
    const [from, to] = keysOfQuery(world, t, mask);
    return row.map((score, s) => (s >= from && s < to ? score : -Infinity));
  });
  return {dots, scores, masked};
}

function weightsOf(world, masked, {mask, name}) {
  return masked.map((row, t) => {
    const [from, to] = keysOfQuery(world, t, mask);
    const weights = row.map((score) => (score === -Infinity ? 0 : score));
    attentionFunctions[name].weigh(weights, from, to);
    return weights;
  });
}

/// All matrices of head h of a world under these switches; a head is floor(d / heads) wide. All
/// lessons compute attention by this function.
export function headOfWorld(world, h, switches = usualSwitches(world)) {
  const {heads: H} = switches;
  const [D, Dv] = [world.q, world.v].map(([row]) => Math.floor(row.length / H));
  const [q, k] = [world.q, world.k].map((M) => columns(M, h * D, (h + 1) * D));
  const v = columns(world.v, h * Dv, (h + 1) * Dv);
  const slope = slopeOf(world, h, H);
  const made = scoresOfHead(world, {q, k}, {...switches, slope});
  const weights = weightsOf(world, made.masked, switches);
  return {q, k, v, ...made, weights, z: times(weights, v), D, Dv, slope};
}

/// A world in H heads: [{q, k, v, dots, scores, weights, z}].
export const headsOfWorld = (world, H = world.heads) =>
  range(H, (h) => headOfWorld(world, h, {...usualSwitches(world), heads: H}));

export const besideEachOther = (heads) =>
  heads[0].z.map((_, t) => heads.flatMap((head) => head.z[t]));

/// The loss of output if head h is ablated: z_h W_O,h, in length over all tokens.
export function changeWhenAblated(heads, h, W_O = null) {
  const ablated = heads.map((head, i) => ({
    z: head.z.map((row) => row.map((v) => (i === h ? v : 0))),
  }));
  const part = besideEachOther(ablated);
  return l2(W_O ? times(part, W_O) : part);
}

/// Mean entropy of the rows of a pattern in nats, and the share of the way from ln n to 0.
export const entropyOf = (weights) =>
  weights.reduce((sum, row) => sum + entropyOfRow(row), 0) / weights.length;
export const focusOf = (weights) => 1 - entropyOf(weights) / Math.log(weights[0].length);
export const isUniform = (row) => Math.max(...row) - Math.min(...row) < 1e-12;

/// Mean Jensen-Shannon distance of the rows of each two patterns; 0 for fewer than two.
export function diversityOf(patterns) {
  let sum = 0;
  let count = 0;
  patterns.forEach((a, i) => patterns.slice(i + 1).forEach((b) =>
      a.forEach((row, t) => {
        sum += jsDistance(row, b[t]);
        ++count;
      }),
    ),
  );
  return count ? sum / count : 0;
}

const rowsOfMatrix = (values, count, width) =>
  range(count, (t) => Array.from(values.subarray(t * width, (t + 1) * width)));

/// The input of an attention layer, its weights and biases, with shared columns of keys and values
/// repeated for each head, and what else decides its scores: names of fields as in a world.
function weightsOfLayer(attention, n, S) {
  const {layer, model, H, slopes} = attention;
  const {dHead: D, dValue: Dv, kvHead, kvBlocks} = layer;
  const {C, config} = model;
  const {slope, turns} = positionKinds[config.positions];
  const tensor = (name) => model.tensors[`${layer.name}.${name}`];
  const spread = (row, each) => kvHead.flatMap((kv) => row.slice(kv * each, (kv + 1) * each));
  const shared = (name, each) =>
    rowsOfMatrix(tensor(name), C, kvBlocks.length * each).map((row) => spread(row, each));
  const bias = (name) => tensor(name) && Array.from(tensor(name));
  const sharedBias = (name, each) => tensor(name) && spread(Array.from(tensor(name)), each);
  return {
    x: rowsOfMatrix(attention.input, n, C), inputs: rowsOfMatrix(attention.memory, S, C),
    W_Q: rowsOfMatrix(tensor('W_Q'), C, H * D), W_K: shared('W_K', D), W_V: shared('W_V', Dv),
    W_O: rowsOfMatrix(tensor('W_O'), H * Dv, C), b_Q: bias('b_Q'), b_K: sharedBias('b_K', D),
    b_V: sharedBias('b_V', Dv), b_O: bias('b_O'), slopes, slope: slopes && slope,
    isRotated: Boolean(turns) && layer.kind !== 'cross', function: attentionFunctionOf(config),
  };
}

/// q, k, v and the weights of an attention layer of the run on one example as a world: its first
/// queries, so that they can be read, and all keys that these see, up to `mostKeys`; `isCut` if
/// there are more. Keys that are shared are repeated for each head that reads them.
export function worldOfRun(trace, m, tokens, {most = 12, mostKeys = 48} = {}) {
  const attention = trace.attentionLayers[m];
  const {layer, H} = attention;
  const {dHead: D, dValue: Dv, kvHead, kvBlocks} = layer;
  const n = Math.min(tokens.queries.length, most);
  const seen = range(n, (t) => keysSeen(trace.model.run, m, trace.example, t));
  const needed = Math.max(Math.min(tokens.keys.length, most), ...seen.map(({to}) => to));
  const S = Math.min(needed, mostKeys);
  const spread = (values, each) => rowsOfMatrix(values, S, kvBlocks.length * each)
    .map((row) => kvHead.flatMap((kv) => row.slice(kv * each, (kv + 1) * each)));
  return {
    ...weightsOfLayer(attention, n, S), masked: layer.kind === 'self' && trace.model.task.causal,
    name: 'run', tokens: tokens.queries.slice(0, n), keys: tokens.keys.slice(0, S), heads: H,
    names: layer.heads.map((original) => `${m}.${original}`), isCut: needed > S,
    q: rowsOfMatrix(attention.q, n, H * D), k: spread(attention.k, D), v: spread(attention.v, Dv),
    from: seen.map(({from}) => Math.min(S, from)), visible: seen.map(({to}) => Math.min(S, to)),
  };
}

/// Numbers of attention with heads of width floor(d / H). Either {error} or the matrices [{name,
/// rows, cols, count}], the sum, and a note where H does not divide d.
export function attentionSizes({d, H, bias = true}) {
  const whole = (name, v, most) => Number.isInteger(v) && v >= 1 && v <= most ? ''
    : `${name} must be a whole number from 1 to ${most}.`;
  const error = whole('d', d, 65536) || whole('H', H, 1024);
  if (error) return {error};
  const dk = Math.floor(d / H);
  if (dk < 1) return {error: `floor(${d} / ${H}) = 0: ${H} heads leave no column for each.`};
  const matrices = [['W_Q', d, H * dk], ['W_K', d, H * dk], ['W_V', d, H * dk], ['W_O', H * dk, d]]
    .map(([name, rows, cols]) => ({name, rows, cols, count: rows * cols + (bias ? cols : 0)}));
  const note = d % H === 0 ? ''
    : `${d} / ${H} is not a whole number. PyTorch's MultiheadAttention refuses it; here a head ` +
      `is floor(${d} / ${H}) = ${dk} wide, and ${H} heads fill ${H * dk} of ${d} columns.`;
  return {matrices, dk, total: matrices.reduce((sum, x) => sum + x.count, 0), note};
}

// ---- patterns to know ------------------------------------------------------------------------

/// The weight of key s for query t in a known pattern {name, rule, from, to} of
/// src/lab/heads/scores/score_table.cc, before the row is divided by its sum over the
/// keys that the query sees.
const RULES = {
  near: ({from, to}, t, s) => (from <= s - t && s - t <= to ? 1 / (1 + Math.abs(s - t)) : 0),
  key: ({from}, t, s) => Number(s === from),
  repeat: ({from}, t, s, tokens) => Number(s >= from && s - from !== t &&
    tokens[s - from] === tokens[t]),
  uniform: () => 1,
};
const UNIFORM = {name: 'uniform', rule: 'uniform'};

/// The rows of a known pattern; a row is 0 where the pattern says nothing.
function knownPattern(pattern, tokens, causal) {
  return tokens.map((_, t) => sharesOf(tokens.map((__, s) =>
    (causal && s > t ? 0 : RULES[pattern.rule](pattern, t, s, tokens)))));
}

/// The queries of which a pattern speaks, of those that see two keys or more.
const scoredQueries = (ideal, causal) => range(ideal.length).filter((t) =>
  (causal ? t : ideal.length - 1) > 0 && ideal[t].some((v) => v > 0));

/// The patterns that say something of these tokens, and uniform attention.
export const patternsOf = (known, tokens, causal) => [...known, UNIFORM]
    .filter((one) => scoredQueries(knownPattern(one, tokens, causal), causal).length);

/// Returns the distance of weights from each of these patterns (mean Jensen-Shannon distance of the
/// rows that the pattern defines), that of uniform attention, and the first as a share of the
/// second: [{name, ideal, distance, uniform, share}].
export function distancesFromKnown(known, weights, tokens, causal = false) {
  const even = knownPattern(UNIFORM, tokens, causal);
  return patternsOf(known, tokens, causal).map((pattern) => {
    const {name} = pattern;
    const ideal = knownPattern(pattern, tokens, causal);
    const queries = scoredQueries(ideal, causal);
    const mean = (rows) =>
      queries.reduce((sum, t) => sum + jsDistance(rows[t], ideal[t]), 0) / queries.length;
    const distance = mean(weights);
    const uniform = mean(even);
    return {name, ideal, distance, uniform, share: distance / uniform};
  });
}

/// The name of the pattern that weights resemble: among the patterns from which they are less than
/// half of the distance of uniform attention, the one with the smallest share; else uniform, if
/// they are nearer than .2; else ''.
export function likeOf(distances) {
  const others = distances.filter((x) => x.name !== 'uniform' && x.share < 0.5);
  if (others.length) return others.reduce((a, b) => (b.share < a.share ? b : a)).name;
  return distances.find((x) => x.name === 'uniform').distance < 0.2 ? 'uniform' : '';
}

/// A head around a known pattern: .85 of each row on it, the rest uniform, and noise.
export function simulated(pattern, tokens, {random, causal = false}) {
  return knownPattern(pattern, tokens, causal).map((ideal, t) => {
    const n = causal ? t + 1 : tokens.length;
    const base = (v) => (ideal.some((w) => w > 0) ? 0.85 * v + 0.15 / n : 1 / n);
    return sharesOf(ideal.map((v, s) => (s < n ? base(v) * Math.exp(0.5 * (random() - 0.5)) : 0)));
  });
}

/// Heads that attend at random, scored on a truth that has nothing to do with them: the lift of the
/// best of them, and how often the best of as many reaches it when the truth is drawn again.
export function controlExperiment(seed, heads = 8, n = 12, draws = 200) {
  const random = randomFrom(seed);
  const score = () => Math.exp(2.5 * (random() + random() + random() - 1.5));
  const patterns = range(heads, () => range(n, () => sharesOf(range(n, score))));
  const truth = () => range(n, () => Math.floor(random() * n));
  const lifts = (keys) => patterns.map(
      (rows) => (rows.reduce((sum, row, t) => sum + row[keys[t]], 0) / n - 1 / n) / (1 - 1 / n),
    );
  const found = lifts(truth());
  const best = Math.max(...found);
  const others = range(draws, () => Math.max(...lifts(truth())));
  return {
    lifts: found, best, head: found.indexOf(best), others,
    p: (1 + others.filter((v) => v >= best).length) / (draws + 1),
  };
}
