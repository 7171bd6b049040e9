// Lesson 7: the same width in 1, 2 or 4 heads; focus and diversity of heads with random weights, as an
// article prints them, and of the trained models of this page.

const splitNow = (world) => {
  const H = lab('heads', world.heads);
  return {H, heads: headsOfWorld(world, H)};
};

function splitTable(world) {
  const {H, heads} = splitNow(world),
    n = world.keys.length;
  const uniform = heads.map((head) => head.weights.filter(isUniform).length);
  const all = uniform.reduce((a, b) => a + b, 0);
  return [
    el(
      'p',
      {id: 'uniform-rows'},
      `d_k = ${heads[0].q[0].length}. ${all} of ${H * world.tokens.length} rows are even${all ? ', because their query is 0' : ''}; diversity ${fixed(diversityOf(heads.map((head) => head.weights)))}.`,
    ),
    tableOf(
      {
        head: ['head', 'entropy', 'focus', 'even rows'],
        rows: heads.map((head, h) => [
          headNames(world, H)[h],
          fixed(entropyOf(head.weights), 3),
          `${fixed(100 * focusOf(head.weights), 1)} %`,
          String(uniform[h]),
        ]),
      },
      `Entropy of even attention over ${n} keys: ln ${n} = ${fixed(Math.log(n), 3)}`,
    ),
  ];
}

/// Diversity of the heads of a run's first self-attention: of each of some examples, as the mean
/// with a 95 % interval.
function diversityOfRun(r, examples = 12) {
  const m = r.modules.findIndex((x) => x.kind === 'self' && x.heads.length > 1);
  if (m < 0) return {heads: r.modules[0]?.heads.length || 0, mean: 0, half: 0};
  const set = r.task.set('scored'),
    count = Math.min(examples, set.size);
  const each = Array.from({length: count}, (_, i) => {
    const pass = core.forward(r.model, set.example(i), {}),
      {queries, keys} = pass.modules[m];
    const patterns = r.modules[m].heads.map((_, place) => {
      const values = pass.pattern(m, place);
      return Array.from({length: queries}, (__, t) =>
        Array.from(values.subarray(t * keys, (t + 1) * keys)),
      );
    });
    return diversityOf(patterns);
  });
  const mean = each.reduce((a, b) => a + b, 0) / count;
  const variance = each.reduce((sum, v) => sum + (v - mean) ** 2, 0) / Math.max(1, count - 1);
  return {heads: r.modules[m].heads.length, mean, half: 1.96 * Math.sqrt(variance / count)};
}

const trainedDiversity = memo(
  () => String(app.check?.ok),
  () =>
    app.page.runs
      .filter((r) => isLive(r) && r.facts.parameters < 2e5)
      .map((r) => ({name: r.name, ...diversityOfRun(r)})),
);

const randomWorld = (name) => lessonFacts().random.find((one) => one.name === name);

function diversityPicture(width) {
  const random = randomWorld('diversity').counts.map((x) => [x.heads, diversityOf(x.patterns)]);
  const trained = trainedDiversity();
  return plot({
    width,
    height: 300,
    series: [
      {name: 'random weights', points: random, color: 's5', shape: 'cross', dash: [2, 3]},
      ...(trained.length
        ? [
            {
              name: 'trained',
              line: false,
              color: 's1',
              shape: 'diamond',
              r: 5,
              points: trained.map((x) => [x.heads, x.mean, x.mean - x.half, x.mean + x.half]),
            },
          ]
        : []),
    ],
    x: {label: 'heads', names: [1, 2, 4, 8]},
    y: {label: 'mean JS distance', low: 0, high: 0.84},
    about: {
      name: 'diversity',
      title: 'Diversity against the number of heads',
      sentence: `Random weights: ${random.map(([h, v]) => `${h}: ${fixed(v)}`).join(', ')}. It does not grow from 2 to 8.${trained.length ? ` Trained: ${trained.map((x) => `${x.name.split('/').pop()} ${fixed(x.mean, 3)} ± ${fixed(x.half, 3)}`).join(', ')}.` : ''}`,
    },
  });
}

function entropyTable() {
  const {counts, tokens} = randomWorld('entropy');
  return tableOf(
    {
      head: ['head', 'entropy', 'focus'],
      rows: counts[0].patterns.map((p, h) => [
        String(h + 1),
        fixed(entropyOf(p), 3),
        `${fixed(100 * focusOf(p), 1)} %`,
      ]),
    },
    `Four heads with random weights on “${tokens.join(' ')}”; even attention has ln ${tokens.length} = ${fixed(Math.log(tokens.length), 3)}`,
  );
}

LESSONS[6] = {
  worlds: ['five-tokens', 'cat-sleeps', 'run'],
  build(main) {
    const world = lessonWorld(),
      choices = isRunWorld() ? [world.heads] : [1, 2, 4];
    main.append(
      controlRow(
        labChoice(
          'heads',
          'Heads',
          choices.map((H) => [H, String(H)]),
          world.heads,
        ),
      ),
      dynamic('div', {id: 'split'}, () => splitTable(world)),
      el(
        'div',
        {class: 'columns three', id: 'split-heads'},
        Array.from({length: Math.max(...choices)}, (_, h) =>
          figure(
            (width) => {
              const {H, heads} = splitNow(world);
              return h < H
                ? weightsPicture(width, world, heads[h].weights, {
                    name: `split-${h}`,
                    title: `Head ${headNames(world, H)[h]}`,
                  })
                : null;
            },
            {id: `split-${h}`, most: isRunWorld() ? 280 : 380, again: explainCommand('attention')},
          ),
        ),
      ),
      el(
        'div',
        {class: 'columns'},
        el('div', {id: 'entropy'}, entropyTable()),
        figure(diversityPicture, {id: 'diversity', most: 520, again: 'headlab explain diversity'}),
      ),
    );
  },
};
