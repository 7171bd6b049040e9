// The parts of the model: products with matrices, the tables of the kinds of norms, positions and
// feed-forward networks, and one attention module whose rows of weights are computed when they are
// asked for.

// y = x W^T + bias + residual for `rows` rows, with W [outputs, inputs]: two rows and two columns
// at once, which reads everything half as often.
function products(x, rows, W, bias, residual) {
  const inputs = x.length / rows, outputs = W.length / inputs;
  const y = new Float32Array(rows * outputs);
  for (let row = 0; row < rows; row += 2) {
    const below = Math.min(row + 1, rows - 1), x1 = row * inputs, x2 = below * inputs;
    for (let j = 0; j < outputs; j += 2) {
      const beside = Math.min(j + 1, outputs - 1), w1 = j * inputs, w2 = beside * inputs;
      let a = 0, b = 0, c = 0, d = 0;
      for (let i = 0; i < inputs; ++i) {
        const p = x[x1 + i], q = x[x2 + i], u = W[w1 + i], v = W[w2 + i];
        a += p * u;
        b += p * v;
        c += q * u;
        d += q * v;
      }
      const y1 = row * outputs, y2 = below * outputs;  // the last may be there twice
      y[y1 + j] = a;
      y[y1 + beside] = b;
      y[y2 + j] = c;
      y[y2 + beside] = d;
    }
  }
  for (let i = 0; bias && i < y.length; ++i) y[i] += bias[i % outputs];
  for (let i = 0; residual && i < y.length; ++i) y[i] += residual[i];
  return y;
}

const turned = new WeakMap();  // weights as W^T, so that sums run along memory

// y = x W + bias + residual, with W [inputs, outputs].
export function linear(x, rows, W, bias, residual) {
  const inputs = x.length / rows, outputs = W.length / inputs;
  if (!turned.has(W)) {
    const other = new Float32Array(W.length);
    for (let i = 0; i < inputs; ++i)
      for (let j = 0; j < outputs; ++j) other[j * inputs + i] = W[i * outputs + j];
    turned.set(W, other);
  }
  return products(x, rows, turned.get(W), bias, residual);
}

export const cachedNumbers = 8e6;  // that a cache may keep: 32 MB

// The kinds of norms, as nn/layers.cc has them: whether the mean is taken off, and whether the rest
// is divided by its root mean square.
const norms = {
  layer: {centres: true, divides: true},
  rms: {centres: false, divides: true},
  none: {centres: false, divides: false},
};

// The mean that a norm takes off the C numbers from x[at] on, and what it multiplies the rest with.
export function momentsOf({centres, divides, epsilon}, x, at, C) {
  if (!divides) return [0, 1];
  let mean = 0, squares = 0;
  for (let i = at; centres && i < at + C; ++i) mean += x[i] / C;
  for (let i = at; i < at + C; ++i) squares += (x[i] - mean) ** 2;
  return [mean, 1 / Math.sqrt(squares / C + epsilon)];
}

function normalised(kind, x, C, gain, bias) {
  const y = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += C) {
    const [mean, scale] = momentsOf(kind, x, at, C);
    for (let i = 0; i < C; ++i)
      y[at + i] = (x[at + i] - mean) * scale * (gain ? gain[i] : 1) + (bias ? bias[i] : 0);
  }
  return y;
}

// gelu(x) = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, and x or 0 far from 0.
export function gelu(x) {
  if (x < -8) return 0;
  const u = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
  return x / (1 + Math.exp(-2 * u));
}

// The pairs (2i, 2i + 1) of each head of x turned by the angle t base^(-2i/D) at position t.
function rotated(x, rows, D, base) {
  const y = new Float32Array(x.length), width = x.length / rows;
  for (let at = 0; at < x.length; at += 2) {
    const angle = Math.floor(at / width) * base ** (-(at % width % D) / D);
    const cos = Math.cos(angle), sin = Math.sin(angle);
    y[at] = x[at] * cos - x[at + 1] * sin;
    y[at + 1] = x[at + 1] * cos + x[at] * sin;
  }
  return y;
}

// sin and cos of the angles by which one head as wide as the model would turn: (1, 0) is turned to
// (cos, sin).
function sinusoidalPositions(length, C) {
  const ones = Float32Array.from({length: length * C}, (_, i) => 1 - i % 2);
  return rotated(ones, length, C, 10000).map((_, i, all) => all[i ^ 1]);
}

// The kinds of positions: the table that is added to the embedding, or null; whether queries and
// keys are rotated; and by how much a head's scores fall with each position of distance, by the
// original index of the head.
const positionKinds = {
  learned: {table: (model, stack) => model.tensors[stack + 'pos_embed.W_pos']},
  sinusoidal: {table: (model, stack, length) => sinusoidalPositions(length, model.C)},
  none: {table: () => null},
  rotary: {table: () => null, turns: true},
  alibi: {table: () => null, slope: (head, heads) => 2 ** (-8 * (head + 1) / heads)},
};

// The largest of the scores row[from] ... row[to - 1], or `least`.
function largestScore(row, from, to, least) {
  let largest = least;
  for (let s = from; s < to; ++s) largest = Math.max(largest, row[s]);
  return largest;
}

// row = exp(score) / sum of exp(scores).
function softmaxWeights(row, from, to) {
  const largest = largestScore(row, from, to, -Infinity);
  let sum = 0;
  for (let s = from; s < to; ++s) {
    row[s] = largest === -Infinity ? 0 : Math.exp(row[s] - largest);
    sum += row[s];
  }
  for (let s = from; s < to && sum > 0; ++s) row[s] /= sum;
}

// row = exp(score) / (1 + sum of exp(scores)).
function softmaxOneWeights(row, from, to) {
  const largest = largestScore(row, from, to, 0);
  let sum = Math.exp(-largest);
  for (let s = from; s < to; ++s) {
    row[s] = Math.exp(row[s] - largest);
    sum += row[s];
  }
  for (let s = from; s < to; ++s) row[s] /= sum;
}

// row = 1 / (1 + n exp(-score)) for n visible keys.
function sigmoidWeights(row, from, to) {
  const n = Math.max(1, to - from);
  for (let s = from; s < to; ++s) row[s] = 1 / (1 + n * Math.exp(-row[s]));
}

// The attention functions, as nn/attention_functions.cc has them: whether rows sum to 1, and what
// makes weights of the scores of the visible keys, in place. A hidden key has a score of -Infinity.
const attentionFunctions = {
  softmax: {normalises: true, weigh: softmaxWeights},
  softmax_composed: {normalises: true, weigh: softmaxWeights},
  sigmoid: {normalises: false, weigh: sigmoidWeights},
  softmax_one: {normalises: false, weigh: softmaxOneWeights},
};

// A configuration without the key is one of softmax.
export const attentionFunctionOf = (config) => config.attention_function ?? 'softmax';

// Whether the rows of a pattern sum to 1; not known of a function that is not here.
export const normalises = (config) =>
  Boolean(attentionFunctions[attentionFunctionOf(config)]?.normalises);

// gelu in its exact form; erf after Abramowitz and Stegun 7.1.26, to 1.5e-7.
function geluErf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x) / Math.SQRT2);
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t +
    0.254829592) * t;
  const beyond = series * Math.exp(-x * x / 2) / 2;  // of the normal distribution, past |x|
  return x * (x < 0 ? beyond : 1 - beyond);
}

const silu = (x) => x / (1 + Math.exp(-x));

// The kinds of feed-forward networks: what is done to the hidden values, or to their gate.
const activations = {
  gelu: {f: gelu},
  relu: {f: (x) => Math.max(0, x)},
  swiglu: {f: silu, gated: true},
  geglu: {f: gelu, gated: true},
  gelu_erf: {f: geluErf},
};

/// What a configuration asks for that nothing here computes: ["norm batch", ...].
export const unknownKinds = (config) => {
  const named = {...config, attention_function: attentionFunctionOf(config)};
  return Object.entries({norm: norms, positions: positionKinds, activation: activations,
    attention_function: attentionFunctions})
    .filter(([key, kinds]) => !Object.hasOwn(kinds, named[key]))
    .map(([key]) => `${key} ${named[key]}`);
};

/// The sentence about a run's attention function if nothing here computes it; otherwise ''.
export function unknownAttention(config) {
  const name = attentionFunctionOf(config);
  return Object.hasOwn(attentionFunctions, name) ? ''
    : `This page cannot run \`${name}\` attention; it shows the patterns that were stored.`;
}

export class Model {
  constructor(run, values) {
    Object.assign(this, {run, task: run.task, modules: run.modules, config: run.config});
    this.C = run.config.d_model;
    this.normKind = {...norms[run.config.norm], epsilon: run.config.norm_eps ?? 1e-5};
    this.tensors = {};
    for (const {name, shape, offset} of run.facts.weights.tensors) {
      const count = shape.reduce((a, b) => a * b, 1);
      this.tensors[name] = values.subarray(offset, offset + count);
    }
    this.stacks = this.makeStacks();
    this.caches = {};
  }
  makeStacks() {
    const two = this.task.architecture === 'encoder_decoder';
    const stacks = [];
    let stream = 0, module = 0;
    const add = (name, length, layers, cross) => {
      const stack = {name, stream, positions: this.positions(name, length), blocks: []};
      for (let i = 0; i < layers; ++i) {
        stack.blocks.push({name: name + 'blocks.' + i + '.', attn: module,
          cross: cross ? module + 1 : -1});
        module += cross ? 2 : 1;
      }
      stream += layers + 1;
      stacks.push(stack);
    };
    if (two) add('encoder.', this.task.source_length, this.config.encoder_layers, false);
    add(two ? 'decoder.' : '', this.task.length, this.config.layers, two);
    return stacks;
  }
  positions(stack, length) {
    return positionKinds[this.config.positions].table(this, stack, length);
  }
  norm(x, name) {
    const {[name + 'w']: gain, [name + 'b']: bias} = this.tensors;
    return normalised(this.normKind, x, this.C, gain, bias);
  }
  // What enters a stack; vectors, where a task gives them, in place of tokens.
  embed(tokens, positions, vectors) {
    const C = this.C, W = this.tensors['embed.W_E'], x = new Float32Array(tokens.length * C);
    if (vectors) return linear(vectors, tokens.length, W, null, positions);
    for (let t = 0; t < tokens.length; ++t)
      for (let c = 0; c < C; ++c)
        x[t * C + c] = W[tokens[t] * C + c] + (positions ? positions[t * C + c] : 0);
    return x;
  }
  feedForward(x, name, residual) {
    const t = this.tensors, rows = x.length / this.C;
    const inner = linear(x, rows, t[name + 'W_in'], t[name + 'b_in'], null);
    const {f, gated} = activations[this.config.activation];
    const gate = gated ? linear(x, rows, t[name + 'W_gate'], t[name + 'b_gate'], null) : null;
    for (let i = 0; i < inner.length; ++i)
      inner[i] = gated ? f(gate[i]) * inner[i] : f(inner[i]);
    return linear(inner, rows, t[name + 'W_out'], t[name + 'b_out'], residual);
  }
  unembed(x) {
    const T = x.length / this.C, t = this.tensors;
    if (!this.config.tied) return linear(x, T, t['unembed.W_U'], t['unembed.b_U'], null);
    return products(x, T, t['embed.W_E'], null, null);
  }
}

// The keys that query t of a module may see: from ... to - 1.
export function keysSeen(run, m, example, t) {
  const {kind, window} = run.modules[m];
  const own = kind === 'self' ? example.length : example.sourceLength;
  const last = kind === 'self' && run.task.causal ? Math.min(t + 1, own) : own;
  if (!window) return {from: 0, to: last};
  return {from: Math.max(0, Math.min(last, t - window + 1)), to: Math.min(last, t + window)};
}

// One attention module in one pass: what it was given, and its rows of weights.
export class Attention {
  constructor(model, m, example, options) {
    const module = model.modules[m], encoder = module.kind === 'encoder';
    Object.assign(this, {model, m, module, example, options});
    this.queries = encoder ? example.source.length : example.tokens.length;
    this.keys = module.kind === 'self' ? example.tokens.length : example.source.length;
    this.H = module.heads.length;
    const {slope} = positionKinds[model.config.positions];
    this.slopes = slope && module.kind !== 'cross'
      ? module.heads.map((head) => slope(head, module.born)) : null;
    this.weights = attentionFunctions[attentionFunctionOf(model.config)].weigh;
  }
  project(xQ, xKV) {
    const t = this.model.tensors, name = this.module.name + '.';
    this.q = linear(xQ, this.queries, t[name + 'W_Q'], t[name + 'b_Q'], null);
    this.k = linear(xKV, this.keys, t[name + 'W_K'], t[name + 'b_K'], null);
    this.v = linear(xKV, this.keys, t[name + 'W_V'], t[name + 'b_V'], null);
    const {positions, rotary_base: base} = this.model.config;
    if (!positionKinds[positions].turns || this.module.kind === 'cross') return;
    this.q = rotated(this.q, this.queries, this.module.dHead, base);
    this.k = rotated(this.k, this.keys, this.module.dHead, base);
  }
  // The edges that a head may not use, as flags [Q * S]; or nothing.
  hidden(place) {
    return this.options.hidden?.(this.m, place);
  }
  // By how much a distance lowers the score of a query and a key.
  penalty(place, t, s) {
    return this.slopes ? this.slopes[place] * Math.abs(t - s) : 0;
  }
  // q . k / sqrt(D) of a query and a key, less the penalty of their distance; before any mask.
  score(place, t, s) {
    const D = this.module.dHead, kv = this.module.kvHead[place];
    const qAt = t * this.H * D + place * D, kAt = s * this.module.kvBlocks.length * D + kv * D;
    let sum = 0;
    for (let i = 0; i < D; ++i) sum += this.q[qAt + i] * this.k[kAt + i];
    return sum / Math.sqrt(D) - this.penalty(place, t, s);
  }
  // The weights of one query on all keys, into `row`; returns the keys that it sees.
  weigh(place, t, row, hidden) {
    const seen = keysSeen(this.model.run, this.m, this.example, t), {from, to} = seen;
    row.fill(0);
    for (let s = from; s < to; ++s)
      row[s] = hidden?.[t * this.keys + s] ? -Infinity : this.score(place, t, s);
    this.weights(row, from, to);
    return seen;
  }
  hidesAny() {
    return this.module.heads.some((_, place) => this.hidden(place));
  }
  * attend() {
    const Dv = this.module.dValue, wide = this.H * Dv, G = this.module.kvBlocks.length;
    const row = new Float64Array(this.keys), sums = new Float64Array(Dv);
    this.z = new Float32Array(this.queries * wide);
    let work = 0;
    for (let place = 0; place < this.H; ++place) {
      const hidden = this.hidden(place), kv = this.module.kvHead[place];
      for (let t = 0; t < this.queries; ++t) {
        const {from, to} = this.weigh(place, t, row, hidden);
        sums.fill(0);
        for (let s = from; s < to; ++s) {
          const weight = row[s];
          for (let i = 0, at = (s * G + kv) * Dv; i < Dv; ++i, ++at) sums[i] += weight * this.v[at];
        }
        this.z.set(sums, t * wide + place * Dv);
        work += (to - from) * (Dv + this.module.dHead);
        if (work > 200000) {
          work = 0;
          yield {done: 0, of: 1};
        }
      }
    }
  }
  isGated() {
    return Boolean(this.options.gates?.[this.m]?.some((gate) => gate !== 1));
  }
  // gate z + (1 - gate) replacement
  gated() {
    if (!this.isGated()) return this.z;
    const gates = this.options.gates[this.m];
    const Dv = this.module.dValue, wide = this.H * Dv, out = new Float32Array(this.z.length);
    const given = this.options.replacement?.[this.m];
    for (let i = 0; i < out.length; ++i) {
      const gate = gates[Math.floor(i % wide / Dv)];
      const instead = !given ? 0 : given.length === wide ? given[i % wide] : given[i];
      out[i] = gate === 1 ? this.z[i] : gate * this.z[i] + (1 - gate) * instead;
    }
    return out;
  }
  pattern(place) {
    const all = new Float32Array(this.queries * this.keys), row = new Float64Array(this.keys);
    const hidden = this.hidden(place);
    for (let t = 0; t < this.queries; ++t) {
      this.weigh(place, t, row, hidden);
      all.set(row, t * this.keys);
    }
    return all;
  }
}
