// Facts about a head as sentences: its role compared with the baseline, its cost, other heads with
// the same role, when it emerged, up to which size it is kept. The card, the grid and the scenes
// say the same because they ask here. A head of the grid is one stop of the Tab key; arrows move in
// it.
import {range} from '../engine/numbers.js';
import {idOfPair, subsetLoss} from '../engine/reports.js';
import {mapBitmap, pooled, remember} from '../draw/draw.js';
import {digits, shaded} from '../draw/charts.js';
import {button, dynamic, el, explained, live, palette, say} from '../draw/ui.js';
import {
  ablatedGates, app, chosen, gateArray, go, headsOf, isLive, isStored, mapStep, ownedBy,
  prunedRuns, run, scoresOf, task, toggleGate, trace,
} from '../state/state.js';
import {patternOf} from './pattern.js';
import {listed} from './task_words.js';

const recordOf = (list, x) => list?.find((h) => h.layer === x.m && h.head === x.original);
export const percent = (share) => `${digits(100 * share, 3)} %`;
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

/// The relations that a head does as their owner must, whether it does them most or not.
export function rolesOfHead(x) {
  const {lift, p} = app.page.facts.owner;
  return scoresOf(x).filter(({score}) => score.lift >= lift && score.p < p)
    .sort((a, b) => b.owns - a.owns || b.score.lift - a.score.lift);
}

/// Whether two heads do the same.
const shareRole = (x, y) =>
  rolesOfHead(x).some((d) => rolesOfHead(y).some((other) => other.name === d.name));

/// The pairs of a head that were measured: [{x: the other head, both, beyond, conclusion}].
export function pairsOf(x) {
  const pairs = run().reports.interactions?.pairs || [];
  const sorted = (names) => names.sort().join();
  const same = (p, y) => sorted([p.first, p.second].map(idOfPair)) === sorted([x.at, y.at]);
  return headsOf().filter((y) => y.at !== x.at).flatMap((y) => {
    const pair = pairs.find((p) => same(p, y));
    const both = costOf([x, y]);
    const conclusion = pair?.verdict;
    if (both != null) return [{x: y, both, beyond: both - costOf([x]) - costOf([y]), conclusion}];
    return pair ? [{x: y, both: pair.joint, beyond: pair.joint - pair.sum, conclusion}] : [];
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
export const bestPoints = (r = run()) => {
  const methods = r.reports.curve?.methods || [];
  return ['exhaustive', 'greedy'].map((name) => methods.find((m) => m.method === name))
    .find(Boolean)?.points || [];
};

/// Whether the points of the curve are those of the best subsets.
export const isExact = (r = run()) =>
  (r.reports.curve?.methods || []).some((m) => m.method === 'exhaustive');

/// The largest number of heads at which a head is not kept any more; null if it is in every set.
export function goneAt(x) {
  const without = bestPoints().filter((p) => !p.heads.some((h) => idOfPair(h) === x.at));
  return without.length ? Math.max(...without.map((p) => p.kept)) : null;
}

/// The smallest size that was tried at which a head is kept, as it is at all larger sizes; null if
/// none was tried.
export function keptTo(x) {
  const sizes = bestPoints().map((p) => p.kept).filter((kept) => kept > (goneAt(x) ?? -1));
  return bestPoints().length ? Math.min(headsOf().length, ...sizes) : null;
}

/// The step at which a head began with what it does best: half of its last lift.
export function emergenceStepOf(x) {
  const {history} = run().facts;
  const role = rolesOfHead(x)[0];
  const at = history?.heads.findIndex((h) => idOfPair(h) === x.at);
  const lifts = role && at >= 0 && history.relations[role.name]?.lift[at];
  const from = lifts ? lifts.findIndex((v) => v >= lifts.at(-1) / 2) : -1;
  return from < 0 ? null : history.steps[from];
}

/// Roles that emerged, in their order: [{name, best: "layer.head", emergenceStep}].
export const emergences = () => Object.entries(run().facts.history?.relations || {})
    .filter(([, r]) => r.emergence_step != null)
    .map(([name, r]) => ({name, emergenceStep: r.emergence_step, best: idOfPair(r.best)}))
    .sort((a, b) => a.emergenceStep - b.emergenceStep);

const meaningOf = (name) => task().relations.find((r) => r.name === name)?.description || name;

/// The names of the relations that a head shares with others.
export const sharedBy = (x) => (run().reports.heads?.divisions || [])
    .filter((d) => d.heads.some((h) => idOfPair(h) === x.at)).map((d) => d.relation);

/// A clause that describes the role of a head.
export function roleOf(x) {
  const shared = sharedBy(x);
  const clauses = [
    ['attends to ', rolesOfHead(x).map((d) => d.name).filter((name) => !shared.includes(name))],
    ['shares attention to ', shared],
  ].filter(([, names]) => names.length)
    .map(([does, names]) => does + listed(names.map(meaningOf)));
  if (clauses.length) return clauses.join(' and ');
  if (isStored() && !task().relations.length) return 'has no ground truth to be compared with';
  return !scoresOf(x).length ? 'has not been scored'
    : `has none of the scored roles: no lift reaches ${app.page.facts.owner.lift}`;
}

/// States the number of fine-tuning steps after pruning.
export const finetuning = (r) => `after ${r.reports.prune?.finetuned ?? 0} steps of fine-tuning`;

/// A clause about the fewest heads with which a head is still kept.
function keptWords(kept, gone) {
  const order = isExact() ? 'best' : 'last';
  if (kept === headsOf().length && gone != null) return `not among the ${order} ${gone}`;
  return `among the ${order} ${kept}${kept > 1 && gone != null ? `, removed at ${gone}` : ''}`;
}

/// The facts of a head as rows [what, sentence].
export function factsOf(x) {
  const best = rolesOfHead(x)[0] || scoresOf(x).sort((a, b) => b.score.lift - a.score.lift)[0];
  const cost = costOf([x]);
  const partner = partnerOf(x);
  const emerged = emergenceStepOf(x);
  const kept = keptTo(x);
  const others = headsOf().filter((y) => y.at !== x.at);
  const same = others.filter((y) => shareRole(x, y));
  const alone = lossWithout(others);
  return [
    best && [
      `on ${best.name}`,
      `${digits(best.score.mass, 2)} of its attention, baseline ` +
        `${digits(best.score.baseline, 2)} (lift ${digits(best.score.lift, 2)}, ` +
        `p ${digits(best.score.p, 3)})`,
    ],
    same.length && [
      best && sharedBy(x).includes(best.name) ? 'distributed over' : 'also in',
      listed(same.map((y) => y.at)),
    ],
    cost != null && ['without it', `loss ${signed(cost)} nats`],
    partner && [
      `without ${partner.x.at} as well`,
      `loss ${signed(partner.both)} nats: ${digits(partner.beyond, 2)} more than the two alone` +
        (partner.conclusion ? `, ${partner.conclusion}` : ''),
    ],
    alone != null && ['alone', `loss ${digits(alone, 3)} with all others off`],
    emerged != null && ['emerged', `at step ${emerged}`],
    kept && ['kept', keptWords(kept, goneAt(x))],
    ...prunedRuns().map((r) => [
      `in ${r.name}`,
      `${r.attentionLayers[x.m].placeOf(x.original) >= 0 ? 'kept' : 'removed'}: loss ` +
        `${digits(r.facts.evaluation.loss, 2)} with ${headsOf(r).length} heads ${finetuning(r)}`,
    ]),
  ].filter(Boolean);
}

/// The card of a head: what is known of it, and what one can do with it.
export function cardOf(x) {
  if (!x) return el('p', null, 'This head was removed when the run was pruned.');
  const partner = partnerOf(x);
  const seen = new Set();
  const off = app.state.gates[x.at] === 0;
  return [
    el('p', null, el('b', null, x.at), ` ${roleOf(x)}${app.state.step == null ? ''
      : ', at the end of training'}.`),
    el('dl', null, factsOf(x).map(([what, words]) => [
      el('dt', null, what), el('dd', null, explained(words, seen)),
    ])),
    el('div', {class: 'controls'},
      app.state.view !== 'head' &&
        button('Look closer', () => go({view: 'head', h: x.at}), {id: 'card-open'}),
      isLive() && button(off ? `Restore ${x.at}` : `Ablate ${x.at}`, () => toggleGate(x),
        {id: 'card-switch'}),
      partner && button(`Compare with ${partner.x.at}`,
        () => go({view: 'head', h: x.at, b: partner.x.at}), {id: 'card-beside'}),
    ),
  ];
}

// ---- the grid --------------------------------------------------------------------------------

/// The score of heads.json, or at an earlier step the one that was tracked last until then.
function scoreNow({i, name, score}, x) {
  const {history} = run().facts;
  if (app.state.step == null) return score;
  const at = (history?.steps || []).filter((s) => s <= app.state.step).length - 1;
  const head = (history?.heads || []).findIndex((h) => idOfPair(h) === x.at);
  const tracked = history?.relations[name];
  return at < 0 || head < 0 || !tracked ? null
    : {...score, mass: tracked.mass[head][at], lift: tracked.lift[head][at], p: null, i};
}

/// The score of the relation that a cell names: the one that its head owns, or its best.
function bestScore(x) {
  const rows = scoresOf(x).flatMap((one) => {
    const score = scoreNow(one, x);
    return score?.mass == null ? [] : [{...score, name: one.name, owns: one.owns}];
  });
  const most = (a, b) => (a && a.lift >= b.lift ? a : b);
  const now = app.state.step == null;
  return (now && rows.filter((r) => r.owns).reduce(most, null)) || rows.reduce(most, null);
}

/// The orders in which heads can be sorted: [name, value of a head].
export const sortings = () =>
  [['place', null], ['lift', (x) => bestScore(x)?.lift], ['cost', (x) => costOf([x])]];

/// The heads of each row of the grid, by original index; a removed head has no place.
function gridRows() {
  const by = sortings().find(([name]) => name === app.state.sort)?.[1];
  if (by) {
    const sorted = headsOf().map((x) => ({...x, score: by(x)}))
      .sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity));
    return [{name: `by ${app.state.sort}, largest first`, cells: sorted}];
  }
  return run().attentionLayers.map((layer) => ({
    name: attentionLayerName(layer),
    cells: range(layer.originalHeads, (original) => ({
      m: layer.index, original, place: layer.placeOf(original), at: `${layer.index}.${original}`,
    })),
  }));
}

export function attentionLayerName({name, kind, heads, kvBlocks}) {
  const layer = /blocks\.(\d+)/.exec(name)?.[1] ?? 0;
  const side = {
    self: task().architecture === 'encoder_decoder' ? 'Decoder layer' : 'Layer',
    encoder: 'Encoder layer', cross: 'Cross-attention of decoder layer',
  }[kind];
  const shared = kvBlocks.length < heads.length ? `, which share ${kvBlocks.length} blocks of ` +
    'keys and values' : '';
  return `${side} ${layer}${heads.length ? '' : ', all heads removed: only its bias is ' +
    'left'}${shared}`;
}

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

function wordsOf(best, x) {
  if (best) return `${best.name} ${digits(best.mass, 2)}${best.owns ? ' ★' : ''}`;
  return x.place < 0 ? 'removed' : '';
}

/// The label of a cell for screen readers.
function describedCell(best, x, off) {
  let words = `head ${x.at}`;
  if (best) {
    const most = ownedBy(x).length ? '' : 'most on ';
    words += `, ${most}${best.name}: ${digits(best.mass, 3)} of its attention, baseline ` +
      `${digits(best.baseline, 3)}`;
  }
  return off ? `${words}, ablated` : words;
}

/// The number at the foot of a cell: what heads are sorted by, else the cost.
function footOf(x) {
  if (x.score != null && app.state.sort !== 'cost') return digits(x.score, 3);
  const cost = app.state.step == null ? costOf([x]) : null;
  return cost == null ? '' : `off: ${signed(cost)}`;
}

function barOf(best) {
  const bar = el('div', {class: 'bar'}, el('span'), el('i'));
  bar.children[0].style.width = `${100 * Math.min(best.mass, 1)}%`;
  bar.children[1].style.left = `calc(${100 * Math.min(best.baseline, 1)}% - 1px)`;
  return bar;
}

function headCell(x, show) {
  if (x.place < 0)
    return el('div',
      {
        class: 'cell gone', role: 'gridcell', tabindex: -1, 'data-head': x.at,
        'aria-label': `head ${x.at}, removed`,
      },
      el('b', null, x.at), '✕ removed',
    );
  const best = bestScore(x);
  const off = app.state.gates[x.at] === 0;
  const canvas = el('canvas', {'aria-hidden': 'true'});
  const map = thumbnailOf(x);
  if (map.rows) mapBitmap(map, palette(), canvas);
  return el('div',
    {
      class: `cell${chosen()?.at === x.at ? ' chosen' : ''}${off ? ' off' : ''}`,
      role: 'gridcell', tabindex: -1, 'data-head': x.at, id: `cell-${x.at}`,
      'aria-label': describedCell(best, x, off),
      onpointerenter: () => show(x), onfocus: () => show(x),
      onclick: () => go({h: x.at}), ondblclick: () => go({view: 'head', h: x.at}),
    },
    canvas, el('b', null, x.at), wordsOf(best, x), best && barOf(best),
    el('div', {class: 'muted'}, footOf(x)),
  );
}

function gridKeys(event, grid) {
  const cells = [...grid.querySelectorAll('.cell')];
  const at = cells.indexOf(document.activeElement);
  if (at < 0) return;
  const across = Math.max(1, cells.filter((c) => c.offsetTop === cells[at].offsetTop).length);
  const inRow = [...cells[at].closest('[role="row"]').querySelectorAll('.cell')];
  const next = {
    ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + across, ArrowUp: at - across,
    Home: cells.indexOf(inRow[0]), End: cells.indexOf(inRow.at(-1)),
    PageDown: at + inRow.length, PageUp: at - inRow.length,
  }[event.key];
  const x = headsOf().find((one) => one.at === cells[at].dataset.head);
  if (event.key === 'Enter') {
    if (x) go({view: 'head', h: x.at});
  } else if (event.key === 'x') {
    toggleGate(x);
  } else if (next === undefined) {
    return;
  } else if (cells[next]) {
    focusCell(grid, cells[next]);
  }
  event.preventDefault();
  event.stopPropagation();
}

function focusCell(grid, cell) {
  for (const other of grid.querySelectorAll('.cell')) other.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus();
  say(cell.getAttribute('aria-label'));
}

/// The grid next to the card of the head that is pointed at, or chosen.
export function headGrid() {
  let pointed = null;
  const known = (x) => headsOf().find((y) => y.at === x?.at);
  const card = dynamic('aside', {class: 'card', id: 'card'}, () =>
    cardOf(known(pointed) || chosen()));
  const show = (x) => {
    pointed = x;
    card.replaceChildren(...cardOf(known(x)).filter(Boolean));
  };
  const grid = el('div', {
    role: 'grid', 'aria-label': 'All heads, layer by layer', id: 'grid',
    onkeydown: (event) => gridKeys(event, grid),
  });
  live(() => {
    const focused = grid.contains(document.activeElement) && document.activeElement.dataset.head;
    grid.className = `grid${headsOf().length > 24 ? ' small' : ''}`;
    grid.replaceChildren(
      ...gridRows().map((row) => el('div', {role: 'row'}, el('div', {role: 'rowheader'}, row.name),
          row.cells.map((x) => headCell(x, show))),
      ),
    );
    const cells = [...grid.querySelectorAll('.cell')];
    const cell = cells.find((c) => c.dataset.head === (focused || chosen()?.at)) || cells[0];
    if (cell) cell.tabIndex = 0;
    if (focused) cell?.focus();
  });
  return el('div', {class: 'beside'}, grid, card);
}
