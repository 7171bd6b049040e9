// Losses of examples, of targets and of relations, with gates, replacements and hidden edges.
import {cachedNumbers, keysSeen} from './core_model.js';
import {noKeys} from './core_page.js';
import {forwardSteps} from './core_pass.js';

// The loss of each target in nats, and whether the largest logit (the first of equals) is right.
export function lossesOf(trace, example = trace.example) {
  const V = trace.model.task.vocab, rows = trace.logits.length / V;
  const losses = new Float64Array(rows), right = new Uint8Array(rows);
  let sum = 0, count = 0;
  for (let row = 0; row < rows; ++row) {
    const target = example.targets ? example.targets[row] : -1;
    if (target < 0) continue;
    let best = 0, total = 0;
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

// Which targets a relation answers for (targets_of in lab/heads/causes/gold_edges.cc): those at its
// queries, and of several the one with its name; all of them where its queries have none.
function targetsOfRelation(set, relation) {
  set.answers ??= [];
  if (set.answers[relation]) return set.answers[relation];
  const {task} = set, {name, kind} = task.relations[relation], K = task.targets;
  const slot = task.target_names.indexOf(name);
  const targets = set.values('targets');
  let any = false;
  for (let i = 0; i < set.size && !any; ++i)
    for (let t = 0; t < task.length && !any; ++t)
      for (let k = 0; k < K; ++k)
        any = any || ((slot < 0 || slot === k) && targets[(i * task.length + t) * K + k] > 0 &&
          set.gold(relation, i, t).length > 0);
  set.answers[relation] = any && kind !== 'encoder' ? {all: false, slot} : {all: true, slot: -1};
  return set.answers[relation];
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

// Sums over examples: of all targets, of each of the K, of those of each relation.
class Evaluation {
  constructor(set) {
    const {task} = set;
    Object.assign(this, {examples: 0, by: [], all: new Sums('all')});
    this.targets = task.target_names.map((name) => new Sums(name));
    this.relations = task.relations.map((relation) => new Sums(relation.name));
    this.rules = task.relations.map((relation, r) => targetsOfRelation(set, r));
  }
  answers(r, example, t, k) {
    const rule = this.rules[r];
    if (rule.all) return true;
    return (rule.slot < 0 || rule.slot === k) && example.gold(r, t).length > 0;
  }
  add(trace, example) {
    const {losses, right} = lossesOf(trace, example), K = this.targets.length;
    let sum = 0;
    for (let row = 0; row < losses.length; ++row) {
      if (example.targets[row] < 0) continue;
      const t = Math.floor(row / K), k = row % K;
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

// The unchanged pass over an example of a set, from a cache if the set fits into one: streams and
// outputs of heads, from which any gates start.
function* unchanged(model, set, i) {
  const cache = model.caches[set.name] || (model.caches[set.name] = []);
  if (cache[i]) return cache[i];
  const trace = yield* forwardSteps(model, set.example(i));
  const size = trace.residual.concat(trace.modules.map((module) => module.z || []))
    .reduce((sum, part) => sum + part.length, 0);
  if (size * set.size > cachedNumbers) return trace;
  const light = {residual: trace.residual, logits: trace.logits, model, example: trace.example,
    modules: trace.modules.map((module) => ({z: module.z}))};
  cache[i] = light;
  return light;
}

// The mean outputs of heads over the positions that count: the program's own, and of a model at a
// kept step those of this pass over all examples.
function* meanReplacement(run, model, set) {
  if (model === run.model) return run.facts.means.map((block) => run.page.blocks.read(block));
  if (model.means) return model.means;
  const sums = run.modules.map((module) => new Float64Array(module.heads.length * module.dValue));
  const rows = run.modules.map(() => 0);
  for (let i = 0; i < set.size; ++i) {
    const {example, modules} = yield* unchanged(model, set, i);
    run.modules.forEach(({kind}, m) => {
      const wide = sums[m].length;
      const length = kind === 'encoder' ? example.sourceLength : example.length;
      for (let at = 0; at < length * wide; ++at) sums[m][at % wide] += modules[m].z[at];
      rows[m] += length;
    });
    yield {done: 0, of: 1};
  }
  model.means = sums.map((sum, m) => Float32Array.from(sum, (value) => value / rows[m]));
  return model.means;
}

// What another example's heads put out at the same positions; beyond its end the own output stays.
function donated(run, m, own, donor, length) {
  const taken = Float32Array.from(own), wide = run.modules[m].heads.length * run.modules[m].dValue;
  taken.set(donor.subarray(0, length * wide));
  return taken;
}

function* replacementFor(run, model, set, i, kind, base) {
  if (kind === 'mean') return yield* meanReplacement(run, model, set);
  if (kind !== 'resample') return null;
  const given = [];
  for (const module of run.modules) {
    const m = module.index, donors = run.facts.donors[m];
    if (!base.modules[m].z || !donors) continue;
    const other = run.page.blocks.read(donors)[i];
    const {example, modules} = yield* unchanged(model, set, other);
    const length = module.kind === 'encoder' ? example.sourceLength : example.length;
    given[m] = donated(run, m, base.modules[m].z, modules[m].z, length);
  }
  return given;
}

// Numbers from 0 to 1 from a seed: mulberry32.
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = state + 0x6d2b79f5 >>> 0;
    let mixed = Math.imul(state ^ state >>> 15, state | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return ((mixed ^ mixed >>> 14) >>> 0) / 4294967296;
  };
}

/// The same things in another order.
export function shuffled(things, random) {
  const all = [...things];
  for (let i = all.length - 1; i > 0; --i) {
    const j = Math.floor(random() * (i + 1));
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all;
}

function sizesOf(run, m, example) {
  const {kind} = run.modules[m];
  return [kind === 'encoder' ? example.source.length : example.tokens.length,
    kind === 'self' ? example.tokens.length : example.source.length];
}

// The edges of a relation, as flags [Q * S].
export function goldEdges(run, example, relation, m) {
  const [Q, S] = sizesOf(run, m, example), flags = new Uint8Array(Q * S);
  for (let t = 0; t < Q; ++t)
    for (const s of example.gold(relation, t) || noKeys) flags[t * S + s] = 1;
  return flags;
}

// As many others at each query, which no relation of this kind asks for.
export function randomEdges(run, example, relation, m, seed = 0) {
  const [Q, S] = sizesOf(run, m, example), flags = new Uint8Array(Q * S);
  const {relations} = run.task, random = randomFrom(seed * 7919 + Math.max(0, example.index));
  for (let t = 0; t < Q; ++t) {
    const truth = new Set();
    relations.forEach((other, r) => {
      if (other.kind === relations[relation].kind)
        for (const s of example.gold(r, t) || noKeys) truth.add(s);
    });
    const pool = [];
    const {from, to} = keysSeen(run, m, example, t);
    for (let s = from; s < to; ++s) if (!truth.has(s)) pool.push(s);
    const wanted = (example.gold(relation, t) || noKeys).length;
    for (let n = 0; n < wanted && pool.length > 0; ++n)
      flags[t * S + pool.splice(Math.floor(random() * pool.length), 1)[0]] = 1;
  }
  return flags;
}

function hiddenFor(run, example, hide) {
  const make = hide.random ? randomEdges : goldEdges;
  return (m, place) => hide.heads.some((head) => head[0] === m && head[1] === place)
    ? make(run, example, hide.relation, m, (hide.seed || 0) * 4096 + m * 64 + place) : null;
}

export function* evaluateSteps(run, options = {}) {
  const model = options.model || run.model, set = run.task.set(options.set || 'held_out');
  const count = Math.min(options.count || set.size, set.size);
  const {hide} = options, sums = new Evaluation(set);
  for (let i = 0; i < count; ++i) {
    const base = yield* unchanged(model, set, i), example = base.example;
    const replacement = yield* replacementFor(run, model, set, i, options.replacement, base);
    const trace = options.gates || hide
      ? yield* forwardSteps(model, example, {base: hide ? null : base, gates: options.gates,
        replacement, hidden: hide && hiddenFor(run, example, hide)}) : base;
    sums.add(trace, example);
    yield {done: i + 1, of: count, sums};
  }
  return sums.result;
}

// The program's loss with exactly these heads at 0 and all others at 1, if it kept it; or null.
export function subsetLoss(run, gates) {
  const subsets = run.reports.curve?.subsets;
  if (!subsets) return null;
  let index = 0;
  const known = new Set();
  subsets.heads.forEach(([m, born], bit) => {
    const place = run.modules[m].placeOf(born);
    const gate = gates?.[m] ? gates[m][place] : 1;
    known.add(gate === 0 || gate === 1);
    if (gate === 1) index += 2 ** bit;
  });
  return known.has(false) ? null : subsets.losses[index];
}
// What heads.json says of heads, how far their patterns are from one another, and the axes along
// which points vary most.

// What heads.json says of a head and a relation; null if it says nothing.
export function reportScore(run, relation, m, place) {
  const born = run.modules[m].heads[place];
  const head = run.reports.heads?.heads.find((entry) => entry.layer === m && entry.head === born);
  return head?.scores[run.task.relations[relation].name] || null;
}

// The head that owns a relation, by heads.json; or null.
export function ownerOf(run, relation) {
  const {name} = run.task.relations[relation];
  const row = run.reports.heads?.relations.find((entry) => entry.name === name);
  if (!row?.owner) return null;
  const [m, born] = row.owner;
  return {m, place: run.modules[m].placeOf(born), born};
}

export const entropyOfRow = (row) => row.reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0);

// The square root of the Jensen-Shannon divergence of two rows of n weights, in nats.
export function jsDistance(a, b, n = a.length) {
  let divergence = 0;
  for (let s = 0; s < n; ++s) {
    const middle = (a[s] + b[s]) / 2;
    divergence += (a[s] > 0 ? a[s] * Math.log(a[s] / middle) : 0) / 2 +
      (b[s] > 0 ? b[s] * Math.log(b[s] / middle) : 0) / 2;
  }
  return Math.sqrt(Math.max(0, divergence));
}

export const headPlaces = (run) => run.modules.flatMap((module) =>
  module.heads.map((born, place) => ({m: module.index, place, born, kind: module.kind})));


/// "layer.head" of a pair of numbers, and of a record that has both.
export const at2 = (pair) => pair.join('.');
export const idOf = ({layer, head: born}) => `${layer}.${born}`;

/// All sets of heads of a run with their losses, or null: {heads: [[m, born]], losses[bits of
/// kept]}.
export const subsetsOf = (r) => r?.reports.curve?.subsets || null;
/// Where a set of kept heads stands among all of its size: {rank, of, loss, best, bits}.
export function rankOfSet({losses}, kept) {
  const size = (bits) => bits.toString(2).replace(/0/g, '').length;
  const same = losses.map((loss, bits) => ({loss, bits})).filter((x) => size(x.bits) === size(kept))
    .sort((a, b) => a.loss - b.loss);
  return {
    rank: same.findIndex((x) => x.bits === kept) + 1, of: same.length, loss: losses[kept],
    best: same[0].loss, bits: same[0].bits,
  };
}
export const subsetNames = (subsets) => subsets.heads.map(at2);
export const keptNames = (subsets, bits) =>
  subsetNames(subsets).filter((_, i) => Math.floor(bits / 2 ** i) % 2);
