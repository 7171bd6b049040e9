// The card of one head in four columns of fixed height: the keys it attends to, whether it is
// needed, when it emerged, and whether it survives pruning. All of it is of the step that is shown,
// or says of which. The first screen and the view of a head show it. Read next: head_words.js.
import {idOfPair} from '../engine/reports.js';
import {shortened} from '../draw/charts.js';
import {button, code, el, explained, link, svgNode} from '../draw/ui.js';
import {app, go, isLive, isStored, run, trace} from '../state/state.js';
import {formatHash} from '../state/address.js';
import {bestPoints, emergenceStepOf, percent, roleAtEnd, trackedLifts} from './heads.js';
import {patternOf, rowOf, tokensOf} from './pattern.js';
import {ablate, isAblated, keysOf, questionOf, queryNow, roleOfHead} from './questions.js';
import {
  ATTENDS_ROWS, EMERGED_ROWS, NEEDED_ROWS, SURVIVES_ROWS, isUntrained, neededFacts,
  sentencesOf,
} from './head_words.js';
import {STORED_COLUMNS, smallBars} from './stored.js';

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
  const longest = Math.max(...keys.map((text) => [...text].length));
  if (wide < 2 + 7 * longest) return largestKeys(row, keys);
  return picture(
    row.map((v, s) => svgNode('rect', {class: 'fill', x: s * wide + wide * 0.06,
      y: 46 - 44 * v / top, width: wide * 0.88, height: Math.max(0.5, 44 * v / top)})),
    row.map((_, s) => words((s + 0.5) * wide, 59, keys[s],
      {'text-anchor': 'middle', class: right.includes(s) ? 'strong' : null})),
    right.map((s) => svgNode('line', {class: 'under', x1: s * wide + 1, x2: (s + 1) * wide - 1,
      y1: 64, y2: 64})));
}

/// The three keys with the largest weights, in the place of all if their names do not fit.
function largestKeys(row, keys) {
  const largest = row.map((weight, s) => ({weight, s}))
    .sort((a, b) => b.weight - a.weight).slice(0, 3);
  return smallBars(largest.map(({weight, s}) => [`${shortened(keys[s], 56, 11)} at ${s}`, weight]));
}

// ---- needed ----------------------------------------------------------------------------------

/// The share of right answers with all heads, without this one, and without its mate too.
function neededPicture(x) {
  const {all, alone, mate, both} = neededFacts(x);
  const rows = [['all on', all, 'grey'], [`without ${x.at}`, alone], [`and ${mate}`, both]];
  return smallBars(rows.filter(([, share]) => share != null), percent);
}

// ---- emerged ---------------------------------------------------------------------------------

function emergedPicture(x) {
  const lifts = trackedLifts(x, roleAtEnd(x));
  if (!lifts) return null;
  const {steps} = run().facts.history;
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
  if (!points.length || app.state.step != null || isUntrained()) return null;
  const wide = Math.min(26, WIDTH / points.length);
  return picture(points.map(({kept, heads}, i) => {
    const isKept = heads.some((h) => idOfPair(h) === x.at);
    const shade = isKept ? 'fill' : 'hollow';
    const look = kept === run().facts.enough.kept.length ? `${shade} enough` : shade;
    return [
      svgNode('rect', {class: look, x: i * wide + 2, y: 4, rx: 2,
        width: Math.max(1, wide - 5), height: 26}),
      wide >= 14 && words((i + 0.5) * wide - 1, 44, kept, {'text-anchor': 'middle'}),
    ];
  }), words(0, 62, 'filled: still there; framed: enough'));
}

// ---- the card ------------------------------------------------------------------------------

/// The sentences of a column: leads in bold, commands as code. A word that the glossary explains
/// opens its meaning where the card uses it first.
const wordsOfColumn = (rows) => (x, seen) => sentencesOf(rows, x).map(({lead, text, command}) =>
  [lead && el('b', null, lead), ...explained(text, seen), command && code(command)]
    .filter(Boolean));

const ATTENDS = ['Attends to', wordsOfColumn(ATTENDS_ROWS), attendsPicture];
const COLUMNS = [
  ATTENDS, ['Needed?', wordsOfColumn(NEEDED_ROWS), neededPicture],
  ['Emerged when?', wordsOfColumn(EMERGED_ROWS), emergedPicture],
  ['Survives pruning?', wordsOfColumn(SURVIVES_ROWS), survivesPicture],
];

/// The names of the rows that the card shows for a head, column by column, and their words.
export const rowsOfCard = (x) =>
  [ATTENDS_ROWS, NEEDED_ROWS, EMERGED_ROWS, SURVIVES_ROWS].flatMap((rows) => sentencesOf(rows, x))
    .map(({name, lead, text, command}) => ({name, words: lead + text + command}));

/// The contents of the card of a head; `leads` adds the way to its own view.
export function cardNodes(x, {leads = false} = {}) {
  if (!x) return [el('p', null, 'There is no such head in this run.')];
  const place = {view: 'head', h: x.at};
  const seen = new Set();
  return [
    el('div', {class: 'drawer-head'}, el('div', {class: 'drawer-name'}, x.at),
      isLive() && button(isAblated(x) ? `Restore ${x.at}` : `Ablate ${x.at}`, () => ablate(x),
        {id: 'drawer-switch'}),
      leads && link('Look closer →', () => go(place), {id: 'look-closer',
        href: formatHash({...app.state, ...place})})),
    ...(isStored() ? [ATTENDS, ...STORED_COLUMNS] : COLUMNS).map(([title, say, draw]) =>
      el('div', {class: 'drawer-column'}, el('h4', null, title), el('p', null, say(x, seen)),
        draw(x))),
  ];
}

export const cardClass = (x) => `drawer c${x ? roleOfHead(x).color : 'none'}`;
