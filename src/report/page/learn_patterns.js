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

/// For each habit the head of the run whose rows are nearest to it on the example shown.
function nearestTable() {
  if (!hasRun() || !baseTrace()) return [];
  const classes = Array.from(example().tokens.slice(0, example().length)),
    {causal} = task();
  const heads = headsOf(run())
    .filter((x) => run().modules[x.m].kind === 'self')
    .map((x) => {
      const {values, rows, cols} = patternOf(baseTrace(), x.m, x.place);
      return {
        ...x,
        weights: Array.from({length: rows}, (_, t) =>
          Array.from(values.subarray(t * cols, (t + 1) * cols)),
        ),
      };
    });
  if (!heads.length) return [];
  const ideal = (name) =>
    simulated(name, classes, 1).map((row, t) => {
      const seen = row.map((v, s) => (causal && s > t ? 0 : v)),
        sum = seen.reduce((a, b) => a + b, 0);
      return seen.map((v) => v / (sum || 1));
    });
  const rows = QUIZ_NAMES.map((name) => {
    const far = heads.map((head) => ({
      head,
      distance:
        head.weights.reduce((sum, row, t) => sum + core.jsDistance(row, ideal(name)[t]), 0) /
        head.weights.length,
    }));
    const near = far.reduce((a, b) => (b.distance < a.distance ? b : a));
    const score =
      name === 'uniform' ? null : scoreOfPattern(near.head.weights, name, classes, causal);
    return [
      name,
      near.head.at,
      fixed(near.distance, 3),
      ...(score ? [score.mass, score.chance, score.lift].map((v) => fixed(v, 3)) : ['', '', '']),
    ];
  });
  return tableOf(
    {head: ['habit', 'nearest head', 'distance', 'mass', 'chance', 'lift'], rows},
    `The run’s nearest heads on example ${exampleIndex()} (mean Jensen-Shannon distance, at most .833)`,
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
    );
    if (hasRun())
      main.append(
        el('p', {class: 'again'}, 'again: ', code(`headlab heads ${run().name} --like previous`)),
      );
  },
};
