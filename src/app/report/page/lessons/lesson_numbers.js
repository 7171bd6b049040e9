// Every number of one query, with switches for the mask and the square root: the lines shown are
// those of the world's attention function. And why one head is not enough: one budget of attention
// against two.
import {range} from '../engine/numbers.js';
import {hexOf} from '../draw/draw.js';
import {bars, label, rect} from '../draw/charts.js';
import {code, dynamic, el, figure, live, note, tableOf} from '../draw/ui.js';
import {app, exampleIndex, memo, run, where} from '../state/state.js';
import {lossByHeadsPicture} from '../parts/sweep_words.js';
import {columns, headOfWorld, keysOfQuery, usualSwitches} from '../engine/worked_example.js';
import {
  controlRow, cutNote, fixed, headChoice, headNames, headOfLab, isRunWorld, lab, labBox, labChoice,
  labSlider, lessonWorld, queryChoice, queryOf, setLab, stepButtons, worldName,
} from './learn.js';
import {listing} from './lesson_cell.js';
import {attend, attendLines, attendTrace} from '../engine/attend.js';

/// The switches of the lesson. For a run its task decides which keys are seen.
function switchesOfNumbers(world) {
  const usual = usualSwitches(world);
  return {...usual, mask: isRunWorld() ? usual.mask : lab('mask', 0) === 1,
    root: lab('root', 1) === 1};
}

const numbersOf = memo(
  () => JSON.stringify([
    worldName(), isRunWorld() && where(), app.state.q, lab('head'), lab('mask'), lab('root', 1)]),
  () => {
    const world = lessonWorld();
    const t = queryOf(world);
    const h = headOfLab(world.heads);
    const switches = switchesOfNumbers(world);
    const head = headOfWorld(world, h, switches);
    const [from, to] = keysOfQuery(world, t, switches.mask);
    const root = switches.root ? Math.sqrt(head.D) : 1;
    const {name} = switches;
    const made = attendTrace(head.q[t], head.k.slice(from, to), head.v.slice(from, to),
      {root, name, slope: head.slope, t: t - from});
    return {world, t, h, head, from, to, root, name, ...made};
  },
);

/// The number of the last line that ran; 0 also if none did.
const lastStep = () => Math.max(numbersOf().steps.length - 1, 0);
const stepNow = () => Math.min(lab('step'), lastStep());
const seesNoKey = () => numbersOf().steps.length === 0;
const shownValue = (v) => (Number.isInteger(v) ? String(v) : fixed(v));

function codeList() {
  const {world, t, name, head, steps} = numbersOf();
  if (seesNoKey()) {
    return el('p', {id: 'no-key'}, `“${world.tokens[t]}” sees no key: there is nothing to ` +
      'attend to, and its output is 0.');
  }
  return listing(attendLines(name, head.slope), steps[stepNow()].at,
    (line) => setLab({step: steps.findIndex(({at}) => at === line)}));
}

function stateTables() {
  if (seesNoKey()) return [];
  const {steps, world, from} = numbersOf();
  const step = steps[stepNow()];
  const turns = steps.map((one, i) => ({...one, i})).filter((one) => one.at === step.at);
  const names = Object.keys(step.values);
  const value = (one, name) =>
    (name === 's' ? `${one.values.s} ${world.keys[from + one.values.s]}`
      : shownValue(one.values[name]));
  return [
    tableOf('After this line', ['', 'number'], names.map((name) => [name, value(step, name)])),
    tableOf(`All ${turns.length} turns of this line`, ['turn', ...names],
      turns.map((one, i) => [
        `${one.i === stepNow() ? '▸ ' : ''}${i + 1}`, ...names.map((name) => value(one, name))]),
      40)];
}

/// The numbers of one query: [key, dot, score, weight].
const queryRows = ({world, t, head, from, to}) => range(to - from, (i) => from + i).map((s) => [
  world.keys[s], ...[head.dots, head.scores, head.weights].map((all) => fixed(all[t][s]))]);
function scoreName({head, root}) {
  const divided = root === 1 ? 'score' : `/ √${head.D}`;
  return head.slope ? `${divided} − distance × ${fixed(head.slope)}` : divided;
}

function numbersTable() {
  const made = numbersOf();
  const {world, head, t, h} = made;
  return [
    tableOf(
      `${world.tokens[t]}, head ${headNames(world)[h]}: q = ${head.q[t].map(shownValue).join(' ')}`,
      ['key', 'q · k', scoreName(made), 'weight'], queryRows(made)),
    el('p', {id: 'query-output'}, `Output: ${head.z[t].map((v) => fixed(v)).join('  ')}`),
    cutNote(world)];
}

const numbersCommand = () => isRunWorld() ? `headlab explain attention ${run().name} --head ` +
      `${headNames(lessonWorld())[headOfLab(lessonWorld().heads)]} --query ` +
      `${queryOf(lessonWorld())} --example ${exampleIndex()}`
    : `headlab explain ${worldName()}`;

export const numbersLesson = {
  worlds: ['five-tokens', 'cat-sleeps', 'run'], uses: ['h', 'ex'],
  build(main) {
    const world = lessonWorld();
    const slider = el('input', {
      type: 'range', id: 'lab-step', min: 0, 'aria-label': 'step',
      oninput: (event) => setLab({step: Number(event.target.value)}),
    });
    live(() => {
      slider.max = lastStep();
      slider.value = stepNow();
    });
    main.append(
      controlRow(queryChoice(world), headChoice(world),
        !isRunWorld() && labBox('mask', 'causal mask', 0), labBox('root', 'divide by √d', 1)),
      controlRow(...stepButtons(() => [stepNow(), lastStep()]), slider,
        dynamic('span', {id: 'step-number'},
          () => (seesNoKey() ? 'no line runs' : `${stepNow() + 1} of ${lastStep() + 1}`))),
      el('div', {class: 'columns'}, dynamic('div', null, codeList),
        dynamic('div', {id: 'state'}, stateTables)),
      dynamic('div', {id: 'query-numbers'}, numbersTable),
      el('p', {class: 'again'}, 'command: ', dynamic('code', null, numbersCommand)));
  },
};

// ---- one budget or two -----------------------------------------------------------------------

/// A query that wants the keys A and B, of four; keys are two numbers, values are colours.
const WANTED = {
  keys: ['A (wanted)', 'B (wanted)', 'C', 'D'], k: [[1, 0], [0, 1], [-1, 0], [0, -1]],
  v: [[0, 114, 178], [240, 200, 20], [170, 170, 170], [90, 90, 90]],
};
const wantedBy = (sharpness, H) =>
  range(H, (h) => {
    const from = h * (2 / H);
    const to = (h + 1) * (2 / H);
    return attend(new Array(to - from).fill(sharpness), columns(WANTED.k, from, to), WANTED.v);
  });

/// The weights of each head as bars in the colours of the values, and what arrives as one colour.
function budgetPicture(width) {
  const H = lab('heads', 1);
  const heads = wantedBy(lab('sharp', 2), H);
  const picture = bars({
    width: Math.min(width, 560), unit: 'weight', low: 0, high: 1,
    rows: heads.flatMap(({row}, h) => row.map((v, s) => ({
      name: H > 1 ? `head ${h + 1}: ${WANTED.keys[s]}` : WANTED.keys[s], value: v, strong: s < 2,
      color: hexOf(WANTED.v[s]),
    }))),
    about: {
      name: 'budget', title: H > 1 ? 'Two heads, two budgets' : 'One head, one budget',
      sentence: H > 1
        ? `Head 1 gives A ${fixed(heads[0].row[0])}, head 2 gives B ${fixed(heads[1].row[1])}: ` +
          'each colour arrives unmixed.'
        : `No key gets more than ${fixed(Math.max(...heads[0].row))}: A and B can never get ` +
          'more than .5 each, and what arrives is their mixture.',
    },
  });
  const y = picture.height;
  picture.items.push(label(4, y + 20, 'what arrives:'), ...heads.flatMap(({z}, h) => [
    rect(110 + 90 * h, y + 4, 80, 32, {fill: hexOf(z), stroke: 'edge'})]));
  return {...picture, height: y + 44};
}

export const budgetLesson = {
  build(main) {
    const {sweep} = app.page.facts;
    main.append(
      controlRow(labSlider('sharp', 'Sharpness', {min: 0, max: 12, step: 0.5, initial: 2}),
        labChoice('heads', 'Heads', [[1, '1'], [2, '2']], 1)),
      figure(budgetPicture, {id: 'budget', most: 560}),
      sweep ? figure(lossByHeadsPicture, {id: 'loss-by-heads', most: 760, again: sweep.command})
        : note('To see this in trained models: ',
            code('headlab sweep --task relations --heads 1,2,3,4,5,8 --seeds 10 --out sweeps/knee'),
            ', then ', code('headlab page sweeps/knee'), '.'));
  },
};
