// Ten lessons: a text, which stands in the document for readers without scripts too (lessons.html),
// and one thing to try. A lesson is LESSONS[n - 1] = {worlds, uses, build(main)}; what is tried is
// kept in the address: `page`, `world`, `q`, and `lab`, the positions of a lesson's own controls.
const LESSONS = [];
const WORLD_NAMES = [
  ['five-tokens', 'five tokens'], ['cat-sleeps', '“Cat sleeps”'], ['run', 'this run'],
];

const lab = (key, initial = 0) => app.state.lab[key] ?? initial;
const setLab = (changes) => go({lab: {...app.state.lab, ...changes}});
const fixed = (v, places = 4) => (Number.isFinite(v) ? v.toFixed(places).replace('-', '−') : '–');
const lessonFacts = () => app.page.facts.lessons;
const hasRun = () => app.page.runs.length > 0 && isLive() && headsOf().length > 0;

const lessonNumber = () => Math.min(Math.max(app.state.page, 1), LESSONS.length);
/// The world of the open lesson: the address's where the lesson has it, else its first that is here.
function worldName() {
  const known = LESSONS[lessonNumber() - 1].worlds || ['five-tokens'];
  const {world} = app.state;
  const there = known.filter((name) => name !== 'run' || hasRun());
  return there.includes(world) ? world : there[0] || 'five-tokens';
}
const isRunWorld = () => worldName() === 'run';

const runWorld = memo(
  () => where() + chosen()?.m,
  () => {
    const m = chosen()?.m ?? run().modules.findIndex((module) => module.heads.length);
    return baseTrace() && worldOfRun(baseTrace(), m, sides(m));
  },
);

/// The world that is shown, with the names of its heads; null while a pass runs.
function lessonWorld() {
  if (isRunWorld()) return runWorld();
  const world = lessonFacts().worlds.find((one) => one.name === worldName());
  return {keys: world.tokens, ...world};
}
const headNames = (world, H = world.heads) =>
  world.names && H === world.heads ? world.names : range(H, (h) => String(h + 1));

/// The query and the head that a lesson's controls stand at.
const queryOf = (world) => Math.min(app.state.q[0] ?? 0, world.tokens.length - 1);
const headOfLab = (H) => Math.min(lab('head'), H - 1);

// ---- what lessons are made of ----------------------------------------------------------------

/// A row of controls of a lesson.
const controlRow = (...children) =>
  el('div', {class: 'controls', role: 'group', 'aria-label': 'Controls of this lesson'},
    ...children,
  );

/// A slider whose position is `lab[key]`.
const labSlider = (key, name, {min = 0, max = 1, step = 0.05, initial = max, words}) =>
  sliderOf(`lab-${key}`, name, {
    min, max, step, words, value: () => lab(key, initial), act: (v) => setLab({[key]: v}),
  });

/// A list whose choice is `lab[key]`; options are [number, words].
const labChoice = (key, name, options, initial = 0) =>
  choice(`lab-${key}`, name, options, (v) => setLab({[key]: Number(v)}), () => lab(key, initial));

const queryChoice = (world) =>
  choice('lab-query', 'Query', world.tokens.map((words, t) => [t, `${t} ${words}`]),
    (v) => go({q: [Number(v)]}), () => queryOf(world),
  );

/// Buttons that move `lab.step`; place() is [where it stands, the last].
const stepButtons = (place) =>
  [[-1, '◀ Back', 'step-back'], [1, 'Step ▶', 'step-next']].map(([by, words, id]) =>
    button(words, () => setLab({step: Math.min(Math.max(place()[0] + by, 0), place()[1])}), {id}),
  );

const headChoice = (world, H = world.heads) =>
  labChoice('head', 'Head', headNames(world, H).map((name, h) => [h, name]));

/// A small matrix with its numbers in its cells. `tints`: the head of each column; `rowTints`.
function numbersPicture(
  width,
  {rows, rowNames, colNames, tints, rowTints, signed = true, about, say, cell = 62, places = 4},
) {
  const values = Float32Array.from(rows.flat());
  const top = Math.max(...values.map(Math.abs)) || 1;
  const room = (side) => side >= textWidth((-1).toFixed(places), 11, true) + 4;
  return matrix({
    rowNames, colNames, values, kind: signed ? 'sign' : undefined, top: signed ? top : 1,
    width: Math.min(width, 620), cell, tall: 30, leastTall: 12, about,
    say: say || ((r, c) => `${rowNames[r]}, ${colNames[c]}: ${fixed(rows[r][c], 4)}`),
    over: (box) => {
      const items = [];
      const [, , w] = box(0, 0);
      (tints || []).forEach((h, c) => {
        const [x, y, side, tall] = box(rowNames.length - 1, c);
        items.push(rect(x + 1, y + tall + 2, side - 2, 5, {fill: SERIES[h % 7]}));
      });
      (rowTints || []).forEach((h, r) => {
        const [x, y, , tall] = box(r, 0);
        items.push(rect(x - 5, y + 1, 4, tall - 2, {fill: SERIES[h % 7]}));
      });
      if (!room(w)) return items;
      rows.forEach((row, r) =>
        row.forEach((v, c) => {
          const [x, y, side, tall] = box(r, c);
          const words = fixed(v, places);
          const wide = textWidth(words, 11, true) + 4;
          items.push(
            rect(x + (side - wide) / 2, y + tall / 2 - 8, wide, 16, {fill: 'paper', alpha: 0.8}),
          );
          items.push(
            label(x + side / 2, y + tall / 2, words, {anchor: 'middle', size: 11, mono: true}),
          );
        }),
      );
      return items;
    },
  });
}

/// A pattern of a world with its numbers.
function weightsPicture(width, world, weights, {name, title, sentence = '', say, signed = false}) {
  return numbersPicture(width, {
    rows: weights, rowNames: world.tokens, colNames: world.keys || world.tokens, signed, say,
    about: {name, title, sentence: sentence || 'Queries down, keys across; each row sums to 1.'},
  });
}

// ---- the view ----------------------------------------------------------------------------------

/// The texts of the lessons, taken out of the static part of the document once.
const lessonTexts = memo(
  () => 'lessons',
  () => {
    const found = byId('lessons');
    found?.remove();
    return found;
  },
);

function lessonText(n) {
  const text = lessonTexts().querySelector(`#lesson-${n}`).cloneNode(true);
  text.querySelectorAll('.still').forEach((part) => part.remove());
  text.querySelectorAll('a[href^="#lesson-"]').forEach((link) => {
    link.href = formatHash({...defaultState(), view: 'learn', page: Number(link.hash.slice(8))});
  });
  return text;
}

function openLesson(n) {
  go({page: n, lab: {}, q: []});
  byId('lesson-title')?.focus();
}

function lessonList() {
  const titles = LESSONS.map(
    (_, i) => lessonTexts().querySelector(`#lesson-${i + 1} h3`).textContent,
  );
  return el('nav', {'aria-label': 'Lessons', class: 'lessons'},
    el('ol', null,
      titles.map((title, i) =>
        el('li', null,
          link(title, () => openLesson(i + 1), {
            href: formatHash({...defaultState(), view: 'learn', page: i + 1}) || '#',
            id: `to-lesson-${i + 1}`, 'aria-current': lessonNumber() === i + 1 ? 'step' : null,
          }),
        ),
      ),
    ),
  );
}

function worldSwitch(known) {
  const there = WORLD_NAMES.filter(
    ([name]) => known.includes(name) && (name !== 'run' || hasRun()),
  );
  if (there.length < 2) return null;
  return choice('pick-world', 'On', there, (v) => go({world: v, lab: {}, q: []}), worldName);
}

VIEWS.push({
  name: 'learn', title: 'Learn',
  get uses() {
    const {always, uses} = LESSONS[lessonNumber() - 1];
    return always || (isRunWorld() ? uses || ['ex'] : []);
  },
  available: (page) => Boolean(page.facts.lessons),
  stepBy: (by) => openLesson(Math.min(Math.max(lessonNumber() + by, 1), LESSONS.length)),
  build(main) {
    const n = lessonNumber();
    const [lesson, text] = [LESSONS[n - 1], lessonText(n)];
    const corrections = text.querySelector('.corrections');
    const heading = text.querySelector('h3');
    const title = el('h3', {id: 'lesson-title', tabindex: -1}, `${n}. ${heading.textContent}`);
    heading.remove();
    corrections?.remove();
    const body = el('div', {id: 'lesson'});
    main.append(lessonList(), title, text, body);
    const controls = worldSwitch(lesson.worlds || []);
    if (controls) body.append(controlRow(controls));
    if (isRunWorld() && !lessonWorld()) body.append(noPattern());
    else lesson.build(body);
    if (corrections) main.append(corrections);
    main.append(
      controlRow(n > 1 && button('← Lesson before', () => openLesson(n - 1), {id: 'lesson-back'}),
        n < LESSONS.length && button('Next lesson →', () => openLesson(n + 1), {id: 'lesson-next'}),
      ),
    );
  },
});
