// The tables of the kinds of norms, positions, attention functions and feed-forward networks that
// the page can compute, with their formulas. The program's tables are in src/core/nn.
// Read next: play/train/gradients.js, their gradients.
import {blockWirings} from './wirings.js';

/// The kinds of norms, as nn/layers.cc has them: whether the mean is taken off, and whether what is
/// left is divided by its root mean square.
export const norms = {
  layer: {centres: true, divides: true},
  rms: {centres: false, divides: true},
  none: {centres: false, divides: false},
};

/// The mean that a norm takes off the C numbers from x[at] on, and the factor for the rest, as
/// `into`.
export function momentsOf(kind, x, at, C, into = [0, 1]) {
  const {centres, divides} = kind;
  into[0] = 0;
  into[1] = 1;
  if (!divides) return into;
  let mean = 0;
  let squares = 0;
  for (let i = at; centres && i < at + C; ++i) mean += x[i] / C;
  for (let i = at; i < at + C; ++i) squares += (x[i] - mean) ** 2;
  into[0] = mean;
  into[1] = 1 / Math.sqrt(squares / C + kind.epsilon);
  return into;
}

export function normalised(kind, x, C, gain, bias) {
  const y = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += C) {
    const [mean, scale] = momentsOf(kind, x, at, C);
    for (let i = 0; i < C; ++i)
      y[at + i] = (x[at + i] - mean) * scale * (gain ? gain[i] : 1) + (bias ? bias[i] : 0);
  }
  return y;
}

/// gelu(x) = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, and x or 0 far from 0.
export function gelu(x) {
  if (x < -8) return 0;
  const u = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
  return x / (1 + Math.exp(-2 * u));
}

/// cos and sin of the angles t base^(-2i/D) by which the pairs (2i, 2i + 1) of a head of width D
/// are turned at each position t.
export function turnsOf(length, D, base) {
  const angle = (at) => Math.floor(at / D * 2) * base ** (-(2 * at % D) / D);
  return {
    D, length, cos: Float64Array.from({length: length * D / 2}, (_, at) => Math.cos(angle(at))),
    sin: Float64Array.from({length: length * D / 2}, (_, at) => Math.sin(angle(at))),
  };
}

/// Turns the pairs of every head in the rows of x, in place; row r is at position r % length.
/// `direction` -1 turns back, which is also the gradient.
export function turn(x, rows, {D, length, cos, sin}, direction = 1) {
  const pairs = D / 2;
  const across = x.length / rows / 2;
  for (let r = 0, at = 0; r < rows; ++r) {
    const first = r % length * pairs;
    for (let pair = 0; pair < across; ++pair, at += 2) {
      const c = cos[first + pair % pairs];
      const s = direction * sin[first + pair % pairs];
      const even = x[at];
      const odd = x[at + 1];
      x[at] = even * c - odd * s;
      x[at + 1] = odd * c + even * s;
    }
  }
}

/// The rows of x, at positions 0, 1 ..., turned.
export function rotated(x, rows, D, base) {
  const y = x.slice();
  turn(y, rows, turnsOf(rows, D, base));
  return y;
}

/// sin and cos of the angles by which one head as wide as the model would turn: (1, 0) is turned to
/// (cos, sin).
function sinusoidalPositions(length, C) {
  const ones = Float32Array.from({length: length * C}, (_, i) => 1 - i % 2);
  return rotated(ones, length, C, 10000).map((_, i, all) => all[i ^ 1]);
}

/// The kinds of positions: the table that is added to the embedding, or null; whether queries and
/// keys are rotated; and by how much a head's scores fall with each position of distance, by the
/// original index of the head.
export const positionKinds = {
  learned: {table: (model, stack) => model.tensors[stack + 'pos_embed.W_pos']},
  sinusoidal: {table: (model, stack, length) => sinusoidalPositions(length, model.C)},
  none: {table: () => null},
  rotary: {table: () => null, turns: true},
  alibi: {table: () => null, slope: (head, heads) => 2 ** (-8 * (head + 1) / heads)},
};

/// The largest of the scores row[from] ... row[to - 1], or `least`.
function largestScore(row, from, to, least) {
  let largest = least;
  for (let s = from; s < to; ++s) largest = Math.max(largest, row[s]);
  return largest;
}

/// row = exp(score) / sum of exp(scores).
function softmaxWeights(row, from, to) {
  const largest = largestScore(row, from, to, -Infinity);
  let sum = 0;
  for (let s = from; s < to; ++s) {
    row[s] = largest === -Infinity ? 0 : Math.exp(row[s] - largest);
    sum += row[s];
  }
  for (let s = from; s < to && sum > 0; ++s) row[s] /= sum;
}

/// row = exp(score) / (1 + sum of exp(scores)).
function softmaxOneWeights(row, from, to) {
  const largest = largestScore(row, from, to, 0);
  let sum = Math.exp(-largest);
  for (let s = from; s < to; ++s) {
    row[s] = Math.exp(row[s] - largest);
    sum += row[s];
  }
  for (let s = from; s < to; ++s) row[s] /= sum;
}

/// row = 1 / (1 + n exp(-score)) for n visible keys.
function sigmoidWeights(row, from, to) {
  const n = Math.max(1, to - from);
  for (let s = from; s < to; ++s) row[s] = 1 / (1 + n * Math.exp(-row[s]));
}

/// The attention functions, as nn/attention_functions.cc has them: the function that turns the
/// scores row[from] ... row[to - 1] of the visible keys into weights, in place. A masked key has a
/// score of -Infinity.
export const attentionFunctions = {
  softmax: {weigh: softmaxWeights},
  softmax_composed: {weigh: softmaxWeights},
  sigmoid: {weigh: sigmoidWeights},
  softmax_one: {weigh: softmaxOneWeights},
};

/// A configuration without the key is one of softmax.
export const attentionFunctionOf = (config) => config.attention_function ?? 'softmax';

/// The normal distribution up to x; erf after Abramowitz and Stegun 7.1.26, to 1.5e-7.
export function normalBelow(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x) / Math.SQRT2);
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t +
    0.254829592) * t;
  const beyond = series * Math.exp(-x * x / 2) / 2;  // past |x|
  return x < 0 ? beyond : 1 - beyond;
}

export const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const silu = (x) => x * sigmoid(x);

/// The kinds of feed-forward networks: the function `f` of the hidden values, or of their gate.
export const activations = {
  gelu: {f: gelu},
  relu: {f: (x) => Math.max(0, x)},
  swiglu: {f: silu, gated: true},
  geglu: {f: gelu, gated: true},
  gelu_erf: {f: (x) => x * normalBelow(x)},
};

/// Kinds in a configuration that nothing here computes: ["norm batch", ...].
export const unknownKinds = (config) => {
  const named = {...config, attention_function: attentionFunctionOf(config)};
  return Object.entries({norm: norms, positions: positionKinds, activation: activations,
    attention_function: attentionFunctions, norm_place: blockWirings})
    .filter(([key, kinds]) => !Object.hasOwn(kinds, named[key]))
    .map(([key]) => `${key} ${named[key]}`);
};
