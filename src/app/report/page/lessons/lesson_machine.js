// One picture of attention, from x to y with the numbers of a run or of a worked example. A cell
// opens its products and the line of code that computes it; the lesson's text is its captions.
// Read next: stages.js.
import {digits, label, rect, shortened, small, textWidth} from '../draw/charts.js';
import {aside, button, choice, dynamic, el, figure, tableOf} from '../draw/ui.js';
import {chosen, go, memo, run, where} from '../state/state.js';
import {usualSwitches} from '../engine/worked_example.js';
import {
  controlRow, cutNote, headNames, headOfLab, isRunWorld, lab, labBox, labChoice, lessonTexts,
  lessonWorld, setLab, worldName,
} from './learn.js';
import {attendLines} from '../engine/attend.js';
import {FUNCTIONS, splitsOf, stagesOf} from '../engine/stages.js';
import {cellSources, cellWords, listing} from './lesson_cell.js';

const GAP = 24;
const ABOVE = 28;

// ---- what is switched ------------------------------------------------------------------------

function switchesNow(world) {
  const usual = usualSwitches(world);
  const splits = splitsOf(world);
  const heads = lab('heads', usual.heads);
  return {
    heads: splits.includes(heads) ? heads : usual.heads,
    mask: lab('mask', Number(usual.mask)) === 1, root: lab('root', 1) === 1,
    name: FUNCTIONS[lab('function', FUNCTIONS.indexOf(usual.name))] ?? usual.name,
  };
}

const headNow = (world) => headOfLab(switchesNow(world).heads);

const machine = memo(
  () => JSON.stringify([worldName(), isRunWorld() && [where(), chosen()?.m],
    ['heads', 'mask', 'root', 'function', 'head'].map((key) => lab(key, null))]),
  () => {
    const world = lessonWorld();
    const switches = switchesNow(world);
    return {world, switches, h: headNow(world), stages: stagesOf(world, headNow(world), switches)};
  },
);

// ---- the layout of the picture -----------------------------------------------------------------

/// The side of a cell: few tokens have cells that hold their numbers.
function sideOfCells({world}, width) {
  if (world.keys.length <= 5 && width > 640) return 36;
  if (world.keys.length <= 8) return 18;
  return width > 1100 ? 14 : 12;
}

/// The matrices of one column of the picture.
const PICTURE_COLUMNS = [
  ['x'], ['q', 'k', 'v'], ['scores'], ['masked'], ['weights'], ['z'], ['all'], ['y'],
];

/// The size of a matrix: {stage, side, tall, w, h}; wide ones have narrow cells.
function sized(stage, unit) {
  const n = stage.rows[0].length;
  const most = stage.isPairs ? Infinity : 9 * unit;
  const side = Math.min(unit, most / n);
  return {stage, side, tall: unit, w: Math.max(side * n, 14), h: unit * stage.rows.length};
}

const namesWidth = (names) =>
  Math.min(44, Math.max(...names.map((token) => textWidth(token, 11, true)))) + 6;

/// The matrices of a stage list with their sizes, by id.
const sizedStages = ({stages}, unit) =>
  new Map(stages.list.map((stage) => [stage.id, sized(stage, unit)]));

/// Places the matrices from left to right, and in the next line where the width ends.
function placedInLines(made, width, unit, left) {
  const sizes = sizedStages(made, unit);
  let x = left;
  let line = 0;
  let below = 0;
  let bottom = 0;
  const places = [];
  PICTURE_COLUMNS.forEach((ids) => {
    const parts = ids.map((id) => sizes.get(id)).filter(Boolean);
    if (!parts.length) return;
    const names = parts.length > 1 && x > left ? left - 8 : 0;  // k and v name their keys
    const wide = Math.max(...parts.map(({w}) => w));
    const isNext = x > left && x + names + wide > width - 4;
    if (isNext) [x, below, line] = [left, bottom + 14, line + 1];
    else x += names;
    let y = below;
    for (const part of parts) {
      const isFirst = x === left || (names > 0 && !isNext);
      places.push({...part, x, y: y + ABOVE, line, isNamed: isFirst});
      y += part.h + ABOVE + 10;
      bottom = Math.max(bottom, y);
    }
    x += wide + GAP;
  });
  return {places, height: bottom + 8, unit};
}

/// Places the matrices of a wide picture: scores between the rows of q and k, from which they
/// come, and outputs in the row of v. Null if they need more than the width.
function placedAcross(made, width, unit, left) {
  const sizes = sizedStages(made, unit);
  const tall = ABOVE + 10 + Math.max(...[...sizes.values()].map(({h}) => h));
  const places = [];
  let x = left;
  const put = (ids, row, isNamed = false) => {
    const parts = ids.map((id) => sizes.get(id)).filter(Boolean);
    parts.forEach((part, i) =>
      places.push({...part, x, y: (row + i) * tall + ABOVE, line: 0, isNamed}));
    return parts.length ? Math.max(...parts.map(({w}) => w)) + GAP : 0;
  };
  const first = put(['x'], 1, true);
  x += first && first + left - 8;
  x += put(['q', 'k', 'v'], 0, true);
  x += put(['scores'], 0.5);
  x += put(['masked'], 0.5);
  const pattern = put(['weights'], 0.5);
  const output = put(['z'], 2);
  x += Math.max(pattern, output);
  x += put(['all'], 2);
  x += put(['y'], 2);
  return x - GAP > width ? null : {places, height: 3 * tall + 12, unit};
}

function placed(made, width) {
  const unit = sideOfCells(made, width);
  const left = namesWidth([...made.world.tokens, ...made.world.keys]);
  return placedAcross(made, width, unit, left) || placedInLines(made, width, unit, left);
}

// ---- its items ---------------------------------------------------------------------------------

const boxOf = ({x, y, side, tall}, r, c) => [x + c * side, y + r * tall, side, tall];

/// A number in a cell, with as many digits as fit.
const inCell = (v) => (v === -Infinity ? '−∞' : v.toFixed(2).replace('-', '−'));

function matrixItems(place, unit) {
  const {stage, x, y, w, h, isNamed, side, tall} = place;
  const {rows, rowNames, colNames, kind, isPairs, name} = stage;
  const values = Float32Array.from(rows.flat(), (v) => (v === -Infinity ? NaN : v));
  const known = values.filter((v) => !Number.isNaN(v));
  const top = kind === 'weight' ? 1 : Math.max(1e-9, ...known.map(Math.abs));
  const write = unit >= 30;
  const cells = rows.flatMap((row, r) => row.flatMap((v, c) => {
    const [cx, cy] = boxOf(place, r, c);
    if (v === -Infinity && !write)
      return [rect(cx + side / 2 - 1, cy + tall / 2 - 1, 2, 2, {fill: 'edge'})];
    if (!write) return [];
    return [
      rect(cx + 3, cy + tall / 2 - 7, side - 6, 14, {fill: 'paper', alpha: 0.75}),
      label(cx + side / 2, cy + tall / 2, inCell(v), {anchor: 'middle', size: 10, mono: true}),
    ];
  }));
  const isFirstLetters = isPairs && unit >= 18;
  return [
    label(x, y - (isFirstLetters ? 17 : 8), name, {size: 11, bold: true}),
    {type: 'map', x, y, w, h, values, rows: rows.length, cols: rows[0].length, top,
      kind: kind === 'sign' ? 'sign' : undefined},
    rect(x - 0.5, y - 0.5, w + 1, h + 1, {stroke: 'edge'}), ...cells,
    ...(isNamed ? rowNames.map((token, r) => small(x - 4, y + (r + 0.5) * tall,
      shortened(token, 40, 11, true), {anchor: 'end', mono: true})) : []),
    ...(isFirstLetters ? colNames.map((token, c) => small(x + (c + 0.5) * side, y - 5,
      shortened(token, side, 10, true), {anchor: 'middle', mono: true, size: 10})) : []),
  ];
}

/// An arrow between neighbours of one line.
function arrowItems(places) {
  const first = (id) => places.find(({stage}) => stage.id === id);
  const steps = [['x', 'q'], ['x', 'k'], ['x', 'v'], ['q', 'scores'], ['scores', 'masked'],
    ['masked', 'weights'], ['v', 'z'], ['z', 'all'], ['all', 'y']];
  return steps.flatMap(([from, to]) => {
    const [a, b] = [first(from), first(to)];
    if (!a || !b || a.line !== b.line) return [];
    const room = b.isNamed ? namesWidth(b.stage.rowNames) + 4 : GAP / 2;
    return [label(b.x - room, b.y + b.h / 2, '→', {anchor: 'middle', fill: 'muted'})];
  });
}

/// Frames around the opened cell and the cells from which it is computed.
function frameItems(places, opened) {
  const frame = ({id, r, c}, look) => {
    const place = places.find(({stage}) => stage.id === id);
    if (!place) return [];
    const [x, y] = boxOf(place, r ?? 0, c ?? 0);
    return [rect(x, y, c == null ? place.w : Math.max(place.side, 3),
      r == null ? place.h : place.tall, look)];
  };
  return [
    ...cellSources(opened).flatMap((one) => frame(one, {stroke: 'accent', thick: 2})),
    ...frame(opened, {stroke: 'bad', thick: 2.5}),
  ];
}

// ---- the opened cell -----------------------------------------------------------------------

/// All rows of the picture, matrix by matrix: [{stage, r}].
const rowsOfStages = ({stages}) =>
  stages.list.flatMap((stage) => stage.rows.map((_, r) => ({stage, r})));

/// The cell with the largest weight of the last query: it opens first.
function strongestCell({stages}) {
  const {weights} = stages.one;
  const r = weights.length - 1;
  return {id: 'weights', r, c: weights[r].indexOf(Math.max(...weights[r]))};
}

/// The opened cell: {id, r, c, h, world, stages, switches, names}.
function openedCell() {
  const made = machine();
  const row = rowsOfStages(made)[lab('cell', -1)];
  const chosenCell = row && {id: row.stage.id, r: row.r,
    c: Math.max(0, Math.min(lab('col'), row.stage.rows[0].length - 1))};
  const {world, switches} = made;
  return {...made, names: headNames(world, switches.heads), ...(chosenCell || strongestCell(made))};
}

function stageValue(stage, r, c) {
  const v = stage.rows[r][c];
  return v === -Infinity ? '−∞' : digits(v);
}

const cellName = (stage, r, c) => `${stage.name}: ${stage.isPairs ? 'query ' : ''}${r} ${
  stage.rowNames[r]}, ${stage.isPairs ? `key ${c} ${stage.colNames[c]}` : `column ${c}`}`;

function machinePicture(width) {
  const made = machine();
  const {places, height, unit} = placed(made, width);
  const rows = rowsOfStages(made);
  const placeOf = (r) => places.find(({stage}) => stage === rows[r].stage);
  const box = (r, c) => boxOf(placeOf(r), rows[r].r, c);
  const find = (x, y) => {
    const place = places.find((one) => x >= one.x && x < one.x + one.w && y >= one.y &&
      y < one.y + one.h);
    if (!place) return null;
    const r = Math.floor((y - place.y) / place.tall);
    const c = Math.min(Math.floor((x - place.x) / place.side), place.stage.rows[0].length - 1);
    return [rows.findIndex((row) => row.stage === place.stage && row.r === r), c];
  };
  const text = (r, c) => `${cellName(rows[r].stage, rows[r].r, c)}: ${
    stageValue(rows[r].stage, rows[r].r, c)}`;
  return {
    name: 'machine', title: `Head ${headNames(made.world, made.switches.heads)[made.h]}`,
    sentence: 'Blue is below 0, orange above. A click on a cell shows how it is computed.',
    width, height,
    items: [...places.flatMap((place) => matrixItems(place, unit)), ...arrowItems(places),
      ...frameItems(places, openedCell())],
    table: () => ({head: ['matrix', 'row', 'column', 'number'], rows: made.stages.list.flatMap(
      (stage) => stage.rows.flatMap((row, r) => row.map((_, c) => [
        stage.name, `${r} ${stage.rowNames[r]}`, stage.colNames[c], stageValue(stage, r, c)])))}),
    marks: {rows: rows.length, cols: (r) => rows[r].stage.rows[0].length, box, find, text},
  };
}

// ---- the parts of the lesson ---------------------------------------------------------------

function captionOf(id) {
  const stage = {q: 'q', k: 'q', v: 'q'}[id] ?? id;
  return lessonTexts().querySelector(`[data-stage="${stage}"]`)?.textContent ?? '';
}

function codeNodes(line) {
  const {stages, switches} = machine();
  return [
    listing(attendLines(switches.name, stages.one.slope), line),
    button('Step through every line', () => go({lesson: 'numbers', lab: {head: lab('head')}}),
      {id: 'to-numbers'}),
  ];
}

function openedNodes() {
  const opened = openedCell();
  const {id, r, c, stages} = opened;
  const stage = stages.list.find((one) => one.id === id);
  const {words, table, line} = cellWords(opened);
  return [
    el('div', null,
      el('h3', {id: 'opened-title'}, `${cellName(stage, r, c)} = ${stageValue(stage, r, c)}`),
      el('p', {id: 'opened-words'}, words), aside(captionOf(id)),
      table && tableOf('How it is computed', table.head, table.rows)),
    el('div', null, codeNodes(line)),
  ];
}

/// Which switches are not as the run or example has them.
function changedWords() {
  const {world, switches} = machine();
  const usual = usualSwitches(world);
  const changed = ['heads', 'mask', 'root', 'name'].filter((key) => switches[key] !== usual[key]);
  if (!isRunWorld()) return '';
  if (world.isCut) return cutNote(world).textContent;
  return changed.length ? 'These are not the numbers of the run any more: a switch was moved.'
    : `The numbers of the run ${run().name}, as it computes them.`;
}

function switchRow() {
  const usual = usualSwitches(lessonWorld());
  const start = FUNCTIONS.indexOf(usual.name);
  const names = () => {
    const {world, switches} = machine();
    return headNames(world, switches.heads).map((name, h) => [h, name]);
  };
  const counts = () => splitsOf(machine().world).map((n) => [n, String(n)]);
  return controlRow(
    choice('lab-head', 'Head', names, (v) => setLab({head: Number(v)}), () => machine().h),
    labChoice('heads', 'Heads', counts, usual.heads),
    labBox('mask', 'causal mask', Number(usual.mask)), labBox('root', 'divide by √d', 1),
    labChoice('function', 'Function', FUNCTIONS.map((name, i) => [i, name]), start),
    button('As it was', () => setLab({heads: usual.heads, mask: Number(usual.mask), root: 1,
      function: start}), {id: 'machine-reset'}));
}

export const machineNodes = (command) => [
  switchRow(),
  figure(machinePicture, {
    id: 'machine', most: 1216, again: command,
    choose: (r, c) => setLab({cell: r, col: c}),
  }),
  el('p', {class: 'small muted'}, dynamic('span', {id: 'machine-state'}, changedWords)),
  dynamic('div', {class: 'columns', id: 'opened'}, openedNodes),
];
