// One cell and one query in full, and the comparison of the page with what the program computed.

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
// unless it is ok: damaged blocks and a pass that computes something else are found alike. The run
// is one with a model.
core.selfCheckSteps = function* (run) {
  const {tolerance} = run.page.facts;
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
  return {ok,
    sentence: ok ? 'verified: ' + examples + ' examples, ' + by
      : 'This page does not compute what the program computed: ' + broken + by +
        '. Everything live is switched off.'};
};

core.selfCheck = (run) => core.finish(core.selfCheckSteps(run));
