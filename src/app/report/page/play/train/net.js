// A transformer of one stack that trains: x += attention(norm(x)) and, if there is one, x +=
// network(norm(x)) in each layer, then norm and unembedding, with one softmax for each target. The
// settings have the program's names. All buffers are made once, for a batch of `batch` sequences.
// Read next: trainer.js.
import {positionKinds} from '../../engine/kinds.js';
import {TrainedAttention} from './attention.js';
import {TrainedLinear, TrainedNetwork, TrainedNorm} from './layers.js';
import {Parameters} from './parameters.js';

export class Net {
  /// `sizes`: {vocab, length, targets, outputs, causal}; `config`: {layers, heads, d_model, d_head,
  /// d_ff, norm, positions, activation, attention_function}.
  constructor(sizes, config, {batch, seed}) {
    const {vocab, length: T, targets: K, outputs, causal} = sizes;
    Object.assign(this, {config, T, K, outputs, causal, batch, C: config.d_model, L: K * outputs});
    this.parameters = new Parameters({config, vocab, length: T, outputs: this.L}, seed);
    this.makeLayers();
    this.makeBuffers();
  }
  makeLayers() {
    const {parameters, config, batch, T} = this;
    const R = batch * T;
    const norm = (name) => new TrainedNorm(parameters, name, config, R);
    this.blocks = Array.from({length: config.layers}, (_, l) => {
      const name = `blocks.${l}.`;
      const sizes = {config, length: T, batch};
      const attention = new TrainedAttention(parameters, `${name}attn.`, sizes);
      const network = config.d_ff > 0
        ? {norm: norm(`${name}ln2.`), mlp: new TrainedNetwork(parameters, `${name}mlp.`, config, R)}
        : null;
      return {norm: norm(`${name}ln1.`), attention, network, middle: new Float64Array(R * this.C)};
    });
    this.finalNorm = norm('ln_final.');
    this.unembed = new TrainedLinear(parameters, 'unembed.', 'U', R);
    const model = {tensors: {'pos_embed.W_pos': parameters.of('pos_embed.W_pos')}, C: this.C};
    this.places = positionKinds[config.positions].table(model, '', T);
  }
  makeBuffers() {
    const {batch, T, C, K, L} = this;
    const R = batch * T;
    this.x = Array.from({length: this.config.layers + 1}, () => new Float64Array(R * C));
    this.logits = new Float64Array(R * L);
    this.dLogits = new Float64Array(R * L);
    this.dx = new Float64Array(R * C);
    this.dh = new Float64Array(R * C);
    this.tokens = new Int32Array(R);
    this.targets = new Int32Array(R * K);
    this.lengths = new Int32Array(batch);
    this.slots = {loss: new Float64Array(K), right: new Int32Array(K), count: new Int32Array(K)};
    this.seen = this.causal ? (b, t) => t + 1 : (b) => this.lengths[b];
  }
  /// Runs the first sequences of `tokens`; patterns and logits stay in the buffers.
  forward(sequences = this.batch) {
    const {T, x, blocks} = this;
    const rows = sequences * T;
    this.embed(rows);
    blocks.forEach(({norm, attention, network, middle}, l) => {
      const out = network ? middle : x[l + 1];
      out.set(x[l]);
      attention.forward(norm.forward(x[l], rows), out, this.seen, sequences);
      if (!network) return;
      x[l + 1].set(middle);
      network.mlp.forward(network.norm.forward(middle, rows), x[l + 1], rows);
    });
    this.unembed.forward(this.finalNorm.forward(x[blocks.length], rows), this.logits, rows);
  }
  embed(rows) {
    const {C, T, tokens, places} = this;
    const table = this.parameters.of('embed.W_E');
    const x = this.x[0];
    for (let r = 0; r < rows; ++r) {
      const from = tokens[r] * C;
      const place = r % T * C;
      for (let c = 0; c < C; ++c)
        x[r * C + c] = table[from + c] + (places ? places[place + c] : 0);
    }
  }
  /// The mean loss and the accuracy of all targets, and by target in `slots`; also the gradient of
  /// the logits.
  score(sequences = this.batch) {
    const {K, targets, slots} = this;
    const end = sequences * this.T * K;
    for (const part of Object.values(slots)) part.fill(0);
    let count = 0;
    for (let i = 0; i < end; ++i) if (targets[i] >= 0) ++count;
    for (let i = 0; i < end; ++i) this.scoreTarget(i, count);
    this.loss = 0;
    this.accuracy = 0;
    for (let e = 0; e < K && count > 0; ++e) {
      this.loss += slots.loss[e] / count;
      this.accuracy += slots.right[e] / count;
    }
  }
  /// Target i, one of `count` that are asked.
  scoreTarget(i, count) {
    const {logits, dLogits, outputs, slots, K} = this;
    const target = this.targets[i];
    const at = i * outputs;
    const end = at + outputs;
    if (target < 0) {
      for (let j = at; j < end; ++j) dLogits[j] = 0;
      return;
    }
    let best = at;
    for (let j = at + 1; j < end; ++j) if (logits[j] > logits[best]) best = j;
    let sum = 0;
    for (let j = at; j < end; ++j) {
      dLogits[j] = Math.exp(logits[j] - logits[best]);
      sum += dLogits[j];
    }
    for (let j = at; j < end; ++j) dLogits[j] /= sum * count;
    dLogits[at + target] -= 1 / count;
    slots.loss[i % K] += Math.log(sum) + logits[best] - logits[at + target];
    ++slots.count[i % K];
    if (best === at + target) ++slots.right[i % K];
  }
  /// The gradients of all parameters, after forward() and score() of a whole batch.
  backward() {
    const {blocks, x, dx, dh} = this;
    const rows = this.batch * this.T;
    this.parameters.grads.fill(0);
    this.unembed.backward(this.finalNorm.y, this.dLogits, dh);
    dx.fill(0);
    this.finalNorm.backward(x[blocks.length], dh, dx, rows);
    for (let l = blocks.length - 1; l >= 0; --l) {
      const {norm, attention, network, middle} = blocks[l];
      if (network) {
        network.mlp.backward(network.norm.y, dx, dh);
        network.norm.backward(middle, dh, dx, rows);
      }
      attention.backward(norm.y, dx, dh, this.seen);
      norm.backward(x[l], dh, dx, rows);
    }
    this.embedBack(rows);
  }
  embedBack(rows) {
    const {C, T, dx, tokens} = this;
    const table = this.parameters.gradient('embed.W_E');
    const places = this.parameters.gradient('pos_embed.W_pos');
    for (let r = 0; r < rows; ++r) {
      const from = tokens[r] * C;
      const place = r % T * C;
      for (let c = 0; c < C; ++c) {
        table[from + c] += dx[r * C + c];
        if (places) places[place + c] += dx[r * C + c];
      }
    }
  }
}
