// The page as a whole: the controls that places share, the keys, the drawer, navigation, and how it
// starts.
import {range} from './engine/numbers.js';
import {headNamed, loadPage} from './engine/page_data.js';
import {selfCheckSteps} from './engine/check.js';
import {drive} from './engine/pass.js';
import {
  button, byId, choice, code, dynamic, el, figures, forgetColors, link, meanings, note, refresh,
  save, saved, say, startOver, tableOf,
} from './draw/ui.js';
import {drawFiguresForPaper} from './draw/paper.js';
import {defaultState, formatHash, parseHash} from './state/address.js';
import {
  UNCHANGED, app, chosen, exampleCount, exampleIndex, go, hasMoved, headsOf, isShown, isStored,
  nearestStep, noteAddress, onlyGate, relation, run, runChoice, stepSlider, task, timeSteps,
  toggleGate, usable, working, writeAddress,
} from './state/state.js';
import {closeHelp, openHelp} from './parts/help.js';
import {headName, spoken} from './parts/questions.js';
import {firstView} from './views/first/first.js';
import {sweepView} from './views/sweep/sweep.js';
import {headView} from './views/head/head.js';
import {benchView} from './views/experiment/experiment.js';
import {resultsView} from './views/results/results.js';
import {firstRun, glossary, glossaryLesson, learnView} from './lessons/learn.js';
import {vectorsLesson} from './lessons/lesson_vectors.js';
import {budgetLesson, numbersLesson} from './lessons/lesson_numbers.js';
import {patternsLesson, trueLesson} from './lessons/lesson_patterns.js';
import {manyLesson} from './lessons/lesson_many.js';
import {exercisesLesson} from './lessons/lesson_exercises.js';

/// The lessons in their order; each has its text in lessons.html under its name.
const LESSONS = {
  vectors: vectorsLesson, numbers: numbersLesson, budget: budgetLesson, patterns: patternsLesson,
  many: manyLesson, true: trueLesson, exercises: exercisesLesson,
  glossary: glossaryLesson,
};

// ---- controls --------------------------------------------------------------------------------

const CONTROLS = {
  run: () => runChoice('pick-run', {h: null, b: null, gates: {}, step: null, scene: 0}),
  h: () => headsOf().length > 0 &&
    choice('pick-head', 'Head', headsOf().map((x) => [x.at, headName(x)]), (v) => go({h: v}),
      () => chosen()?.at),
  ex: () => exampleCount() > 0 && el('span', null,
      choice('pick-example', 'Example', exampleOptions,
        (v) => go({ex: /^\d/.test(v) ? Number(v) : v, tokens: [], q: null, k: null}),
        () => (isStored() ? exampleIndex() : app.state.ex)),
      button('◀', () => stepExample(-1), {'aria-label': 'previous example', id: 'example-back'}),
      button('▶', () => stepExample(1), {'aria-label': 'next example', id: 'example-next'})),
  rel: () => headsOf().length > 0 && task().relations.length > 0 &&
    choice('pick-relation', 'Right keys of',
      [['', 'nothing'], ...task().relations.map((r) => [r.name, spoken(r.name)])],
      (v) => go({rel: v}), () => task().relations[relation()]?.name ?? ''),
  step: () => timeSteps().length > 1 && run().steps.length > 0 && stepSlider(),
};

function exampleOptions() {
  const first = range(Math.min(exampleCount(), 16), (i) => [i, String(i)]);
  const here = exampleIndex();
  const ranked = isStored() ? []
    : [['typical', 'typical (median loss)'], ['worst', 'worst (highest loss)']];
  return [
    ...ranked, ...first, ...(here < first.length ? [] : [[here, String(here)]]),
  ];
}

function stepExample(by) {
  const n = exampleCount();
  go({ex: (exampleIndex() + by + n) % n, tokens: [], q: null, k: null});
}

/// A list of what the reader changed, with a button that undoes it.
function changed() {
  const {gates, hide, tokens, step} = app.state;
  const parts = [
    ...Object.entries(gates).map(([at, v]) => (v === 0 ? `${at} off` : `${at} at ${v}`)),
    hide && `${hide === 'truth' ? 'ground-truth' : hide} edges masked`,
    tokens.length > 0 && 'tokens typed', step != null && `step ${step}`,
  ].filter(Boolean);
  if (!parts.length) return [];
  return [
    el('b', {title: parts.join(', ')}, `Changed: ${parts.join(', ')}`),
    button('Undo all', () => go(UNCHANGED), {id: 'undo'}),
  ];
}

function buildControls(uses) {
  const bar = byId('controls');
  const hasOwn = uses === null;  // the view has its own controls
  if (!app.page.runs.length || hasOwn) return bar.replaceChildren();
  const keys = new Set([...(uses.length || app.view.name !== 'learn' ? ['run'] : []), ...uses]);
  return bar.replaceChildren(
    ...[...keys].map((key) => CONTROLS[key]()).filter(Boolean),
    dynamic('span', {id: 'edited'}, changed),
  );
}

// ---- keys ------------------------------------------------------------------------------------

/// Keys, what they do, and how; those without the last are the browser's or a picture's own.
const KEYS = [
  ['1–9', 'menu entries, from left to right'],
  ['Tab', 'next region; arrows, Home, End and Page keys move inside a picture or the grid'],
  ['Enter', 'open a head, or lock a query'],
  ['Escape', 'unlock the query, or return to the first view; there: all heads on', () => leave()],
  ['x', 'ablate or restore this head', () => toggleGate(chosen())],
  ['X', 'only this head on, or all heads', () => onlyGate(chosen())],
  ['a', 'all heads on', () => go({gates: {}, hide: null})],
  ['g', 'show or hide the right keys', () => go({rel: app.state.rel === '' ? null : ''})],
  ['[', 'previous example', () => exampleCount() && stepExample(-1)],
  [']', 'next example', () => exampleCount() && stepExample(1)],
  [',', 'previous training step, number of heads or lesson', () => stepTime(-1)],
  ['.', 'next training step, number of heads or lesson', () => stepTime(1)],
  ['t', 'table of the first picture', () =>
    document.querySelector('#view .tools summary')?.click()],
  ['s', 'save the first picture as SVG', () =>
    figures[0]?.picture && save(figures[0].picture, 'svg', '')],
  ['l', 'copy a link to this view', () => copyLink()],
  ['d', 'switch colours: light, dark, same as the system', () => cycleTheme()],
  ['+ − 0', 'zoom a pattern (also Ctrl and the mouse wheel)'],
  ['?', 'a card of keys and words, in place', () => openHelp()],
];
function leave() {
  if (app.view.reset) return app.view.reset();
  return go(app.state.q != null ? {q: null, k: null} : {view: app.views.find(isShown).name});
}
const actionOf = (key) => KEYS.find(([name]) => name === key)?.[2];

function stepTime(by) {
  if (app.view.stepBy) return app.view.stepBy(by);
  const steps = app.page.runs.length ? timeSteps() : [];
  if (!steps.length) return undefined;
  const at = app.state.step == null ? steps.length - 1 : steps.indexOf(app.state.step);
  return go({step: steps[Math.max(0, Math.min(at + by, steps.length - 1))]});
}

function cycleTheme() {
  go({theme: {auto: 'light', light: 'dark', dark: 'auto'}[app.state.theme]});
  say(`Colours: ${app.state.theme === 'auto' ? 'same as the system' : app.state.theme}.`);
}

async function copyLink() {
  writeAddress(false);
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link to this view is in the clipboard.');
  } catch {
    say(`The address bar holds the link: ${formatHash(app.state) || 'nothing differs from the ' +
      'default'}`);
  }
}

function onKey(event) {
  if (event.key === 'Escape') byId('meaning').hidden = true;
  if (event.key === 'Escape' && closeHelp()) return;
  const typing = event.target.closest?.('input:not([type="checkbox"]), select, textarea');
  if (typing || event.ctrlKey || event.altKey || event.metaKey || app.state.keys === 'off') return;
  const places = byId('views').querySelectorAll('.place');
  if (!app.page.runs.length && !/^[1-9,.tsld?]$/.test(event.key)) return;
  const action = /^[1-9]$/.test(event.key)
    ? places[event.key - 1] && (() => places[event.key - 1].click()) : actionOf(event.key);
  if (!action) return;
  event.preventDefault();
  action();
}

// ---- the drawer ------------------------------------------------------------------------------

function fileState({present, outdated}) {
  if (!present) return 'missing';
  return outdated ? 'from earlier weights' : 'present';
}

function writtenBy({present, command}) {
  if (command) return code(command);
  return present ? '' : 'does not belong to this run';
}

function runNodes() {
  const settings = Object.entries(run().config).filter(([, v]) => typeof v !== 'object' && v !== '')
    .map(([key, v]) => [key, String(v)]);
  return [
    el('h3', null, `Files of ${run().name}`),
    tableOf('Files shown by this page, and missing files', ['file', '', 'step', 'written by'],
      run().facts.files.map((f) => [
        f.file, fileState(f), f.step ?? '', writtenBy(f),
      ]),
    ),
    el('details', null, el('summary', null, `${settings.length + 1} settings`),
      tableOf('These settings reproduce the run bit for bit', ['setting', 'is'],
        [['parameters', String(run().facts.parameters)], ...settings])),
  ];
}

const aboutView = {
  name: 'about', place: 'More', title: 'More', uses: [],
  available: () => true,
  build(main) {
    const {facts} = app.page;
    const off = el('input', {
      type: 'checkbox', id: 'keys-off', checked: app.state.keys === 'off',
      onchange: (event) => go({keys: event.target.checked ? 'off' : 'on'}),
    });
    const words = {view: 'learn', lesson: 'glossary'};
    main.append(
      el('h3', null, 'Keys'), tableOf('Keys', ['keys', 'does'], KEYS.map((one) => one.slice(0, 2))),
      el('p', null, el('label', null, off, ' disable single-letter keys')),
      el('p', null, 'Meanings of words: ', link('the glossary', () => go(words), {
        href: formatHash({...defaultState(), ...words}), id: 'to-words',
      })),
      el('p', null,
        `One file, written by headlab ${facts.headlab}; nothing is fetched, stored or sent. `,
        dynamic('span', null, () => app.check?.sentence || '')),
      el('ul', null, (facts.left_out || []).map((one) => el('li', null, one))),
      ...(app.page.runs.length && !isStored() ? runNodes() : []),
      el('p', {class: 'again'}, 'command of this page: ', code(facts.command)),
    );
  },
};

// ---- views -----------------------------------------------------------------------------------

function readAddress() {
  const {state, notices} = parseHash(location.hash);
  // the lessons begin with the largest of their models
  if (app.page.facts.textbook && !/\brun=/.test(location.hash)) state.run = firstRun(state.lesson);
  noteAddress();
  if (!usable(state.view)) {
    if (state.view !== null) notices.push(`This page has no view ${state.view}.`);
    state.view = app.views.find(isShown)?.name;
  }
  const shown = app.page.runs[state.run - 1] || app.page.runs[0];
  if (state.h && shown && !headNamed(shown, state.h)) {
    notices.push(`There is no head ${state.h} in this run.`);
    state.h = null;
  }
  app.state = state;
  byId('notices').replaceChildren(...notices.map((words) => note(words)));
  show(true);
}

/// Four places and a drawer; below them the views of the place that is open.
function navigation() {
  const shown = app.views.filter(isShown);
  const here = app.view;
  const to = (v, words, id, now) =>
    link(words, () => go({view: v.name}), {
      id, href: formatHash({...app.state, view: v.name}) || '#', 'aria-current': now && 'page',
      class: id.startsWith('view') ? 'place' : null,
    });
  const first = shown.filter((v, i) => shown.findIndex((x) => x.place === v.place) === i);
  const inside = shown.filter((v) => v.place === here.place);
  byId('views').replaceChildren(
    ...first.map((v) => to(v, v.place, `view-${v.name}`, v.place === here.place)),
    inside.length > 1 ? el('span', {class: 'sub'},
      inside.map((v) => to(v, v.title, `tab-${v.name}`, v === here))) : '',
  );
}

export function show(rebuild) {
  const {state} = app;
  state.view ??= app.views.find(isShown)?.name;
  state.step = nearestStep(state.step);
  const root = document.documentElement;
  if (root.dataset.theme !== state.theme) forgetColors();
  root.dataset.theme = state.theme;
  const focus = document.activeElement?.id;
  if (rebuild) build();
  else refresh();
  if (focus && document.activeElement === document.body) byId(focus)?.focus();
  judge();
  navigation();
}

function build() {
  const view = app.views.find((v) => v.name === app.state.view);
  const main = byId('view');
  startOver();
  byId('meaning').hidden = true;
  say('');
  app.view = view;
  main.dataset.view = view.name;
  buildControls(view.uses);
  main.replaceChildren(el('h2', {id: 'view-title', tabindex: -1}, view.title));
  view.build(main);
  app.figures.forEach((f) => f.draw());
  document.title = `${view.title} · ${app.page.facts.title} · headlab`;
}

// ---- start -----------------------------------------------------------------------------------

/// Compares the page's model with the logits and patterns that the program embedded, and says so.
async function checkModel() {
  const badge = byId('check');
  const withModel = app.page.runs.filter((r) => r.model);
  badge.hidden = !app.page.runs.length;
  if (isStored()) {
    badge.textContent = 'patterns as they were given';
    badge.className = 'small muted';
  } else if (!withModel.length) {
    const {unknown} = app.page.runs.find((r) => r.unknown.length) || {};
    const reason = unknown ? `this page cannot compute ${unknown.join(', ')}` : 'no weights';
    badge.textContent = `${reason}: the page shows patterns stored by the program`;
    badge.className = 'small muted';
  }
  for (const r of withModel) {
    const result = await drive(selfCheckSteps(r));
    if (app.check === null || !result.ok) app.check = result;
    badge.replaceChildren(result.ok ? link('✓ checked', () => say(result.sentence), {
      title: result.sentence}) : `✗ ${result.sentence}`);
    badge.classList.toggle('bad', !result.ok);
    if (!result.ok) break;
  }
  judge();
}

/// Shows the banner, and takes everything live away, if the check failed or a block of numbers that
/// was decoded since is damaged.
function judge() {
  const {damaged} = app.page.blocks;
  const banner = byId('banner');
  if (!banner.hidden || (app.check?.ok !== false && !damaged.size)) return;
  banner.hidden = false;
  banner.textContent = app.check?.ok === false ? app.check.sentence
    : `Numbers in this page are damaged (${[...damaged].join(', ')}), so nothing is computed live.`;
  app.check = {...app.check, ok: false};
  show(true);
}

function header() {
  const on = (id, act) => byId(id).addEventListener('click', act);
  on('skip', (event) => {
    event.preventDefault();
    byId('view-title').focus();
  });
  on('link', copyLink);
  on('theme', cycleTheme);
  on('keys', actionOf('?'));
}

/// Draws all pictures in the light colours before the page is printed, and as they were after it.
function drawForPaper(begins) {
  document.documentElement.dataset.theme = begins ? 'light' : app.state.theme;
  forgetColors();
  refresh();
  drawFiguresForPaper(begins);
}

export async function start() {
  app.page = loadPage((id) => byId(id).textContent);
  const views = [
    sweepView, firstView, headView, benchView, resultsView, learnView, aboutView,
  ];
  Object.assign(app, {views, lessons: LESSONS, show});
  saved.about = () =>
    `headlab ${app.page.facts.headlab} · ${app.page.facts.title} · ${formatHash(app.state)}`;
  byId('static').hidden = true;
  for (const [words, meaning] of glossary()) meanings.set(words, meaning);
  for (const id of ['app', 'tools']) byId(id).hidden = false;
  header();
  readAddress();
  document.addEventListener('keydown', onKey);
  window.addEventListener('popstate', readAddress);
  window.addEventListener('hashchange', () => hasMoved() && readAddress());
  window.addEventListener('resize', () => {
    app.figures.forEach((f) => f.draw());
    app.view.resized?.();
  });
  window.addEventListener('beforeprint', () => drawForPaper(true));
  window.addEventListener('afterprint', () => drawForPaper(false));
  for (const media of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
    matchMedia(media).addEventListener('change', () => {
      forgetColors();
      show(false);
    });
  await checkModel();
  show(false);
  working(-1);
}
