// A net, its task, and everything that is measured while it trains. Batches are those that the
// program draws for its task `file`, so that losses are the same. Heads are numbered through all
// layers. Read next: net.js, sequences.js.
import {Net} from './net.js';
import {adamwStep, rateOfStep} from './adamw.js';
import {Generator, foldNumber, foldText, keyOfSeed} from './random.js';

/// The most measurements that are kept, each with all weights.
const MOST_MOMENTS = 200;

export class Trainer {
  /// `options`: {config, batch, seed, lr, warmup, steps: of the plan, ownerLift}.
  constructor(task, options) {
    const {config, batch, seed} = options;
    Object.assign(this, {task, options, steps: 0, history: [], events: [], kept: null});
    this.net = new Net(task.sizes, config, {batch, seed});
    this.heads = config.layers * config.heads;
    this.owners = task.relations.map(() => null);
    this.mass = task.relations.map(() => new Float64Array(this.heads));
    this.lift = task.relations.map(() => new Float64Array(this.heads));
    this.state = new Array(this.heads).fill('on');  // on, ablated, pruned
    this.batches = foldText(keyOfSeed(seed), 'batch');
    this.keys = {step: new Uint32Array(4), part: null, one: new Uint32Array(4)};
    this.random = new Generator(this.batches);
    this.measure();
  }
  load(data, which, b) {
    const {length: T} = this.task;
    const {tokens, targets, lengths, K} = this.net;
    for (let t = 0; t < T; ++t) tokens[b * T + t] = data.tokens[which * T + t];
    for (let i = 0; i < T * K; ++i) targets[b * T * K + i] = data.targets[which * T * K + i];
    lengths[b] = data.lengths[which];
  }
  /// One step, on the batch that the program would draw: sequence b from the stream of b.
  step() {
    const {net, task, random, keys} = this;
    keys.part = foldText(foldNumber(this.batches, this.steps, keys.step), 'train');
    for (let b = 0; b < net.batch; ++b) {
      random.restart(foldNumber(keys.part, b, keys.one));
      this.load(task.train, random.below(task.train.size), b);
    }
    net.forward();
    net.score();
    this.trainLoss = net.loss;
    net.backward();
    const rate = rateOfStep(this.steps, this.options);
    ++this.steps;
    adamwStep(net.parameters, this.steps, rate);
  }
  /// Loss and accuracy on the held-out sequences, by target too; with `heads`, the attention mass
  /// of every head on the keys of every relation, from the patterns of the same pass.
  evaluate(heads = true) {
    const {net, task: {held, targets, relations}} = this;
    const slots = targets.map(() => ({loss: 0, right: 0, count: 0}));
    const counted = relations.map(() => 0);
    if (heads) for (const row of this.mass) row.fill(0);
    for (let first = 0; first < held.size; first += net.batch) {
      const size = Math.min(net.batch, held.size - first);
      for (let b = 0; b < size; ++b) this.load(held, first + b, b);
      net.forward(size);
      net.score(size);
      slots.forEach((slot, e) => {
        for (const part of ['loss', 'right', 'count']) slot[part] += net.slots[part][e];
      });
      if (heads) this.addMass(first, size, counted);
    }
    if (heads) this.finishMass(counted);
    const sum = (part) => slots.reduce((total, slot) => total + slot[part], 0);
    return {
      loss: sum('loss') / sum('count'), accuracy: sum('right') / sum('count'),
      slots: slots.map(({loss, right, count}) => ({loss: loss / count, accuracy: right / count})),
    };
  }
  addMass(first, size, counted) {
    const {length: T, held: {keys, counts}} = this.task;
    for (let i = 0; i < keys.length; ++i)
      for (let b = 0; b < size; ++b) for (let t = 0; t < T; ++t) {
        const r = (first + b) * T + t;
        if (!counts[i][r]) continue;
        ++counted[i];
        for (let x = 0; x < this.heads; ++x) this.mass[i][x] += this.share(x, b, t, keys[i][r]);
      }
  }
  /// The weight of a query on a key, as a share of its row where rows do not sum to 1.
  share(x, b, t, key) {
    const {attention, at} = this.rowOf(x, b, t);
    const {pattern} = attention;
    if (attention.normalises) return pattern[at + key];
    let sum = 1e-9;
    for (let s = at; s < at + this.net.seen(b, t); ++s) sum += pattern[s];
    return pattern[at + key] / sum;
  }
  /// Where the weights of query t of sequence b begin in the pattern of head x.
  rowOf(x, b, t) {
    const {blocks, T} = this.net;
    const {attention} = blocks[Math.floor(x / this.headsInLayer)];
    return {attention, at: ((b * attention.H + x % attention.H) * T + t) * T};
  }
  get headsInLayer() {
    return this.options.config.heads;
  }
  finishMass(counted) {
    this.mass.forEach((row, i) => row.forEach((sum, x) => {
      const baseline = this.task.baseline[i];
      row[x] = sum / Math.max(1, counted[i]);
      const isOn = this.state[x] === 'on' && counted[i] > 0 && baseline < 1;
      this.lift[i][x] = isOn ? (row[x] - baseline) / (1 - baseline) : 0;
    }));
  }
  /// Measures and remembers. The head with the highest lift on a relation is its owner if the lift
  /// reaches `ownerLift`: the program's rule, without its permutation test.
  measure() {
    const now = {step: this.steps, ...this.evaluate()};
    now.best = this.lift.map((row) => row.reduce((a, lift, x) => (lift > row[a] ? x : a), 0));
    now.lifts = now.best.map((x, i) => this.lift[i][x]);
    this.owners.forEach((before, i) => {
      const head = now.lifts[i] >= this.options.ownerLift ? now.best[i] : null;
      if (head !== before) this.events.push({step: this.steps, relation: i, head, before});
      this.owners[i] = head;
    });
    const copies = (rows) => rows.map((row) => row.slice());
    Object.assign(now, {owners: [...this.owners], mass: copies(this.mass),
      lift: copies(this.lift), weights: Float32Array.from(this.net.parameters.values)});
    this.now = now;
    this.seen = now;
    this.remember(now);
    return now;
  }
  /// Adds a moment to the history; of too many every other one stays.
  remember(moment) {
    if (this.history.at(-1)?.step === moment.step) this.history.pop();
    this.history.push(moment);
    if (this.history.length <= MOST_MOMENTS) return;
    this.history = this.history.filter((_, i, all) => i % 2 === 0 || i === all.length - 1);
  }
  /// Puts the weights of a moment of the history in place, for drawing; null: the present ones
  /// again, bit for bit.
  recall(moment) {
    const {values} = this.net.parameters;
    if (this.kept) values.set(this.kept);
    this.kept = moment === null ? null : values.slice();
    this.seen = moment === null ? this.now
      : this.history[Math.min(moment, this.history.length - 1)];
    if (moment !== null) values.set(this.seen.weights);
  }
  /// The relations that a head owns at the moment that is seen.
  relationsOf(x) {
    return this.seen.owners.flatMap((owner, i) => (owner === x ? [i] : []));
  }
  /// Each relation has an owner, and no head owns two.
  get isDivided() {
    const {owners} = this;
    return owners.every((x) => x !== null) && new Set(owners).size === owners.length;
  }
  get active() {
    return this.state.filter((state) => state === 'on').length;
  }
  set(x, state) {
    this.state[x] = state;
    this.gate(x, state === 'on' ? 1 : 0);
  }
  gate(x, value) {
    const {attention} = this.net.blocks[Math.floor(x / this.headsInLayer)];
    attention.gates[x % attention.H] = value;
  }
  /// Removes the head without which the held-out loss is lowest, until `keep` are left.
  prune(keep) {
    while (this.active > keep) {
      let best = null;
      for (let x = 0; x < this.heads; ++x) {
        if (this.state[x] !== 'on') continue;
        this.gate(x, 0);
        const {loss} = this.evaluate(false);
        this.gate(x, 1);
        if (!best || loss < best.loss) best = {x, loss};
      }
      this.set(best.x, 'pruned');
    }
  }
  /// Runs one held-out sequence; its patterns and logits stay in the net's buffers.
  show(which) {
    this.load(this.task.held, which, 0);
    this.net.forward(1);
  }
  /// The weight of head x from query t to key s of the sequence that show() ran.
  weight(x, t, s) {
    const {attention, at} = this.rowOf(x, 0, t);
    return attention.pattern[at + s];
  }
  /// The answer to target e at query t, and its probability: {answer, sure}.
  answer(e, t) {
    const {logits, L, outputs} = this.net;
    const at = t * L + e * outputs;
    let best = at;
    for (let j = at; j < at + outputs; ++j) if (logits[j] > logits[best]) best = j;
    let sum = 0;
    for (let j = at; j < at + outputs; ++j) sum += Math.exp(logits[j] - logits[best]);
    return {answer: best - at, sure: 1 / sum};
  }
}
