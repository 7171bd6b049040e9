// The page of a sweep: the loss against the number of heads with a dot for each seed, and a handle
// that moves along it; next to it the trained heads of every seed with that many heads. It opens
// at the group that is enough. Read next: sweep_words.js.
import {mapBitmap} from '../../draw/draw.js';
import {digits, grouped} from '../../draw/charts.js';
import {
  QUESTION_COLORS, choice, code, dynamic, el, explained, figure, link, note, palette, tableOf,
} from '../../draw/ui.js';
import {FRESH, app, go} from '../../state/state.js';
import {listed} from '../../parts/task_words.js';
import {spoken} from '../../parts/questions.js';
import {
  familiesOf, familyNow, groupNow, headCount, lossByHeadsPicture, spread, sweepOf,
} from '../../parts/sweep_words.js';

const MOST_TRIALS = 12;  // of a group that are shown with their maps

// ---- the chosen family and group ---------------------------------------------------------------

const headsOfGroup = (i) => headCount(sweepOf().groups[i]);

/// The groups of the family with as many heads as the chosen one.
function groupsNow() {
  const {groups} = sweepOf();
  const heads = headsOfGroup(groupNow());
  if (!Number.isFinite(heads)) return [groups[groupNow()]];
  return familyNow().groups.filter((i) => headsOfGroup(i) === heads).map((i) => groups[i]);
}

const trialsOf = (group) => sweepOf().trials.filter((trial) => trial.group === group.name);

/// Chooses a group; the other views show its model, if the page holds one.
function chooseGroup(group) {
  const shown = trialsOf(sweepOf().groups[group]).find((trial) => trial.run != null);
  go({group, ...(shown ? {...FRESH, run: shown.run + 1} : {})});
}

/// The numbers of heads of the family on the axis, each with the first of its groups.
function stops() {
  const found = new Map();
  for (const i of familyNow().groups) {
    const heads = headsOfGroup(i);
    if (Number.isFinite(heads) && !found.has(heads)) found.set(heads, i);
  }
  return [...found].map(([heads, group]) => ({heads, group})).sort((a, b) => a.heads - b.heads);
}

const stopNow = () => stops().findIndex(({heads}) => heads === headsOfGroup(groupNow()));

function moveStop(to) {
  const all = stops();
  const stop = all[Math.max(0, Math.min(to, all.length - 1))];
  if (stop && stop !== all[stopNow()]) chooseGroup(stop.group);
}

// ---- the chart and its handle ----------------------------------------------------------------

/// The position of a number of heads in the picture of the chart.
function placeOf(heads, {marks}) {
  for (let r = 0; r < marks.rows; ++r)
    for (let c = 0; c < marks.cols(r); ++c)
      if (marks.point(r, c)[0] === heads) {
        const [x, , wide] = marks.box(r, c);
        return x + wide / 2;
      }
  return null;
}

/// The line at the chosen number of heads, which the pointer drags and arrow keys move.
function handleOf(frame) {
  const {length} = stops();
  const node = el('div', {
    class: 'handle', id: 'sweep-heads', role: 'slider', tabindex: 0,
    'aria-label': 'Number of heads', 'aria-valuemin': 1, 'aria-valuemax': length,
  }, el('span'));
  const places = (picture) => stops().map(({heads}) => placeOf(heads, picture));
  const update = (picture) => {
    const at = stopNow();
    const place = picture && places(picture)[at];
    node.hidden = place == null;
    if (node.hidden) return;
    const {heads} = stops()[at];
    node.style.left = `${place}px`;
    node.setAttribute('aria-valuenow', String(at + 1));
    node.setAttribute('aria-valuetext', heads === 1 ? '1 head' : `${heads} heads`);
    node.firstChild.textContent = String(heads);
  };
  const drag = (event, picture) => {
    const x = event.clientX - frame.getBoundingClientRect().left + frame.scrollLeft;
    const away = places(picture).map((place) => (place == null ? Infinity : Math.abs(place - x)));
    moveStop(away.indexOf(Math.min(...away)));
  };
  node.addEventListener('keydown', (event) => {
    const to = {ArrowLeft: stopNow() - 1, ArrowDown: stopNow() - 1, ArrowRight: stopNow() + 1,
      ArrowUp: stopNow() + 1, Home: 0, End: length - 1}[event.key];
    if (to === undefined) return;
    moveStop(to);
    event.preventDefault();
    event.stopPropagation();
  });
  return {node, update, drag};
}

/// Marks the row of the trial whose dot the pointer or an arrow key reaches.
function pointAt([heads, loss]) {
  for (const row of document.querySelectorAll('.trial'))
    row.classList.toggle('pointed', Number(row.dataset.loss) === loss &&
      Number(row.dataset.heads) === heads);
}

function chartNode() {
  const {length} = app.figures;
  let handle = null;
  const own = () => app.figures[length];
  const node = figure(lossByHeadsPicture, {
    id: 'loss-by-heads', most: 640, again: sweepOf().command,
    point: (r, c) => pointAt(own().picture.marks.point(r, c)),
    choose: (r, c) => {
      const [heads] = own().picture.marks.point(r, c);
      moveStop(stops().findIndex((stop) => stop.heads === heads));
    },
    drawn: (picture) => handle?.update(picture),
  });
  const {frame} = own();
  handle = handleOf(frame);
  frame.append(handle.node);
  frame.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !own().picture) return;
    frame.setPointerCapture(event.pointerId);
    handle.drag(event, own().picture);
  });
  frame.addEventListener('pointermove', (event) => {
    if (frame.hasPointerCapture(event.pointerId)) handle.drag(event, own().picture);
  });
  return node;
}

// ---- the heads of each seed --------------------------------------------------------------------

/// The relations that a head is assigned and owns, by their places in the task.
const rolesOf = (trial, at) => trial.roles
  .map(({relation, head, owned}, r) => ({relation, r, at: owned && head ? head.join('.') : ''}))
  .filter((role) => role.at === at);

function trialMap(trial, at, map) {
  const [role] = rolesOf(trial, at);
  const color = role ? QUESTION_COLORS[role.r % (QUESTION_COLORS.length - 1)] : 'none';
  const canvas = el('canvas', {'aria-hidden': 'true'});
  mapBitmap({...map, kind: `tint ${color}`, top: 1, root: true}, palette(), canvas);
  const look = role ? `c${role.r % (QUESTION_COLORS.length - 1)} own` : 'cnone';
  const name = role ? `head ${at}, owner of ${spoken(role.relation)}` : `head ${at}`;
  return el('span', {class: `trial-map ${look}`, role: 'img', 'aria-label': name, title: name},
    canvas, el('small', null, role ? spoken(role.relation) : at));
}

function trialMaps(trial) {
  return trial.maps.flatMap(({heads, block}, m) => {
    const [, rows, cols] = block.shape;
    const all = app.page.blocks.read(block);
    return heads.map((original, h) => trialMap(trial, `${m}.${original}`, {
      rows, cols, values: all.subarray(h * rows * cols, (h + 1) * rows * cols)}));
  });
}

function trialRow(trial, group) {
  const place = {...FRESH, view: 'first', run: trial.run + 1};
  return el('div', {
    class: 'trial', 'data-loss': trial.loss, 'data-heads': headCount(group),
    'data-trial': trial.name,
  },
  el('div', {class: 'trial-name'}, el('b', null, `seed ${trial.seed}`),
    el('span', null, `loss ${digits(trial.loss, 3)}`),
    trial.run != null && link('Open →', () => go(place), {
      id: `open-${trial.run}`, 'aria-label': `Open ${trial.name}`})),
  trial.maps ? el('div', {class: 'trial-maps'}, trialMaps(trial))
    : el('p', {class: 'small muted'}, 'No maps of this trial are in this page.'));
}

/// How many relations have a head of their own, over the seeds of a group.
function ownedWords(group) {
  if (!group.relations.length) return '';
  const n = group.seeds.length;
  const owned = group.relations.map(({name, owned: of}) => `${spoken(name)} in ${of}`);
  return `Seeds in which a relation has a head of its own, of ${n}: ${listed(owned)}.`;
}

function groupNodes(group) {
  const trials = trialsOf(group);
  const heads = headCount(group);
  const several = groupsNow().length > 1 || !Number.isFinite(heads);
  const count = heads === 1 ? '1 head' : `${heads} heads`;
  return [
    el('h3', null, several ? group.name : count, ': ', el('span', {class: 'muted'},
      `mean loss ${spread(group.loss)}`)),
    el('p', {class: 'small muted'}, ownedWords(group)),
    el('div', {class: 'trials'}, trials.slice(0, MOST_TRIALS)
      .map((trial) => trialRow(trial, group))),
    trials.length > MOST_TRIALS && el('p', {class: 'small muted'},
      `The first ${MOST_TRIALS} of ${trials.length} seeds.`),
  ];
}

// ---- the view ----------------------------------------------------------------------------------

function groupTable() {
  const {groups} = sweepOf();
  return tableOf('Mean (95 % interval) over seeds',
    ['group', 'parameters', 'loss', 'right', 'relations with a head of their own'],
    groups.map((g) => [
      g.name, grouped(g.parameters), spread(g.loss), spread(g.accuracy), spread(g.specialization),
    ]));
}

/// The list of families, if there are several.
const familyChoice = () => familiesOf().length > 1 &&
  el('div', {class: 'controls'}, choice('sweep-family', 'Family',
    familiesOf().map(({name}) => [name, name]),
    (chosenName) => chooseGroup(familiesOf().find(({name}) => name === chosenName).opening),
    () => familyNow().name));

/// The list of groups, for a family that does not compare numbers of heads.
const groupChoice = () => el('div', {class: 'controls'}, choice('sweep-group', 'Group',
  familyNow().groups.map((i) => [i, sweepOf().groups[i].name]),
  (value) => chooseGroup(Number(value)), groupNow));

/// The chart of the family, or a list of groups if it does not compare numbers of heads.
function chooser() {
  if (familiesOf().every((family) => !family.figure)) return groupChoice();
  const chart = chartNode();
  return el('div', null, familyChoice(), dynamic('div', null, () => {
    chart.hidden = !familyNow().figure;
    return chart.hidden ? groupChoice() : [];
  }), chart);
}

function missingNote() {
  const {missing, command} = sweepOf();
  return missing?.length > 0 && note(
    `Not finished: ${missing.map((one) => one.name || one).join(', ')}. `, code(command),
    ' continues the sweep.');
}

export const sweepView = {
  name: 'sweep', place: 'Story', title: 'How many heads?', uses: null, followsRun: true,
  available: (page) => Boolean(page.facts.sweep),
  stepBy: (by) => moveStop(stopNow() + by),
  build(main) {
    if (app.state.group == null) openSweep();
    main.append(...[
      dynamic('p', {class: 'headline', id: 'headline'}, () => familyNow().conclusion),
      dynamic('p', {class: 'detail', id: 'detail'},
        () => explained(`${familyNow().reason} ${helpWords()}`)),
      el('div', {class: 'halves'}, chooser(),
        dynamic('div', {id: 'sweep-grid', 'aria-live': 'polite'}, () =>
          groupsNow().map(groupNodes))),
      groupTable(), missingNote(),
    ].filter(Boolean));
  },
};

const helpWords = () => (familyNow().figure
  ? 'Drag the line, or use arrow keys: each row shows what the heads of one seed attend to.' : '');

/// The other views begin with the model of the opening group, unless the address names a run.
function openSweep() {
  const [{opening}] = familiesOf();
  const shown = trialsOf(sweepOf().groups[opening]).find((trial) => trial.run != null);
  app.state.group = opening;
  if (shown && app.state.run === 1) app.state.run = shown.run + 1;
}
