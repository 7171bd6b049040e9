// The model in the page, without any document: it reads the blocks that the program wrote, runs the
// transformer as the program does (src/model/transformer.cc), with gates, replacements and hidden
// edges, and checks itself against logits and patterns of the program. Runs under node as it is.
// Letters: T queries, S keys, C d_model, H heads, D and Dv widths of a head, K targets, V vocabulary.
// Sums are taken in double, everything that is kept is single, as in the program.
(function () {
  'use strict';

  const core = {};
  globalThis.headlabCore = core;
  if (typeof module !== 'undefined') module.exports = core;

  // ---- blocks: base64 to numbers --------------------------------------------------------------

  function bytesOf(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
    return bytes;
  }

  // FNV-1a, 32 bits: notices any changed bit.
  function hashOf(bytes) {
    let hash = 0x811c9dc5;
    for (let i = 0; i < bytes.length; ++i) hash = Math.imul(hash ^ bytes[i], 0x01000193);
    return hash >>> 0;
  }

  function floatOfHalf(half) {
    const exponent = half >> 10 & 31, fraction = half & 1023;
    const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
    return half & 0x8000 ? -size : size;
  }

  const decoders = {
    f32: (bytes) => new Float32Array(bytes.buffer),
    f16: (bytes) => Float32Array.from(new Uint16Array(bytes.buffer), floatOfHalf),
    p8: (bytes) => Float32Array.from(bytes, (v) => (v / 255) * (v / 255)),
    u8: (bytes) => bytes,
    u16: (bytes) => new Uint16Array(bytes.buffer),
    i32: (bytes) => new Int32Array(bytes.buffer),
  };

  // Decodes blocks when they are first asked for; remembers which were damaged.
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
        values = decoders[block.dtype](bytes);
      } catch (error) {
        this.damaged.add(block.id);
      }
      if (values && values.length === count) return values;
      this.damaged.add(block.id);
      return new Float32Array(count);
    }
  }

  // ---- tasks and their examples ---------------------------------------------------------------

  const noKeys = new Int32Array(0);

  class Example {
    constructor(fields) {
      Object.assign(this, fields);
    }
    // The keys that a relation gives query t; empty where it asks nothing, null without a truth.
    gold(relation, t) {
      return this.goldOf ? this.goldOf(relation, t) : null;
    }
  }

  class ExampleSet {
    constructor(task, name, facts, blocks) {
      Object.assign(this, {task, name, facts, blocks, size: facts.examples, wanted: facts.wanted});
      this.truths = [];
    }
    values(name) {
      return this.facts[name] ? this.blocks.read(this.facts[name]) : null;
    }
    // The keys of a relation: where those of each query begin, and all of them.
    truth(relation) {
      if (!this.truths[relation]) {
        const counts = this.blocks.read(this.facts.gold[relation].counts);
        const begin = new Int32Array(counts.length + 1);
        for (let i = 0; i < counts.length; ++i) begin[i + 1] = begin[i] + counts[i];
        const keys = Int32Array.from(this.blocks.read(this.facts.gold[relation].keys));
        this.truths[relation] = {begin, keys, each: counts.length / this.size};
      }
      return this.truths[relation];
    }
    gold(relation, i, t) {
      const {begin, keys, each} = this.truth(relation);
      const at = i * each + t;
      return t < each ? keys.subarray(begin[at], begin[at + 1]) : noKeys;
    }
    example(i) {
      const {length: T, targets: K, source_length: S} = this.task;
      const part = (values, each) => Int32Array.from(values.subarray(i * each, (i + 1) * each));
      const lengths = this.values('lengths'), sources = this.values('source_lengths');
      return new Example({
        index: i, set: this, task: this.task,
        tokens: part(this.values('tokens'), T),
        length: lengths ? lengths[i] : T,
        targets: part(this.values('targets'), T * K).map((target) => target - 1),
        source: S > 0 ? part(this.values('source'), S) : null,
        sourceLength: sources ? sources[i] : S,
        goldOf: (relation, t) => this.gold(relation, i, t),
      });
    }
  }

  class Task {
    constructor(facts, blocks) {
      Object.assign(this, facts);
      this.facts = facts;
      this.exampleSets = {};
      for (const name of Object.keys(facts.sets))
        this.exampleSets[name] = new ExampleSet(this, name, facts.sets[name], blocks);
    }
    set(name) {
      return this.exampleSets[name];
    }
    relationIndex(name) {
      return this.relations.findIndex((relation) => relation.name === name);
    }
  }

  core.makeExample = function (task, tokens, {source = null, targets = null, length} = {}) {
    return new Example({
      index: -1, set: null, task, tokens: Int32Array.from(tokens),
      length: length === undefined ? tokens.length : length,
      targets: targets ? Int32Array.from(targets) : null,
      source: source ? Int32Array.from(source) : null,
      sourceLength: source ? source.length : 0, goldOf: null,
    });
  };

  // The rule of the task `relations` (src/tasks/relations.cc), for tokens that were edited.
  function keyOfRelation(name, classOf, t) {
    const back = /^back(\d+)$/.exec(name);
    if (back) return Math.max(t - Number(back[1]), -1);
    if (name === 'next') return t + 1 < classOf.length ? t + 1 : -1;
    for (let s = t - 1; s >= 0; --s) if (classOf[s] === classOf[t]) return s;
    return -1;
  }

  core.truthOf = function (task, tokens) {
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
    const example = core.makeExample(task, tokens, {targets});
    example.goldOf = (relation, t) => keys[relation][t] || noKeys;
    return example;
  };

  // ---- runs -----------------------------------------------------------------------------------

  class AttentionModule {
    constructor(facts, index) {
      Object.assign(this, {facts, index, name: facts.name, kind: facts.kind, layer: facts.layer,
        heads: facts.heads, born: facts.born, dHead: facts.d_head, dValue: facts.d_value,
        kvHead: facts.kv_head, kvBlocks: facts.kv_blocks});
    }
    // The place of a head among those that are left, by the number it was born with; -1: removed.
    placeOf(born) {
      return this.heads.indexOf(born);
    }
  }

  class Run {
    constructor(facts, page) {
      Object.assign(this, {facts, page, name: facts.name, role: facts.role, config: facts.config,
        task: page.tasks[facts.task], reports: facts.reports || {}, metrics: facts.metrics || null,
        history: facts.history || null, evaluation: facts.evaluation, shown: facts.shown});
      this.modules = facts.modules.map((module, m) => new AttentionModule(module, m));
      this.live = Boolean(facts.weights);
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
    // The model as it was at a kept step of training.
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
      return this.page.blocks.read(this.facts.losses[set]);
    }
    // The mean pattern of a head over examples, in at most 64 x 64 cells.
    thumbnail(m, place) {
      const block = this.facts.thumbnails[m];
      const [, rows, columns] = block.shape, each = rows * columns;
      const all = this.page.blocks.read(block);
      return {rows, columns, weights: all.subarray(place * each, (place + 1) * each)};
    }
  }

  core.load = function (facts, textOf) {
    const page = {facts, blocks: new Blocks(textOf), sweep: facts.sweep || null};
    page.tasks = facts.tasks.map((task) => new Task(task, page.blocks));
    page.runs = facts.runs.map((run) => new Run(run, page));
    return page;
  };

  core.fromDocument = function (document) {
    const textOf = (id) => document.getElementById(id).textContent;
    return core.load(JSON.parse(textOf('facts')), textOf);
  };

  core.fromHtml = function (html) {
    const texts = new Map();
    const pattern = /<script type="application\/[a-z-]+" id="([a-z0-9]+)">([^<]*)<\/script>/g;
    for (const [, id, text] of html.matchAll(pattern)) texts.set(id, text);
    return core.load(JSON.parse(texts.get('facts')), (id) => texts.get(id));
  };

  // The command that writes a file which the run lacks; null if it is there.
  core.missing = function (run, file) {
    const row = run.facts.files.find((entry) => entry.file === file);
    return row && !row.present ? row.command : null;
  };

  core.headOf = function (run, name) {
    const found = /^(\d+)\.(\d+)$/.exec(name);
    if (!found || !run.modules[Number(found[1])]) return null;
    const m = Number(found[1]), born = Number(found[2]);
    return born < run.modules[m].born ? {m, place: run.modules[m].placeOf(born), born} : null;
  };

  core.headName = (run, m, place) => m + '.' + run.modules[m].heads[place];

  // ---- the model ------------------------------------------------------------------------------

  // y = x W^T + bias + residual for `rows` rows, with W [outputs, inputs]: two rows and two columns at
  // once, which reads everything half as often.
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
  function linear(x, rows, W, bias, residual) {
    const inputs = x.length / rows, outputs = W.length / inputs;
    if (!turned.has(W)) {
      const other = new Float32Array(W.length);
      for (let i = 0; i < inputs; ++i)
        for (let j = 0; j < outputs; ++j) other[j * inputs + i] = W[i * outputs + j];
      turned.set(W, other);
    }
    return products(x, rows, turned.get(W), bias, residual);
  }

  const epsilon = 1e-5;       // of layer norms
  const cachedNumbers = 8e6;  // that a cache may keep: 32 MB

  function layerNorm(x, C, gain, bias) {
    const y = new Float32Array(x.length);
    for (let at = 0; at < x.length; at += C) {
      let mean = 0, squares = 0;
      for (let i = 0; i < C; ++i) mean += x[at + i];
      mean /= C;
      for (let i = 0; i < C; ++i) squares += (x[at + i] - mean) ** 2;
      const scale = 1 / Math.sqrt(squares / C + epsilon);
      for (let i = 0; i < C; ++i) y[at + i] = (x[at + i] - mean) * scale * gain[i] + bias[i];
    }
    return y;
  }

  // gelu(x) = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, and x or 0 far from 0.
  function gelu(x) {
    if (x < -8) return 0;
    const u = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
    return x / (1 + Math.exp(-2 * u));
  }

  function sinusoidalPositions(length, C) {
    const table = new Float32Array(length * C);
    for (let t = 0; t < length; ++t) {
      for (let c = 0; c < C; ++c) {
        const angle = t * 10000 ** (-2 * Math.floor(c / 2) / C);
        table[t * C + c] = c % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
      }
    }
    return table;
  }

  class Model {
    constructor(run, values) {
      Object.assign(this, {run, task: run.task, modules: run.modules, config: run.config});
      this.C = run.config.d_model;
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
      if (this.config.positions === 'none') return null;
      return this.config.positions === 'sinusoidal' ? sinusoidalPositions(length, this.C)
        : this.tensors[stack + 'pos_embed.W_pos'];
    }
    norm(x, name) {
      return layerNorm(x, this.C, this.tensors[name + 'w'], this.tensors[name + 'b']);
    }
    embed(tokens, positions) {
      const C = this.C, W = this.tensors['embed.W_E'], x = new Float32Array(tokens.length * C);
      for (let t = 0; t < tokens.length; ++t)
        for (let c = 0; c < C; ++c)
          x[t * C + c] = W[tokens[t] * C + c] + (positions ? positions[t * C + c] : 0);
      return x;
    }
    feedForward(x, name, residual) {
      const t = this.tensors, rows = x.length / this.C;
      const inner = linear(x, rows, t[name + 'W_in'], t[name + 'b_in'], null);
      const relu = this.config.activation === 'relu';
      for (let i = 0; i < inner.length; ++i)
        inner[i] = relu ? Math.max(0, inner[i]) : gelu(inner[i]);
      return linear(inner, rows, t[name + 'W_out'], t[name + 'b_out'], residual);
    }
    unembed(x) {
      const T = x.length / this.C, t = this.tensors;
      if (!this.config.tied) return linear(x, T, t['unembed.W_U'], t['unembed.b_U'], null);
      return products(x, T, t['embed.W_E'], null, null);
    }
  }

  // The number of keys that query t of a module may see: keys 0 ... n - 1.
  core.visible = function (run, m, example, t) {
    const {kind} = run.modules[m];
    if (kind !== 'self') return example.sourceLength;
    return run.task.causal ? Math.min(t + 1, example.length) : example.length;
  };

  // One attention module in one pass: what it was given, and its rows of weights.
  class Attention {
    constructor(model, m, example, options) {
      const module = model.modules[m], encoder = module.kind === 'encoder';
      Object.assign(this, {model, m, module, example, options, reuse: null});
      this.queries = encoder ? example.source.length : example.tokens.length;
      this.keys = module.kind === 'self' ? example.tokens.length : example.source.length;
      this.H = module.heads.length;
    }
    project(xQ, xKV) {
      const t = this.model.tensors, name = this.module.name + '.';
      this.q = linear(xQ, this.queries, t[name + 'W_Q'], t[name + 'b_Q'], null);
      this.k = linear(xKV, this.keys, t[name + 'W_K'], t[name + 'b_K'], null);
      this.v = linear(xKV, this.keys, t[name + 'W_V'], t[name + 'b_V'], null);
    }
    special(name, place) {
      return this.options[name] ? this.options[name](this.m, place) : null;
    }
    // q . k / sqrt(D) of a query and a key, before any mask.
    score(place, t, s) {
      const D = this.module.dHead, kv = this.module.kvHead[place];
      const qAt = t * this.H * D + place * D, kAt = s * this.module.kvBlocks.length * D + kv * D;
      let sum = 0;
      for (let i = 0; i < D; ++i) sum += this.q[qAt + i] * this.k[kAt + i];
      return sum / Math.sqrt(D);
    }
    // The weights of one query on all keys, into `row`; returns how many it sees.
    weigh(place, t, row, special) {
      const {frozen, hidden, temperature} = special, S = this.keys;
      const seen = core.visible(this.model.run, this.m, this.example, t);
      row.fill(0);
      if (frozen) {
        for (let s = 0; s < S; ++s) row[s] = frozen[t * S + s];
        return S;
      }
      let largest = -Infinity, sum = 0;
      for (let s = 0; s < seen; ++s) {
        row[s] = hidden && hidden[t * S + s] ? -Infinity : this.score(place, t, s) / temperature;
        if (row[s] > largest) largest = row[s];
      }
      for (let s = 0; s < seen; ++s) {
        row[s] = largest === -Infinity ? 0 : Math.exp(row[s] - largest);
        sum += row[s];
      }
      for (let s = 0; s < seen && sum > 0; ++s) row[s] /= sum;
      return seen;
    }
    specialOf(place) {
      return {frozen: this.special('pattern', place), hidden: this.special('hidden', place),
        temperature: this.special('temperature', place) || 1};
    }
    isSpecial() {
      for (let place = 0; place < this.H; ++place) {
        const {frozen, hidden, temperature} = this.specialOf(place);
        if (frozen || hidden || temperature !== 1) return true;
      }
      return false;
    }
    * attend() {
      const Dv = this.module.dValue, wide = this.H * Dv, G = this.module.kvBlocks.length;
      const row = new Float64Array(this.keys), sums = new Float64Array(Dv);
      this.z = new Float32Array(this.queries * wide);
      let work = 0;
      for (let place = 0; place < this.H; ++place) {
        const special = this.specialOf(place), kv = this.module.kvHead[place];
        for (let t = 0; t < this.queries; ++t) {
          const seen = this.weigh(place, t, row, special);
          sums.fill(0);
          for (let s = 0; s < seen; ++s) {
            const weight = row[s];
            for (let i = 0, at = (s * G + kv) * Dv; i < Dv; ++i, ++at) sums[i] += weight * this.v[at];
          }
          this.z.set(sums, t * wide + place * Dv);
          work += seen * (Dv + this.module.dHead);
          if (work > 200000) {
            work = 0;
            yield {done: 0, of: 1};
          }
        }
      }
    }
    // gate z + (1 - gate) replacement
    gated() {
      const gates = this.options.gates && this.options.gates[this.m];
      if (!gates || !gates.some((gate) => gate !== 1)) return this.z;
      const Dv = this.module.dValue, wide = this.H * Dv, out = new Float32Array(this.z.length);
      const given = this.options.replacement && this.options.replacement[this.m];
      for (let i = 0; i < out.length; ++i) {
        const gate = gates[Math.floor(i % wide / Dv)];
        const instead = !given ? 0 : given.length === wide ? given[i % wide] : given[i];
        out[i] = gate === 1 ? this.z[i] : gate * this.z[i] + (1 - gate) * instead;
      }
      return out;
    }
    pattern(place) {
      const all = new Float32Array(this.queries * this.keys), row = new Float64Array(this.keys);
      const special = this.specialOf(place);
      for (let t = 0; t < this.queries; ++t) {
        this.weigh(place, t, row, special);
        all.set(row, t * this.keys);
      }
      return all;
    }
  }

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
      this.pre = model.config.norm === 'pre';
    }
    changed(m) {
      const gates = this.options.gates && this.options.gates[m];
      const attention = new Attention(this.model, m, this.example, this.options);
      return Boolean(gates && gates.some((gate) => gate !== 1)) || attention.isSpecial();
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
      if (attention.H === 0) return addRow(residual, t[name + 'b_O']);
      if (old && !attention.isSpecial()) {
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
    * stack(stack, tokens, memory) {
      let x = this.model.embed(tokens, stack.positions);
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

  function addRow(x, row) {
    return x.map((value, i) => value + row[i % row.length]);
  }

  core.forwardSteps = function* (model, example, options = {}) {
    const pass = new Pass(model, example, options);
    const main = model.stacks[model.stacks.length - 1];
    const memory = model.stacks.length > 1
      ? yield* pass.stack(model.stacks[0], example.source, null) : null;
    const x = yield* pass.stack(main, example.tokens, memory);
    pass.trace.last = x;
    pass.trace.logits = model.unembed(x);
    return pass.trace;
  };

  core.finish = function (generator) {
    for (;;) {
      const {done, value} = generator.next();
      if (done) return value;
    }
  };

  // Runs a generator in slices of a few milliseconds, so that a page answers in between.
  core.drive = function (generator, {slice = 8, progress, cancelled} = {}) {
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
  };

  core.forward = (model, example, options) => core.finish(core.forwardSteps(model, example, options));

  // A trace of what was stored of a shown example, where the model itself is not in the page.
  core.storedTrace = function (run, i) {
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
  };

  core.traceOf = function (run, i, options = {}) {
    return run.live ? core.forward(options.model || run.model, run.task.set('scored').example(i), options)
      : core.storedTrace(run, i);
  };

  // ---- losses ---------------------------------------------------------------------------------

  // The loss of each target in nats, and whether the largest logit (the first of equals) is right.
  core.lossesOf = function (trace, example = trace.example) {
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
  };

  // Which targets a relation answers for (with_targets_of in src/heads/gold_edges.cc): those at its
  // queries, and of several the one with its name; all of them where its queries have none.
  function targetsOfRelation(set, relation) {
    if (!set.answers) set.answers = [];
    if (set.answers[relation] !== undefined) return set.answers[relation];
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
    constructor(set, only) {
      const {task} = set;
      Object.assign(this, {set, only, examples: 0, by: [], all: new Sums('all')});
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
      const {losses, right} = core.lossesOf(trace, example), K = this.targets.length;
      let sum = 0;
      for (let row = 0; row < losses.length; ++row) {
        if (example.targets[row] < 0) continue;
        const t = Math.floor(row / K), k = row % K;
        const asked = this.rules.map((rule, r) => this.answers(r, example, t, k));
        if (this.only !== null && !asked[this.only]) continue;
        sum += losses[row];
        this.all.add(losses[row], right[row]);
        this.targets[k].add(losses[row], right[row]);
        asked.forEach((yes, r) => yes && this.relations[r].add(losses[row], right[row]));
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
    const trace = yield* core.forwardSteps(model, set.example(i));
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
        const wide = sums[m].length, length = kind === 'encoder' ? example.sourceLength : example.length;
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

  // Numbers from a seed, for random edges: mulberry32.
  function randomFrom(seed) {
    let state = seed >>> 0;
    return () => {
      state = state + 0x6d2b79f5 >>> 0;
      let mixed = Math.imul(state ^ state >>> 15, state | 1);
      mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
      return ((mixed ^ mixed >>> 14) >>> 0) / 4294967296;
    };
  }

  function sizesOf(run, m, example) {
    const {kind} = run.modules[m];
    return [kind === 'encoder' ? example.source.length : example.tokens.length,
      kind === 'self' ? example.tokens.length : example.source.length];
  }

  // The edges of a relation, as flags [Q * S].
  core.goldEdges = function (run, example, relation, m) {
    const [Q, S] = sizesOf(run, m, example), flags = new Uint8Array(Q * S);
    for (let t = 0; t < Q; ++t)
      for (const s of example.gold(relation, t) || noKeys) flags[t * S + s] = 1;
    return flags;
  };

  // As many others at each query, which no relation of this kind asks for.
  core.randomEdges = function (run, example, relation, m, seed = 0) {
    const [Q, S] = sizesOf(run, m, example), flags = new Uint8Array(Q * S);
    const {relations} = run.task, random = randomFrom(seed * 7919 + Math.max(0, example.index));
    for (let t = 0; t < Q; ++t) {
      const truth = new Set();
      relations.forEach((other, r) => {
        if (other.kind === relations[relation].kind)
          for (const s of example.gold(r, t) || noKeys) truth.add(s);
      });
      const pool = [];
      for (let s = 0; s < core.visible(run, m, example, t); ++s) if (!truth.has(s)) pool.push(s);
      const wanted = (example.gold(relation, t) || noKeys).length;
      for (let n = 0; n < wanted && pool.length > 0; ++n)
        flags[t * S + pool.splice(Math.floor(random() * pool.length), 1)[0]] = 1;
    }
    return flags;
  };

  function hiddenFor(run, example, hide) {
    const make = hide.random ? core.randomEdges : core.goldEdges;
    return (m, place) => hide.heads.some((head) => head[0] === m && head[1] === place)
      ? make(run, example, hide.relation, m, (hide.seed || 0) * 4096 + m * 64 + place) : null;
  }

  function indexOfRelation(task, relation) {
    return typeof relation === 'string' ? task.relationIndex(relation) : relation;
  }

  core.evaluateSteps = function* (run, options = {}) {
    const model = options.model || run.model, set = run.task.set(options.set || 'held_out');
    const count = Math.min(options.count || set.size, set.size);
    const only = options.targetsOf === undefined || options.targetsOf === null ? null
      : indexOfRelation(run.task, options.targetsOf);
    const hide = options.hide && {...options.hide, relation: indexOfRelation(run.task, options.hide.relation)};
    const sums = new Evaluation(set, only);
    for (let i = 0; i < count; ++i) {
      const base = yield* unchanged(model, set, i), example = base.example;
      const replacement = yield* replacementFor(run, model, set, i, options.replacement, base);
      const trace = options.gates || hide
        ? yield* core.forwardSteps(model, example, {base: hide ? null : base, gates: options.gates,
          replacement, hidden: hide ? hiddenFor(run, example, hide) : null}) : base;
      sums.add(trace, example);
      yield {done: i + 1, of: count, sums};
    }
    return sums.result;
  };

  core.evaluate = (run, options) => core.finish(core.evaluateSteps(run, options));

  // The program's loss with exactly these heads at 0 and all others at 1, if it kept it; or null.
  core.subsetLoss = function (run, gates) {
    const subsets = run.reports.curve && run.reports.curve.subsets;
    if (!subsets) return null;
    let index = 0;
    const known = new Set();
    subsets.heads.forEach(([m, born], bit) => {
      const place = run.modules[m].placeOf(born);
      const gate = gates && gates[m] ? gates[m][place] : 1;
      known.add(gate === 0 || gate === 1);
      if (gate === 1) index += 2 ** bit;
    });
    return known.has(false) ? null : subsets.losses[index];
  };

  // ---- scores ---------------------------------------------------------------------------------

  // The queries of a relation, as src/heads/queries.cc draws them up: even examples choose (split
  // 0), odd ones judge (split 1).
  function questionOf(run, set, relation, count) {
    const {task} = run, {kind, positional} = task.relations[relation];
    const module = run.modules.findIndex((entry) => entry.kind === kind);
    const question = {kind, positional, queries: [], splits: [0, 1].map(() =>
      ({all: 0, disjoint: 0, uniform: 0, offset: 0}))};
    for (let i = 0; i < count && module >= 0; ++i) {
      const example = set.example(i), [Q] = sizesOf(run, module, example);
      for (let t = 0; t < Q; ++t) {
        const keys = example.gold(relation, t), visible = core.visible(run, module, example, t);
        if (keys.length === 0 || visible < 1) continue;
        const shared = task.relations.some((other, r) => r !== relation && other.kind === kind &&
          example.gold(r, t).some((key) => keys.includes(key)));
        question.queries.push({i, t, keys, visible, disjoint: !shared});
      }
    }
    fillSplits(question);
    return question;
  }

  function bestOffset(question) {
    const hits = new Map();
    for (const {i, t, keys, disjoint} of question.queries)
      for (const key of keys)
        hits.set(key - t, (hits.get(key - t) || 0) + (disjoint && i % 2 === 0 ? 1 : 0));
    let best = 0, most = 0;
    for (const offset of [...hits.keys()].sort((a, b) => a - b)) {
      const count = hits.get(offset);
      if (count > most || (count === most && Math.abs(offset) < Math.abs(best)))
        [best, most] = [offset, count];
    }
    return best;
  }

  function fillSplits(question) {
    const offset = bestOffset(question);
    for (const {i, t, keys, visible, disjoint} of question.queries) {
      const split = question.splits[i % 2];
      ++split.all;
      if (!disjoint) continue;
      ++split.disjoint;
      split.uniform += keys.length / visible;
      split.offset += keys.includes(t + offset) ? 1 : 0;
    }
    for (const split of question.splits) split.uniform /= Math.max(1, split.disjoint);
  }

  const massOn = (row, at, keys) => keys.reduce((sum, key) => sum + row[at + key], 0);

  class HeadSums {
    constructor(run, m) {
      const {kind} = run.modules[m], {length: T, source_length: S} = run.task;
      this.keys = kind === 'self' ? T : S;
      const queries = kind === 'encoder' ? S : T;
      this.pattern = new Float64Array(queries * this.keys);  // of split A
      this.rows = new Float64Array(queries);
      this.answers = run.task.relations.map(() => ({mass: 0, all: 0, top1: 0}));
    }
    addAverage(pattern, queries) {
      for (let t = 0; t < queries; ++t) {
        ++this.rows[t];
        for (let s = 0; s < this.keys; ++s)
          this.pattern[t * this.keys + s] += pattern[t * this.keys + s];
      }
    }
    addAnswer(relation, query, pattern) {
      const at = query.t * this.keys, sums = this.answers[relation];
      const mass = massOn(pattern, at, query.keys);
      sums.all += mass;
      if (!query.disjoint) return;
      let best = 0;
      for (let s = 1; s < query.visible; ++s) if (pattern[at + s] > pattern[at + best]) best = s;
      sums.mass += mass;
      sums.top1 += query.keys.includes(best) ? 1 : 0;
    }
    // What the average pattern of split A reaches on split B.
    positionNull(question) {
      let sum = 0;
      for (const {i, t, keys, disjoint} of question.queries)
        if (disjoint && i % 2 === 1 && this.rows[t] > 0)
          sum += massOn(this.pattern, t * this.keys, keys) / this.rows[t];
      return sum / Math.max(1, question.splits[1].disjoint);
    }
    score(relation, question) {
      const {disjoint, all, uniform, offset} = question.splits[1], sums = this.answers[relation];
      const share = (part, whole) => whole > 0 ? part / whole : 0;
      const chance = question.positional ? uniform
        : Math.max(uniform, share(offset, disjoint), this.positionNull(question));
      const mass = share(sums.mass, disjoint);
      return {queries: disjoint, mass, mass_all: share(sums.all, all),
        top1: share(sums.top1, disjoint), null: chance,
        lift: chance < 1 && disjoint > 0 ? (mass - chance) / (1 - chance) : NaN, p: null};
    }
  }

  // Every head against every relation, by the definitions of score_heads (heads/scores.h), with any
  // gates: [relation][module][place], reported on the odd examples.
  core.scoresSteps = function* (run, options = {}) {
    const model = options.model || run.model, set = run.task.set('scored');
    const count = Math.min(options.count || set.size, set.size), {relations} = run.task;
    const questions = relations.map((relation, r) => questionOf(run, set, r, count));
    const heads = run.modules.map((module) => module.heads.map(() => new HeadSums(run, module.index)));
    const next = relations.map(() => 0);
    for (let i = 0; i < count; ++i) {
      const trace = yield* core.forwardSteps(model, set.example(i), {gates: options.gates});
      const asked = questions.map(({queries}, r) => {
        const from = next[r];
        while (next[r] < queries.length && queries[next[r]].i === i) ++next[r];
        return queries.slice(from, next[r]);
      });
      heads.forEach((places, m) => places.forEach((sums, place) => {
        const pattern = trace.pattern(m, place), {kind} = run.modules[m];
        const queries = kind === 'encoder' ? trace.example.sourceLength : trace.example.length;
        if (i % 2 === 0) sums.addAverage(pattern, queries);
        asked.forEach((list, r) => {
          if (questions[r].kind === kind && i % 2 === 1)
            for (const query of list) sums.addAnswer(r, query, pattern);
        });
      }));
      yield {done: i + 1, of: count};
    }
    return questions.map((question, r) => heads.map((places, m) => places.map((sums) =>
      run.modules[m].kind === question.kind ? sums.score(r, question) : null)));
  };

  // What heads.json says of a head and a relation; null if it says nothing.
  core.reportScore = function (run, relation, m, place) {
    const {heads} = run.reports, name = typeof relation === 'string' ? relation
      : run.task.relations[relation].name;
    const born = run.modules[m].heads[place];
    const head = heads && heads.heads.find((entry) => entry.layer === m && entry.head === born);
    return head && head.scores[name] ? head.scores[name] : null;
  };

  // The head that owns a relation, by heads.json; or null.
  core.owner = function (run, relation) {
    const {heads} = run.reports, name = typeof relation === 'string' ? relation
      : run.task.relations[relation].name;
    const row = heads && heads.relations.find((entry) => entry.name === name);
    if (!row || !row.owner) return null;
    const [m, born] = row.owner;
    return {m, place: run.modules[m].placeOf(born), born};
  };

  core.entropy = function (row, n = row.length) {
    let sum = 0;
    for (let s = 0; s < n; ++s) sum -= row[s] > 0 ? row[s] * Math.log(row[s]) : 0;
    return sum;
  };

  // The square root of the Jensen-Shannon divergence of two rows of n weights, in nats.
  core.jsDistance = function (a, b, n = a.length) {
    let divergence = 0;
    for (let s = 0; s < n; ++s) {
      const middle = (a[s] + b[s]) / 2;
      divergence += (a[s] > 0 ? a[s] * Math.log(a[s] / middle) : 0) / 2 +
        (b[s] > 0 ? b[s] * Math.log(b[s] / middle) : 0) / 2;
    }
    return Math.sqrt(Math.max(0, divergence));
  };

  core.headsOf = (run) => run.modules.flatMap((module) =>
    module.heads.map((born, place) => ({m: module.index, place, born, kind: module.kind})));

  // Mean distances between the heads of two runs of one task on the same examples, [a][b]; NaN for
  // heads of different kinds.
  core.distancesSteps = function* (runA, runB, {examples = 16, modelA, modelB} = {}) {
    const a = core.headsOf(runA), b = core.headsOf(runB), set = runA.task.set('scored');
    const sums = a.map(() => new Float64Array(b.length)), count = Math.min(examples, set.size);
    let rows = 0;
    for (let i = 0; i < count; ++i) {
      const example = set.example(i);
      const left = yield* core.forwardSteps(modelA || runA.model, example);
      const right = yield* core.forwardSteps(modelB || runB.model, example);
      for (const [x, one] of a.entries()) {
        const p = left.pattern(one.m, one.place), [Q, S] = sizesOf(runA, one.m, example);
        const counted = one.kind === 'encoder' ? example.sourceLength : Math.min(Q, example.length);
        for (const [y, other] of b.entries()) {
          if (one.kind !== other.kind) sums[x][y] = NaN;
          const q = one.kind === other.kind ? right.pattern(other.m, other.place) : p;
          let sum = 0;
          for (let t = 0; t < counted; ++t)
            sum += core.jsDistance(p.subarray(t * S, t * S + S), q.subarray(t * S, t * S + S));
          sums[x][y] += sum / Math.max(1, counted);
        }
        yield {done: i, of: count};
      }
      ++rows;
    }
    return sums.map((row) => Array.from(row, (sum) => sum / Math.max(1, rows)));
  };

  // One-to-one assignment with the smallest sum of costs (Hungarian method): for each row its
  // column, or -1. Costs that are not finite are never chosen if it can be helped.
  core.assign = function (costs) {
    const rows = costs.length, columns = rows ? costs[0].length : 0, n = Math.max(rows, columns);
    const cost = (i, j) => i < rows && j < columns
      ? (Number.isFinite(costs[i][j]) ? costs[i][j] : 1e6) : 0;
    const u = new Float64Array(n + 1), v = new Float64Array(n + 1), owner = new Int32Array(n + 1);
    const way = new Int32Array(n + 1);
    for (let i = 1; i <= n; ++i) {
      const least = new Float64Array(n + 1).fill(Infinity), used = new Uint8Array(n + 1);
      let j = 0;
      owner[0] = i;
      do {
        used[j] = 1;
        let delta = Infinity, next = 0;
        for (let k = 1; k <= n; ++k) {
          if (used[k]) continue;
          const reduced = cost(owner[j] - 1, k - 1) - u[owner[j]] - v[k];
          if (reduced < least[k]) [least[k], way[k]] = [reduced, j];
          if (least[k] < delta) [delta, next] = [least[k], k];
        }
        for (let k = 0; k <= n; ++k) {
          if (used[k]) { u[owner[k]] += delta; v[k] -= delta; } else { least[k] -= delta; }
        }
        j = next;
      } while (owner[j] !== 0);
      for (; j !== 0; j = way[j]) owner[j] = owner[way[j]];
    }
    const chosen = new Array(rows).fill(-1);
    for (let k = 1; k <= columns; ++k) if (owner[k] <= rows && owner[k] > 0) chosen[owner[k] - 1] = k - 1;
    return chosen;
  };

  // The two axes along which points [n * d] vary most, by power iteration; the largest loading of
  // each axis is positive, so that the picture is the same each time.
  core.pca = function (points, n, d) {
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
      const largest = x.reduce((best, value) => Math.abs(value) > Math.abs(best) + 1e-9 ? value : best, 0);
      if (largest < 0) x = x.map((value) => -value);
      for (let a = 0; a < d; ++a) for (let b = 0; b < d; ++b) scatter[a * d + b] -= size * x[a] * x[b];
      axes.push(x);
      share.push(whole > 0 ? size / whole : 0);
    }
    const projected = new Float64Array(2 * n);
    for (let i = 0; i < n; ++i)
      for (let axis = 0; axis < 2; ++axis)
        for (let a = 0; a < d; ++a) projected[2 * i + axis] += (points[i * d + a] - mean[a]) * axes[axis][a];
    return {mean, axes, share, projected};
  };

  // ---- one cell, one query --------------------------------------------------------------------

  // Why a head puts this weight there: query and key, their product, the score, the row.
  core.why = function (trace, m, place, t, s) {
    const attention = trace.modules[m], {dHead: D, kvHead, kvBlocks} = attention.module;
    const qAt = (t * attention.H + place) * D, kAt = (s * kvBlocks.length + kvHead[place]) * D;
    const q = attention.q.slice(qAt, qAt + D), k = attention.k.slice(kAt, kAt + D);
    const product = q.map((value, i) => value * k[i]);
    const score = product.reduce((sum, value) => sum + value, 0), S = attention.keys;
    const row = trace.pattern(m, place).slice(t * S, t * S + S);
    return {q, k, product, score, scaled: score / Math.sqrt(D), row, weight: row[s]};
  };

  // What a head adds to the stream at query t, and directly to the logits there: the last norm with
  // the scale that it has in this pass (direct logit attribution, heads/attribution.h).
  core.headWrites = function (trace, m, place, t) {
    const attention = trace.modules[m], {dValue: Dv, kvHead, kvBlocks, name, kind} = attention.module;
    const {model} = trace, C = model.C, W = model.tensors[name + '.W_O'].subarray(place * Dv * C, (place + 1) * Dv * C);
    const S = attention.keys, row = trace.pattern(m, place);
    const values = new Float32Array(S);
    for (let s = 0; s < S; ++s) {
      const at = (s * kvBlocks.length + kvHead[place]) * Dv;
      const written = linear(attention.v.subarray(at, at + Dv), 1, W, null, null);
      values[s] = row[t * S + s] * Math.sqrt(written.reduce((sum, x) => sum + x * x, 0));
    }
    const at = (t * attention.H + place) * Dv;
    const vector = linear(attention.gatedZ.subarray(at, at + Dv), 1, W, null, null);
    const direct = model.config.norm === 'pre' && kind !== 'encoder';
    return {values, vector, logits: direct ? directLogits(trace, vector, t) : null};
  };

  function directLogits(trace, vector, t) {
    const {model} = trace, C = model.C, main = model.stacks[model.stacks.length - 1];
    const x = trace.residual[trace.residual.length - 1].subarray(t * C, t * C + C);
    const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / C;
    const mean = meanOf(x), own = meanOf(vector);
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / C;
    const gain = model.tensors[main.name + 'ln_final.w'];
    const normed = vector.map((value, c) => (value - own) / Math.sqrt(variance + epsilon) * gain[c]);
    if (model.config.tied) return model.unembed(normed);
    return linear(normed, 1, model.tensors['unembed.W_U'], null, null);
  }

  // ---- the page checks itself -----------------------------------------------------------------

  function largestDifference(ours, theirs, width, every, result) {
    const rows = Math.floor(ours.length / width / every);
    for (let row = 0; row < rows; ++row) {
      for (let i = 0; i < width; ++i) {
        const a = ours[((row + 1) * every - 1) * width + i], b = theirs[row * width + i];
        const difference = Math.abs(a - b);
        if (!(difference <= result.difference)) result.difference = difference;  // NaN is taken too
        result.largest = Math.max(result.largest, Math.abs(b));
      }
    }
  }

  function checkedExample(run, trace, i, logits, patterns) {
    const {every, logits: block, patterns: blocks} = run.facts.check, read = (b) => run.page.blocks.read(b);
    const wide = run.task.targets * run.task.vocab, each = block.shape[1];
    largestDifference(trace.logits, read(block).subarray(i * each, (i + 1) * each), wide, every, logits);
    blocks.forEach((stored, m) => {
      const [, H, Q, S] = stored.shape, all = read(stored);
      for (let place = 0; place < H; ++place) {
        const at = (i * H + place) * Q * S;
        largestDifference(trace.pattern(m, place), all.subarray(at, at + Q * S), S, every, patterns);
      }
    });
  }

  // Holds the page's model against what the program computed. Everything live is to be switched off
  // unless it is ok: damaged blocks and a pass that computes something else are found alike.
  core.selfCheckSteps = function* (run) {
    const {tolerance} = run.page.facts;
    if (!run.live) return {ok: false, examples: 0, tolerance, damaged: [], logits: NaN, patterns: NaN,
      largest: 0, sentence: 'This page holds no weights: nothing runs live.'};
    const logits = {difference: 0, largest: 0}, patterns = {difference: 0, largest: 0};
    const {examples} = run.facts.check;
    for (let i = 0; i < examples; ++i) {
      const trace = yield* core.forwardSteps(run.model, run.task.set('scored').example(i));
      checkedExample(run, trace, i, logits, patterns);
      yield {done: i + 1, of: examples};
    }
    const damaged = [...run.page.blocks.damaged];
    const ok = damaged.length === 0 && patterns.difference <= tolerance &&
      logits.difference <= tolerance * Math.max(1, logits.largest);
    const by = 'largest difference of a logit to the program ' + logits.difference.toPrecision(2) +
      ', of a weight ' + patterns.difference.toPrecision(2);
    const broken = damaged.length ? 'blocks of numbers are damaged (' + damaged.join(', ') + '); ' : '';
    return {ok, examples, logits: logits.difference, largest: logits.largest,
      patterns: patterns.difference, tolerance, damaged,
      sentence: ok ? 'verified: ' + examples + ' examples, ' + by
        : 'This page does not compute what the program computed: ' + broken + by +
          '. Everything live is switched off.'};
  };

  core.selfCheck = (run) => core.finish(core.selfCheckSteps(run));
})();
