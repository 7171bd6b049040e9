// The parts of the model: products with matrices, and one attention layer whose rows of weights
// are computed when they are asked for. kinds.js has the formulas of each kind of layer.
import {gemm, matrixOf, transposed} from './gemm.js';
import {
  activations, attentionFunctionOf, attentionFunctions, normalised, norms, positionKinds, rotated,
} from './kinds.js';

/// y = x W + bias + residual for `rows` rows, with W a matrix [inputs, outputs].
function products(x, rows, W, bias, residual) {
  const y = new Float32Array(rows * W.cols);
  gemm(matrixOf(x, rows, W.rows), W, matrixOf(y, rows, W.cols));
  for (let i = 0; bias && i < y.length; ++i) y[i] += bias[i % W.cols];
  for (let i = 0; residual && i < y.length; ++i) y[i] += residual[i];
  return y;
}

/// y = x W + bias + residual, with the numbers of W [inputs, outputs].
export function linear(x, rows, W, bias, residual) {
  const inputs = x.length / rows;
  return products(x, rows, matrixOf(W, inputs, W.length / inputs), bias, residual);
}

export const cachedNumbers = 8e6;  // that a cache may keep: 32 MB

export class Model {
  constructor(run, values) {
    const {task, attentionLayers, config} = run;
    Object.assign(this, {run, task, attentionLayers, config});
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
    const {table} = positionKinds[this.config.positions];
    const stacks = [];
    let stream = 0;
    let layer = 0;
    const add = (name, length, layers, cross) => {
      const stack = {name, stream, positions: table(this, name, length), blocks: []};
      for (let i = 0; i < layers; ++i) {
        stack.blocks.push({name: name + 'blocks.' + i + '.', attn: layer,
          cross: cross ? layer + 1 : -1});
        layer += cross ? 2 : 1;
      }
      stream += layers + 1;
      stacks.push(stack);
    };
    if (two) add('encoder.', this.task.source_length, this.config.encoder_layers, false);
    add(two ? 'decoder.' : '', this.task.length, this.config.layers, two);
    return stacks;
  }
  norm(x, name) {
    const {[name + 'w']: gain, [name + 'b']: bias} = this.tensors;
    return normalised(this.normKind, x, this.C, gain, bias);
  }
  /// The input of a stack: embedded tokens, or vectors if the task gives them.
  embed(tokens, positions, vectors) {
    const C = this.C;
    const W = this.tensors['embed.W_E'];
    const x = new Float32Array(tokens.length * C);
    if (vectors) return linear(vectors, tokens.length, W, null, positions);
    for (let t = 0; t < tokens.length; ++t)
      for (let c = 0; c < C; ++c)
        x[t * C + c] = W[tokens[t] * C + c] + (positions ? positions[t * C + c] : 0);
    return x;
  }
  feedForward(x, name, residual) {
    const t = this.tensors;
    const rows = x.length / this.C;
    const inner = linear(x, rows, t[name + 'W_in'], t[name + 'b_in'], null);
    const {f, gated} = activations[this.config.activation];
    const gate = gated ? linear(x, rows, t[name + 'W_gate'], t[name + 'b_gate'], null) : null;
    for (let i = 0; i < inner.length; ++i)
      inner[i] = gated ? f(gate[i]) * inner[i] : f(inner[i]);
    return linear(inner, rows, t[name + 'W_out'], t[name + 'b_out'], residual);
  }
  unembed(x) {
    const T = x.length / this.C;
    const t = this.tensors;
    if (!this.config.tied) return linear(x, T, t['unembed.W_U'], t['unembed.b_U'], null);
    const embedding = matrixOf(t['embed.W_E'], t['embed.W_E'].length / this.C, this.C);
    return products(x, T, transposed(embedding), null, null);
  }
}

/// The numbers of queries and keys of an attention layer in an example.
export const sizesOf = ({kind}, {tokens, source}) => [
  kind === 'encoder' ? source.length : tokens.length,
  kind === 'self' ? tokens.length : source.length,
];

/// The keys that query t of an attention layer may see: from ... to - 1.
export function keysSeen(run, m, example, t) {
  const {kind, window} = run.attentionLayers[m];
  const own = kind === 'self' ? example.length : example.sourceLength;
  const last = kind === 'self' && run.task.causal ? Math.min(t + 1, own) : own;
  if (!window) return {from: 0, to: last};
  return {from: Math.max(0, Math.min(last, t - window + 1)), to: Math.min(last, t + window)};
}

/// One attention layer in one pass: what it was given, and its rows of weights.
export class Attention {
  constructor(model, m, example, options) {
    const layer = model.attentionLayers[m];
    Object.assign(this, {model, m, layer, example, options});
    [this.queries, this.keys] = sizesOf(layer, example);
    this.H = layer.heads.length;
    const {slope} = positionKinds[model.config.positions];
    this.slopes = slope && layer.kind !== 'cross'
      ? layer.heads.map((head) => slope(head, layer.originalHeads)) : null;
    this.weights = attentionFunctions[attentionFunctionOf(model.config)].weigh;
  }
  project(xQ, xKV) {
    const t = this.model.tensors;
    const name = this.layer.name + '.';
    this.q = linear(xQ, this.queries, t[name + 'W_Q'], t[name + 'b_Q'], null);
    this.k = linear(xKV, this.keys, t[name + 'W_K'], t[name + 'b_K'], null);
    this.v = linear(xKV, this.keys, t[name + 'W_V'], t[name + 'b_V'], null);
    const {positions, rotary_base: base} = this.model.config;
    if (!positionKinds[positions].turns || this.layer.kind === 'cross') return;
    this.q = rotated(this.q, this.queries, this.layer.dHead, base);
    this.k = rotated(this.k, this.keys, this.layer.dHead, base);
  }
  /// The edges that a head may not use, as flags [Q * S]; or nothing.
  maskedEdges(place) {
    return this.options.masked?.(this.m, place);
  }
  /// The amount by which a distance lowers the score of a query and a key.
  penalty(place, t, s) {
    return this.slopes ? this.slopes[place] * Math.abs(t - s) : 0;
  }
  /// q . k / sqrt(D) of a query and a key, less the penalty of their distance; before any mask.
  score(place, t, s) {
    const D = this.layer.dHead;
    const kv = this.layer.kvHead[place];
    const qAt = t * this.H * D + place * D;
    const kAt = s * this.layer.kvBlocks.length * D + kv * D;
    let sum = 0;
    for (let i = 0; i < D; ++i) sum += this.q[qAt + i] * this.k[kAt + i];
    return sum / Math.sqrt(D) - this.penalty(place, t, s);
  }
  /// The weights of one query on all keys, into `row`; returns the keys that it sees.
  weigh(place, t, row, masked) {
    const seen = keysSeen(this.model.run, this.m, this.example, t);
    const {from, to} = seen;
    row.fill(0);
    for (let s = from; s < to; ++s)
      row[s] = masked?.[t * this.keys + s] ? -Infinity : this.score(place, t, s);
    this.weights(row, from, to);
    return seen;
  }
  hidesAny() {
    return this.layer.heads.some((_, place) => this.maskedEdges(place));
  }
  * attend() {
    const Dv = this.layer.dValue;
    const wide = this.H * Dv;
    const G = this.layer.kvBlocks.length;
    const row = new Float64Array(this.keys);
    const sums = new Float64Array(Dv);
    this.z = new Float32Array(this.queries * wide);
    let work = 0;
    for (let place = 0; place < this.H; ++place) {
      const masked = this.maskedEdges(place);
      const kv = this.layer.kvHead[place];
      for (let t = 0; t < this.queries; ++t) {
        const {from, to} = this.weigh(place, t, row, masked);
        sums.fill(0);
        for (let s = from; s < to; ++s) {
          const weight = row[s];
          for (let i = 0, at = (s * G + kv) * Dv; i < Dv; ++i, ++at) sums[i] += weight * this.v[at];
        }
        this.z.set(sums, t * wide + place * Dv);
        work += (to - from) * (Dv + this.layer.dHead);
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
  /// A function of i, the value in place of z[i] if its head is off: 0, that of a row for all
  /// queries, or one for each query.
  replacement(wide) {
    const given = this.options.replacement?.[this.m];
    if (!given) return () => 0;
    return given.length === wide ? (i) => given[i % wide] : (i) => given[i];
  }
  /// gate z + (1 - gate) replacement
  gated() {
    if (!this.isGated()) return this.z;
    const gates = this.options.gates[this.m];
    const Dv = this.layer.dValue;
    const wide = this.H * Dv;
    const out = new Float32Array(this.z.length);
    const replacement = this.replacement(wide);
    for (let i = 0; i < out.length; ++i) {
      const gate = gates[Math.floor(i % wide / Dv)];
      out[i] = gate === 1 ? this.z[i] : gate * this.z[i] + (1 - gate) * replacement(i);
    }
    return out;
  }
  pattern(place) {
    const all = new Float32Array(this.queries * this.keys);
    const row = new Float64Array(this.keys);
    const masked = this.maskedEdges(place);
    for (let t = 0; t < this.queries; ++t) {
      this.weigh(place, t, row, masked);
      all.set(row, t * this.keys);
    }
    return all;
  }
}
