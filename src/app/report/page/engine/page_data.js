// The data that the program wrote into a page: blocks of base64 as numbers, tasks with their
// examples, runs with their attention layers. Nothing is decoded before it is asked for.
//
// The files of this folder are the model in the page, without any document: they read the blocks,
// run the transformer as the program does (src/core/model/transformer.cc), with gates, replacements
// and masked edges, and check themselves against logits and patterns of the program. They run under
// node as they are (tests/report/core_test.mjs). Letters: T queries, S keys, C d_model, H heads, D
// and Dv widths of a head, K targets, V vocabulary. Sums are taken in double; everything that is
// kept is single, as in the program.
import {unknownKinds} from './kinds.js';
import {Model} from './model.js';

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/// FNV-1a, 32 bits: notices any changed bit.
export function hashOf(bytes) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; ++i) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash >>> 0;
}

function floatOfHalf(half) {
  const exponent = half >> 10 & 31;
  const fraction = half & 1023;
  const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return half & 0x8000 ? -size : size;
}

/// Numbers of so many bits, low ones first.
function unpacked(bytes, bits, count) {
  const values = new Int32Array(count);
  for (let i = 0, at = 0; i < count; ++i)
    for (let b = 0; b < bits; ++b, ++at) values[i] |= (bytes[at >> 3] >> (at & 7) & 1) << b;
  return values;
}

const decoders = {
  f32: (bytes) => new Float32Array(bytes.buffer),
  f16: (bytes) => Float32Array.from(new Uint16Array(bytes.buffer), floatOfHalf),
  p8: (bytes) => Float32Array.from(bytes, (v) => (v / 255) * (v / 255)),
};

/// Decodes blocks when they are first asked for; remembers which were damaged.
class Blocks {
  constructor(textOf) {
    this.textOf = textOf;
    this.known = new Map();
    this.damaged = new Set();
  }
  read(block) {
    if (!this.known.has(block.id)) this.known.set(block.id, this.decode(block));
    return this.known.get(block.id);
  }
  decode(block) {
    const count = block.shape.reduce((a, b) => a * b, 1);
    let values = null;
    try {
      const bytes = bytesOf(this.textOf(block.id));
      if (hashOf(bytes) !== block.hash) this.damaged.add(block.id);
      const [, bits] = /^u(\d+)$/.exec(block.dtype) || [];
      values = bits ? unpacked(bytes, bits, count) : decoders[block.dtype](bytes);
    } catch (error) {
      this.damaged.add(block.id);
    }
    if (values && values.length === count) return values;
    this.damaged.add(block.id);
    return new Float32Array(count);
  }
}

// ---- tasks and their examples ---------------------------------------------------------------

export const noKeys = new Int32Array(0);

class Example {
  constructor(fields) {
    Object.assign(this, fields);
  }
  /// The keys that a relation gives query t; empty where it asks nothing, null without a truth.
  truth(relation, t) {
    return this.truthAt ? this.truthAt(relation, t) : null;
  }
}

/// Decodes a number of the block `targets` to a target. Blocks hold no negative numbers, so the
/// program stores target + 1, and 0 for none (src/app/report/page_task.cc). -1: no target.
const targetOf = (stored) => stored - 1;

class ExampleSet {
  constructor(task, name, facts, blocks) {
    Object.assign(this, {task, name, facts, blocks, size: facts.examples});
    this.truths = [];
  }
  values(name) {
    return this.facts[name] ? this.blocks.read(this.facts[name]) : null;
  }
  /// The keys of a relation: where those of each query begin, and all of them.
  stored(relation) {
    if (!this.truths[relation]) {
      const counts = this.blocks.read(this.facts.truth[relation].counts);
      const begin = new Int32Array(counts.length + 1);
      for (let i = 0; i < counts.length; ++i) begin[i + 1] = begin[i] + counts[i];
      const keys = Int32Array.from(this.blocks.read(this.facts.truth[relation].keys));
      this.truths[relation] = {begin, keys, each: counts.length / this.size};
    }
    return this.truths[relation];
  }
  truth(relation, i, t) {
    const {begin, keys, each} = this.stored(relation);
    const at = i * each + t;
    return t < each ? keys.subarray(begin[at], begin[at + 1]) : noKeys;
  }
  example(i) {
    const {length: T, targets: K, source_length: S, features: F} = this.task;
    const part = (values, each) => Int32Array.from(values.subarray(i * each, (i + 1) * each));
    const lengths = this.values('lengths');
    const sources = this.values('source_lengths');
    return new Example({
      index: i, set: this, task: this.task,
      tokens: part(this.values('tokens'), T),
      vectors: F > 0 ? this.values('vectors').subarray(i * T * F, (i + 1) * T * F) : null,
      length: lengths ? lengths[i] : T,
      targets: part(this.values('targets'), T * K).map(targetOf),
      source: S > 0 ? part(this.values('source'), S) : null,
      sourceLength: sources ? sources[i] : S,
      truthAt: (relation, t) => this.truth(relation, i, t),
    });
  }
}

class Task {
  constructor(facts, blocks) {
    Object.assign(this, facts);
    this.facts = facts;
    this.answers = facts.answers || facts.tokens;  // texts of the outputs of a target
    this.outputs = facts.answers ? facts.answers.length : facts.vocab;
    this.exampleSets = {};
    for (const name of Object.keys(facts.sets))
      this.exampleSets[name] = new ExampleSet(this, name, facts.sets[name], blocks);
  }
  set(name) {
    return this.exampleSets[name];
  }
}

export function makeExample(task, tokens, {source = null, targets = null, length} = {}) {
  return new Example({
    index: -1, set: null, task, tokens: Int32Array.from(tokens),
    length: length ?? tokens.length,
    targets: targets && Int32Array.from(targets),
    source: source && Int32Array.from(source),
    sourceLength: source ? source.length : 0, truthAt: null,
  });
}

/// The rule of the task `relations` (src/core/tasks/relations.cc), for tokens that were edited.
function keyOfRelation(name, classOf, t) {
  const back = /^back(\d+)$/.exec(name);
  if (back) return Math.max(t - Number(back[1]), -1);
  if (name === 'next') return t + 1 < classOf.length ? t + 1 : -1;
  for (let s = t - 1; s >= 0; --s) if (classOf[s] === classOf[t]) return s;
  return -1;
}

export function truthOf(task, tokens) {
  if (task.name !== 'relations') return null;
  const classes = Number((/classes=(\d+)/.exec(task.spec) || [0, 4])[1]);
  const classOf = Array.from(tokens, (token) => token % classes);
  const K = task.targets;
  const targets = new Int32Array(tokens.length * K).fill(-1);
  const keys = task.relations.map((relation, r) => classOf.map((_, t) => {
    const key = keyOfRelation(relation.name, classOf, t);
    if (key >= 0) targets[t * K + r] = tokens[key];
    return key >= 0 ? Int32Array.of(key) : noKeys;
  }));
  const example = makeExample(task, tokens, {targets});
  example.truthAt = (relation, t) => keys[relation][t] || noKeys;
  return example;
}

// ---- runs -----------------------------------------------------------------------------------

class AttentionLayer {
  constructor(facts, index) {
    Object.assign(this, {facts, index, name: facts.name, title: facts.title, kind: facts.kind,
      heads: facts.heads, originalHeads: facts.original_heads, dHead: facts.d_head,
      dValue: facts.d_value, kvHead: facts.kv_head, kvBlocks: facts.kv_blocks,
      window: facts.window || 0});
  }
  /// The place of a head among those that are left, by its original index; -1: removed.
  placeOf(original) {
    return this.heads.indexOf(original);
  }
}

export class Run {
  constructor(facts, page) {
    Object.assign(this, {facts, page, name: facts.name, config: facts.config,
      task: page.tasks[facts.task], reports: facts.reports});
    this.attentionLayers = facts.attention_layers.map((layer, m) => new AttentionLayer(layer, m));
    this.unknown = page.facts.stored ? [] : unknownKinds(facts.config);
    this.live = Boolean(facts.weights) && !this.unknown.length;
    this.steps = facts.snapshots ? facts.snapshots.steps : [];
    this.models = new Map();
  }
  get parent() {
    return this.facts.parent === null ? null : this.page.runs[this.facts.parent];
  }
  get model() {
    return this.live ? this.madeOnce('model', () =>
      new Model(this, this.page.blocks.read(this.facts.weights.block))) : null;
  }
  madeOnce(key, make) {
    if (!this.models.has(key)) this.models.set(key, make());
    return this.models.get(key);
  }
  /// The model as it was at a kept step of training.
  modelAt(step) {
    const place = this.steps.indexOf(step);
    if (place < 0 || !this.live) return null;
    return this.madeOnce(step, () => {
      const [, each] = this.facts.snapshots.block.shape;
      const all = this.page.blocks.read(this.facts.snapshots.block);
      return new Model(this, all.subarray(place * each, (place + 1) * each));
    });
  }
  losses(set) {
    return this.facts.losses[set] ? this.page.blocks.read(this.facts.losses[set]) : null;
  }
  /// The mean pattern of a head over examples, in at most 64 x 64 cells, at the end or after one of
  /// the steps of facts.maps.
  thumbnail(m, place, step = null) {
    const {maps, thumbnails} = this.facts;
    const block = step === null ? thumbnails[m] : maps.attention_layers[m];
    const [heads, rows, columns] = block.shape.slice(-3);
    const each = rows * columns;
    const at = step === null ? place : maps.steps.indexOf(step) * heads + place;
    const weights = this.page.blocks.read(block).subarray(at * each, (at + 1) * each);
    return {rows, columns, weights};
  }
}

/// The page of its texts by name: the facts are JSON, and a wrong checksum of theirs is damage.
export function loadPage(textOf) {
  const text = textOf('facts');
  const facts = JSON.parse(text);
  const page = {facts, blocks: new Blocks(textOf)};
  const hash = hashOf(new TextEncoder().encode(text));
  if (hash !== Number(textOf('checksum'))) page.blocks.damaged.add('facts');
  page.tasks = facts.tasks.map((task) => new Task(task, page.blocks));
  page.runs = facts.runs.map((run) => new Run(run, page));
  return page;
}

export function headNamed(run, name) {
  const found = /^(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(name);
  if (!found || !run.attentionLayers[Number(found[1])]) return null;
  const m = Number(found[1]);
  const original = Number(found[2]);
  const layer = run.attentionLayers[m];
  return original < layer.originalHeads ? {m, place: layer.placeOf(original), original} : null;
}
