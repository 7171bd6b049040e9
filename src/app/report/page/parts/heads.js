// Numbers about a head from the files of a run: its cost, other heads with the same role, when it
// emerged, the sizes at which it is kept; and its small map. Read next: roles.js, head_words.js.
import {idOfPair, recordOf, subsetLoss} from '../engine/reports.js';
import {pooled, remember} from '../draw/draw.js';
import {digits, shaded} from '../draw/charts.js';
import {
  ablatedGates, app, gateArray, headsOf, mapStep, run, scoresOf, task, trace,
} from '../state/state.js';
import {patternOf} from './pattern.js';

/// A share as "62 %"; from 95 to 100 % and below 10 % with one decimal.
export function percent(share) {
  const p = 100 * share;
  if (p >= 99.95) return '100\u00a0%';
  const isFine = p > 95 || (p >= 0.05 && p < 9.95);
  return `${isFine ? p.toFixed(1).replace(/\.0$/, '') : Math.round(p)}\u00a0%`;
}
/// A rise, to three figures; below .001 to the fourth decimal.
export const signed = (v) =>
  `${v > 0 ? '+' : ''}${digits(Math.abs(v) < 1e-3 ? Number(v.toFixed(4)) : v, 3)}`;

/// The loss that the program found with these heads at 0, or null.
export const lossWithout = (heads, r = run()) => subsetLoss(r, gateArray(ablatedGates(heads), r));

/// The cost of heads: the rise of the loss without them; null if the program did not measure it.
export function costOf(heads, r = run()) {
  const none = lossWithout([], r);
  const off = lossWithout(heads, r);
  if (none != null && off != null) return off - none;
  return heads.length === 1 ? recordOf(r.reports.ablation?.heads, heads[0])?.change ?? null : null;
}

/// The relations in which a head has a role by the program, those that it answers first.
export function rolesOfHead(x) {
  const rank = ({score}) => ['owner', 'shares', 'also'].indexOf(score.role);
  return scoresOf(x).filter(({score}) => score.role)
    .sort((a, b) => rank(a) - rank(b) || b.score.lift - a.score.lift);
}

/// The lifts of a head on a relation at the steps that were tracked; null if it was not tracked.
export function trackedLifts(x, name) {
  const {history} = run().facts;
  const at = history?.heads.findIndex((h) => idOfPair(h) === x.at) ?? -1;
  return at >= 0 ? history.relations[name]?.lift[at] ?? null : null;
}

/// The name of the relation in which a head has its role at the end of training; null without one.
/// Without scores of the program it is the one with the largest tracked lift.
export function roleAtEnd(x) {
  if (run().reports.heads) return rolesOfHead(x)[0]?.name ?? null;
  const found = task().relations.map(({name}) => ({name, lift: trackedLifts(x, name)?.at(-1) ?? 0}))
    .sort((a, b) => b.lift - a.lift)[0];
  return found && found.lift >= app.page.facts.owner.lift ? found.name : null;
}

const shareRole = (x, y) =>
  rolesOfHead(x).some((d) => rolesOfHead(y).some((other) => other.name === d.name));

/// Two heads at 0: the rises of the loss without one, without the other, without both, and how much
/// that is beyond the sum; null where it was not measured.
export function pairCost(x, y) {
  const [one, other, both] = [[x], [y], [x, y]].map((heads) => costOf(heads));
  return {x, y, one, other, both, beyond: both == null ? null : both - one - other};
}

/// The pairs of a head that were measured: [{x: the other head, both, beyond, redundant}].
function pairsOf(x) {
  const pairs = run().reports.interactions?.pairs || [];
  const sorted = (names) => names.sort().join();
  const same = (p, y) => sorted([p.first, p.second].map(idOfPair)) === sorted([x.at, y.at]);
  return headsOf().filter((y) => y.at !== x.at).flatMap((y) => {
    const pair = pairs.find((p) => same(p, y));
    const {both, beyond} = pairCost(x, y);
    const redundant = pair?.redundant ?? false;
    if (both != null) return [{x: y, both, beyond, redundant}];
    return pair ? [{x: y, both: pair.joint, beyond: pair.joint - pair.sum, redundant}] : [];
  });
}

/// The head without which this one costs most beyond what both cost alone, of those that do the
/// same if it does anything: {x, both, beyond}; null below .01 nats, or where nothing was measured.
export function partnerOf(x) {
  const found = pairsOf(x).filter(({x: y}) => !rolesOfHead(x).length || shareRole(x, y));
  const most = found.reduce((a, b) => (a && a.beyond >= b.beyond ? a : b), null);
  return most && most.beyond > 0.01 ? most : null;
}

/// The points of the best method of the curve: all subsets, or one head after the other.
export const bestPoints = () => {
  const methods = run().reports.curve?.methods || [];
  return methods.find(({method}) => method === run().facts.enough.method)?.points || [];
};

/// Whether the points of the curve are those of the best subsets.
export const isExact = () => run().facts.enough.method === 'exhaustive';

/// The step at which a head began with what it does best: half of its last lift.
export function emergenceStepOf(x) {
  const lifts = trackedLifts(x, roleAtEnd(x));
  const from = lifts ? lifts.findIndex((v) => v >= lifts.at(-1) / 2) : -1;
  return from < 0 ? null : run().facts.history.steps[from];
}

/// Roles that emerged, in their order: [{name, best: "layer.head", emergenceStep}].
export const emergences = () => Object.entries(run().facts.history?.relations || {})
    .filter(([, r]) => r.emergence_step != null)
    .map(([name, r]) => ({name, emergenceStep: r.emergence_step, best: idOfPair(r.best)}))
    .sort((a, b) => a.emergenceStep - b.emergenceStep);

/// The small map of a head, as an item of a picture without its place: the pattern on the example,
/// of very long inputs, and of steps without weights, the mean pattern.
export function thumbnailOf(x) {
  if (!trace() || task().length > 256 || mapStep() != null) {
    const {rows, columns: cols, weights: values} = run().thumbnail(x.m, x.place, mapStep());
    return shaded({values, rows, cols});
  }
  return remember(trace(), `thumbnail ${x.at}`, () => {
    const {values, rows, cols} = patternOf(trace(), x.m, x.place);
    return shaded(pooled(values, rows, cols, Math.ceil(Math.max(rows, cols) / 64)));
  });
}
