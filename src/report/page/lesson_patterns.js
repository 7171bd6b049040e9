// Lesson 6: patterns to know by name, drawn with noise; the names come from distances, beside those
// of uniform attention; and the run's heads that are nearest to them.
import {randomFrom} from './core_losses.js';
import {range} from './draw.js';
import {matrix} from './charts.js';
import {againLine, button, dynamic, el, figure, tableOf} from './ui.js';
import {baseTrace, example, exampleIndex, go, headsOf, memo, run, task, where} from './state.js';
import {patternOf, tokenTexts} from './pattern.js';
import {KNOWN_PATTERNS, distancesFromKnown, likeOf, simulated} from './worlds.js';
import {controlRow, fixed, hasRun, lab, labChoice, setLab} from './learn.js';

const QUIZ_CLASSES = [0, 1, 2, 3, 0, 1, 2, 3, 2, 1];
export const QUIZ_NAMES = Object.keys(KNOWN_PATTERNS);

/// Six heads around the six patterns, in an order and with noise that the seed decides.
export const quizHeads = memo(
  () => String(lab('seed', 1)),
  () => {
    const random = randomFrom(lab('seed', 1));
    const names = [...QUIZ_NAMES];
    for (let i = names.length - 1; i > 0; --i) {
      const j = Math.floor(random() * (i + 1));
      [names[i], names[j]] = [names[j], names[i]];
    }
    return names.map((name) => ({name, weights: simulated(name, QUIZ_CLASSES, random)}));
  },
);

const quizTokens = () => QUIZ_CLASSES.map((c) => 'abcd'[c]);

/// A small pattern; `words(r, c)` says the numbers of a cell.
const smallPattern = (width, tokens, rows, {words, ...more}) =>
  matrix({
    rowNames: tokens, colNames: tokens, values: Float32Array.from(rows.flat()),
    width: Math.min(width, 300), ...more,
    say: (r, c) => `query ${r} ${tokens[r]} → key ${c} ${tokens[c]}: ${words(r, c)}`,
  });

function quizPicture(width, i) {
  const {weights} = quizHeads()[i];
  return smallPattern(width, quizTokens(), weights, {
    cell: 22, about: {name: `quiz-${i}`, title: `Head ${i + 1}`, sentence: ''},
    words: (r, c) => fixed(weights[r][c]),
  });
}

function quizAnswers() {
  if (!lab('open')) return [];
  let right = 0;
  const rows = quizHeads().map(({weights}, i) => {
    const distances = distancesFromKnown(weights, QUIZ_CLASSES);
    const [like, yours] = [likeOf(distances), QUIZ_NAMES[lab(`a${i}`, -1)]];
    const of = distances.find((x) => x.name === like);
    right += Number(yours === like);
    return [
      `head ${i + 1}`, yours || '–', `${yours === like ? '✓' : '✗'} ${like || 'none'}`,
      fixed(of?.distance, 3), fixed(of?.uniform, 3),
    ];
  });
  return [
    el('p', {id: 'quiz-score'}, `${right} of ${rows.length} right.`),
    tableOf(
      'Mean Jensen-Shannon distance from the pattern, and that of uniform attention: a head is ' +
        'like a pattern from which it is less than half as far',
      ['', 'yours', 'by distance', 'distance', 'of uniform'], rows,
    ),
  ];
}

/// For each pattern the head of the run whose rows are nearest to it on the example shown:
/// [{name, ideal, distance, uniform, head, weights}]; without patterns that say nothing of it.
const nearestHeads = memo(
  () => (hasRun() ? where() + Boolean(baseTrace()) : ''),
  () => {
    if (!hasRun() || !baseTrace()) return [];
    const tokens = Array.from(example().tokens.slice(0, example().length));
    const found = headsOf()
      .filter((x) => run().modules[x.m].kind === 'self')
      .flatMap((head) => {
        const {values, rows, cols} = patternOf(baseTrace(), head.m, head.place);
        const weights = range(rows, (t) => Array.from(values.subarray(t * cols, (t + 1) * cols)));
        const distances = distancesFromKnown(weights, tokens, task().causal);
        return distances.map((x) => ({...x, head, weights}));
      });
    return QUIZ_NAMES.flatMap((name) => {
      const heads = found.filter((x) => x.name === name && x.distance >= 0);
      return heads.length ? [heads.reduce((a, b) => (b.distance < a.distance ? b : a))] : [];
    });
  },
);

function nearestTable() {
  const rows = nearestHeads().map(({name, head, distance, uniform}) => [
    name, head.at, fixed(distance, 3), fixed(uniform, 3),
  ]);
  return rows.length
    ? tableOf(
        `The run’s nearest heads on example ${exampleIndex()} (mean Jensen-Shannon distance, at ` +
          `most .833; heads --like takes the mean over 64 examples)`,
        ['pattern', 'nearest head', 'distance', 'of uniform'], rows,
      )
    : [];
}

/// A pattern as it would be, or the run's head that is nearest to it.
function knownPicture(width, i, real) {
  const found = nearestHeads()[i];
  if (!found) return null;
  const tokens = tokenTexts(example().tokens).slice(0, found.ideal.length);
  return smallPattern(width, tokens, real ? found.weights : found.ideal, {
    cell: 18,
    about: {
      name: `known-${i}-${real ? 'run' : 'simulated'}`,
      title: real ? `Head ${found.head.at} of the run` : `Simulated: ${found.name}`,
      sentence: real ? `Distance ${fixed(found.distance, 3)}.` : '',
    },
    words: (r, c) =>
      `simulated ${fixed(found.ideal[r][c])} · head ${found.head.at} ${fixed(found.weights[r][c])}`,
  });
}

function knownFigures() {
  return el('div', {class: 'columns three'},
    [0, 1, 2].map((i) => {
      const group = [];
      return el('div', null,
        [false, true].map((real) =>
          figure((width) => knownPicture(width, i, real), {
            id: `known-${i}-${real ? 'run' : 'simulated'}`, most: 300, group,
            again: () => `headlab heads ${run().name} --pattern ${nearestHeads()[i]?.head.at}`,
          }),
        ),
      );
    }),
  );
}

export const patternsLesson = {
  always: ['ex'],
  build(main) {
    const options = [[-1, '…'], ...QUIZ_NAMES.map((name, i) => [i, name])];
    main.append(
      el('div', {class: 'columns three'},
        QUIZ_NAMES.map((_, i) =>
          el('div', null,
            figure((width) => quizPicture(width, i), {id: `quiz-${i}`, most: 300}),
            labChoice(`a${i}`, `Head ${i + 1} looks at`, options, -1),
          ),
        ),
      ),
      controlRow(button('Compare with the distances', () => setLab({open: 1}), {id: 'quiz-check'}),
        button('Six others', () => go({lab: {seed: lab('seed', 1) + 1}}), {id: 'quiz-again'}),
      ),
      dynamic('div', {id: 'quiz-answers'}, quizAnswers),
      dynamic('div', {id: 'nearest'}, nearestTable),
      ...(nearestHeads().length ? [knownFigures()] : []),
    );
    if (hasRun()) main.append(againLine(`headlab heads ${run().name} --like previous`));
  },
};
