// Attention edges of an example as flags: those of a relation's ground truth, and random ones.
import {keysSeen, sizesOf} from './model.js';
import {randomFrom} from './numbers.js';
import {noKeys} from './page_data.js';

/// The edges of a relation, as flags [Q * S].
function truthEdges(run, example, relation, m) {
  const [Q, S] = sizesOf(run.attentionLayers[m], example);
  const flags = new Uint8Array(Q * S);
  for (let t = 0; t < Q; ++t)
    for (const s of example.truth(relation, t) || noKeys) flags[t * S + s] = 1;
  return flags;
}

/// As many others at each query, which no relation of this kind asks for.
export function randomEdges(run, example, relation, m, seed = 0) {
  const [Q, S] = sizesOf(run.attentionLayers[m], example);
  const flags = new Uint8Array(Q * S);
  const {relations} = run.task;
  const random = randomFrom(seed * 7919 + Math.max(0, example.index));
  for (let t = 0; t < Q; ++t) {
    const truth = new Set();
    relations.forEach((other, r) => {
      if (other.kind === relations[relation].kind)
        for (const s of example.truth(r, t) || noKeys) truth.add(s);
    });
    const pool = [];
    const {from, to} = keysSeen(run, m, example, t);
    for (let s = from; s < to; ++s) if (!truth.has(s)) pool.push(s);
    const wanted = (example.truth(relation, t) || noKeys).length;
    for (let n = 0; n < wanted && pool.length > 0; ++n)
      flags[t * S + pool.splice(Math.floor(random() * pool.length), 1)[0]] = 1;
  }
  return flags;
}

/// Flags of the edges to hide for each head, as an option of a pass.
export function maskedFor(run, example, hide) {
  const make = hide.random ? randomEdges : truthEdges;
  return (m, place) => hide.heads.some((head) => head[0] === m && head[1] === place)
    ? make(run, example, hide.relation, m, m * 64 + place) : null;
}
