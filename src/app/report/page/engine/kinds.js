// The tables of the kinds of norms, positions, attention functions and feed-forward networks that
// the page can compute, with their formulas. The program's tables are in src/core/nn.
import {blockWirings} from './wirings.js';

/// The kinds of norms, as nn/layers.cc has them: whether the mean is taken off, and whether what is
/// left is divided by its root mean square.
export const norms = {
  layer: {centres: true, divides: true},
  rms: {centres: false, divides: true},
  none: {centres: false, divides: false},
};

/// The mean that a norm takes off the C numbers from x[at] on, and the factor for the rest.
export function momentsOf({centres, divides, epsilon}, x, at, C) {
  if (!divides) return [0, 1];
  let mean = 0;
  let squares = 0;
  for (let i = at; centres && i < at + C; ++i) mean += x[i] / C;
  for (let i = at; i < at + C; ++i) squares += (x[i] - mean) ** 2;
  return [mean, 1 / Math.sqrt(squares / C + epsilon)];
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

/// The pairs (2i, 2i + 1) of each head of x turned by the angle t base^(-2i/D) at position t.
export function rotated(x, rows, D, base) {
  const y = new Float32Array(x.length);
  const width = x.length / rows;
  for (let at = 0; at < x.length; at += 2) {
    const angle = Math.floor(at / width) * base ** (-(at % width % D) / D);
    const cos = Math.cos(angle);
    const sin = Math.sin(angle);
    y[at] = x[at] * cos - x[at + 1] * sin;
    y[at + 1] = x[at + 1] * cos + x[at] * sin;
  }
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

/// The attention functions, as nn/attention_functions.cc has them: whether rows sum to 1, and the
/// function that turns the scores of the visible keys into weights, in place. A hidden key has a
/// score of -Infinity.
export const attentionFunctions = {
  softmax: {normalises: true, weigh: softmaxWeights},
  softmax_composed: {normalises: true, weigh: softmaxWeights},
  sigmoid: {normalises: false, weigh: sigmoidWeights},
  softmax_one: {normalises: false, weigh: softmaxOneWeights},
};

/// A configuration without the key is one of softmax.
export const attentionFunctionOf = (config) => config.attention_function ?? 'softmax';

/// Whether the rows of a pattern sum to 1; not known of a function that is not here.
export const normalises = (config) => config.normalises ??
  Boolean(attentionFunctions[attentionFunctionOf(config)]?.normalises);

/// gelu in its exact form; erf after Abramowitz and Stegun 7.1.26, to 1.5e-7.
function geluErf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x) / Math.SQRT2);
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t +
    0.254829592) * t;
  const beyond = series * Math.exp(-x * x / 2) / 2;  // of the normal distribution, past |x|
  return x * (x < 0 ? beyond : 1 - beyond);
}

const silu = (x) => x / (1 + Math.exp(-x));

/// The kinds of feed-forward networks: what is done to the hidden values, or to their gate.
export const activations = {
  gelu: {f: gelu},
  relu: {f: (x) => Math.max(0, x)},
  swiglu: {f: silu, gated: true},
  geglu: {f: gelu, gated: true},
  gelu_erf: {f: geluErf},
};

/// Kinds in a configuration that nothing here computes: ["norm batch", ...].
export const unknownKinds = (config) => {
  const named = {...config, attention_function: attentionFunctionOf(config)};
  return Object.entries({norm: norms, positions: positionKinds, activation: activations,
    attention_function: attentionFunctions, norm_place: blockWirings})
    .filter(([key, kinds]) => !Object.hasOwn(kinds, named[key]))
    .map(([key]) => `${key} ${named[key]}`);
};

/// The sentence about a run's attention function or wiring of blocks if nothing here computes it;
/// otherwise ''.
export function unknownAttention(config) {
  const name = attentionFunctionOf(config);
  const wiring = config.norm_place;
  let unknown = '';
  if (!Object.hasOwn(attentionFunctions, name)) {
    unknown = `\`${name}\` attention`;
  } else if (!Object.hasOwn(blockWirings, wiring)) {
    unknown = `\`${wiring}\` blocks`;
  }
  if (unknown === '') return '';
  return `This page cannot run ${unknown}; it shows the patterns that were stored.`;
}
