// A pass through the model: what runs through it and what it leaves behind. Blocks that nothing has
// changed are taken over from an earlier pass. Long passes run in slices.
import {Attention, cachedNumbers, linear, momentsOf} from './core_model.js';

class Trace {
  constructor(model, example, options) {
    Object.assign(this, {model, example, options, modules: [], residual: [], logits: null,
      exact: true, patterns: new Map()});
  }
  // The weights of a head, [Q * S] row-major; computed when first asked for. The latest are kept,
  // as far as 32 MB reach.
  pattern(m, place) {
    const key = m + '.' + place, known = this.patterns.get(key) || this.modules[m].pattern(place);
    this.patterns.delete(key);
    this.patterns.set(key, known);
    for (const oldest of this.patterns.keys()) {
      if (this.patterns.size < 2 || this.patterns.size * known.length <= cachedNumbers) break;
      this.patterns.delete(oldest);
    }
    return known;
  }
  left() {
    return null;
  }
}

// What runs through one pass: the trace under construction, and whether all so far is as in the
// trace that it may reuse.
class Pass {
  constructor(model, example, options) {
    this.trace = new Trace(model, example, options);
    Object.assign(this, {model, example, options, base: options.base || null, clean: true});
    this.pre = model.config.norm_place === 'pre';
  }
  changed(m) {
    const attention = new Attention(this.model, m, this.example, this.options);
    return attention.isGated() || attention.hidesAny();
  }
  // x + f(norm(x)) or norm(x + f(x)).
  * sublayer(x, norm, f) {
    const y = yield* f(this.pre ? this.model.norm(x, norm) : x, x);
    return this.pre ? y : this.model.norm(y, norm);
  }
  * attention(m, h, memory, residual) {
    const attention = new Attention(this.model, m, this.example, this.options);
    const old = this.base && this.clean ? this.base.modules[m] : null;
    this.trace.modules[m] = attention;
    const t = this.model.tensors, name = attention.module.name + '.';
    if (attention.H === 0) return addRow(residual, t[name + 'b_O'] || [0]);
    if (old && !attention.hidesAny()) {
      Object.assign(attention, {q: old.q, k: old.k, v: old.v, z: old.z});
    } else {
      attention.project(h, memory || h);
      yield* attention.attend();
    }
    if (this.changed(m)) this.clean = false;
    attention.gatedZ = attention.gated();
    return linear(attention.gatedZ, attention.queries, t[name + 'W_O'], t[name + 'b_O'], residual);
  }
  * block(block, x, memory) {
    const model = this.model, pass = this;
    x = yield* this.sublayer(x, block.name + 'ln1.', function* (h, residual) {
      return yield* pass.attention(block.attn, h, null, residual);
    });
    if (block.cross >= 0) {
      x = yield* this.sublayer(x, block.name + 'ln_cross.', function* (h, residual) {
        return yield* pass.attention(block.cross, h, memory, residual);
      });
    }
    if (model.config.d_ff > 0) {
      x = yield* this.sublayer(x, block.name + 'ln2.', function* (h, residual) {
        return model.feedForward(h, block.name + 'mlp.', residual);
      });
    }
    return x;
  }
  // Whether a block may be taken over from the base as it is.
  reusable(block) {
    return this.base && this.clean && !this.changed(block.attn) &&
      (block.cross < 0 || !this.changed(block.cross));
  }
  * stack(stack, tokens, memory, vectors) {
    let x = this.model.embed(tokens, stack.positions, vectors);
    for (let i = 0; i < stack.blocks.length; ++i) {
      const block = stack.blocks[i];
      this.trace.residual.push(x);
      if (this.reusable(block)) {
        for (const m of [block.attn, block.cross])
          if (m >= 0) this.trace.modules[m] = this.base.modules[m];
        x = this.base.residual[stack.stream + i + 1];
      } else {
        x = yield* this.block(block, x, memory);
        yield {done: 0, of: 1};
      }
    }
    this.trace.residual.push(x);
    return this.pre ? this.model.norm(x, stack.name + 'ln_final.') : x;
  }
}

const addRow = (x, row) => x.map((value, i) => value + row[i % row.length]);

export function* forwardSteps(model, example, options = {}) {
  const pass = new Pass(model, example, options);
  const main = model.stacks[model.stacks.length - 1];
  const memory = model.stacks.length > 1
    ? yield* pass.stack(model.stacks[0], example.source, null) : null;
  const x = yield* pass.stack(main, example.tokens, memory, example.vectors);
  pass.trace.last = x;
  pass.trace.logits = model.unembed(x);
  return pass.trace;
}

export function finish(generator) {
  for (;;) {
    const {done, value} = generator.next();
    if (done) return value;
  }
}

// Runs a generator in slices of a few milliseconds, so that a page answers in between.
export function drive(generator, {slice = 8, progress, cancelled} = {}) {
  return new Promise((resolve, reject) => {
    const turn = () => {
      try {
        const end = performance.now() + slice;
        let last = null;
        do {
          if (cancelled && cancelled()) return resolve(undefined);
          const {done, value} = generator.next();
          if (done) return resolve(value);
          last = value;
        } while (performance.now() < end);
        if (progress) progress(last);
        setTimeout(turn, 0);
      } catch (error) {
        reject(error);
      }
    };
    turn();
  });
}

export const forwardPass = (model, example, options) =>
  finish(forwardSteps(model, example, options));

// A trace of what was stored of a shown example, where the model itself is not in the page.
export function storedTrace(run, i) {
  const example = run.task.set('scored').example(i), read = (block) => run.page.blocks.read(block);
  const trace = {exact: false, logits: null, example, model: null, residual: [],
    modules: run.facts.patterns.map((stored, m) => {
      const [, H, Q] = (stored.block || stored.keys).shape;
      const S = run.modules[m].kind === 'self' ? run.task.length : run.task.source_length;
      return {stored, H, queries: Q, keys: S};
    })};
  trace.pattern = function (m, place) {
    const {stored, H, queries: Q, keys: S} = trace.modules[m], row = (i * H + place) * Q;
    if (stored.kind === 'full') return read(stored.block).subarray(row * S, (row + Q) * S);
    const n = stored.keys.shape[3], all = new Float32Array(Q * S);
    const keys = read(stored.keys), weights = read(stored.weights);
    for (let j = 0; j < Q * n; ++j)
      all[Math.floor(j / n) * S + keys[row * n + j]] = weights[row * n + j];
    return all;
  };
  trace.left = function (m, place) {
    const {stored, H, queries: Q} = trace.modules[m], row = (i * H + place) * Q;
    return stored.kind === 'full' ? null : read(stored.left).subarray(row, row + Q);
  };
  return trace;
}

// One cell and one query in full, and the comparison of the page with what the program computed.

// Why a head puts this weight there: query and key, their product, the score, the row.
export function whyWeight(trace, m, place, t, s) {
  const attention = trace.modules[m], {dHead: D, kvHead, kvBlocks} = attention.module;
  const qAt = (t * attention.H + place) * D, kAt = (s * kvBlocks.length + kvHead[place]) * D;
  const q = attention.q.slice(qAt, qAt + D), k = attention.k.slice(kAt, kAt + D);
  const product = q.map((value, i) => value * k[i]);
  const score = product.reduce((sum, value) => sum + value, 0), S = attention.keys;
  const row = trace.pattern(m, place).slice(t * S, t * S + S);
  return {q, k, product, score, scaled: score / Math.sqrt(D), row, weight: row[s]};
}

// What a head adds to the stream at query t, and directly to the logits there: the last norm with
// the scale that it has in this pass (direct logit attribution, heads/attribution.h).
export function headWrites(trace, m, place, t) {
  const attention = trace.modules[m], {dValue: Dv, kvHead, kvBlocks, name, kind} = attention.module;
  const {model} = trace, C = model.C;
  const W = model.tensors[name + '.W_O'].subarray(place * Dv * C, (place + 1) * Dv * C);
  const S = attention.keys, row = trace.pattern(m, place);
  const values = new Float32Array(S);
  for (let s = 0; s < S; ++s) {
    const at = (s * kvBlocks.length + kvHead[place]) * Dv;
    const written = linear(attention.v.subarray(at, at + Dv), 1, W, null, null);
    values[s] = row[t * S + s] * Math.sqrt(written.reduce((sum, x) => sum + x * x, 0));
  }
  const at = (t * attention.H + place) * Dv;
  const vector = linear(attention.gatedZ.subarray(at, at + Dv), 1, W, null, null);
  const direct = model.config.norm_place === 'pre' && kind !== 'encoder';
  return {values, vector, logits: direct ? directLogits(trace, vector, t) : null};
}

function directLogits(trace, vector, t) {
  const {model} = trace, C = model.C, main = model.stacks[model.stacks.length - 1];
  const x = trace.residual[trace.residual.length - 1].subarray(t * C, t * C + C);
  const kind = model.normKind, gain = model.tensors[main.name + 'ln_final.w'];
  const [, scale] = momentsOf(kind, x, 0, C), [own] = momentsOf(kind, vector, 0, C);
  const normed = vector.map((value, c) => (value - own) * scale * gain[c]);
  if (model.config.tied) return model.unembed(normed);
  return linear(normed, 1, model.tensors['unembed.W_U'], null, null);
}

// The two axes along which points [n * d] vary most, by power iteration; the largest loading of
// each axis is positive, so that the picture is the same each time.
export function pca(points, n, d) {
  const mean = new Float64Array(d), scatter = new Float64Array(d * d);
  for (let i = 0; i < n * d; ++i) mean[i % d] += points[i] / n;
  for (let i = 0; i < n; ++i)
    for (let a = 0; a < d; ++a)
      for (let b = 0; b < d; ++b)
        scatter[a * d + b] += (points[i * d + a] - mean[a]) * (points[i * d + b] - mean[b]) / n;
  let whole = 0;
  for (let a = 0; a < d; ++a) whole += scatter[a * d + a];
  const axes = [], share = [];
  for (let axis = 0; axis < 2; ++axis) {
    let x = Float64Array.from({length: d}, (_, a) => 1 + a % 7 / 7 + (axis && a % 2)), size = 0;
    for (let turn = 0; turn < 300; ++turn) {
      const y = new Float64Array(d);
      for (let a = 0; a < d; ++a) for (let b = 0; b < d; ++b) y[a] += scatter[a * d + b] * x[b];
      size = Math.sqrt(y.reduce((sum, value) => sum + value * value, 0));
      x = y.map((value) => size > 0 ? value / size : 0);
    }
    const largest = x.reduce((best, v) => Math.abs(v) > Math.abs(best) + 1e-9 ? v : best, 0);
    if (largest < 0) x = x.map((value) => -value);
    for (let a = 0; a < d; ++a)
      for (let b = 0; b < d; ++b) scatter[a * d + b] -= size * x[a] * x[b];
    axes.push(x);
    share.push(whole > 0 ? size / whole : 0);
  }
  const projected = new Float64Array(2 * n);
  for (let i = 0; i < n; ++i)
    for (let axis = 0; axis < 2; ++axis)
      for (let a = 0; a < d; ++a)
        projected[2 * i + axis] += (points[i * d + a] - mean[a]) * axes[axis][a];
  return {mean, axes, share, projected};
}

// ---- the page checks itself -----------------------------------------------------------------

function largestDifference(ours, theirs, width, every, result) {
  const rows = Math.floor(ours.length / width / every);
  for (let row = 0; row < rows; ++row) {
    for (let i = 0; i < width; ++i) {
      const a = ours[((row + 1) * every - 1) * width + i], b = theirs[row * width + i];
      result.difference = Math.max(result.difference, Math.abs(a - b));  // NaN stays NaN
      result.largest = Math.max(result.largest, Math.abs(b));
    }
  }
}

function checkedExample(run, trace, i, logits, patterns) {
  const {every, logits: block, patterns: blocks} = run.facts.check;
  const read = (b) => run.page.blocks.read(b);
  const wide = run.task.targets * run.task.vocab, each = block.shape[1];
  const own = read(block).subarray(i * each, (i + 1) * each);
  largestDifference(trace.logits, own, wide, every, logits);
  blocks.forEach((stored, m) => {
    const [, H, Q, S] = stored.shape, all = read(stored);
    for (let place = 0; place < H; ++place) {
      const at = (i * H + place) * Q * S;
      largestDifference(trace.pattern(m, place), all.subarray(at, at + Q * S), S, every, patterns);
    }
  });
}

// Holds the page's model against what the program computed. Everything live is to be switched off
// unless it is ok: damaged blocks and a pass that computes something else are found alike. The run
// is one with a model.
export function* selfCheckSteps(run) {
  const {tolerance} = run.page.facts;
  const logits = {difference: 0, largest: 0}, patterns = {difference: 0, largest: 0};
  const {examples} = run.facts.check;
  for (let i = 0; i < examples; ++i) {
    const trace = yield* forwardSteps(run.model, run.task.set('scored').example(i));
    checkedExample(run, trace, i, logits, patterns);
    yield {done: i + 1, of: examples};
  }
  const damaged = [...run.page.blocks.damaged];
  const ok = damaged.length === 0 && patterns.difference <= tolerance &&
    logits.difference <= tolerance * Math.max(1, logits.largest);
  const by = 'largest difference of a logit to the program ' + logits.difference.toPrecision(2) +
    ', of a weight ' + patterns.difference.toPrecision(2);
  const broken = damaged.length ? `blocks of numbers are damaged (${damaged.join(', ')}); ` : '';
  return {ok,
    sentence: ok ? 'Verified: ' + examples + ' examples, ' + by
      : 'This page does not compute what the program computed: ' + broken + by +
        '. Everything live is switched off.'};
}
