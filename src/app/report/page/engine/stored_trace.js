// Patterns of a shown example from what the page stores, for a run whose model is not in the page.

/// A trace of the stored patterns of example `i` of the scored set: `pattern` and `left` of a head,
/// no streams and no logits.
export function storedTrace(run, i) {
  const example = run.task.set('scored').example(i);
  const read = (block) => run.page.blocks.read(block);
  const trace = {exact: false, logits: null, example, model: null, residual: [],
    attentionLayers: run.facts.patterns.map((stored, m) => {
      const [, H, Q] = (stored.block || stored.keys).shape;
      const S = run.attentionLayers[m].kind === 'self' ? run.task.length : run.task.source_length;
      return {stored, H, queries: Q, keys: S};
    })};
  trace.pattern = function (m, place) {
    const {stored, H, queries: Q, keys: S} = trace.attentionLayers[m];
    const row = (i * H + place) * Q;
    if (stored.kind === 'full') return read(stored.block).subarray(row * S, (row + Q) * S);
    const n = stored.keys.shape[3];
    const all = new Float32Array(Q * S);
    const keys = read(stored.keys);
    const weights = read(stored.weights);
    for (let j = 0; j < Q * n; ++j)
      all[Math.floor(j / n) * S + keys[row * n + j]] = weights[row * n + j];
    return all;
  };
  trace.left = function (m, place) {
    const {stored, H, queries: Q} = trace.attentionLayers[m];
    const row = (i * H + place) * Q;
    return stored.kind === 'full' ? null : read(stored.left).subarray(row, row + Q);
  };
  return trace;
}
