// Losses of examples, of targets and of relations, with gates, replacements and masked edges.
import {maskedFor} from './edges.js';
import {cachedNumbers} from './model.js';
import {forwardSteps} from './pass.js';

/// The loss of each target in nats, and whether the largest logit (the first of equals) is right.
export function lossesOf(trace, example = trace.example) {
  const V = trace.model.task.outputs;
  const rows = trace.logits.length / V;
  const losses = new Float64Array(rows);
  const right = new Uint8Array(rows);
  let sum = 0;
  let count = 0;
  for (let row = 0; row < rows; ++row) {
    const target = example.targets ? example.targets[row] : -1;
    if (target < 0) continue;
    let best = 0;
    let total = 0;
    const at = row * V;
    for (let v = 1; v < V; ++v) if (trace.logits[at + v] > trace.logits[at + best]) best = v;
    const largest = trace.logits[at + best];
    for (let v = 0; v < V; ++v) total += Math.exp(trace.logits[at + v] - largest);
    losses[row] = largest + Math.log(total) - trace.logits[at + target];
    right[row] = best === target ? 1 : 0;
    sum += losses[row];
    ++count;
  }
  return {losses, sum, count, right};
}

class Sums {
  constructor(name) {
    Object.assign(this, {name, sum: 0, hits: 0, count: 0});
  }
  add(loss, right) {
    this.sum += loss;
    this.hits += right;
    ++this.count;
  }
  get result() {
    const n = Math.max(1, this.count);
    return {name: this.name, loss: this.sum / n, accuracy: this.hits / n, count: this.count};
  }
}

/// Sums over examples: of all targets, of each of the K, of those of each relation.
class Evaluation {
  constructor(set) {
    const {task} = set;
    Object.assign(this, {examples: 0, by: [], all: new Sums('all')});
    this.targets = task.target_names.map((name) => new Sums(name));
    this.relations = task.relations.map((relation) => new Sums(relation.name));
    this.slots = task.relations.map(({name}) => task.target_names.indexOf(name));
    this.own = set.facts.own_targets;
  }
  /// Whether a target is one of a relation: of its queries, and of several that with its name.
  answers(r, example, t, k) {
    if (!this.own[r]) return true;
    return (this.slots[r] < 0 || this.slots[r] === k) && example.truth(r, t).length > 0;
  }
  add(trace, example) {
    const {losses, right} = lossesOf(trace, example);
    const K = this.targets.length;
    let sum = 0;
    for (let row = 0; row < losses.length; ++row) {
      if (example.targets[row] < 0) continue;
      const t = Math.floor(row / K);
      const k = row % K;
      sum += losses[row];
      this.all.add(losses[row], right[row]);
      this.targets[k].add(losses[row], right[row]);
      this.relations.forEach((sums, r) => {
        if (this.answers(r, example, t, k)) sums.add(losses[row], right[row]);
      });
    }
    this.by.push(sum);
    ++this.examples;
  }
  get result() {
    const {loss, accuracy, count} = this.all.result;
    return {loss, accuracy, count, examples: this.examples, by: Float64Array.from(this.by),
      targets: this.targets.map((sums) => sums.result),
      relations: this.relations.map((sums) => sums.result)};
  }
}

/// The unchanged pass over an example of a set, from a cache if the set fits into one: streams and
/// outputs of heads, from which any gates start.
function* unchanged(model, set, i) {
  model.caches[set.name] ??= [];
  const cache = model.caches[set.name];
  if (cache[i]) return cache[i];
  const trace = yield* forwardSteps(model, set.example(i));
  const size = trace.residual.concat(trace.attentionLayers.map((layer) => layer.z || []))
    .reduce((sum, part) => sum + part.length, 0);
  if (size * set.size > cachedNumbers) return trace;
  const light = {residual: trace.residual, logits: trace.logits, model, example: trace.example,
    attentionLayers: trace.attentionLayers.map((layer) => ({z: layer.z}))};
  cache[i] = light;
  return light;
}

/// The mean outputs of heads over the positions that count: the program's own, and of a model at a
/// kept step those of this pass over all examples.
function* meanReplacement(run, model, set) {
  if (model === run.model) return run.facts.means.map((block) => run.page.blocks.read(block));
  if (model.means) return model.means;
  const sums = run.attentionLayers.map(
    (layer) => new Float64Array(layer.heads.length * layer.dValue));
  const rows = run.attentionLayers.map(() => 0);
  for (let i = 0; i < set.size; ++i) {
    const {example, attentionLayers} = yield* unchanged(model, set, i);
    run.attentionLayers.forEach(({kind}, m) => {
      const wide = sums[m].length;
      const length = kind === 'encoder' ? example.sourceLength : example.length;
      for (let at = 0; at < length * wide; ++at) sums[m][at % wide] += attentionLayers[m].z[at];
      rows[m] += length;
    });
    yield {done: 0, of: 1};
  }
  model.means = sums.map((sum, m) => Float32Array.from(sum, (value) => value / rows[m]));
  return model.means;
}

/// The outputs of another example's heads at the same positions; beyond its end the own outputs.
function donated(run, m, own, donor, length) {
  const taken = Float32Array.from(own);
  const wide = run.attentionLayers[m].heads.length * run.attentionLayers[m].dValue;
  taken.set(donor.subarray(0, length * wide));
  return taken;
}

function* replacementFor(run, model, set, i, kind, base) {
  if (kind === 'mean') return yield* meanReplacement(run, model, set);
  if (kind !== 'resample') return null;
  const given = [];
  for (const layer of run.attentionLayers) {
    const m = layer.index;
    const donors = run.facts.donors[m];
    if (!base.attentionLayers[m].z || !donors) continue;
    const other = run.page.blocks.read(donors)[i];
    const {example, attentionLayers} = yield* unchanged(model, set, other);
    const length = layer.kind === 'encoder' ? example.sourceLength : example.length;
    given[m] = donated(run, m, base.attentionLayers[m].z, attentionLayers[m].z, length);
  }
  return given;
}

export function* evaluateSteps(run, options = {}) {
  const model = options.model || run.model;
  const set = run.task.set('held_out');
  const count = Math.min(options.count || set.size, set.size);
  const {hide} = options;
  const sums = new Evaluation(set);
  for (let i = 0; i < count; ++i) {
    const base = yield* unchanged(model, set, i);
    const example = base.example;
    const replacement = yield* replacementFor(run, model, set, i, options.replacement, base);
    const changes = {base: hide ? null : base, gates: options.gates, replacement,
      masked: hide && maskedFor(run, example, hide)};
    const changed = options.gates || hide;
    const trace = changed ? yield* forwardSteps(model, example, changes) : base;
    sums.add(trace, example);
    yield {done: i + 1, of: count, sums};
  }
  return sums.result;
}
