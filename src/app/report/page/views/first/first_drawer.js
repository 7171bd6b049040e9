// The drawer of the first screen: one head in four columns of fixed height: the keys it attends to,
// whether it is needed, when it emerged, and up to which size of the model it is kept. All numbers
// describe the trained run, except the row of weights. Read next: first_drawer_words.js.
import {idOfPair} from '../../engine/reports.js';
import {digits} from '../../draw/charts.js';
import {button, code, el, explained, link, svgNode} from '../../draw/ui.js';
import {app, go, isLive, isStored, run, trace} from '../../state/state.js';
import {formatHash} from '../../state/address.js';
import {bestPoints, emergenceStepOf, isExact} from '../../parts/heads.js';
import {patternOf, rowOf, tokensOf} from '../../parts/pattern.js';
import {questionOf} from '../../parts/questions.js';
import {lossPlace} from './first_loss.js';
import {ablate, isAblated, keysOf, queryNow} from './first_state.js';
import {
  ATTENDS_ROWS, EMERGED_ROWS, NEEDED_ROWS, SURVIVES_ROWS, bestOf, neededFacts, sentencesOf,
} from './first_drawer_words.js';
import {STORED_COLUMNS} from '../../parts/stored.js';

const WIDTH = 240;
const picture = (...children) =>
  svgNode('svg', {viewBox: `0 0 ${WIDTH} 66`, 'aria-hidden': 'true'}, ...children);
const words = (x, y, text, more) => svgNode('text', {x, y, ...more}, text);

// ---- attends to ------------------------------------------------------------------------------

function attendsPicture(x) {
  const {kind} = run().attentionLayers[x.m];
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
  const emerged = emergenceStepOf(x);
  const now = app.state.step;
  return picture(
    svgNode('line', {class: 'grid-line', x1: 0, x2: WIDTH, y1: 48, y2: 48}),
    svgNode('polyline', {class: 'curve', points: lifts.map(point).join(' ')}),
    emerged != null && svgNode('circle', {class: 'from-ring', cx: across(emerged),
      cy: down(lifts[steps.indexOf(emerged)]), r: 4.5}),
    now != null && svgNode('line', {class: 'now', x1: across(now), x2: across(now), y1: 0, y2: 48}),
    words(0, 62, '0'), words(WIDTH, 62, `step ${last}`, {'text-anchor': 'end'}));
}

// ---- survives --------------------------------------------------------------------------------

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
  }), words(0, 62, isExact() ? 'heads left in the best set' : 'heads left, removed one by one'));
}

// ---- the drawer ------------------------------------------------------------------------------

/// The sentences of a column: leads in bold, commands as code. A word that the glossary explains
/// opens its meaning where the drawer uses it first.
const wordsOfColumn = (rows) => (x, seen) => sentencesOf(rows, x).map(({lead, text, command}) =>
  [lead && el('b', null, lead), ...explained(text, seen), command && code(command)]
    .filter(Boolean));

const ATTENDS = ['Attends to', wordsOfColumn(ATTENDS_ROWS), attendsPicture];
const COLUMNS = [
  ATTENDS, ['Needed?', wordsOfColumn(NEEDED_ROWS), neededPicture],
  ['Emerged when?', wordsOfColumn(EMERGED_ROWS), emergedPicture],
  ['Survives pruning?', wordsOfColumn(SURVIVES_ROWS), survivesPicture],
];

/// The names of the rows that the drawer shows for a head, column by column, and their words.
export const rowsOfDrawer = (x) =>
  [ATTENDS_ROWS, NEEDED_ROWS, EMERGED_ROWS, SURVIVES_ROWS].flatMap((rows) => sentencesOf(rows, x))
    .map(({name, lead, text, command}) => ({name, words: lead + text + command}));

/// The contents of the drawer for a head.
export function drawerNodes(x) {
  if (!x) return [el('p', null, 'There is no such head.')];
  const place = {view: 'head', h: x.at};
  const seen = new Set();
  return [
    el('div', {class: 'drawer-head'}, el('div', {class: 'drawer-name'}, x.at),
      isLive() && button(isAblated(x) ? 'Restore' : 'Ablate', () => ablate(x),
        {id: 'drawer-switch'}),
      link('Look closer →', () => go(place), {id: 'look-closer',
        href: formatHash({...app.state, ...place})})),
    ...(isStored() ? [ATTENDS, ...STORED_COLUMNS] : COLUMNS).map(([title, say, draw]) =>
      el('div', {class: 'drawer-column'}, el('h4', null, title), el('p', null, say(x, seen)),
        draw(x))),
  ];
}

export const drawerClass = (x) => {
  const question = x && questionOf(x);
  return `drawer ${question ? `c${question.color}` : 'cnone'}`;
};
