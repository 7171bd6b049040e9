// The controls that several views share: run, head, example, truth, training step, and what differs
// from the run as it is.
import {headNamed, loadPage} from './core_page.js';
import {drive, selfCheckSteps} from './core_pass.js';
import {range} from './draw.js';
import {
  button, byId, choice, code, dynamic, el, forgetColors, link, live, note, refresh, save, saved,
  say, sliderOf, startOver, tableOf,
} from './ui.js';
import {defaultState, formatHash, parseHash} from './address.js';
import {
  app, chosen, exampleCount, exampleIndex, go, hasMoved, headName, headsOf, isLive, isShown,
  nearestStep, noteAddress, onlyGate, ranked, relation, run, task, toggleGate, usable,
  writeAddress,
} from './state.js';
import {headsView} from './heads.js';
import {headView} from './head.js';
import {compareView} from './compare.js';
import {liveView} from './live.js';
import {pruneView} from './findings.js';
import {sweepView, timeView} from './training.js';
import {glossaryLesson, learnView} from './learn.js';
import {causesView} from './causes.js';
import {budgetLesson} from './lesson_budget.js';
import {exercisesLesson} from './lesson_exercises.js';
import {countLesson, howManyLesson} from './lesson_how_many.js';
import {numbersLesson} from './lesson_numbers.js';
import {patternsLesson} from './lesson_patterns.js';
import {trueLesson} from './lesson_true.js';
import {deskLesson, vectorsLesson} from './lesson_vectors.js';

const CONTROLS = {
  run: () =>
    app.page.runs.length > 1 &&
    choice('pick-run', 'Run', app.page.runs.map((r, i) => [i + 1, r.name]),
      (v) => go({run: Number(v), h: null, gates: {}, step: null}), () => app.state.run,
    ),
  h: () =>
    headsOf().length > 0 &&
    choice('pick-head', 'Head', headsOf().map((x) => [x.at, headName(x)]), (v) => go({h: v}),
      () => chosen()?.at,
    ),
  ex: () =>
    exampleCount() > 0 &&
    el('span', null,
      choice('pick-example', 'Example', exampleOptions(), (v) =>
        go({ex: /^\d/.test(v) ? Number(v) : v, edit: {}}),
      ),
      button('◀', () => stepExample(-1), {'aria-label': 'previous example', id: 'example-back'}),
      button('▶', () => stepExample(1), {'aria-label': 'next example', id: 'example-next'}),
    ),
  rel: () =>
    headsOf().length > 0 &&
    task().relations.length > 0 &&
    choice('pick-relation', 'Truth',
      [['', 'hidden'], ...task().relations.map((r) => [r.name, r.name])],
      (v) => go({rel: v}), () => task().relations[relation()]?.name,
    ),
  step: () => run().steps.length > 0 && isLive() && stepControl(),
};

function exampleOptions() {
  const order = ranked();
  const decile = (d) => order[Math.round((d / 10) * (order.length - 1))];
  const named = [['typical', 'typical (median loss)'], ['worst', 'worst (highest loss)']];
  const deciles = range(order.length > 20 ? 9 : 0, (d) => [
    decile(d + 1), `${decile(d + 1)} · decile ${d + 1} of the loss`,
  ]);
  const taken = new Set(deciles.map(([i]) => i));
  const first = range(Math.min(order.length, 16), (i) => [i, String(i)]).filter(
    ([i]) => !taken.has(i),
  );
  const here = exampleIndex();
  if (!taken.has(here) && here >= first.length) first.push([here, String(here)]);
  return [...named, ...deciles, ...first];
}

function stepExample(by) {
  const n = exampleCount();
  go({ex: (exampleIndex() + by + n) % n, edit: {}});
}

function stepControl() {
  const {steps} = run();
  return sliderOf('pick-step', 'Step', {
    min: 0, max: steps.length - 1, step: 1, 'aria-label': 'training step',
    value: () => steps.indexOf(app.state.step ?? steps.at(-1)), words: (i) => String(steps[i]),
    act: (i) => go({step: steps[i]}),
  });
}

function buildControls(uses) {
  const bar = byId('controls');
  if (!app.page.runs.length) return bar.replaceChildren();
  const keys = new Set([...(uses.length || app.view.name !== 'learn' ? ['run'] : []), ...uses]);
  bar.replaceChildren(
    ...[...keys].map((key) => CONTROLS[key]()).filter(Boolean),
    dynamic('span', {id: 'edited'}, () => {
      const {gates, hide, edit, step} = app.state;
      const parts = [
        ...Object.entries(gates).map(([at, v]) => (v === 0 ? `${at} off` : `${at} at ${v}`)),
        hide && `${hide} edges hidden`,
        Object.keys(edit).length > 0 && 'tokens edited',
        step != null && `step ${step}`,
      ].filter(Boolean);
      if (!parts.length) return [];
      const undo = () => go({gates: {}, hide: null, edit: {}, step: null});
      return [
        el('b', null, `Changed: ${parts.join(', ')}`), button('Undo all', undo, {id: 'undo'}),
      ];
    }),
  );
  live(() => {
    const list = byId('pick-example');
    if (!list) return;
    list.replaceChildren(...exampleOptions().map(([value, words]) => el('option', {value}, words)));
    list.value = String(app.state.ex);
  });
}
// The keys and what they do.

const KEYS = [
  ['1–9', 'views, in their order'],
  ['Tab', 'regions; arrows, Home, End, Page keys move inside a picture or the grid'],
  ['Enter', 'open a head, or lock a query'],
  ['Shift+Enter', 'add the query to the sum'],
  ['Esc', 'unlock, or back to the overview'],
  ['x', 'switch this head off or on'],
  ['X', 'only this head, or all'],
  ['a', 'all heads on'],
  ['g', 'truth on or off'],
  ['n', 'chance level on or off'],
  ['c', 'compare this head'],
  ['[ ]', 'example'],
  [', .', 'training step, heads kept, or lesson'],
  ['t', 'table of the first picture'],
  ['s', 'save the first picture as SVG'],
  ['l', 'copy a link to this'],
  ['d', 'light, dark, as the system'],
  ['+ − 0', 'zoom a pattern; or the wheel with Ctrl'],
  ['?', 'this list'],
];
const ACTIONS = {
  x: () => toggleGate(chosen()),
  X: () => onlyGate(chosen()),
  a: () => go({gates: {}, hide: null}),
  g: () => go({rel: app.state.rel === '' ? null : ''}),
  n: () => go({null: app.state.null === 'on' ? 'off' : 'on'}),
  c: () => usable('compare') && go({view: 'compare', a: chosen()?.at || null}),
  '[': () => exampleCount() && stepExample(-1),
  ']': () => exampleCount() && stepExample(1),
  ',': () => stepTime(-1),
  '.': () => stepTime(1),
  t: () => document.querySelector('#view figure .table-button')?.click(),
  s: () => app.figures[0]?.picture && save(app.figures[0].picture, 'svg', ''),
  l: () => copyLink(),
  d: () => cycleTheme(),
  '?': () => byId('keys-dialog').showModal(),
  Escape: () => go(app.state.q.length ? {q: [], k: null} : {view: app.views.find(isShown).name}),
};

function stepTime(by) {
  if (app.view.stepBy) return app.view.stepBy(by);
  if (!app.page.runs.length) return undefined;
  const {steps} = run();
  if (!steps.length || !isLive()) return undefined;
  const at = app.state.step == null ? steps.length - 1 : steps.indexOf(app.state.step);
  return go({step: steps[Math.max(0, Math.min(at + by, steps.length - 1))]});
}

function cycleTheme() {
  go({theme: {auto: 'light', light: 'dark', dark: 'auto'}[app.state.theme]});
  say(`Colours: ${app.state.theme === 'auto' ? 'as the system' : app.state.theme}.`);
}

async function copyLink() {
  writeAddress(false);
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link to exactly this is in the clipboard.');
  } catch {
    say(
      `The address bar holds the link: ${formatHash(app.state) || 'nothing differs from the ' +
        'default'}`,
    );
  }
}

function onKey(event) {
  const typing = event.target.closest?.('input:not([type="checkbox"]), select, textarea, dialog');
  if (typing || event.ctrlKey || event.altKey || event.metaKey || app.state.keys === 'off') return;
  const views = app.views.filter(isShown);
  if (!app.page.runs.length && !/^[1-9,.tsld?]$/.test(event.key)) return;
  const action = /^[1-9]$/.test(event.key)
    ? views[event.key - 1] && (() => go({view: views[event.key - 1].name}))
    : ACTIONS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}
// What this page holds, what it lacks with the command that adds it, and how far it can be trusted.

const aboutView = {
  name: 'about', place: 'About', title: 'About this page', uses: [],
  available: () => true,
  build(main) {
    const {facts} = app.page;
    main.append(
      el('p', null,
        `One file, written by headlab ${facts.headlab}; nothing is fetched, stored or sent. `,
        dynamic('span', null, () => app.check?.sentence || ''),
      ),
    );
    if (facts.left_out?.length)
      main.append(
        el('h3', null, 'Left out'),
        el('ul', null, facts.left_out.map((words) => el('li', null, words))),
      );
    if (app.page.runs.length) {
      const settings = Object.entries(run().config)
        .filter(([, v]) => typeof v !== 'object' && v !== '')
        .map(([key, v]) => [key, String(v)]);
      main.append(
        el('h3', null, `Files of ${run().name}`),
        tableOf('What the views need', ['file', '', 'step', 'written by'],
          run().facts.files.map((f) => [
            f.file,
            !f.present ? 'missing' : f.outdated ? 'of earlier weights' : 'here', f.step ?? '',
            f.command ? code(f.command) : f.present ? '' : 'does not belong to this run',
          ]),
        ),
        el('h3', null, 'The run'),
        tableOf('Every setting: the same run comes out again, bit for bit', ['setting', 'value'],
          [['parameters', String(run().facts.parameters)], ...settings],
        ),
      );
      if (task().relations.length)
        main.append(
          el('h3', null, 'Relations of the task'),
          tableOf(task().spec, ['relation', 'what it is', 'by position alone'],
            task().relations.map((r) => [r.name, r.description, r.positional ? 'yes' : 'no']),
          ),
        );
    }
    main.append(
      el('h3', null, 'Words'),
      el('p', null, 'What the words mean: ',
        link('the glossary of the lessons', () => go({view: 'learn', page: app.lessons.length}), {
          href: formatHash({...defaultState(), view: 'learn', page: app.lessons.length}),
          id: 'to-words',
        }),
      ),
      el('h3', null, 'Keys'), tableOf('Keys', ['key', 'does'], KEYS),
    );
  },
};
// The page as a whole: its state in the address, the view that shows it, and how it starts.

function readAddress() {
  const {state, notices} = parseHash(location.hash);
  // the lessons begin with the largest of their models
  if (app.page.facts.textbook && !/\brun=/.test(location.hash))
    state.run = Math.max(1, app.page.runs.length);
  if (app.page.facts.sweep && !/\bview=/.test(location.hash)) state.view = 'sweep';
  noteAddress();
  if (!usable(state.view)) {
    if (state.view !== defaultState().view) notices.push(`This page has no view ${state.view}.`);
    state.view = app.views.find(isShown)?.name;
  }
  for (const key of ['h', 'a', 'b'])
    if (state[key] && app.page.runs.length && !headNamed(app.page.runs[0], state[key])) {
      notices.push(`There is no head ${state[key]} in this run.`);
      state[key] = null;
    }
  app.state = state;
  byId('notices').replaceChildren(...notices.map((words) => note(words)));
  show(true);
}

/// Four places and a drawer; below them the views of the place that is open.
function navigation() {
  const [shown, here] = [app.views.filter(isShown), app.view];
  const to = (v, words, id, now) =>
    link(words, () => go({view: v.name}), {
      id, href: formatHash({...app.state, view: v.name}) || '#', 'aria-current': now && 'page',
    });
  const first = shown.filter((v, i) => shown.findIndex((x) => x.place === v.place) === i);
  const inside = shown.filter((v) => v.place === here.place);
  byId('views').replaceChildren(
    ...first.map((v) => to(v, v.place, `view-${v.name}`, v.place === here.place)),
    el('span', {class: 'sub', hidden: inside.length < 2},
      inside.map((v) => to(v, v.short || v.title, `tab-${v.name}`, v === here))),
  );
}

export function show(rebuild) {
  const {state} = app;
  state.step = nearestStep(state.step);
  const root = document.documentElement;
  if (root.dataset.theme !== state.theme) forgetColors();
  root.dataset.theme = state.theme;
  if (rebuild) build();
  else refresh();
  byId('address').textContent = formatHash(state) || '#';
  judge();
  navigation();
}

function build() {
  const view = app.views.find((v) => v.name === app.state.view);
  const main = byId('view');
  startOver();
  app.view = view;
  buildControls(view.uses || []);
  main.replaceChildren(el('h2', {id: 'view-title', tabindex: -1}, view.title));
  view.build(main);
  app.figures.forEach((f) => f.draw());
  document.title = `${view.title} · ${app.page.facts.title} · headlab`;
}

const VIEWS = [
  headsView, timeView, sweepView, headView, compareView, liveView, pruneView, causesView, learnView,
  aboutView,
];
const LESSONS = [
  vectorsLesson, budgetLesson, numbersLesson, deskLesson, countLesson, patternsLesson,
  howManyLesson, trueLesson, exercisesLesson, glossaryLesson,
];

// ---- start ---------------------------------------------------------------------------------

/// Compares the page's model with the logits and patterns that the program embedded, and says so.
async function checkModel() {
  const badge = byId('check');
  const withModel = app.page.runs.filter((r) => r.model);
  badge.hidden = !app.page.runs.length;
  if (!withModel.length)
    badge.textContent = 'This page holds no weights: patterns are as the program stored them.';
  for (const r of withModel) {
    const result = await drive(selfCheckSteps(r));
    if (app.check === null || !result.ok) app.check = result;
    badge.textContent = `${result.ok ? '✓' : '✗'} ${result.sentence}`;
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
  banner.textContent =
    app.check?.ok === false
      ? app.check.sentence
      : `Numbers in this page are damaged (${[...damaged].join(', ')}), so everything live is off.`;
  app.check = {...app.check, ok: false};
  show(true);
}

export function header() {
  const {facts} = app.page;
  byId('run').textContent = facts.title;
  byId('page-command').replaceChildren('again: ', code(facts.command));
  const on = (id, act) => byId(id).addEventListener('click', act);
  on('skip', (event) => (event.preventDefault(), byId('view-title').focus()));
  on('link', copyLink);
  on('theme', cycleTheme);
  on('keys', ACTIONS['?']);
  on('keys-close', () => byId('keys-dialog').close());
  const off = byId('keys-off');
  off.addEventListener('change', () => go({keys: off.checked ? 'off' : 'on'}));
  byId('keys-list').replaceChildren(tableOf('Keys', ['key', 'does'], KEYS));
}

export async function start() {
  app.page = loadPage((id) => byId(id).textContent);
  Object.assign(app, {views: VIEWS, lessons: LESSONS, show});
  saved.about = () =>
    `headlab ${app.page.facts.headlab} · ${app.page.facts.title} · ${formatHash(app.state)}`;
  byId('static').hidden = true;
  for (const id of ['app', 'tools']) byId(id).hidden = false;
  header();
  readAddress();
  document.addEventListener('keydown', onKey);
  window.addEventListener('popstate', readAddress);
  window.addEventListener('hashchange', () => hasMoved() && readAddress());
  window.addEventListener('resize', () => app.figures.forEach((f) => f.draw()));
  for (const media of ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print'])
    matchMedia(media).addEventListener('change', () => {
      forgetColors();
      show(false);
    });
  await checkModel();
  refresh();
  app.ready = true;
}
