// Lookups in the reports of a run: names of heads, their scores in heads.json, and the losses of
// sets of heads in curve.json.

/// "layer.head" of a pair of numbers, and of a record that has both.
export const idOfPair = (pair) => pair.join('.');
export const idOf = ({layer, head}) => `${layer}.${head}`;

/// The record of a head in a list of a report, by its layer and its original index.
export const recordOf = (list, x) => list?.find((h) => h.layer === x.m && h.head === x.original);

/// The scores of a head on a relation in heads.json; null if there are none.
export const reportScore = (run, relation, x) =>
  recordOf(run.reports.heads?.heads, x)?.scores[run.task.relations[relation].name] || null;

/// All sets of heads of a run with their losses, or null: {heads: [[m, head]], losses[bits of
/// kept]}.
export const subsetsOf = (r) => r?.reports.curve?.subsets || null;
/// Ranks a set of kept heads among all sets of its size: {rank, of, loss, best, bits}.
export function rankOfSet({losses}, kept) {
  const size = (bits) => bits.toString(2).replace(/0/g, '').length;
  const same = losses.map((loss, bits) => ({loss, bits})).filter((x) => size(x.bits) === size(kept))
    .sort((a, b) => a.loss - b.loss);
  return {
    rank: same.findIndex((x) => x.bits === kept) + 1, of: same.length, loss: losses[kept],
    best: same[0].loss, bits: same[0].bits,
  };
}
export const subsetNames = (subsets) => subsets.heads.map(idOfPair);
export const keptNames = (subsets, bits) =>
  subsetNames(subsets).filter((_, i) => Math.floor(bits / 2 ** i) % 2);

/// The program's loss with exactly these heads at 0 and all others at 1, if it kept it; or null.
export function subsetLoss(run, gates) {
  const subsets = run.reports.curve?.subsets;
  if (!subsets) return null;
  let index = 0;
  const known = new Set();
  subsets.heads.forEach(([m, original], bit) => {
    const place = run.attentionLayers[m].placeOf(original);
    const gate = gates?.[m] ? gates[m][place] : 1;
    known.add(gate === 0 || gate === 1);
    if (gate === 1) index += 2 ** bit;
  });
  return known.has(false) ? null : subsets.losses[index];
}
