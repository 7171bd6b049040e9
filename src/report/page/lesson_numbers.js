// Lesson 3: every number of one query. The lines shown are the source of attend(), which all
// lessons
// run; the state beside them is what it recorded.
import {button, dynamic, el, live, say, tableOf} from './ui.js';
import {app, exampleIndex, memo, run, where} from './state.js';
import {attendLines, attendTrace, headsOfWorld} from './worlds.js';
import {
  controlRow, fixed, headChoice, headNames, headOfLab, isRunWorld, lab, lessonWorld, queryChoice,
  queryOf, setLab, stepButtons, worldName,
} from './learn.js';

export const numbersOf = memo(
  () => JSON.stringify([worldName(), isRunWorld() && where(), app.state.q[0], lab('head')]),
  () => {
    const world = lessonWorld();
    const [t, h] = [queryOf(world), headOfLab(world.heads)];
    const head = headsOfWorld(world)[h];
    const n = world.visible ? world.visible[t] : world.keys.length;
    return {
      world, t, h, head, n,
      ...attendTrace(head.q[t], head.k.slice(0, n), head.v.slice(0, n)),
    };
  },
);

const stepNow = () => Math.min(lab('step'), numbersOf().steps.length - 1);
const shownValue = (v) => (Number.isInteger(v) ? String(v) : fixed(v));

function codeList() {
  const now = numbersOf().steps[stepNow()].at;
  return el('ol', {class: 'listing', 'aria-label': 'The lines of attend'},
    attendLines().map(({text, at}) =>
      el('li', at === now ? {class: 'now', 'aria-current': 'step'} : null,
        at
          ? button(text,
              () => setLab({step: numbersOf().steps.findIndex((step) => step.at === at)}),
              {class: 'line', id: `line-${attendLines().findIndex((l) => l.at === at)}`},
            )
          : el('span', {class: 'line'}, text),
      ),
    ),
  );
}

function stateTables() {
  const {steps, world} = numbersOf();
  const step = steps[stepNow()];
  const turns = steps.map((one, i) => ({...one, i})).filter((one) => one.at === step.at);
  const names = Object.keys(step.values);
  const value = (one, name) =>
    name === 's' ? `${one.values.s} ${world.keys[one.values.s]}` : shownValue(one.values[name]);
  return [
    tableOf('After this line', ['', 'value'], names.map((name) => [name, value(step, name)])),
    tableOf(`All ${turns.length} turns of this line`, ['turn', ...names],
      turns.map((one, i) => [
        `${one.i === stepNow() ? '▸ ' : ''}${i + 1}`, ...names.map((name) => value(one, name)),
      ]),
      40,
    ),
  ];
}

/// The numbers of one query: [{key, dot, scaled, weight}] and the output.
function queryRows({world, t, head, n}) {
  return world.keys
    .slice(0, n)
    .map((key, s) => [
      key, fixed(head.dots[t][s]), fixed(head.scaled[t][s]), fixed(head.weights[t][s]),
    ]);
}

function asText() {
  const made = numbersOf();
  const {world, t, h, head, z} = made;
  const pad = (words) => String(words).padStart(9);
  return [
    `${world.tokens[t]}, head ${headNames(world)[h]}, q = ` +
      `${head.q[t].map((v) => fixed(v)).join(' ')}`,
    ['key', 'dot', `/ √${head.q[t].length}`, 'weight'].map(pad).join(' '),
    ...queryRows(made).map((row) => row.map(pad).join(' ')),
    `output ${z.map((v) => fixed(v)).join(' ')}`,
  ].join('\n');
}

async function copyNumbers() {
  try {
    await navigator.clipboard.writeText(asText());
    say('These numbers are in the clipboard.');
  } catch {
    setLab({text: 1});
    say('The numbers stand below as text.');
  }
}

export const numbersLesson = {
  worlds: ['five-tokens', 'cat-sleeps', 'run'], uses: ['h', 'ex'],
  build(main) {
    const world = lessonWorld();
    const slider = el('input', {
      type: 'range', id: 'lab-step', min: 0, 'aria-label': 'step',
      oninput: (event) => setLab({step: Number(event.target.value)}),
    });
    live(() => {
      slider.max = numbersOf().steps.length - 1;
      slider.value = stepNow();
    });
    main.append(
      controlRow(queryChoice(world), headChoice(world),
        ...stepButtons(() => [stepNow(), numbersOf().steps.length - 1]), slider,
        dynamic('span', {id: 'step-number'},
          () => `${stepNow() + 1} of ${numbersOf().steps.length}`,
        ),
      ),
      el('div', {class: 'columns'}, dynamic('div', null, codeList),
        dynamic('div', {id: 'state'}, stateTables),
      ),
      dynamic('div', {id: 'query-numbers'}, () => {
        const {head, t, h, z} = numbersOf();
        return [
          tableOf(
            `${world.tokens[t]}, head ${headNames(world)[h]}: q = ` +
              `${head.q[t].map(shownValue).join(' ')}`,
            ['key', 'q · k', `/ √${head.q[t].length}`, 'weight'], queryRows(numbersOf()),
          ),
          el('p', {id: 'query-output'}, `Output: ${z.map((v) => fixed(v)).join('  ')}`),
        ];
      }),
      controlRow(button('Copy as text', copyNumbers, {id: 'copy-numbers'})),
      dynamic('div', null, () => (lab('text') ? el('pre', {id: 'numbers-text'}, asText()) : [])),
      el('p', {class: 'again'}, 'again: ',
        dynamic('code', null, () =>
          isRunWorld()
            ? `headlab explain attention ${run().name} --head ` +
              `${headNames(world)[headOfLab(world.heads)]} --query ${queryOf(world)} --example ` +
              `${exampleIndex()}`
            : `headlab explain ${worldName()}`,
        ),
      ),
    );
  },
};
