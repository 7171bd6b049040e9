// The left half of the first screen: the tokens of the example, typed in place; one lane for each
// question with an arc from the query to its keys, and the model's answer.
// Read next: first_loss.js, first_maps.js.
import {range} from '../../engine/numbers.js';
import {isUntested} from '../../engine/reports.js';
import {el, svgNode, visible} from '../../draw/ui.js';
import {chosen, example, go, isLive, isStored, run, task, trace, where} from '../../state/state.js';
import {percent} from '../../parts/heads.js';
import {patternOf, rowOf, tokensOf} from '../../parts/pattern.js';
import {answersAt, measured} from '../../parts/measure.js';
import {questions, spoken} from '../../parts/questions.js';
import {lossRow} from './first_loss.js';
import {
  brokenPositions, exampleTokens, headsInLane, isAblated, keysOf, queryNow, queryOfQuestion,
} from './first_state.js';

// ---- tokens ----------------------------------------------------------------------------------

const isTyped = (row) =>
  isLive() && !example().vectors && (row === 'source') === Boolean(example().source);

/// The token that typed words name: exactly, by their last character, or the next one that begins
/// with it; -1 if there is none.
function typedToken(words, before) {
  const texts = task().tokens.map(visible);
  const last = visible([...words].at(-1) ?? '');
  for (const wanted of [words, last]) {
    const exact = texts.indexOf(wanted);
    if (exact >= 0 && exact !== before) return exact;
  }
  const order = range(texts.length, (i) => (before + 1 + i) % texts.length);
  return last ? order.find((i) => texts[i].startsWith(last)) ?? -1 : -1;
}

function replaceToken(row, at, words) {
  const {source, sourceLength, tokens, length} = example();
  const all = Array.from(source ? source.slice(0, sourceLength) : tokens.slice(0, length));
  const token = typedToken(words, all[at]);
  if (token < 0) return false;
  all[at] = token;
  go({tokens: all, scene: 0});
  return true;
}

function tokenKeys(event, row, at, tiles) {
  const {key} = event;
  const vocab = task().tokens;
  const turn = {ArrowUp: -1, ArrowDown: 1}[key];
  const step = {ArrowLeft: -1, ArrowRight: 1, Enter: 1}[key];
  if (step) tiles[Math.max(0, Math.min(tiles.length - 1, at + step))]?.focus();
  if (turn && isTyped(row)) {
    const {source, tokens} = example();
    const next = ((source || tokens)[at] + turn + vocab.length) % vocab.length;
    replaceToken(row, at, visible(vocab[next]));
  }
  if (step || turn) event.preventDefault();
}

function tokenTile(row, at, tiles) {
  const words = row === 'source' ? 'source token' : 'token';
  const tile = el('input', {
    class: 'tok', type: 'text', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
    'aria-label': `${words} ${at}`, readonly: !isTyped(row),
    onfocus: () => {
      tile.select?.();
      if (row !== 'source' && queryNow() !== at) go({q: at, k: null, scene: 0});
    },
    oninput: () => {
      const done = tile.value !== '' && replaceToken(row, at, tile.value);
      if (!done) tile.value = tile.shown;
      else tiles[Math.min(at + 1, tiles.length - 1)]?.focus();
    },
    onkeydown: (event) => tokenKeys(event, row, at, tiles),
  });
  return tile;
}

/// A row of tiles that are made once for each length and then filled.
function tokenRow(row) {
  const node = el('div', {class: `tokens-row ${row}`, role: 'group',
    'aria-label': row === 'source' ? 'Source' : 'Example'});
  const tiles = [];
  const fill = (texts, classes) => {
    if (tiles.length !== texts.length) {
      tiles.length = 0;
      tiles.push(...range(texts.length, (at) => tokenTile(row, at, tiles)));
      node.replaceChildren(...tiles);
    }
    tiles.forEach((tile, at) => {
      tile.shown = texts[at];
      if (tile.value !== texts[at]) tile.value = texts[at];
      tile.className = `tok ${classes(at)}`;
    });
  };
  return {node, fill};
}

/// The classes of a tile: the query, a ground-truth key in its question's colour, a broken answer.
function classesOf(row, keys, broken) {
  return (at) => {
    const one = keys.find(({side, all}) => side === row && all.includes(at));
    const isQuery = row === 'example' && at === queryNow();
    return [isQuery && 'query', one && `key c${one.color}`, row === 'example' && broken.has(at) &&
      'broken'].filter(Boolean).join(' ');
  };
}

// ---- lanes -----------------------------------------------------------------------------------

const middle = (size, at) => size * (at + 0.5);

/// The weight of a head from a question's query to a key.
function weightOf(one, x, key) {
  if (!trace()) return 0;
  return rowOf(patternOf(trace(), x.m, x.place), queryOfQuestion(one))[key] ?? 0;
}

/// The keys of a lane: the ground truth, or, if there is none, those a head attends to most.
function keysInLane(one) {
  const known = keysOf(one);
  if (known.length || !trace() || (one.r >= 0 && example().truth(one.r, 0))) return known;
  const [x] = headsInLane(one);
  if (!x) return [];
  const row = rowOf(patternOf(trace(), x.m, x.place), queryOfQuestion(one));
  return range(row.length).sort((a, b) => row[b] - row[a]).slice(0, 3)
    .filter((s, i) => i === 0 || row[s] >= 0.05);
}

function arcOf(one, x, key, {size, height}) {
  const base = height - 17;
  const from = middle(size, queryOfQuestion(one));
  const to = middle(size, key);
  const span = Math.abs(from - to) / size;
  const rise = 9 + 10 * Math.sqrt(span) * height / 63;
  const above = narrow() ? 24 : 3;  // a small screen has the names of lanes above their arcs
  const up = Math.min(base - above, rise) * (x.at === one.owner ? 1.33 : 0.95);
  const bend = (to - from) * 0.12;
  const points = `M${from} ${base}C${from + bend} ${base - up} ${to - bend} ${base - up} ${to} ` +
    `${base}`;
  const node = svgNode('path', {d: points, 'data-head': x.at});
  return {node, show: () => showArc(node, one, x, key)};
}

/// Width and opacity are the weight of the head; the arc of an ablated head is dashed and faint.
function showArc(node, one, x, key) {
  const off = isAblated(x);
  const weight = weightOf(one, x, key) * (x.at === one.owner || one.r < 0 ? 1 : 0.6);
  node.setAttribute('class', `arc${off ? ' off' : ''}`);
  node.setAttribute('stroke-width', off ? '1.5' : (1 + 4 * weight).toFixed(2));
  node.setAttribute('stroke-opacity', off ? '0.45' : Math.max(0.12, weight).toFixed(2));
}

/// The key as a disc with its first letters, or with the whole word where there is room for it.
function discOf(one, key, {size, height, texts}) {
  const x = middle(size, key);
  const y = height - 17;
  const letters = [...(texts[key] ?? '')];
  const room = 7 * letters.length + 10;  // of a whole word
  const isWhole = letters.length > 2 && room <= size;
  const radius = Math.min(11, size / 2 - 0.5);
  const shape = isWhole
    ? svgNode('rect', {class: 'disc', x: x - room / 2, y: y - 11, width: room, height: 22, rx: 11})
    : svgNode('circle', {class: 'disc', cx: x, cy: y, r: radius});
  const look = letters.length > 2 ? 'disc-text three' : 'disc-text';
  const shown = isWhole ? letters : letters.slice(0, 3);
  return [
    shape,
    size >= 14 && svgNode('text', {class: look, x, y: y + 4.5, 'text-anchor': 'middle'},
      shown.join('')),
  ];
}

/// The picture of a lane: dots for tokens, an arc for each head and key, the key in a disc.
function laneSvg(one, size, height, arcs) {
  const m = headsInLane(one)[0]?.m ??
    run().attentionLayers.findIndex(({kind}) => kind === one.kind);
  const {keys: texts, queries} = tokensOf(Math.max(0, m));
  const base = height - 17;
  const count = Math.max(texts.length, queries.length);
  const keys = keysInLane(one);
  const query = middle(size, queryOfQuestion(one));
  const box = {size, height, texts};
  const drawn = keys.flatMap((key) => headsInLane(one).map((x) => arcOf(one, x, key, box)));
  arcs.push(...drawn);
  return svgNode('svg', {width: count * size, height, class: `lane-svg c${one.color}`,
    'aria-hidden': 'true'},
    svgNode('rect', {class: 'column', x: query - size / 2 + 1, width: size - 2, y: 0, height}),
    range(texts.length, (s) => svgNode('circle', {class: 'tick', cx: middle(size, s), cy: base,
      r: 1.5})),
    drawn.map((arc) => arc.node),
    svgNode('circle', {class: 'from', cx: query, cy: base, r: Math.min(5, size / 3)}),
    keys.map((key) => discOf(one, key, box)));
}

/// The name of a lane with its heads.
function nameOf(one) {
  const shown = headsInLane(one).sort((a, b) => (b.at === one.owner) - (a.at === one.owner));
  const named = shown.slice(0, 4).map((x) => {
    const look = isAblated(x) ? 's' : 'span';
    return [' ', el(x.at === one.owner ? 'b' : 'span', null, el(look, null, x.at))];
  });
  const others = shown.length > 4 ? ` +${shown.length - 4}` : '';
  const meaning = task().relations[one.r]?.description;
  let said = isUntested(run(), one.r) ? 'not tested' : 'no head found';
  if (shown.length) said = shown[0].at === one.owner || one.r < 0 ? 'head' : 'shared by';
  return el('div', {class: `lane-name c${one.color}`, title: meaning},
    el('b', {class: 'question'}, spoken(one.name)),
    el('span', {class: 'lane-heads'}, said, named, others));
}

/// Whether a lane shows the answer of its target: the first lane that asks for a key at the query,
/// else the first of all.
function showsAnswer(one) {
  const lanes = questions().filter((other) => other.slot === one.slot);
  return one.slot >= 0 && one === (lanes.find((other) => keysOf(other).length > 0) || lanes[0]);
}

/// The share of right answers to a question: of the target of its name, else of the answers at
/// which its relation asks for a key, else of its target; null if none is known.
function shareRight(one, {targets = [], relations, count}) {
  const named = targets.find((t) => t.name === one.name);
  if (named) return named.accuracy;
  const asked = relations?.find((t) => t.name === one.name && t.count > 0 && t.count < count);
  if (asked) return asked.accuracy;
  return relations && showsAnswer(one) ? targets[one.slot]?.accuracy ?? null : null;
}

/// Whether a share is clearly lower than with all heads: of the trained model if it is known.
function hasFallen(one, share) {
  const whole = measured.whole?.result;
  const before = shareRight(one, run().facts.evaluation) ?? (whole && shareRight(one, whole));
  return share != null && before != null && share < before - 0.05;
}

/// The answer of a lane, if it shows one, and its share of right answers.
function answerOf(one, answers) {
  const answer = showsAnswer(one) ? answers[one.slot] : null;
  const share = shareRight(one, measured.result || run().facts.evaluation);
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

const narrow = () => matchMedia('(max-width: 899px)').matches;

/// The width of a tile: the tokens fill the row; many or long ones scroll.
function tileSize(room) {
  const source = example().source ? tokensOf(sourceLayer()).keys : [];
  const texts = [...exampleTokens(), ...source];
  const count = Math.max(exampleTokens().length, source.length);
  const longest = Math.min(8, Math.max(1, ...texts.map((words) => [...words].length)));
  const least = longest > 1 ? 12 + 8 * longest : 21;
  return Math.max(least, Math.min(44, room / Math.max(1, count)));
}

/// Lanes that keep their arcs while tokens, query and step stay, so that an arc can fade.
function laneStack() {
  const node = el('div', {class: 'lanes'});
  let arcs = [];
  let drawn = '';
  const update = (size, height) => {
    const shown = questions().some((one) => one.r < 0) ? chosen()?.at : '';
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
  if (narrow()) return 60;
  const room = example().source ? 214 : 254;
  return Math.max(40, Math.min(110, room / Math.max(1, questions().length)));
}

const withHeight = (height) => (node) => {
  node.style.height = `${height}px`;
  return node;
};

/// Scrolls to the query and its first key, if the query is out of sight.
function showQuery(scroller, size) {
  const at = middle(size, queryNow());
  const {scrollLeft, clientWidth} = scroller;
  if (at > scrollLeft && at < scrollLeft + clientWidth) return;
  const [key] = questions().flatMap((one) => (one.kind === 'self' ? keysOf(one) : []));
  const both = (at + middle(size, key ?? queryNow())) / 2;
  const far = Math.abs(at - both) > clientWidth / 2 - size;
  scroller.scrollLeft = far ? at - clientWidth + 2 * size : both - clientWidth / 2;
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
  const node = el('div', {class: `lanes-board${isStored() ? ' no-answers' : ''}`},
    el('div', {class: 'board'}, names, scroller, answers), loss.node);
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
    showMeasurement();
  };
  return {node, update, showMeasurement};
}

function exampleName() {
  const asked = isStored() ? 'click a query' : 'click to ask';
  const hint = isTyped('example') ? 'type to edit' : asked;
  return el('div', {class: 'row-name'}, el('b', {class: 'question'}, 'Example'),
    el('span', {class: 'lane-heads'}, hint));
}

/// The first layer whose keys are the source.
const sourceLayer = () => run().attentionLayers.findIndex(({kind}) => kind !== 'self');

function fillRows(rows, size) {
  const {source} = example();
  const broken = brokenPositions();
  const keys = questions().map((one) => ({color: one.color, all: keysOf(one),
    side: one.kind === 'self' ? 'example' : 'source'}));
  rows.source.node.hidden = !source;
  if (source)
    rows.source.fill(tokensOf(sourceLayer()).keys, classesOf('source', keys, broken));
  rows.example.fill(exampleTokens(), classesOf('example', keys, broken));
  for (const row of Object.values(rows))
    for (const tile of row.node.children) {
      tile.style.width = `${size}px`;
      tile.style.fontSize = [...tile.shown].length > 2 ? '.9rem' : '';
    }
}
