// The first screen of a run: a headline that says what there is to see and then what changed; the
// example with its questions at the left; all heads at the right; a drawer with one head; steps. It
// fits 1280 x 800. On a small screen the drawer opens below the row of the tapped head.
// Read next: first_lanes.js, first_maps.js, first_steps.js.
import {button, el, live, note} from '../../draw/ui.js';
import {
  UNCHANGED, app, chosen, go, headsOf, isLive, isStored, lacking, noPattern, run, trace,
} from '../../state/state.js';
import {onCounted} from '../../parts/counts.js';
import {ablate, isAblated} from '../../parts/questions.js';
import {cardClass, cardNodes} from '../../parts/head_card.js';
import {isUntrained} from '../../parts/head_words.js';
import {openHelp} from '../../parts/help.js';
import {allHeadsFigure} from './first_all.js';
import {openTelling} from './first_state.js';
import {DETAILS, HEADLINES, factsOfScreen, sentenceOfRows} from './first_words.js';
import {isNarrow, isWide, lanesBoard} from './first_lanes.js';
import {headMaps} from './first_maps.js';
import {stepRows, stepStrip, toStep} from './first_steps.js';

/// Action of the main button: back from an earlier step, ablate what the reader selected, or take
/// the next step.
function mainAct() {
  const rows = stepRows();
  const {scene, step, picked} = app.state;
  const x = chosen();
  if (!isLive() || !x) return null;
  if (step != null && !scene && !picked)
    return ['Back to the trained model', () => go({step: null})];
  if (picked) return [`${isAblated(x) ? 'Restore' : 'Ablate'} head ${x.at}`, () => ablate(x)];
  if (isUntrained() && !run().config.imported && !scene)
    return ['How to train it', () => openHelp()];
  if (!rows.length) return null;
  if (scene >= rows.length) return ['Start again', () => toStep(0)];
  const [title] = rows[scene].title.split(':');
  const words = scene ? `Next: ${title[0].toLowerCase()}${title.slice(1)}` : title;
  return [`${words} ▸`, () => toStep(scene + 1)];
}

function nextButton() {
  const act = mainAct();
  return act && button(act[0], act[1], {class: 'main', id: 'next'});
}

const isChanged = () => {
  const {gates, step, tokens, hide} = app.state;
  return Object.keys(gates).length > 0 || step != null || tokens.length > 0 || hide != null;
};

function heroPart() {
  const title = el('p', {class: 'headline', id: 'headline', role: 'status'});
  const detail = el('p', {class: 'detail', id: 'detail'});
  const buttons = el('div', {class: 'hero-buttons'});
  const say = () => {
    const facts = factsOfScreen();
    title.textContent = sentenceOfRows(HEADLINES, facts);
    title.classList.toggle('long', title.textContent.length > 44);
    title.classList.toggle('longer', title.textContent.length > 56);
    detail.textContent = sentenceOfRows(DETAILS, facts);
  };
  const update = () => {
    say();
    const reset = button(app.state.tokens.length ? 'As it was' : 'All heads on',
      () => go(UNCHANGED), {id: 'reset', disabled: !isChanged()});
    buttons.replaceChildren(...[nextButton(), isLive() && reset].filter(Boolean));
  };
  return {node: el('div', {class: 'hero'}, title, buttons, detail), update, say};
}

/// Puts the drawer below the row of the chosen head on small screens, else below both halves.
function placeDrawer(drawer, maps, halves) {
  const {cells, block} = maps;
  if (!isNarrow()) {
    if (drawer.parentNode !== halves.parentNode) halves.after(drawer);
    return;
  }
  const at = cells.findIndex(({x}) => x.at === chosen()?.at);
  if (at < 0) return;
  const top = cells[at].node.offsetTop;
  const last = cells.filter(({node}) => node.offsetTop === top).at(-1);
  if (drawer.parentNode !== block || last.node.nextSibling !== drawer) last.node.after(drawer);
}

/// The parts that depend on the head that is pointed at: nothing else changes on hover.
function drawerPart() {
  const node = el('section', {class: 'drawer', id: 'drawer', 'aria-label': 'One head'});
  const opened = app.state.h;
  let shown = null;
  let drawn = '';
  let touched = false;  // a small screen opens the drawer when a head is tapped
  const show = (x) => {
    touched = touched || Boolean(x) || app.state.scene > 0 || app.state.h !== opened;
    node.hidden = !touched && isNarrow();
    const known = headsOf().find((y) => y.at === x?.at) || chosen();
    shown = x;
    drawn = known?.at ?? '';
    node.className = cardClass(known);
    node.replaceChildren(...cardNodes(known, {leads: true}).filter(Boolean));
  };
  const peek = (x) => {
    if (x.at !== drawn || node.hidden) show(x);
  };
  return {node, update: () => show(null), again: () => show(shown), peek,
    leave: () => shown && show(null)};
}

function fill(main) {
  const hero = heroPart();
  const board = lanesBoard();
  const drawer = drawerPart();
  const maps = headMaps(drawer.peek, drawer.leave);
  const strip = stepStrip();
  const halves = el('div', {class: 'halves'}, board.node, board.loss, maps.node);
  main.append(hero.node, halves, drawer.node, strip.node);
  if (isStored()) main.append(allHeadsFigure());
  const update = () => {
    halves.classList.toggle('wide', isWide());
    hero.update();
    board.update();
    maps.update();
    drawer.update();
    strip.update();
    placeDrawer(drawer.node, maps, halves);
  };
  onCounted(() => {
    if (!hero.node.isConnected) return;
    hero.say();
    board.showMeasurement();
    drawer.again();
  });
  live(update);
  return update;
}

/// The notes that say what the page lacks.
const lackingNotes = () => [
  trace() && isLive() ? null : noPattern(),
  lacking('heads.json', 'Scores of heads against the truth are'),
].filter(Boolean);

export const firstView = {
  name: 'first', place: 'Story', uses: null,
  get title() {
    return app.page.facts.sweep ? 'One run' : 'Story';
  },
  available: (page) => page.runs.length > 0,
  build(main) {
    if (!headsOf().length) {
      main.append(el('p', {class: 'headline', id: 'headline'},
        sentenceOfRows(HEADLINES, {heads: 0})),
      note('Its loss is what the other parts of the model can do alone.'));
      return;
    }
    openTelling();
    app.state.h ??= stepRows()[0]?.h ?? null;
    firstView.resized = fill(main);
    main.append(...lackingNotes());
  },
  resized() {},
  reset: () => toStep(0),
};
