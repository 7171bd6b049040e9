// The left half of the first screen: the tokens of the example, typed in place; one lane for each
// question with an arc from the query to its keys, and the model's answer.
// Read next: first_loss.js, first_maps.js.
import {range} from '../../engine/numbers.js';
import {el, svgNode} from '../../draw/ui.js';
import {chosen, example, isLive, isStored, run, task, trace, where} from '../../state/state.js';
import {countsNow, countsWithout} from '../../parts/counts.js';
import {percent} from '../../parts/heads.js';
import {patternOf, rowOf, tokensOf} from '../../parts/pattern.js';
import {answersAt} from '../../parts/measure.js';
import {
  exampleTokens, headsInLane, isAblated, keysOf, queryNow, queryOfQuestion, questions, roleOfHead,
  spoken, unitOf,
} from '../../parts/questions.js';
import {lossRow} from './first_loss.js';
import {classesOf, fontOf, isTyped, tokenRow} from './first_tokens.js';
import {answerCounts, faultyPositions} from './first_state.js';
import {feeder} from './first_steps.js';

// ---- lanes -----------------------------------------------------------------------------------

const middle = (size, at) => size * (at + 0.5);

/// Where a lane asks, and for which keys: {query, keys, via}. A lane that is not asked at the
/// query, but whose head a later one reads, asks at the key of the later one: `via`.
function askedInLane(one) {
  const query = queryOfQuestion(one);
  const keys = keysOf(one);
  const fed = isLive() ? feeder() : null;
  const [key] = fed && !keys.length && one.main.includes(fed.x.at) ? keysOf(fed.question) : [];
  if (key != null && keysOf(one, key).length)
    return {query: key, keys: keysOf(one, key), via: key};
  return {query, keys: keys.length ? keys : largestInLane(one, query), via: null};
}

/// The weight of a head from a query to a key.
function weightOf(x, query, key) {
  if (!trace()) return 0;
  return rowOf(patternOf(trace(), x.m, x.place), query)[key] ?? 0;
}

/// Without ground truth the six keys that the chosen head attends to most.
function largestInLane(one, query) {
  const [x] = headsInLane(one);
  if (!x || !trace() || (one.r >= 0 && example().truth(one.r, 0))) return [];
  const row = rowOf(patternOf(trace(), x.m, x.place), query);
  return range(row.length).sort((a, b) => row[b] - row[a]).slice(0, 6)
    .filter((s, i) => i === 0 || row[s] >= 0.05);
}

/// The colour of a right key: of heads that share, that of the one that finds it.
function colorOfKey(one, query, key) {
  if (one.main.length < 2) return one.color;
  const sharing = headsInLane(one).filter((x) => one.main.includes(x.at));
  return roleOfHead(sharing.reduce((a, b) =>
    (weightOf(b, query, key) > weightOf(a, query, key) ? b : a))).color;
}

function arcOf(one, x, key, {size, height, query}) {
  const base = height - 17;
  const from = middle(size, query);
  const to = middle(size, key);
  const span = Math.abs(from - to) / size;
  const rise = 9 + 10 * Math.sqrt(span) * height / 63;
  const above = isNarrow() ? 24 : 3;  // a small screen has the names of lanes above their arcs
  const isMain = one.main.includes(x.at);
  const part = isMain ? 1.33 - 0.2 * one.main.indexOf(x.at) : 0.95;
  const up = Math.min(base - above, rise) * part;
  const bend = (to - from) * 0.12;
  const points = `M${from} ${base}C${from + bend} ${base - up} ${to - bend} ${base - up} ${to} ` +
    `${base}`;
  const node = svgNode('path', {d: points, 'data-head': x.at});
  return {node, show: () => showArc(node, one, x, {query, key})};
}

/// Width and opacity are the weight of the head; the arc of an ablated head is dashed and faint.
function showArc(node, one, x, {query, key}) {
  const off = isAblated(x);
  const isMain = one.main.includes(x.at) || one.r < 0;
  const weight = weightOf(x, query, key) * (isMain ? 1 : 0.6);
  const {question, color} = roleOfHead(x);
  const look = question?.r === one.r ? color : 'none';
  node.setAttribute('class', `arc c${look}${off ? ' off' : ''}`);
  node.setAttribute('stroke-width', off ? '1.5' : (1 + 4 * weight).toFixed(2));
  node.setAttribute('stroke-opacity', off ? '0.6' : Math.max(0.12, weight).toFixed(2));
}

/// The key as a disc with its letter. A word has an oval of at most the width of a tile, in letters
/// that are as small as those of its tile.
function discOf(one, key, {size, height, texts, query}) {
  const x = middle(size, key);
  const y = height - 17;
  const words = texts[key] ?? '';
  const count = [...words].length;
  const isWord = count > 2;
  const wide = Math.min(6.5 * count + 7, size - 1);
  const shape = isWord
    ? svgNode('rect', {class: 'disc', x: x - wide / 2, y: y - 11, width: wide, height: 22, rx: 11})
    : svgNode('circle', {class: 'disc', cx: x, cy: y, r: Math.min(11, size / 2 - 0.5)});
  const label =
    svgNode('text', {class: 'disc-text', x, y: y + 4.5, 'text-anchor': 'middle'}, words);
  if (isWord) label.style.fontSize = fontOf(count, wide);
  return svgNode('g', {class: `c${colorOfKey(one, query, key)}`}, shape, size >= 14 && label);
}

/// The words in an empty lane, to the left of its query if there is room.
function notAskedText(at, base) {
  const isLeft = at > 170;
  return svgNode('text', {class: 'not-asked', x: at + (isLeft ? -10 : 10), y: base - 10,
    'text-anchor': isLeft ? 'end' : 'start'}, `not asked at this ${unitOf()}`);
}

/// The picture of a lane: dots for tokens, an arc for each head and key, the key in a disc.
function laneSvg(one, size, height, arcs) {
  const m = headsInLane(one)[0]?.m ??
    run().attentionLayers.findIndex(({kind}) => kind === one.kind);
  const {keys: texts, queries} = tokensOf(Math.max(0, m));
  const base = height - 17;
  const width = Math.max(texts.length, queries.length) * size;
  const {query: t, keys} = askedInLane(one);
  const query = middle(size, t);
  const box = {size, height, texts, query: t};
  const drawn = keys.flatMap((key) => headsInLane(one).map((x) => arcOf(one, x, key, box)));
  arcs.push(...drawn);
  return svgNode('svg', {width, height, class: `lane-svg c${one.color}`, 'aria-hidden': 'true'},
    svgNode('rect', {class: 'column', x: query - size / 2 + 1, width: Math.max(0, size - 2), y: 0,
      height}),
    range(texts.length, (s) => svgNode('circle', {class: 'tick', cx: middle(size, s), cy: base,
      r: 1.5})),
    drawn.map((arc) => arc.node),
    !keys.length && one.r >= 0 && notAskedText(query, base),
    svgNode('circle', {class: 'from', cx: query, cy: base, r: Math.min(5, size / 3)}),
    (one.r >= 0 ? keys : keys.slice(0, 1)).map((key) => discOf(one, key, box)));
}

/// Meaning of a question, in a line; of `same class` the letters of the query's class.
function meaningOf(one) {
  const {name, spec = '', tokens} = task();
  if (one.r < 0) return '';
  const [description] = task().relations[one.r].description.split('\n');
  if (one.name !== 'same' || name !== 'relations')
    return description === one.name ? '' : description;
  const classes = Number(/classes=(\d+)/.exec(spec)?.[1] ?? 4);
  const mine = example().tokens[queryNow()] % classes;
  return `last of ${tokens.filter((_, v) => v % classes === mine).join(' ')}`;
}

/// "shared by ● 0.0, ■ 0.1", "head 0.3", or why there is none.
function whoIn(one) {
  const name = (at) => el(isAblated({at}) ? 's' : 'span', null, at);
  const {main, others} = one;
  const also = others.length > 2 ? ` +${others.length}` : others.map((at) => [' ', name(at)]);
  if (main.length > 1) {
    return ['shared by', main.map((at) => [' ', el('b', {class: `c${roleOfHead({at}).color}`},
      roleOfHead({at}).mark, name(at))]), also];
  }
  if (main.length) return ['head ', el('b', null, name(main[0])), also];
  const none = {untested: 'not tested', unknown: 'not scored yet', none: 'no head finds it'};
  if (one.r >= 0 && others.length) return ['none alone:', also];
  if (one.r >= 0) return none[one.role.kind];
  return headsInLane(one).map((x) => ['head ', name(x.at)]);
}

/// The name of a lane with its heads.
function nameOf(one) {
  const {via} = one.r >= 0 ? askedInLane(one) : {via: null};
  const meaning = meaningOf(one);
  const most = isNarrow() ? 16 : 26;
  const isShort = [...meaning].length <= most && !/^\d+ back$/.test(spoken(one.name));
  const early = via != null && `asked at the key “${exampleTokens()[via]}”, one layer earlier`;
  const more = early || (isShort && laneHeight() >= 52 ? meaning : '');
  const name = one.r < 0 && !isStored() ? 'where it looks' : spoken(one.name);
  return el('div', {class: `lane-name c${one.color}`, title: meaning || null},
    el('b', {class: 'question'}, name), el('span', {class: 'lane-heads'}, whoIn(one)),
    more && el('span', {class: 'lane-heads'}, more));
}

/// Whether a lane shows the answer of its target: the first lane that asks for a key at the query,
/// else the first of all.
function showsAnswer(one) {
  const lanes = questions().filter((other) => other.slot === one.slot);
  const first = lanes.find((other) => keysOf(other).length > 0) || lanes[0];
  return one.slot >= 0 && one.name === first.name;
}

/// The share of right answers to a question: that of its target; null if it is not counted.
const shareRight = (one, {targets = []}) =>
  (showsAnswer(one) ? targets[one.slot]?.accuracy ?? null : null);

/// Whether a share is clearly lower than with all heads.
function hasFallen(one, share) {
  const before = shareRight(one, countsWithout([]));
  return share != null && before != null && share < before - 0.05;
}

/// The answer of a lane, if it shows one, and its share of right answers.
function answerOf(one, answers) {
  const answer = showsAnswer(one) ? answers[one.slot] : null;
  const share = shareRight(one, countsNow());
  const low = hasFallen(one, share);
  let chip = el('div', {class: 'answer none', 'aria-label': 'no answer', hidden: !showsAnswer(one)},
    '–');
  if (answer) {
    const mark = answer.ok ? '✓' : '✗';
    const isLong = [...answer.said].length > 6;  // with two marks of direction
    const judged = answer.right === null ? '' : ` ${answer.ok ? 'good' : 'bad'}`;
    const state = judged + (isLong ? ' long' : '');
    chip = el('div', {class: `answer${state}`, title: answer.right && `right: ${answer.right}`},
      answer.said, answer.right === null ? '' : el('i', null, mark));
  }
  return el('div', {class: `lane-answer c${one.color}`}, chip,
    el('span', {class: `share${low ? ' low' : ''}`}, share == null ? '' : percent(share)));
}

// ---- all of it -------------------------------------------------------------------------------

/// Whether the screen is so small that its parts are below each other.
export const isNarrow = () => matchMedia('(max-width: 899px)').matches;

/// The width of a tile: the tokens fill the row. If they are many or long they shrink, and scroll
/// where they would become too small to read.
function tileSize(room) {
  const source = example().source ? tokensOf(sourceLayer()).keys : [];
  const texts = [...exampleTokens(), ...source];
  const count = Math.max(exampleTokens().length, source.length);
  const longest = Math.min(9, Math.max(1, ...texts.map((words) => [...words].length)));
  const single = isNarrow() ? 17 : 14;
  const least = longest > 1 ? 6 + 5.5 * longest : single;
  return Math.max(least, Math.min(44, room / Math.max(1, count)));
}

/// Whether the strip of tokens is wide: it then has the whole width of the screen.
export const isWide = () =>
  Math.max(exampleTokens().length, example().source ? tokensOf(sourceLayer()).keys.length : 0) > 24;

/// Lanes that keep their arcs while tokens, query and step stay, so that an arc can fade.
function laneStack() {
  const node = el('div', {class: 'lanes'});
  let arcs = [];
  let drawn = '';
  const update = (size, height) => {
    const shown = questions().some((one) => !one.main.length) ? chosen()?.at : '';
    const key = [where(), queryNow(), size, height, shown, Boolean(trace())].join();
    if (key !== drawn) {
      arcs = [];
      node.replaceChildren(...questions().map((one) =>
        el('div', {class: 'lane'}, laneSvg(one, size, height, arcs))));
    }
    drawn = key;
    for (const arc of arcs) arc.show();
  };
  return {node, update};
}

/// The height of a lane: all of them fit the screen; on a small one each has room for its name.
function laneHeight() {
  if (isNarrow()) return 60;
  const few = isWide() ? 116 : 230;
  const room = example().source ? few - 20 : few;
  return Math.max(44, Math.min(150, room / Math.max(1, questions().length)));
}

const withHeight = (height) => (node) => {
  node.style.height = `${height}px`;
  return node;
};

/// Scrolls to the query and its keys, as many as fit with it, if one of them is out of sight.
function showQuery(scroller, size) {
  const {scrollLeft, clientWidth} = scroller;
  const at = queryNow();
  const isSeen = (s) => s * size >= scrollLeft && (s + 1) * size <= scrollLeft + clientWidth;
  const keys = questions().flatMap((one) => (one.kind === 'self' ? keysOf(one) : []));
  const near = keys.filter((s) => (Math.abs(at - s) + 1) * size <= clientWidth);
  const shown = [at, ...near];
  if (shown.every(isSeen)) return;
  const isFar = keys.length > 0 && !near.length;
  const both = (middle(size, Math.min(...shown)) + middle(size, Math.max(...shown))) / 2;
  scroller.scrollLeft = isFar ? middle(size, at) - clientWidth + 2 * size : both - clientWidth / 2;
}

/// The board: names, tokens with lanes, answers, and the loss. `update` fills it from the state;
/// `measured` shows a new measurement.
export function lanesBoard() {
  const names = el('div', {class: 'names'});
  const answers = el('div', {class: 'answers', id: 'answers'});
  const rows = {source: tokenRow('source'), example: tokenRow('example')};
  const stack = laneStack();
  const scroller = el('div', {class: 'lanes-scroll'}, rows.source.node, rows.example.node,
    stack.node);
  if (isStored()) answers.hidden = true;
  const loss = isStored() ? {node: null, update() {}} : lossRow();
  const legend = el('div');
  const node = el('div', {class: `lanes-board${isStored() ? ' no-answers' : ''}`},
    el('div', {class: 'board'}, names, scroller, answers), legend);
  const showMeasurement = () => {
    if (isStored()) return;
    const said = answersAt(queryNow());
    const {source} = example();
    answers.replaceChildren(source ? el('div', {class: 'row-name'}) : '',
      el('div', {class: 'row-name'}, el('span', {class: 'lane-heads'}, 'answer, % right')),
      ...questions().map((one) => withHeight(laneHeight())(answerOf(one, said))));
    loss.update();
  };
  const update = () => {
    const size = tileSize(scroller.clientWidth || 496);
    fillRows(rows, size);
    stack.update(size, laneHeight());
    showQuery(scroller, size);
    names.replaceChildren(
      example().source ? el('div', {class: 'row-name'}, el('b', null, 'Source')) : '',
      exampleName(),
      ...questions().map((one) => withHeight(laneHeight())(nameOf(one))));
    legend.replaceChildren(boardLegend());
    showMeasurement();
  };
  return {node, loss: el('div', {class: 'loss-part'}, loss.node), update, showMeasurement};
}

function exampleName() {
  const asked = isStored() ? 'click a query' : 'click to ask';
  const hint = isTyped('example') ? 'type to edit' : asked;
  return el('div', {class: 'row-name'}, el('b', {class: 'question'}, 'Example'),
    el('span', {class: 'lane-heads'}, hint));
}

/// The first layer whose keys are the source.
const sourceLayer = () => run().attentionLayers.findIndex(({kind}) => kind !== 'self');

/// Legend of the signs of the board.
function boardLegend() {
  const {asked = 0, right = 0, known} = answerCounts() || {};
  const isOff = faultyPositions().broken.size > 0;
  return el('p', {class: 'board-legend'}, el('span', null, el('i', {class: 'query-dot'}), ' query'),
    questions().some(({r}) => r >= 0) &&
      el('span', null, el('i', {class: 'key-ring'}), ' right key'),
    el('span', null, 'arc: attention, thick = much'), el('span', null, 'dots: ablated'),
    known && right < asked && el('span', {class: 'bad-word'}, el('u', null, 'x'),
      isOff ? ' breaks' : ' wrong answer'));
}

function fillRows(rows, size) {
  const {source} = example();
  const marks = faultyPositions();
  const keys = questions().flatMap((one) => keysOf(one).map((key) => ({
    color: colorOfKey(one, queryOfQuestion(one), key), all: [key],
    side: one.kind === 'self' ? 'example' : 'source'})));
  rows.source.node.hidden = !source;
  if (source)
    rows.source.fill(tokensOf(sourceLayer()).keys, classesOf('source', keys, marks));
  rows.example.fill(exampleTokens(), classesOf('example', keys, marks));
  for (const row of Object.values(rows))
    for (const tile of row.node.children) {
      tile.style.width = `${size}px`;
      tile.style.fontSize = fontOf([...tile.shown].length, size);
    }
}
