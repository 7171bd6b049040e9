// The right half of the first screen: all heads as a block of maps on one scale, each owner in the
// colour of its question. A click ablates a head or restores it. Read next: first_drawer.js.
import {mapBitmap, remember} from '../../draw/draw.js';
import {QUESTION_COLORS, button, choice, el, palette} from '../../draw/ui.js';
import {
  app, chosen, go, headsOf, isLive, run, stepSlider, task, timeSteps, trace,
} from '../../state/state.js';
import {attentionLayerName, thumbnailOf} from '../../parts/heads.js';
import {questionOf, spoken} from '../../parts/questions.js';
import {ablate, exampleTokens, isAblated, queryNow} from './first_state.js';
import {describedHead} from './first_words.js';

const MOST_NAMED = 24;  // heads or tokens; beyond that maps are thumbnails without names
const ROOM = {width: 552, height: 336};

/// Above as many tokens, weights are small and shaded by their square root; all maps alike.
const isRootScale = () => exampleTokens().length > MOST_NAMED;

/// The columns of the block: one row for each layer if there are many heads.
function mapColumns() {
  const heads = headsOf();
  if (heads.length <= 4) return Math.min(2, Math.max(1, heads.length));
  if (heads.length <= 8) return 4;
  const widest = Math.max(...run().attentionLayers.map((layer) => layer.heads.length));
  const layers = run().attentionLayers.filter((layer) => layer.heads.length).length;
  if (layers > 1 && widest <= 16) return widest;
  return Math.min(16, Math.ceil(Math.sqrt(1.7 * heads.length)));
}

const isSmall = () => headsOf().length > MOST_NAMED;

/// The side of a map in pixels, so that the block fits its half; the least that can be clicked. On
/// a small screen, which scrolls, the block is as wide as the screen.
function sideOf(wide, room, narrowScreen) {
  const rows = Math.ceil(headsOf().length / wide);
  const label = isSmall() ? 16 : 22;
  const across = (room - 8 * (wide - 1)) / wide;
  const down = narrowScreen ? Infinity : (ROOM.height - (label + 8) * rows) / rows;
  return Math.floor(Math.max(28, Math.min(240, across, down)));
}

function tintedMap(x, canvas) {
  const found = thumbnailOf(x);
  if (!found.rows) return found;
  const question = questionOf(x);
  const owned = question?.owner === x.at;
  const role = owned ? QUESTION_COLORS[question.color] : 'none';
  const map = {...found, kind: `tint ${role}`, top: 1, root: isRootScale()};
  mapBitmap(map, palette(), canvas);
  return map;
}

/// The outline of the query's row in a map.
function showQueryRow(node, x, map) {
  const {kind} = run().attentionLayers[x.m];
  const rows = trace() && task().length <= 256 ? exampleTokens().length : 0;
  node.hidden = !map.rows || !rows || kind === 'encoder';
  node.style.top = `${100 * queryNow() / Math.max(1, rows)}%`;
  node.style.height = `${100 / Math.max(1, rows)}%`;
}

function cellLabel(x, question) {
  const owned = question?.owner === x.at;
  const name = question && !isSmall() && spoken(question.name);
  return [
    question && el('i', {class: owned ? 'dot' : 'dot ring'}),
    el(isAblated(x) ? 's' : 'b', null, x.at),
    name && el(owned ? 'em' : 'small', null, name),
  ].filter(Boolean);
}

/// A map that keeps its node: {node, update}.
function mapCell(x, peek) {
  const label = el('span', {class: 'map-label'});
  const canvas = el('canvas', {'aria-hidden': 'true'});
  const row = el('span', {class: 'query-row'});
  const node = el('button', {
    type: 'button', class: 'map', 'data-head': x.at, id: `map-${x.at}`, tabindex: -1,
    onclick: () => ablate(x), onpointerenter: () => peek(x), onfocus: () => peek(x),
  }, label, el('span', {class: 'frame'}, canvas, row, el('span', {class: 'stamp'},
    el('span', null, 'ablated'))));
  const update = () => {
    const question = questionOf(x);
    const off = isAblated(x);
    const owned = question?.owner === x.at;
    const isChosen = chosen()?.at === x.at;
    node.className = ['map', question ? `c${question.color}` : 'cnone', owned && 'own',
      off && 'off', isChosen && 'selected'].filter(Boolean).join(' ');
    node.setAttribute('aria-pressed', String(off));
    node.setAttribute('aria-label', describedHead(x, question));
    node.tabIndex = isChosen ? 0 : -1;
    label.replaceChildren(...cellLabel(x, question));
    showQueryRow(row, x, tintedMap(x, canvas));
  };
  return {node, update, x};
}

/// Arrow keys move among the maps.
function mapKeys(event, cells) {
  const at = cells.findIndex(({node}) => node === event.target);
  const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -mapColumns(), ArrowDown: mapColumns(),
    Home: -at, End: cells.length - 1 - at}[event.key];
  if (at < 0 || step === undefined) return;
  const next = cells[at + step];
  if (next) {
    for (const {node} of cells) node.tabIndex = -1;
    next.node.tabIndex = 0;
    next.node.focus();
  }
  event.preventDefault();
  event.stopPropagation();
}

// ---- the scale and the training step ---------------------------------------------------------

/// The steps as buttons if they are few, else a slider; nothing if no step has its weights.
function stepDial() {
  const steps = timeSteps();
  if (!run().steps.length || !isLive() || steps.length < 2) return {node: null, update() {}};
  if (steps.length > 8) return {node: el('span', {class: 'dial-steps'}, stepSlider()), update() {}};
  const all = steps.map((step, i) => ({step, node: button(String(step), () =>
    go({step: i === steps.length - 1 ? null : step, scene: 0}))}));
  const update = () => {
    for (const {step, node} of all)
      node.setAttribute('aria-pressed', String(step === (app.state.step ?? steps.at(-1))));
  };
  return {update, node: el('span', {class: 'dial-steps', role: 'group',
    'aria-label': 'training step'}, el('span', {class: 'dial-name'}, 'step'),
    all.map(({node}) => node))};
}

/// Other runs of the page.
const runChoice = () => app.page.runs.length > 1 &&
  choice('first-run', 'Run', app.page.runs.map((r, i) => [i + 1, r.name]), (v) => go({
    run: Number(v), h: null, b: null, gates: {}, step: null, scene: 0, ex: 'typical', q: null,
    tokens: [],
  }), () => app.state.run);

/// The ramps of the colours that occur.
function mapLegend() {
  const used = new Set(headsOf().map((x) => {
    const question = questionOf(x);
    return question?.owner === x.at ? question.color : 'none';
  }));
  const ramps = [...used].sort().map((color) => el('i', {class: `c${color}`}));
  const scale = isRootScale() ? 'attention (root)' : 'attention';
  const rings = headsOf().some((x) => questionOf(x) && questionOf(x).owner !== x.at);
  return el('div', {class: 'legend'},
    el('div', {class: 'scale'}, el('div', {class: 'ramps'}, ramps),
      el('div', {class: 'scale-ends'}, el('span', null, '0'), el('span', null, scale),
        el('span', null, '1'))),
    el('div', null, 'Rows: queries. Columns: keys. Outlined row: the query. ',
      ramps.length > 1 ? 'Colour: the owner of a question. ' : '',
      rings ? 'Ring: attends to the same keys. ' : '',
      el('span', {class: 'for-keyboard'},
        isLive() ? 'Arrows move, Enter ablates, Escape restores.' : 'Arrows move.')));
}

// ---- the block -------------------------------------------------------------------------------

/// All maps: {node, update, cells}. `peek` is called with the head that the pointer or the focus
/// reaches; `leave` when the pointer leaves the block.
export function headMaps(peek, leave) {
  const cells = headsOf().map((x) => mapCell(x, peek));
  const block = el('div', {
    class: `maps${isSmall() ? ' small-maps' : ''}`, role: 'group', id: 'maps',
    'aria-label': 'All heads', onkeydown: (event) => mapKeys(event, cells), onpointerleave: leave,
  }, cells.map(({node}) => node));
  const dial = stepDial();
  const title = headsOf().length === 1 ? 'The head' : `All ${headsOf().length} heads`;
  const node = el('div', {class: 'heads-half'},
    el('div', {class: 'heads-title'}, el('h3', null, title), runChoice(), dial.node),
    block, mapLegend());
  const update = () => {
    const narrowScreen = matchMedia('(max-width: 899px)').matches;
    const wide = narrowScreen ? Math.min(isSmall() ? 8 : 4, mapColumns()) : mapColumns();
    const side = sideOf(wide, node.clientWidth || ROOM.width, narrowScreen);
    block.style.gridTemplateColumns = `repeat(${wide}, ${side}px)`;
    for (const cell of cells) {
      cell.update();
      remember(cell, 'title', () => cell.node.setAttribute('title', attentionLayerName(run()
        .attentionLayers[cell.x.m])));
    }
    dial.update();
  };
  return {node, block, update, cells, wide: () => getWide(cells)};
}

/// The number of maps in the first row on the screen.
const getWide = (cells) =>
  Math.max(1, cells.filter(({node}) => node.offsetTop === cells[0].node.offsetTop).length);
