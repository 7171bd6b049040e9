// Parameters of a decoder or an encoder of one stack: names, shapes and initial values are the
// program's (src/core/model/initial.cc). All values lie in one array, matrices first, and so do
// gradients and the moments of the optimizer; a parameter is a view of each.
import {activations, norms} from '../../engine/kinds.js';
import {matrixOf, transposed} from '../../engine/gemm.js';
import {Generator, foldText, keyOfSeed} from './random.js';

/// The shapes of all parameters by name.
function shapesOf({config, vocab, length, outputs}) {
  const {d_model: C, d_ff: F} = config;
  const width = config.heads * config.d_head;
  const hasBias = norms[config.norm].centres;
  const shapes = {'embed.W_E': [vocab, C]};
  if (config.positions === 'learned') shapes['pos_embed.W_pos'] = [length, C];
  const addNorm = (name) => {
    if (!norms[config.norm].divides) return;
    shapes[`${name}w`] = [C];
    if (hasBias) shapes[`${name}b`] = [C];
  };
  for (let l = 0; l < config.layers; ++l) {
    const block = `blocks.${l}.`;
    for (const m of ['Q', 'K', 'V']) {
      shapes[`${block}attn.W_${m}`] = [C, width];
      shapes[`${block}attn.b_${m}`] = [width];
    }
    Object.assign(shapes, {[`${block}attn.W_O`]: [width, C], [`${block}attn.b_O`]: [C]});
    addNorm(`${block}ln1.`);
    if (F === 0) continue;
    for (const m of activations[config.activation].gated ? ['in', 'gate'] : ['in']) {
      shapes[`${block}mlp.W_${m}`] = [C, F];
      shapes[`${block}mlp.b_${m}`] = [F];
    }
    Object.assign(shapes, {[`${block}mlp.W_out`]: [F, C], [`${block}mlp.b_out`]: [C]});
    addNorm(`${block}ln2.`);
  }
  addNorm('ln_final.');
  return {...shapes, 'unembed.W_U': [C, outputs], 'unembed.b_U': [outputs]};
}

const sizeOfShape = (shape) => shape.reduce((a, b) => a * b, 1);

/// Writes the initial values of one parameter, from the stream of its name.
function initialise(name, [rows, cols], values, random) {
  if (cols === undefined) {
    values.fill(name.endsWith('.w') ? 1 : 0);
    return;
  }
  const bound = 1 / Math.sqrt(rows);
  const isEmbedding = name.endsWith('.W_E') || name.endsWith('.W_pos');
  for (let i = 0; i < values.length; ++i) {
    const value = isEmbedding ? 0.5 * random.normal() : 2 * bound * random.uniform() - bound;
    values[i] = Math.fround(value);
  }
}

/// Values, gradients `grads` and moments `mean` and `square` of all parameters. `values` of a name
/// are `of(name)`, its gradient is `gradient(name)`.
export class Parameters {
  constructor(sizes, seed) {
    const shapes = Object.entries(shapesOf(sizes));
    shapes.sort(([, a], [, b]) => b.length - a.length);  // a stable sort: matrices first
    this.count = shapes.reduce((sum, [, shape]) => sum + sizeOfShape(shape), 0);
    for (const kind of ['values', 'grads', 'mean', 'square'])
      this[kind] = new Float64Array(this.count);
    this.views = new Map();
    this.decayed = 0;  // how many numbers belong to matrices: they alone decay
    const key = foldText(keyOfSeed(seed), 'initial values');
    let at = 0;
    for (const [name, shape] of shapes) {
      const to = at + sizeOfShape(shape);
      const view = {shape, value: this.values.subarray(at, to), grad: this.grads.subarray(at, to)};
      this.views.set(name, view);
      initialise(name, shape, view.value, new Generator(foldText(key, name)));
      at = to;
      if (shape.length === 2) this.decayed = at;
    }
  }
  of(name) {
    return this.views.get(name)?.value ?? null;
  }
  gradient(name) {
    return this.views.get(name)?.grad ?? null;
  }
  /// A matrix, its transpose, and its gradient, as gemm() takes them.
  matrix(name) {
    const {shape: [rows, cols], value, grad} = this.views.get(name);
    const W = matrixOf(value, rows, cols);
    return {W, back: transposed(W), grad: matrixOf(grad, rows, cols)};
  }
}
