// The right half of the first screen: all heads as a block of maps on one scale, each head that
// answers a question in its colour. A click selects a head, its pill ablates or restores it.
// Read next: parts/head_card.js.
import {digits} from '../../draw/charts.js';
import {mapBitmap, remember} from '../../draw/draw.js';
import {QUESTION_COLORS, button, el, palette} from '../../draw/ui.js';
import {
  FRESH, app, chosen, go, headsOf, isLive, run, runChoice, stepSlider, task, timeSteps, trace,
} from '../../state/state.js';
import {thumbnailOf} from '../../parts/heads.js';
import {
  ablate, exampleTokens, isAblated, queryNow, roleOfHead, selectHead, spoken,
} from '../../parts/questions.js';
import {isNarrow, isWide} from './first_lanes.js';
import {describedHead} from './first_words.js';

const MOST_NAMED = 24;  // heads or tokens; beyond that maps are thumbnails without names
const ROOM = {width: 552, height: 336, wide: 170};  // of a wide strip the maps lie below it

/// Above as many tokens, weights are small and shaded by their square root; all maps alike.
const isRootScale = () => exampleTokens().length > MOST_NAMED;

/// The columns of the block: one row for each layer if there are many heads.
function mapColumns() {
  const heads = headsOf();
  if (isWide() && heads.length <= 8) return Math.max(1, heads.length);
  if (isWide()) return Math.min(16, Math.ceil(heads.length / 2));
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
function sideOf(wide, room) {
  const rows = Math.ceil(headsOf().length / wide);
  const label = isSmall() ? 16 : 22;
  const across = (room - 8 * (wide - 1)) / wide;
  const height = isWide() ? ROOM.wide : ROOM.height;
  const down = isNarrow() ? Infinity : (height - (label + 8) * rows) / rows;
  return Math.floor(Math.max(28, Math.min(240, across, down)));
}

/// Below this largest weight a map is shaded to its own largest one, and says so.
const FAINT = 0.45;

function tintedMap(x, canvas) {
  const found = thumbnailOf(x);
  if (!found.rows) return found;
  const {isMain, color} = roleOfHead(x);
  const role = isMain ? QUESTION_COLORS[color] : 'none';
  const most = remember(found.values, 'largest', () => largestBelowFirst(found));
  const top = most < FAINT && !isRootScale() ? Math.max(0.01, most) : 1;
  const map = {...found, kind: `tint ${role}`, top, root: isRootScale()};
  mapBitmap(map, palette(), canvas);
  return map;
}

/// The largest weight beyond the first row, whose query often sees a single key.
const largestBelowFirst = ({values, cols, rows}) =>
  values.subarray(rows > 1 ? cols : 0).reduce((a, b) => Math.max(a, b), 0);

/// The outline of the query's row in a map.
function showQueryRow(node, x, map) {
  const {kind} = run().attentionLayers[x.m];
  const rows = trace() && task().length <= 256 ? exampleTokens().length : 0;
  node.hidden = !map.rows || !rows || kind === 'encoder';
  node.style.top = `${100 * queryNow() / Math.max(1, rows)}%`;
  node.style.height = `${100 / Math.max(1, rows)}%`;
}

/// "● 0.1 1 back", in the colour of the question; "shares larger" of heads that share it.
function cellLabel(x, map) {
  const {question, isMain, isShared, mark} = roleOfHead(x);
  const name = question && !isSmall() && (isShared ? 'shares ' : '') + spoken(question.name);
  const scale = map.top < 1 && !isSmall() && `to ${digits(map.top, 2)}`;
  return [
    mark && el('i', {class: `mark${isMain ? '' : ' faint'}`, 'aria-hidden': 'true'}, mark),
    el(isAblated(x) ? 's' : 'b', null, x.at),
    name && el(isMain ? 'em' : 'small', null, name), scale && el('small', {class: 'scaled'}, scale),
  ].filter(Boolean);
}

/// A map that keeps its node, with the pill that ablates it: {node, map, update}.
function mapCell(x, peek) {
  const label = el('span', {class: 'map-label'});
  const canvas = el('canvas', {'aria-hidden': 'true'});
  const row = el('span', {class: 'query-row'});
  const map = el('button', {
    type: 'button', class: 'map', 'data-head': x.at, id: `map-${x.at}`, tabindex: -1,
    onclick: () => selectHead(x), onpointerenter: () => peek(x), onfocus: () => peek(x),
  }, label, el('span', {class: 'frame'}, canvas, row, el('span', {class: 'stamp'},
    el('span', null, 'ablated'))));
  const pill = button('', () => ablate(x), {class: 'pill', id: `pill-${x.at}`, tabindex: -1});
  const {title} = run().attentionLayers[x.m];
  const node = el('div', {class: 'map-cell', title}, map, pill);
  const update = (side) => {
    const {isMain, color} = roleOfHead(x);
    const off = isAblated(x);
    const isChosen = chosen()?.at === x.at;
    map.className = ['map', `c${color}`, isMain && 'own', off && 'off', isChosen && 'selected']
      .filter(Boolean).join(' ');
    if (isChosen) map.setAttribute('aria-current', 'true');
    else map.removeAttribute('aria-current');
    map.setAttribute('aria-label', describedHead(x));
    map.tabIndex = isChosen ? 0 : -1;
    const drawn = tintedMap(x, canvas);
    label.replaceChildren(...cellLabel(x, drawn));
    showQueryRow(row, x, drawn);
    pill.hidden = !isChosen || !isLive() || side < 84;
    pill.textContent = off ? 'Restore' : 'Ablate';
    pill.setAttribute('aria-label', `${pill.textContent} head ${x.at}`);
  };
  return {node, map, update, x};
}

/// Arrow keys move among the maps. Enter selects the head with the focus, and ablates it if it is
/// selected.
function mapKeys(event, cells) {
  const at = cells.findIndex(({map}) => map === event.target);
  if (at < 0) return;
  const {x} = cells[at];
  const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -mapColumns(), ArrowDown: mapColumns(),
    Home: -at, End: cells.length - 1 - at}[event.key];
  if (event.key === 'Enter') {
    if (chosen()?.at === x.at) ablate(x);
    else selectHead(x);
  } else if (step === undefined) {
    return;
  } else if (cells[at + step]) {
    for (const {map} of cells) map.tabIndex = -1;
    cells[at + step].map.tabIndex = 0;
    cells[at + step].map.focus();
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

/// The ramps of the colours that occur.
function mapLegend() {
  const roles = headsOf().map((x) => roleOfHead(x));
  const used = new Set(roles.map(({isMain, color}) => (isMain ? color : 'none')));
  const ramps = [...used].sort().map((color) => el('i', {class: `c${color}`}));
  const scale = isRootScale() ? 'attention (root)' : 'attention';
  return el('div', {class: 'legend'},
    el('div', {class: 'scale'}, el('div', {class: 'ramps'}, ramps),
      el('div', {class: 'scale-ends'}, el('span', null, '0'), el('span', null, scale),
        el('span', null, '1'))),
    el('div', null, 'Rows: queries. Columns: keys. Outlined row: the query. ',
      roles.some(({isMain}) => isMain) ? '● answers a question. ' : '',
      roles.some(({mark}) => mark === '■') ? '■ shares it. ' : '',
      roles.some(({mark}) => mark === '○') ? '○ attends to the same keys. ' : '',
      isLive() ? 'A click selects, the pill or x ablates.' : 'A click selects.'));
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
    el('div', {class: 'heads-title'}, el('h3', null, title), runChoice('first-run', FRESH),
      dial.node),
    block, mapLegend());
  const update = () => {
    const wide = isNarrow() ? Math.min(isSmall() ? 8 : 4, mapColumns()) : mapColumns();
    const side = sideOf(wide, node.clientWidth || ROOM.width);
    block.style.gridTemplateColumns = `repeat(${wide}, ${side}px)`;
    for (const cell of cells) cell.update(side);
    dial.update();
  };
  return {node, block, update, cells};
}
