// Lessons by name: a text, which the document holds for readers without scripts too
// (lessons.html), and one thing to try. A lesson is {worlds, uses, build(main)}; what is tried is
// kept in the address: `lesson`, `world`, `q`, and `lab`, the positions of a lesson's own controls.
import {range} from '../engine/numbers.js';
import {button, byId, choice, el, link, live, note, sliderOf} from '../draw/ui.js';
import {defaultState, formatHash} from '../state/address.js';
import {
  app, baseTrace, chosen, go, headsOf, isLive, memo, noPattern, run, where,
} from '../state/state.js';
import {tokensOf} from '../parts/pattern.js';
import {worldOfRun} from '../engine/worked_example.js';

const WORLD_NAMES = [
  ['five-tokens', 'five tokens'], ['cat-sleeps', '“Cat sleeps”'], ['run', 'this run'],
];

export const lab = (key, initial = 0) => app.state.lab[key] ?? initial;
export const setLab = (changes) => go({lab: {...app.state.lab, ...changes}});
export const fixed = (v, places = 4) =>
  (Number.isFinite(v) ? v.toFixed(places).replace('-', '−') : '–');
export const lessonFacts = () => app.page.facts.lessons;
export const hasRun = () => app.page.runs.length > 0 && isLive() && headsOf().length > 0;

const lessonNames = () => Object.keys(app.lessons);
const lessonName = () => (app.lessons[app.state.lesson] ? app.state.lesson : lessonNames()[0]);
/// The world of the open lesson: the address's where the lesson has it, else its first that is
/// here.
export function worldName() {
  const known = app.lessons[lessonName()].worlds || ['five-tokens'];
  const there = known.filter((name) => name !== 'run' || hasRun());
  return there.includes(app.state.world) ? app.state.world : there[0] || 'five-tokens';
}
export const isRunWorld = () => worldName() === 'run';

const runWorld = memo(() => where() + chosen()?.m, () => {
  const m = chosen()?.m ?? run().attentionLayers.findIndex((layer) => layer.heads.length);
  return baseTrace() && worldOfRun(baseTrace(), m, tokensOf(m));
});

/// The world that is shown, with the names of its heads; null while a pass runs.
export function lessonWorld() {
  if (isRunWorld()) return runWorld();
  const world = lessonFacts().worlds.find((one) => one.name === worldName());
  return {keys: world.tokens, ...world};
}
/// Says that a query of the run sees more keys than are shown, so that its weights are others.
export const cutNote = (world) => (!world.isCut ? null
  : note(`Only the first ${world.keys.length} keys are computed here. Queries of the run see ` +
      'more keys, so these are not its weights.'));
export const headNames = (world, H = world.heads) =>
  world.names && H === world.heads ? world.names : range(H, (h) => String(h + 1));

/// The query and the head that a lesson's controls select.
export const queryOf = (world) => Math.min(app.state.q ?? 0, world.tokens.length - 1);
export const headOfLab = (H) => Math.min(lab('head'), H - 1);

// ---- what lessons are made of ----------------------------------------------------------------

export const controlRow = (...children) => el('div',
  {class: 'controls', role: 'group', 'aria-label': 'Controls of this lesson'}, ...children);

/// A slider whose position is `lab[key]`.
export const labSlider = (key, name, {min = 0, max = 1, step = 0.05, initial = max, words}) =>
  sliderOf(`lab-${key}`, name, {
    min, max, step, words, value: () => lab(key, initial), act: (v) => setLab({[key]: v}),
  });

/// A list whose choice is `lab[key]`; options are [number, words].
export const labChoice = (key, name, options, initial = 0) =>
  choice(`lab-${key}`, name, options, (v) => setLab({[key]: Number(v)}), () => lab(key, initial));

/// A box to tick whose state is `lab[key]`.
export function labBox(key, words, initial) {
  const box = el('input', {
    type: 'checkbox', id: `lab-${key}`,
    onchange: (event) => setLab({[key]: Number(event.target.checked)}),
  });
  live(() => {
    box.checked = lab(key, initial) === 1;
  });
  return el('label', null, box, ` ${words}`);
}

/// The part for specialists, folded behind "More"; its figures are drawn when it opens.
export const folded = (words, ...children) => el('details', {
  class: 'more', ontoggle: () => app.figures.forEach((one) => one.draw()),
}, el('summary', null, `More: ${words}`), ...children);

export const queryChoice = (world) =>
  choice('lab-query', 'Query', world.tokens.map((words, t) => [t, `${t} ${words}`]),
    (v) => go({q: Number(v)}), () => queryOf(world));

/// Buttons that move `lab.step`; place() is [current step, last step].
export const stepButtons = (place) =>
  [[-1, '◀ Back', 'step-back'], [1, 'Step ▶', 'step-next']].map(([by, words, id]) =>
    button(words, () => setLab({step: Math.min(Math.max(place()[0] + by, 0), place()[1])}), {id}),
  );

export const headChoice = (world, H = world.heads) =>
  labChoice('head', 'Head', headNames(world, H).map((name, h) => [h, name]));

// ---- the view ----------------------------------------------------------------------------------

/// The texts of the lessons, taken out of the static part of the document once.
export const lessonTexts = memo(() => 'lessons', () => {
  const found = byId('lessons');
  found?.remove();
  return found;
});

const linkTo = (name) => formatHash({...defaultState(), view: 'learn', lesson: name});

function lessonText(name) {
  const text = lessonTexts().querySelector(`#lesson-${name}`).cloneNode(true);
  text.querySelectorAll('.still').forEach((part) => part.remove());
  text.querySelectorAll('a[href^="#lesson-"]').forEach((link) => {
    link.href = linkTo(link.hash.slice(8));
  });
  return text;
}

/// The run that a lesson begins with in a textbook: to see a head apart, one with two of them, else
/// the largest.
export function firstRun(name) {
  const two = app.page.runs.findIndex((r) => headsOf(r).length === 2);
  return name === 'vectors' && two >= 0 ? two + 1 : Math.max(1, app.page.runs.length);
}

function openLesson(name) {
  const run = app.page.facts.textbook ? {run: firstRun(name), h: null} : {};
  go({lesson: name, lab: {}, q: null, gates: {}, tokens: [], ...run});
  byId('lesson-title')?.focus();
}

const titleOf = (name) => lessonTexts().querySelector(`#lesson-${name} h3`).textContent;

function lessonList() {
  return el('nav', {'aria-label': 'Lessons', class: 'lessons'},
    el('ol', null, lessonNames().map((name) => el('li', null,
      link(titleOf(name), () => openLesson(name), {
        href: linkTo(name) || '#', id: `to-${name}`,
        'aria-current': lessonName() === name ? 'step' : null,
      })))));
}

function worldSwitch(known) {
  const there = WORLD_NAMES.filter(([name]) =>
    known.includes(name) && (name !== 'run' || hasRun()));
  if (there.length < 2) return null;
  return choice('pick-world', 'On', there, (v) => go({world: v, lab: {}, q: null}), worldName);
}

const lessonBy = (by) => lessonNames()[lessonNames().indexOf(lessonName()) + by];

export const learnView = {
  name: 'learn', place: 'Learn', title: 'Learn',
  get uses() {
    const {always, uses} = app.lessons[lessonName()];
    return always || (isRunWorld() ? uses || ['ex'] : []);
  },
  available: (page) => Boolean(page.facts.lessons),
  stepBy: (by) => lessonBy(by) && openLesson(lessonBy(by)),
  build(main) {
    const name = lessonName();
    const lesson = app.lessons[name];
    const text = lessonText(name);
    const title = el('h3', {id: 'lesson-title', tabindex: -1}, titleOf(name));
    text.querySelector('h3').remove();
    const body = el('div', {id: 'lesson'});
    main.append(lessonList(), title, text, body);
    const controls = worldSwitch(lesson.worlds || []);
    if (controls) body.append(controlRow(controls));
    if (isRunWorld() && !lessonWorld()) body.append(noPattern());
    else lesson.build(body);
    const to = (by, words, id) =>
      lessonBy(by) && button(words, () => openLesson(lessonBy(by)), {id});
    main.append(controlRow(to(-1, '← Lesson before', 'lesson-back'),
      to(1, 'Next lesson →', 'lesson-next')));
  },
};

// ---- words -------------------------------------------------------------------------------------

/// The words of the glossary with their meanings, each name of a term by itself.
export const glossary = () =>
  [...lessonTexts().querySelectorAll('#terms dt')].flatMap((term) => {
    const short = term.nextElementSibling;
    const exact = term.nextElementSibling.nextElementSibling;
    const more = exact.firstChild.textContent.trim();
    return term.textContent.split(', ').map((name) => [name, `${short.textContent} ${more}`]);
  });

/// The glossary, at one level or both, searched as one types.
export const glossaryLesson = {
  build(main) {
    const list = byId('terms');
    const terms = [...list.querySelectorAll('dt')];
    const find = el('input', {
      type: 'search', id: 'find-term', autocomplete: 'off', oninput: () => filter(),
    });
    const level = labChoice('level', 'Level', [[0, 'both'], [1, 'in a word'], [2, 'exactly']]);
    const count = el('span', {id: 'term-count', role: 'status'});
    const filter = () => {
      let shown = 0;
      for (const term of terms) {
        const word = term.nextElementSibling;
        const exact = term.nextElementSibling.nextElementSibling;
        const words = [term, word, exact].map((part) => part.textContent).join(' ').toLowerCase();
        const wanted = words.includes(find.value.trim().toLowerCase());
        term.hidden = !wanted;
        word.hidden = !wanted || lab('level') === 2;
        exact.hidden = !wanted || lab('level') === 1;
        shown += Number(wanted);
      }
      count.textContent = `${shown} of ${terms.length} terms`;
    };
    main.append(controlRow(el('label', null, 'Find ', find), level, count));
    list.before(main);
    live(filter);
  },
};
