// Patterns to know by name, drawn with noise, the answer under each; and the run's heads with the
// most attention on them. Then whether it is true: what a picture suggests, with baseline and cost,
// and controls in which no head does anything, though one is always first.
import {randomFrom, shuffled} from '../engine/numbers.js';
import {idOfPair, idOf} from '../engine/reports.js';
import {bars, digits, matrix, weightText} from '../draw/charts.js';
import {button, choice, dynamic, el, figure, note, tableOf} from '../draw/ui.js';
import {
  app, chosen, go, headsOf, lacking, memo, relation, run, scoresOf, task,
} from '../state/state.js';
import {costOf} from '../parts/heads.js';
import {chosenPicture, patternCommand} from '../parts/pattern.js';
import {spoken} from '../parts/questions.js';
import {
  controlExperiment, distancesFromKnown, likeOf, patternsOf, simulated,
} from '../engine/worked_example.js';
import {
  controlRow, fixed, hasRun, isRunWorld, lab, labChoice, lessonFacts, setLab,
} from './learn.js';
import {positionNodes} from './lesson_positions.js';

const QUIZ_CLASSES = [0, 1, 2, 3, 0, 1, 2, 3, 2, 1];
const quizPatterns = () => patternsOf(lessonFacts().patterns, QUIZ_CLASSES, true);

/// A head around each pattern, in an order and with noise that the seed decides.
const quizHeads = memo(() => String(lab('seed', 1)), () => {
  const random = randomFrom(lab('seed', 1));
  return shuffled(quizPatterns(), random).map((pattern) =>
    ({weights: simulated(pattern, QUIZ_CLASSES, {random, causal: true})}));
});

const quizTokens = () => QUIZ_CLASSES.map((c) => 'abcd'[c]);

/// One head of the quiz: its picture, a list to choose from, and after that what the distances say.
function quizNode(i) {
  const picture = (width) => {
    const {weights} = quizHeads()[i];
    return matrix({
      rowNames: quizTokens(), colNames: quizTokens(), values: Float32Array.from(weights.flat()),
      width: Math.min(width, 300), cell: 22,
      about: {name: `quiz-${i}`, title: `Head ${i + 1}`, sentence: ''},
      say: (r, c) => `query ${r} → key ${c}: ${fixed(weights[r][c])}`,
    });
  };
  const names = quizPatterns().map(({name}) => name);
  const answer = () => {
    const yours = names[lab(`a${i}`, -1)];
    if (!yours) return [];
    const {weights} = quizHeads()[i];
    const distances = distancesFromKnown(lessonFacts().patterns, weights, QUIZ_CLASSES, true);
    const like = likeOf(distances);
    const of = distances.find((x) => x.name === like);
    return `${yours === like ? '✓' : '✗'} ${like}: distance ${fixed(of?.distance, 3)}, of ` +
      `uniform attention ${fixed(of?.uniform, 3)}.`;
  };
  const options = [[-1, '…'], ...names.map((name, k) => [k, name])];
  return el('div', null, figure(picture, {id: `quiz-${i}`, most: 300}),
    labChoice(`a${i}`, `Head ${i + 1} looks at`, options, -1),
    dynamic('p', {id: `quiz-${i}-said`}, answer));
}

/// For each pattern the head of the run with the most attention on its keys, by the program.
function nearestTable() {
  const {heads} = hasRun() ? run().reports.heads || {} : {heads: []};
  if (!heads) return lacking('heads.json', 'Attention on known patterns is');
  const most = (name) => heads.filter(({patterns}) => patterns[name] != null)
    .sort((a, b) => b.patterns[name] - a.patterns[name])[0];
  const rows = Object.keys(heads[0]?.patterns ?? {}).filter(most).map((name) => [
    name, idOf(most(name)), weightText(most(name).patterns[name]),
    most(name).like === name ? 'it resembles the pattern' : '']);
  return rows.length ? tableOf('The run’s heads with the most attention on each pattern',
    ['pattern', 'head', 'attention', ''], rows) : [];
}

export const patternsLesson = {
  always: ['run', 'ex'],
  build(main) {
    main.append(
      el('div', {class: 'columns three'}, quizPatterns().map((_, i) => quizNode(i))),
      controlRow(button('Six others', () => go({lab: {seed: lab('seed', 1) + 1}}), {
        id: 'quiz-again',
      })),
      dynamic('div', {id: 'nearest'}, nearestTable), ...positionNodes());
  },
};

// ---- is it true --------------------------------------------------------------------------------

/// The mark of a relation in the table of a head's scores.
function truthMark(owns, best) {
  if (owns) return '★ the owner';
  return best ? 'best of this head' : '';
}

/// The answer to a reader’s guess, which is negative if there was none.
function guessWords(guess, right) {
  if (guess < 0) return 'You did not guess. ';
  return right ? 'Your guess is right. ' : 'Your guess is wrong. ';
}

/// The guess and the scores: [relation, mass, baseline, lift, p, conclusion] of the chosen head.
function truthTable(head) {
  const rows = scoresOf(head).filter(({score}) => score.mass != null);
  if (!rows.length)
    return lacking('heads.json', 'Scores are') ||
      note('The task has no ground truth for this head.');
  const best = rows.reduce((a, b) => (b.score.lift > a.score.lift ? b : a));
  const guess = lab('guess', -1);
  const cost = costOf([head]);
  const role = best.owns ? spoken(best.name) : 'none of these';
  const nothing = guess >= task().relations.length;
  const right = nothing ? !best.owns : best.owns && guess === best.i;
  return [
    tableOf(`Head ${head.at} against the truth`,
      ['relation', 'mass', 'baseline', 'lift', 'p', ''],
      rows.map(({name, score: s, owns}) => [
        spoken(name), ...[s.mass, s.baseline, s.lift, s.p].map((v) => fixed(v, 3)),
        truthMark(owns, name === best.name)])),
    el('p', {id: 'truth-conclusion'},
      el('b', null, `Head ${head.at} does ${role}. `),
      guessWords(guess, right),
      cost != null && `Switched off, it costs ${digits(cost)} nats.`),
    cost == null && lacking('ablation.json', 'The cost of ablating it is')];
}

/// Trained controls: [{task, accuracy, scores: heads.json}].
const trainedControls = () => app.page.facts.sweep?.controls?.tasks || [];
const controlNow = () => trainedControls()[lab('control', trainedControls().length ? 0 : -1)];

/// Each relation of a control with its first head: [{name, at, mass, null, lift, p, owner}].
const firstHeads = ({scores}) =>
  scores.relations.map(({name, best, owner}) => ({
    ...best, p: best.p_holm ?? best.p, name, at: idOf(best),
    owner: owner ? idOfPair(owner) : 'no head',
  }));

function trainedControlPicture(width, control) {
  const {owner} = app.page.facts;
  const [name] = control.task.split(':');
  const first = firstHeads(control);
  const words = ({name, at, lift, p, owner}) =>
    `On ${spoken(name)} head ${at} is first, with a lift of ${fixed(lift, 3)} ` +
      `(p = ${fixed(p, 3)}); ${owner} is its owner.`;
  return bars({
    width: Math.min(width, 560), unit: 'lift',
    tickName: `an owner has at least ${owner.lift}, and p < ${owner.p}`,
    low: -0.5, high: 0.5,
    rows: first.flatMap(({name, at}) => control.scores.heads.map((h) => ({
      name: `${idOf(h)} ${spoken(name)}`, value: h.scores[name].lift, tick: owner.lift,
      strong: at === idOf(h),
    }))),
    about: {
      name: 'control',
      title: `A model trained on ${name} (accuracy ${fixed(control.accuracy, 2)})`,
      sentence: first.map(words).join(' '),
    },
  });
}

function controlPicture(width) {
  if (controlNow()) return trainedControlPicture(width, controlNow());
  const made = controlExperiment(lab('seed', 1));
  const sorted = [...made.others].sort((a, b) => a - b);
  const line = sorted[Math.floor(0.99 * (sorted.length - 1))];
  return bars({
    width: Math.min(width, 560), unit: 'lift', tickName: '99 % of shuffled ground truths are below',
    low: Math.min(0, ...made.lifts), high: Math.max(0.2, ...made.lifts, line),
    rows: made.lifts.map((v, h) => ({
      name: `head ${h + 1}`, value: v, tick: line, strong: h === made.head,
    })),
    about: {
      name: 'control', title: 'Eight heads that attend at random',
      sentence: `Head ${made.head + 1} ranks first with a lift of ${fixed(made.best, 3)}; the ` +
        `best of eight does as well on ${fixed(100 * made.p, 0)} % of shuffled truths (p = ` +
        `${fixed(made.p, 3)}): ` + (made.p < 0.01
        ? 'a false alarm, which chance gives in one of a hundred draws.'
        : 'no head has this role.'),
    },
  });
}

/// Heads by number alone: a name would give the answer away.
const headToGuess = () => choice('guess-head', 'Head', headsOf().map((x) => [x.at, x.at]),
    (v) => go({h: v, lab: {...app.state.lab, open: 0, guess: -1}}), () => chosen()?.at);

function guessNodes() {
  const names = task().relations.map((r, i) => [i, spoken(r.name)]);
  const options = [[-1, '…'], ...names, [names.length, 'none of these']];
  return el('div', {class: 'columns'},
    figure((width) => chosenPicture(width, {rel: lab('open') ? relation() : -1}),
      {id: 'true-pattern', most: 480, again: patternCommand}),
    el('div', null,
      controlRow(headToGuess(), labChoice('guess', 'This head does', options, -1),
        button('Show the truth', () => setLab({open: 1}), {id: 'show-truth'})),
      dynamic('div', {id: 'truth'}, () => lab('open') && chosen() ? truthTable(chosen()) : [])));
}

export const trueLesson = {
  worlds: ['run'],
  build(main) {
    if (isRunWorld()) main.append(guessNodes());
    const trained = trainedControls();
    const controls = [
      ...trained.map(({task: name}, i) => [i, `trained on ${name.split(':')[0]}`]),
      [-1, 'heads drawn at random']];
    main.append(
      controlRow(trained.length > 0 && labChoice('control', 'Control', controls),
        button('Draw eight others', () => setLab({control: -1, seed: lab('seed', 1) + 1}), {
          id: 'control-again',
        })),
      figure(controlPicture, {
        id: 'control', most: 560,
        again: () => (controlNow() ? app.page.facts.sweep.controls.command : ''),
      }),
    );
  },
};
