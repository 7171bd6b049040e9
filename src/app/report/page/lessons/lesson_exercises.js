// Exercises, in the order of effort. An exercise is {ask, hint, check(words) -> {right, words}};
// answers are computed when they are checked, never stored. Exercises that need a trained model
// say so.
import {rankOfSet, subsetNames, subsetsOf} from '../engine/reports.js';
import {digits} from '../draw/charts.js';
import {button, code, el, note, tableOf} from '../draw/ui.js';
import {app, headsOf, isStored, run} from '../state/state.js';
import {lossWithout, pairCost} from '../parts/heads.js';
import {
  attentionSizes, besideEachOther, changeWhenAblated, diversityOf, headsOfWorld, isUniform, times,
} from '../engine/worked_example.js';
import {hasRun, lessonFacts, lessonTexts} from './learn.js';

const exerciseWorld = () => lessonFacts().worlds.find((one) => one.name === 'five-tokens');

/// The answers of the exercises, from the same functions as the lessons.
export const SOLUTIONS = {
  rowOfSat: (world) => headsOfWorld(world)[0].weights[2],
  evenRows: (world) => [
    headsOfWorld(world, 4).flatMap((head) => head.weights).filter(isUniform).length],
  sameColumns(world) {
    const twice = (M) => M.map((row) => [...row.slice(0, 2), ...row.slice(0, 2)]);
    const heads = headsOfWorld({...world, q: twice(world.q), k: twice(world.k), v: twice(world.v)});
    return [diversityOf(heads.map((head) => head.weights))];
  },
  mixedRow: (world) => times([besideEachOther(headsOfWorld(world))[0]], world.W_O)[0],
  ablation: (world) => [0, 1].map((h) => changeWhenAblated(headsOfWorld(world), h)),
  parameters: () => [attentionSizes({d: 768, H: 12}).total],
};

/// Numbers in a text as they are written, whatever parts them; a comma between three digits groups,
/// before a space parts.
function numeralsIn(words) {
  const plain = words.replace(/[−–]/g, '-').replace(/(\d),(?=\d{3}\b)/g, '$1');
  return plain.match(/-?(\d+\.?\d*|\.\d+)(e-?\d+)?/gi) || [];
}
export const numbersIn = (words) => numeralsIn(words).map(Number);

/// The decimals that a numeral is written with: 2 of "0.96", 3 of "1e-3".
function decimalsOf(numeral) {
  const [digitsOf, power = 0] = numeral.toLowerCase().split('e');
  const [, decimals = ''] = digitsOf.split('.');
  return decimals.length - Number(power);
}

/// Whether the numbers in a text are the wanted ones, each to half a unit of its own last digit.
export const answersMatch = (words, wanted) => {
  const given = numeralsIn(words);
  return given.length === wanted.length && given.every((numeral, i) =>
    Math.abs(Number(numeral) - wanted[i]) <= 0.5001 * 10 ** -decimalsOf(numeral));
};
const namesIn = (words) => words.match(/\d+\.\d+/g) || [];

/// An exercise whose answer is numbers, each with so many decimals or more; a number that is exact
/// without them needs none.
const numeric = (decimals, wanted, hint, more = '') => ({
  hint,
  check(words) {
    const asked = wanted(exerciseWorld());
    const given = numeralsIn(words);
    if (given.length !== asked.length)
      return {right: false, words: `Enter ${asked.length} numbers.`};
    const isCoarse = given.some((one, i) => decimalsOf(one) < decimals &&
      Math.abs(asked[i] - Number(one)) > 1e-9);
    if (isCoarse) return {right: false, words: `Enter ${decimals} decimals or more.`};
    const right = answersMatch(words, asked);
    return {right, words: right ? more : ''};
  },
});

/// The first exercises. Their questions are in lessons.html, in this order.
const BY_HAND = [
  numeric(0, SOLUTIONS.parameters,
    'd = 12 × 64 = 768; four matrices of d² and four biases of d.',
    'The number of heads does not enter.'),
  numeric(0, SOLUTIONS.evenRows,
    'If a query is 0, all its scores are 0. Count the zeros in q.',
    'Every zero of q gives a uniform row.'),
  numeric(2, SOLUTIONS.sameColumns,
    'The same q and k give the same weights.',
    'Two heads with the same columns are one head, written twice.'),
  numeric(2, SOLUTIONS.rowOfSat,
    'The dot products are 1 1 2 0 1. Divide by √2, take e to that, divide by the sum.',
    '“sat” attends most to itself, and equally to all keys with a product of 1.'),
  numeric(2, SOLUTIONS.ablation,
    'The output changes by what the head wrote: take the length of all its outputs together.',
    'An orthogonal W_O changes neither number.'),
  numeric(2, SOLUTIONS.mixedRow,
    'The concatenated row of “The” is .2491 .3763 .2289 .3663. Take half of its sums and ' +
      'differences.',
    'Every number now depends on both heads.')];

const byHand = () => [...lessonTexts().querySelectorAll('#asked li')].map((asked, i) =>
  ({ask: asked.textContent, ...BY_HAND[i]}));

/// The loss without two heads, from those without each of them.
function guessBoth() {
  const whole = lossWithout([]);
  const all = headsOf();
  const {x, y, one, other, both, beyond} = pairCost(all[0], all.at(-1));
  return {
    ask: `With all ${all.length} heads the loss is ${digits(whole)}; without ${x.at} it is ` +
      `${digits(whole + one)}, without ${y.at} ${digits(whole + other)}. How large is it ` +
      'without both? (to 20 %)',
    hint: 'Start from the sum of both rises. If the heads can replace each other, both together ' +
      'cost more. If one head needs the other, they cost less.',
    check(words) {
      const loss = whole + both;
      const right = Math.abs(numbersIn(words)[0] - loss) <= 0.2 * loss;
      const told = `It is ${digits(loss)}: ${digits(beyond)} beyond the sum.`;
      return {right, words: right ? told : ''};
    },
  };
}

function guessPair() {
  const pairs = headsOf().flatMap((x, i) => headsOf().slice(i + 1).map((y) => pairCost(x, y)));
  const {x, y, beyond} = pairs.reduce((a, b) => (b.beyond > a.beyond ? b : a));
  return {
    ask: 'Which two heads, off together, cost most beyond the sum of both? (such as 0.1 0.2)',
    hint: `Ablate two heads in Experiment to see their excess. One of the two is ${x.at}.`,
    check(words) {
      const right = namesIn(words).sort().join() === [x.at, y.at].sort().join();
      return {
        right, words: right ? `Together they cost ${digits(beyond)} nats beyond the sum.` : '',
      };
    },
  };
}

function guessHalf(subsets) {
  const n = subsets.heads.length;
  const names = subsetNames(subsets);
  const half = Math.ceil(n / 2);
  return {
    ask: `Choose ${half} of the ${n} heads to keep. (such as ${names.slice(0, half).join(' ')})`,
    hint: 'Begin with the heads that own a relation.',
    check(words) {
      const given = [...new Set(namesIn(words))].map((name) => names.indexOf(name));
      if (given.length !== half || given.includes(-1))
        return {right: false, words: `Enter ${half} heads of this run.`};
      const made = rankOfSet(subsets, given.reduce((bits, at) => bits + 2 ** at, 0));
      const right = made.rank === 1;
      return {
        right,
        words: `Number ${made.rank} of ${made.of}: loss ${digits(made.loss)}. ` +
          (right ? 'No set is better.' : `The optimum has ${digits(made.best)}; your regret is ` +
            `${digits(made.loss - made.best)} nats.`),
      };
    },
  };
}

/// Three on the run, if all its sets of heads were measured.
function onTheRun(r) {
  const subsets = subsetsOf(r);
  if (!subsets || subsets.heads.length < 3) return [];
  return [guessBoth, guessPair, guessHalf].map((make) => make(subsets));
}

function exerciseNode({ask, hint, check}, i) {
  const id = `exercise-${i + 1}`;
  const out = el('p', {id: `${id}-said`, role: 'status'});
  const help = el('p', {class: 'muted', id: `${id}-help`, hidden: true}, hint);
  const field = el('input', {
    id, type: 'text', autocomplete: 'off', 'aria-describedby': `${id}-said`,
  });
  const answer = () => {
    const {right, words} = check(field.value);
    out.className = right ? 'badge' : 'badge bad';
    out.textContent = `${right ? '✓ Right.' : '✗ Not yet.'} ${words}`;
  };
  const toggleHelp = () => {
    help.hidden = !help.hidden;
  };
  field.addEventListener('keydown', (event) => event.key === 'Enter' && answer());
  return el('li', null, el('label', {for: id}, ask),
    el('div', {class: 'controls'}, field,
      button('Check', answer, {id: `${id}-check`, 'aria-label': `Check exercise ${i + 1}`}),
      button('Hint', toggleHelp,
        {'aria-label': `Hint for exercise ${i + 1}`, id: `${id}-hint`})),
    help, out);
}

export const exercisesLesson = {
  always: ['run'],
  build(main) {
    const {tokens, q, k, v} = exerciseWorld();
    const more = hasRun() ? onTheRun(run()) : [];
    main.append(
      tableOf('The five tokens', ['token', 'q', 'k', 'v'],
        tokens.map((name, t) => [name, ...[q, k, v].map((x) => x[t].join(' '))])),
      el('ol', {class: 'exercises'}, [...byHand(), ...more].map(exerciseNode)));
    if (!more.length)
      main.append(
        note('Three more exercises need a trained model and the losses of all its sets of heads: ',
          code(app.page.runs.length && !isStored() ? `headlab curve ${run().name}`
            : 'headlab curve RUN'),
          ', then ', code('headlab page RUN'), '.'));
  },
};
