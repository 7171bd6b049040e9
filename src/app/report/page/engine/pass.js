// A forward pass through the model, with the tensors recorded on the way. Unchanged blocks are
// copied from an earlier pass. Long passes run in slices.
import {Attention, cachedNumbers, linear} from './model.js';
import {blockWirings} from './wirings.js';

class Trace {
  constructor(model, example, options) {
    Object.assign(this, {model, example, options, attentionLayers: [], residual: [], logits: null,
      exact: true, patterns: new Map()});
  }
  /// The weights of a head, [Q * S] row-major; computed when first asked for. The latest are kept,
  /// up to 32 MB.
  pattern(m, place) {
    const key = m + '.' + place;
    const known = this.patterns.get(key) || this.attentionLayers[m].pattern(place);
    this.patterns.delete(key);
    this.patterns.set(key, known);
    for (const oldest of this.patterns.keys()) {
      if (this.patterns.size < 2 || this.patterns.size * known.length <= cachedNumbers) break;
      this.patterns.delete(oldest);
    }
    return known;
  }
}

/// The state of one pass: the trace under construction, and whether all so far is as in the
/// trace that it may reuse.
class Pass {
  constructor(model, example, options) {
    this.trace = new Trace(model, example, options);
    Object.assign(this, {model, example, options, base: options.base || null, clean: true});
    this.wiring = blockWirings[model.config.norm_place];
    this.hasNetwork = model.config.d_ff > 0;
  }
  changed(m) {
    const attention = new Attention(this.model, m, this.example, this.options);
    return attention.isGated() || attention.hidesAny();
  }
  norm(x, block, name) {
    return this.model.norm(x, block.name + name);
  }
  feedForward(h, block, residual) {
    return this.model.feedForward(h, block.name + 'mlp.', residual);
  }
  * attention(m, h, memory, residual) {
    const attention = new Attention(this.model, m, this.example, this.options);
    const old = this.base && this.clean ? this.base.attentionLayers[m] : null;
    this.trace.attentionLayers[m] = attention;
    Object.assign(attention, {input: h, memory: memory || h});
    const t = this.model.tensors;
    const name = attention.layer.name + '.';
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
  /// Whether a block may be taken over from the base as it is.
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
          if (m >= 0) this.trace.attentionLayers[m] = this.base.attentionLayers[m];
        x = this.base.residual[stack.stream + i + 1];
      } else {
        x = yield* this.wiring.run(this, block, x, memory);
        yield {done: 0, of: 1};
      }
    }
    this.trace.residual.push(x);
    return this.wiring.isSum ? this.model.norm(x, stack.name + 'ln_final.') : x;
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

/// Runs a generator in slices of a few milliseconds, so that a page answers in between.
export function drive(generator, cancelled) {
  return new Promise((resolve, reject) => {
    const turn = () => {
      try {
        const end = performance.now() + 8;
        do {
          if (cancelled?.()) return resolve(undefined);
          const {done, value} = generator.next();
          if (done) return resolve(value);
        } while (performance.now() < end);
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
