// The drawer of the first screen: one head in four columns of fixed height: the keys it attends to,
// whether it is needed, when it emerged, and up to which size of the model it is kept. All numbers
// describe the trained run, except the row of weights. Read next: first_steps.js.
import {idOfPair} from './core_reports.js';
import {digits} from './charts.js';
import {button, code, el, link, svgNode} from './ui.js';
import {app, go, headsOf, isLive, isStored, run, scoresOf, task, trace} from './state.js';
import {formatHash} from './address.js';
import {
  bestPoints, bornAt, costOf, doneBy, keptTo, lossWithout, partnerOf, signed,
} from './heads.js';
import {patternOf, rowOf, tokensOf} from './pattern.js';
import {questionOf, questions, spoken} from './questions.js';
import {lossPlace} from './first_loss.js';
import {ablate, isAblated, keysOf, queryNow} from './first_state.js';
import {STORED_COLUMNS} from './stored.js';

const WIDTH = 240;
const picture = (...children) =>
  svgNode('svg', {viewBox: `0 0 ${WIDTH} 66`, 'aria-hidden': 'true'}, ...children);
const words = (x, y, text, more) => svgNode('text', {x, y, ...more}, text);

// ---- attends to ------------------------------------------------------------------------------

const bestOf = (x) => doneBy(x)[0] || scoresOf(x).sort((a, b) => b.score.lift - a.score.lift)[0];

function attendsWords(x) {
  const best = bestOf(x);
  if (!task().relations.length && isStored())
    return [el('b', null, 'No ground truth.'), ' Below: the weights of the query.'];
  if (!task().relations.length)
    return [el('b', null, 'No ground truth:'), ' the task names no keys. Below: the weights.'];
  if (!best) return [el('b', null, 'Not scored.'), ' This writes scores: ',
    code(`headlab heads ${run().name}`)];
  const {mass, null: chance} = best.score;
  const does = doneBy(x).length > 0;
  const owner = questions().find((one) => one.name === best.name)?.owner;
  let role = ' No question fits well.';
  if (does && owner === x.at) role = ' Head ' + x.at + ' is the owner.';
  else if (does && owner) role = ` Head ${owner} is the owner.`;
  else if (does) role = ' Several heads share this question.';
  return [el('b', null, digits(mass, 2)), ` of its attention is on the keys of “${
    spoken(best.name)}” (chance ${digits(chance, 2)}).`, role];
}

function attendsPicture(x) {
  const {kind} = run().modules[x.m];
  if (!trace()) return null;
  const map = patternOf(trace(), x.m, x.place);
  const query = Math.min(queryNow(), map.rows - 1);
  const row = Array.from(rowOf(map, query));
  const {keys} = tokensOf(x.m);
  const wide = WIDTH / row.length;
  const top = Math.max(...row, 1e-9) > 0.25 ? 1 : Math.max(...row, 1e-9);
  const question = questionOf(x);
  const right = question && question.kind === kind ? keysOf(question) : [];
  const longest = Math.max(...keys.map((text) => Math.min(2, [...text].length)));
  const named = wide >= 2 + 7 * longest;
  return picture(
    row.map((v, s) => svgNode('rect', {class: 'fill', x: s * wide + wide * 0.06,
      y: 46 - 44 * v / top, width: wide * 0.88, height: Math.max(0.5, 44 * v / top)})),
    named && row.map((_, s) => words((s + 0.5) * wide, 59, [...keys[s]].slice(0, 2).join(''),
      {'text-anchor': 'middle', class: right.includes(s) ? 'strong' : null})),
    right.map((s) => svgNode('line', {class: 'under', x1: s * wide + 1, x2: (s + 1) * wide - 1,
      y1: 64, y2: 64})),
    !named && words(0, 59, `keys 0 to ${row.length - 1}`));
}

// ---- needed ----------------------------------------------------------------------------------

/// A head is needed if the loss rises by 0.1 nats without it, or doubles and rises by 0.01.
const isNeeded = (all, alone) =>
  alone - all >= 0.1 || (alone >= 2 * all && alone - all >= 0.01);

function neededFacts(x) {
  const all = lossWithout([]) ?? run().facts.evaluation.loss;
  const cost = costOf([x]);
  const partner = partnerOf(x);
  const both = partner ? all + partner.both : null;
  return {all, alone: cost == null ? null : all + cost, partner, both};
}

const notMeasured = () =>
  [el('b', null, 'Not measured.'), ' ', code(`headlab curve ${run().name}`)];

function neededWords(x) {
  const {all, alone, partner, both} = neededFacts(x);
  if (alone == null) return notMeasured();
  const first = isNeeded(all, alone) ? [el('b', null, 'Yes.'), ` Without it, the loss is ${
    digits(alone, 2)} instead of ${digits(all, 2)}.`]
    : [el('b', null, 'Hardly, alone:'), ` the loss changes by ${signed(alone - all)}.`];
  if (!partner) return [...first, ' No other head backs it up.'];
  const which = partner.verdict === 'redundant' ? 'its redundant partner ' : '';
  return [...first, ` Without ${which}${partner.x.at} too: ${digits(both, 2)}.`];
}

function neededPicture(x) {
  const {all, alone, partner, both} = neededFacts(x);
  const rows = [['all on', all, 'grey'],
    ...(alone == null ? [] : [[`without ${x.at}`, alone, 'fill']]),
    ...(partner ? [[`and ${partner.x.at}`, both, 'fill']] : [])];
  return picture(rows.map(([name, loss, look], i) => [
    words(64, 12 + 20 * i, name, {'text-anchor': 'end'}),
    svgNode('rect', {class: 'track', x: 70, y: 1 + 20 * i, width: 120, height: 14}),
    svgNode('rect', {class: look, x: 70, y: 1 + 20 * i, width: lossPlace(loss, 120), height: 14}),
    words(194, 12 + 20 * i, digits(loss, 2), {class: 'ink'}),
  ]));
}

// ---- emerged ---------------------------------------------------------------------------------

function emergedWords(x) {
  const {history} = run().facts;
  if (!history) return [el('b', null, 'Not tracked.'), ' Train with ', code('--track-heads'), '.'];
  const born = bornAt(x);
  const [best] = doneBy(x);
  if (!best || born == null)
    return [el('b', null, 'Never:'), ` no lift reaches ${app.page.facts.owner.lift}, ` +
      'the limit of owners.'];
  return [el('b', null, `Step ${born}`), ` of ${history.steps.at(-1)}: its lift on “${
    spoken(best.name)}” reached half of its final value.`];
}

function emergedPicture(x) {
  const {history} = run().facts;
  const best = bestOf(x);
  const at = history?.heads.findIndex((h) => idOfPair(h) === x.at) ?? -1;
  const lifts = best && at >= 0 && history.relations[best.name]?.lift[at];
  if (!lifts) return null;
  const {steps} = history;
  const last = Math.max(1, steps.at(-1));
  const across = (step) => step / last * WIDTH;
  const down = (v) => 48 - 44 * Math.max(-0.05, Math.min(1, v ?? 0));
  const point = (v, i) => `${across(steps[i]).toFixed(1)},${down(v).toFixed(1)}`;
  const born = bornAt(x);
  const now = app.state.step;
  return picture(
    svgNode('line', {class: 'grid-line', x1: 0, x2: WIDTH, y1: 48, y2: 48}),
    svgNode('polyline', {class: 'curve', points: lifts.map(point).join(' ')}),
    born != null && svgNode('circle', {class: 'from-ring', cx: across(born),
      cy: down(lifts[steps.indexOf(born)]), r: 4.5}),
    now != null && svgNode('line', {class: 'now', x1: across(now), x2: across(now), y1: 0, y2: 48}),
    words(0, 62, '0'), words(WIDTH, 62, `step ${last}`, {'text-anchor': 'end'}));
}

// ---- survives --------------------------------------------------------------------------------

function survivesWords(x) {
  const kept = keptTo(x);
  const count = headsOf().length;
  if (!kept) return notMeasured();
  if (kept > count) return [el('b', null, 'No:'), ' it is in no best set.'];
  if (kept === count)
    return [el('b', null, 'First to go:'), ` it is not among the best ${count - 1}.`];
  if (kept === 1) return [el('b', null, 'To the end:'), ' it is the best single head to keep.'];
  return [el('b', null, `Down to ${kept}:`), ` it is among the best ${kept} heads, not among the ` +
    `best ${kept - 1}.`];
}

function survivesPicture(x) {
  const points = bestPoints().filter(({kept}) => kept > 0).sort((a, b) => b.kept - a.kept);
  if (!points.length) return null;
  const wide = Math.min(26, WIDTH / points.length);
  return picture(points.map(({kept, heads}, i) => {
    const isKept = heads.some((h) => idOfPair(h) === x.at);
    return [
      svgNode('rect', {class: isKept ? 'fill' : 'hollow', x: i * wide + 1, y: 6, rx: 2,
        width: Math.max(1, wide - 4), height: 26}),
      wide >= 14 && words((i + 0.5) * wide - 1, 46, kept, {'text-anchor': 'middle'}),
    ];
  }), words(0, 62, 'heads left in the best set'));
}

// ---- the drawer ------------------------------------------------------------------------------

const ATTENDS = ['Attends to', attendsWords, attendsPicture];
const COLUMNS = [
  ATTENDS, ['Needed?', neededWords, neededPicture],
  ['Emerged when?', emergedWords, emergedPicture],
  ['Survives pruning?', survivesWords, survivesPicture],
];

/// The contents of the drawer for a head.
export function drawerNodes(x) {
  if (!x) return [el('p', null, 'There is no such head.')];
  const place = {view: 'head', h: x.at};
  return [
    el('div', {class: 'drawer-head'}, el('div', {class: 'drawer-name'}, x.at),
      isLive() && button(isAblated(x) ? 'Restore' : 'Ablate', () => ablate(x),
        {id: 'drawer-switch'}),
      link('Look closer →', () => go(place), {id: 'look-closer',
        href: formatHash({...app.state, ...place})})),
    ...(isStored() ? [ATTENDS, ...STORED_COLUMNS] : COLUMNS).map(([title, say, draw]) =>
      el('div', {class: 'drawer-column'}, el('h4', null, title), el('p', null, say(x)), draw(x))),
  ];
}

export const drawerClass = (x) => {
  const question = x && questionOf(x);
  return `drawer ${question ? `c${question.color}` : 'cnone'}`;
};
