// One weight and one query in full: the steps to the weight, and what a head writes.
import {momentsOf} from './kinds.js';
import {linear} from './model.js';
import {isSumStream} from './wirings.js';

/// Why a head puts this weight there: query and key, their product, the score, the row.
export function whyWeight(trace, m, place, t, s) {
  const attention = trace.attentionLayers[m];
  const {dHead: D, kvHead, kvBlocks} = attention.layer;
  const qAt = (t * attention.H + place) * D;
  const kAt = (s * kvBlocks.length + kvHead[place]) * D;
  const q = attention.q.slice(qAt, qAt + D);
  const k = attention.k.slice(kAt, kAt + D);
  const product = q.map((value, i) => value * k[i]);
  const score = product.reduce((sum, value) => sum + value, 0);
  const S = attention.keys;
  const row = trace.pattern(m, place).slice(t * S, t * S + S);
  const penalty = attention.penalty(place, t, s);
  return {q, k, product, score, scaled: score / Math.sqrt(D) - penalty, penalty, row,
    weight: row[s]};
}

/// A head's addition to the stream at query t, and directly to the logits there: the last norm with
/// the scale that it has in this pass (direct logit attribution, lab/heads/causes/attribution.h).
export function headWrites(trace, m, place, t) {
  const attention = trace.attentionLayers[m];
  const {dValue: Dv, kvHead, kvBlocks, name, kind} = attention.layer;
  const {model} = trace;
  const C = model.C;
  const W = model.tensors[name + '.W_O'].subarray(place * Dv * C, (place + 1) * Dv * C);
  const S = attention.keys;
  const row = trace.pattern(m, place);
  const values = new Float32Array(S);
  for (let s = 0; s < S; ++s) {
    const at = (s * kvBlocks.length + kvHead[place]) * Dv;
    const written = linear(attention.v.subarray(at, at + Dv), 1, W, null, null);
    values[s] = row[t * S + s] * Math.sqrt(written.reduce((sum, x) => sum + x * x, 0));
  }
  const at = (t * attention.H + place) * Dv;
  const vector = linear(attention.gatedZ.subarray(at, at + Dv), 1, W, null, null);
  const direct = isSumStream(model.config) && kind !== 'encoder';
  return {values, vector, logits: direct ? directLogits(trace, vector, t) : null};
}

function directLogits(trace, vector, t) {
  const {model} = trace;
  const C = model.C;
  const main = model.stacks[model.stacks.length - 1];
  const x = trace.residual[trace.residual.length - 1].subarray(t * C, t * C + C);
  const kind = model.normKind;
  const gain = model.tensors[main.name + 'ln_final.w'];
  const [, scale] = momentsOf(kind, x, 0, C);
  const [own] = momentsOf(kind, vector, 0, C);
  const normed = vector.map((value, c) => (value - own) * scale * (gain ? gain[c] : 1));
  if (model.config.tied) return model.unembed(normed);
  return linear(normed, 1, model.tensors['unembed.W_U'], null, null);
}
