// Lesson 6: patterns to know by name, drawn with noise; the names come from scores, beside chance; and
// the run's heads that are nearest to them.

const QUIZ_CLASSES = [0, 1, 2, 3, 0, 1, 2, 3, 2, 1];
const QUIZ_NAMES = [...Object.keys(KNOWN_PATTERNS), 'uniform'];

/// Six heads around the six habits, in an order and with noise that the seed decides.
const quizHeads = memo(
  () => String(lab('seed', 1)),
  () => {
    const random = numbersFrom(lab('seed', 1)),
      names = [...QUIZ_NAMES];
    for (let i = names.length - 1; i > 0; --i) {
      const j = Math.floor(random() * (i + 1));
      [names[i], names[j]] = [names[j], names[i]];
    }
    return names.map((name) => ({
      name,
      weights: simulated(name, QUIZ_CLASSES, 0.75).map((row) => {
        const noisy = row.map((v) => v * Math.exp(0.5 * (random() - 0.5)) + 0.02 * random());
        const sum = noisy.reduce((a, b) => a + b, 0);
        return noisy.map((v) => v / sum);
      }),
    }));
  },
);

const quizTokens = () => QUIZ_CLASSES.map((c) => 'abcd'[c]);

function quizPicture(width, i) {
  const {weights} = quizHeads()[i];
  return matrix({
    rowNames: quizTokens(),
    colNames: quizTokens(),
    values: Float32Array.from(weights.flat()),
    width: Math.min(width, 300),
    cell: 22,
    about: {name: `quiz-${i}`, title: `Head ${i + 1}`, sentence: ''},
    say: (r, c) =>
      `query ${r} ${quizTokens()[r]} → key ${c} ${quizTokens()[c]}: ${fixed(weights[r][c])}`,
  });
}

function quizAnswers() {
  if (!lab('open')) return [];
  let right = 0;
  const rows = quizHeads().map(({weights}, i) => {
    const {best, scores} = nameOfPattern(weights, QUIZ_CLASSES),
      yours = QUIZ_NAMES[lab(`a${i}`, -1)];
    const of = scores.reduce((a, b) => (b.lift > a.lift ? b : a));
    right += Number(yours === best);
    return [
      `head ${i + 1}`,
      yours || '–',
      `${yours === best ? '✓' : '✗'} ${best}`,
      of.name,
      fixed(of.mass, 3),
      fixed(of.chance, 3),
      fixed(of.lift, 3),
    ];
  });
  return [
    el('p', {id: 'quiz-score'}, `${right} of ${rows.length} right.`),
    tableOf(
      {head: ['', 'yours', 'by score', 'best habit', 'mass', 'chance', 'lift'], rows},
      'Lift is (mass − chance) / (1 − chance); below .3 there is no habit',
    ),
  ];
}

/// For each habit the head of the run whose rows are nearest to it on the example shown:
/// [{name, ideal, head, weights, distance}]; empty where there is none.
const nearestHeads = memo(
  () => (hasRun() ? where() + Boolean(baseTrace()) : ''),
  () => {
    if (!hasRun() || !baseTrace()) return [];
    const classes = Array.from(example().tokens.slice(0, example().length));
    const {causal} = task();
    const heads = headsOf(run())
      .filter((x) => run().modules[x.m].kind === 'self')
      .map((x) => {
        const {values, rows, cols} = patternOf(baseTrace(), x.m, x.place);
        return {
          head: x,
          weights: Array.from({length: rows}, (_, t) =>
            Array.from(values.subarray(t * cols, (t + 1) * cols)),
          ),
        };
      });
    return (heads.length ? QUIZ_NAMES : []).map((name) => {
      const ideal = simulated(name, classes, 1).map((row, t) => {
        const seen = row.map((v, s) => (causal && s > t ? 0 : v));
        const sum = seen.reduce((a, b) => a + b, 0);
        return seen.map((v) => v / (sum || 1));
      });
      const far = heads.map((x) => ({
        ...x,
        distance:
          x.weights.reduce((sum, row, t) => sum + core.jsDistance(row, ideal[t]), 0) /
          x.weights.length,
      }));
      return {
        name,
        ideal,
        classes,
        causal,
        ...far.reduce((a, b) => (b.distance < a.distance ? b : a)),
      };
    });
  },
);

function nearestTable() {
  const rows = nearestHeads().map(({name, head, weights, distance, classes, causal}) => {
    const score = name === 'uniform' ? null : scoreOfPattern(weights, name, classes, causal);
    return [
      name,
      head.at,
      fixed(distance, 3),
      ...(score ? [score.mass, score.chance, score.lift].map((v) => fixed(v, 3)) : ['', '', '']),
    ];
  });
  return rows.length
    ? tableOf(
        {head: ['habit', 'nearest head', 'distance', 'mass', 'chance', 'lift'], rows},
        `The run’s nearest heads on example ${exampleIndex()} (mean Jensen-Shannon distance, at most .833)`,
      )
    : [];
}

/// A habit as it would be, or the run's head that is nearest to it.
function habitPicture(width, i, real) {
  const found = nearestHeads()[i];
  if (!found) return null;
  const tokens = tokenTexts(example().tokens).slice(0, found.ideal.length);
  const rows = real ? found.weights : found.ideal;
  return matrix({
    rowNames: tokens,
    colNames: tokens,
    values: Float32Array.from(rows.flat()),
    width: Math.min(width, 300),
    cell: 18,
    about: {
      name: `habit-${i}-${real ? 'run' : 'simulated'}`,
      title: real ? `Head ${found.head.at} of the run` : `Simulated: ${found.name}`,
      sentence: real ? `Distance ${fixed(found.distance, 3)}.` : '',
    },
    say: (r, c) =>
      `query ${r} ${tokens[r]} → key ${c} ${tokens[c]}: simulated ${fixed(found.ideal[r][c])} · head ${found.head.at} ${fixed(found.weights[r][c])}`,
  });
}

function habitFigures() {
  return el(
    'div',
    {class: 'columns three'},
    [0, 1, 2].map((i) => {
      const group = [];
      return el(
        'div',
        null,
        [false, true].map((real) =>
          figure((width) => habitPicture(width, i, real), {
            id: `habit-${i}-${real ? 'run' : 'simulated'}`,
            most: 300,
            group,
            again: () => `headlab heads ${run().name} --pattern ${nearestHeads()[i]?.head.at}`,
          }),
        ),
      );
    }),
  );
}

LESSONS[5] = {
  always: ['ex'],
  build(main) {
    const options = [[-1, '…'], ...QUIZ_NAMES.map((name, i) => [i, name])];
    main.append(
      el(
        'div',
        {class: 'columns three'},
        QUIZ_NAMES.map((_, i) =>
          el(
            'div',
            null,
            figure((width) => quizPicture(width, i), {id: `quiz-${i}`, most: 300}),
            labChoice(`a${i}`, `Head ${i + 1} looks at`, options, -1),
          ),
        ),
      ),
      controlRow(
        button('Compare with the scores', () => setLab({open: 1}), {id: 'quiz-check'}),
        button('Six others', () => go({lab: {seed: lab('seed', 1) + 1}}), {id: 'quiz-again'}),
      ),
      dynamic('div', {id: 'quiz-answers'}, quizAnswers),
      dynamic('div', {id: 'nearest'}, nearestTable),
      ...(nearestHeads().length ? [habitFigures()] : []),
    );
    if (hasRun())
      main.append(
        el('p', {class: 'again'}, 'again: ', code(`headlab heads ${run().name} --like previous`)),
      );
  },
};
