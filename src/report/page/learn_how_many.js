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
    el('p', {id: 'uniform-rows'},
      `d_k = ${heads[0].q[0].length}. ${all} of ${H * world.tokens.length} rows are even${all ? ', because their query is 0' : ''}; diversity ${fixed(diversityOf(heads.map((head) => head.weights)))}.`,
    ),
    tableOf(
      {
        head: ['head', 'entropy', 'focus', 'even rows'],
        rows: heads.map((head, h) => [
          headNames(world, H)[h], fixed(entropyOf(head.weights), 3),
          `${fixed(100 * focusOf(head.weights), 1)} %`, String(uniform[h]),
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

/// How diverse trained heads are: of a sweep by the number of heads, with every seed and the interval
/// over seeds; else of each run of the page, over examples.
const trainedDiversity = memo(
  () => String(app.check?.ok),
  () => {
    const groups = (app.page.facts.sweep?.groups || []).filter((g) => g.diversity?.mean != null);
    if (groups.length)
      return groups.map((g) => ({
        name: g.name, heads: headCount(g), mean: g.diversity.mean, half: g.diversity.half_width,
        seeds: g.diversities,
      }));
    return app.page.runs
      .filter((r) => isLive(r) && r.facts.parameters < 2e5)
      .map((r) => ({name: r.name, ...diversityOfRun(r), seeds: []}));
  },
);

function diversityWords(trained) {
  if (!trained.length) return '';
  const values = trained
    .filter((x) => x.heads > 1)
    .map((x) => `${x.heads}: ${fixed(x.mean, 3)}${x.half != null ? ` ± ${fixed(x.half, 3)}` : ''}`);
  const over = trained[0].seeds.length
    ? `95 % intervals over ${trained[0].seeds.length} seeds, Student’s t; crosses: single seeds`
    : '95 % intervals over 12 examples of one model, which say nothing of other seeds';
  return ` Trained: ${values.join(', ')} (${over}).`;
}

const randomWorld = (name) => lessonFacts().random.find((one) => one.name === name);

function diversityPicture(width) {
  const random = randomWorld('diversity').counts.map((x) => [x.heads, diversityOf(x.patterns)]);
  const trained = trainedDiversity();
  return plot({
    width, height: 300,
    series: [
      {name: 'random weights', points: random, color: 's5', shape: 'cross', dash: [2, 3]},
      ...(trained.length
        ? [
            {
              name: 'trained', line: trained.some((x) => x.seeds.length), color: 's1',
              shape: 'diamond', r: 5,
              points: trained.map((x) =>
                x.half == null ? [x.heads, x.mean] : [x.heads, x.mean, x.mean - x.half, x.mean + x.half],
              ),
            },
          ]
        : []),
      ...(trained.some((x) => x.seeds.length)
        ? [
            {
              name: 'single seeds', line: false, color: 's1', shape: 'cross', r: 3,
              points: trained.flatMap((x) => x.seeds.map((v) => [x.heads, v])),
            },
          ]
        : []),
    ],
    x: {label: 'heads', names: [...new Set([1, 2, 4, 8, ...trained.map((x) => x.heads)])]},
    y: {label: 'mean JS distance', low: 0, high: 0.84},
    about: {
      name: 'diversity', title: 'Diversity against the number of heads',
      sentence: `Random weights: ${random.map(([h, v]) => `${h}: ${fixed(v)}`).join(', ')}. It does not grow from 2 to 8.${diversityWords(trained)}`,
    },
  });
}

function entropyTable() {
  const {counts, tokens} = randomWorld('entropy');
  return tableOf(
    {
      head: ['head', 'entropy', 'focus'],
      rows: counts[0].patterns.map((p, h) => [
        String(h + 1), fixed(entropyOf(p), 3), `${fixed(100 * focusOf(p), 1)} %`,
      ]),
    },
    `Four heads with random weights on “${tokens.join(' ')}”; even attention has ln ${tokens.length} = ${fixed(Math.log(tokens.length), 3)}`,
  );
}

/// The trained models that share the task of the one shown, from few heads to many.
const familyOf = () =>
  app.page.runs
    .map((r, i) => ({r, number: i + 1, heads: headsOf(r)}))
    .filter(
      ({r, heads}) =>
        isLive(r) &&
        r.task === task() &&
        r.modules.length === run().modules.length &&
        heads.length > 0 &&
        heads.length <= 16,
    )
    .sort((a, b) => a.heads.length - b.heads.length);

const familyPatterns = memo(where, () =>
  familyOf().map(({r, number, heads}) => {
    const pass = core.forward(r.model, example(), {});
    const maps = heads.map((x) => ({...x, ...patternOf(pass, x.m, x.place), owns: ownedBy(x, r)}));
    return {r, number, maps};
  }),
);

/// All heads of all models on one input: a row for each model.
function familyPicture(width) {
  const family = familyPatterns(),
    most = Math.max(...family.map(({maps}) => maps.length)),
    relations = task().facts.relations.length;
  const [left, gap, foot] = [64, 6, 30];
  const side = Math.min(104, (width - left) / most - gap);
  const box = (i, h) => [left + h * (side + gap), 4 + i * (side + foot), side, side];
  const small = (x, y, words, more) => label(x, y, words, {size: 11, ...more});
  const items = family.flatMap(({r, maps}, i) => [
    small(0, box(i, 0)[1] + 8, `${maps.length} head${maps.length > 1 ? 's' : ''}`, {bold: true}),
    small(0, box(i, 0)[1] + 24, `loss ${digits(r.facts.evaluation.loss, 2)}`, {fill: 'muted'}),
    ...maps.flatMap((map, h) => {
      const [x, y, w] = box(i, h);
      return [
        {type: 'map', x, y, w, h: w, kind: 'weight', top: 1, ...map},
        rect(x, y, w, w, {stroke: 'edge'}),
        small(x, y + w + 9, shortened(map.owns.join(' ') || '–', w + gap, 11), {
          bold: map.owns.length > 0, fill: map.owns.length ? 'ink' : 'muted',
        }),
      ];
    }),
  ]);
  const owned = ({maps}) => new Set(maps.flatMap((map) => map.owns)).size;
  return {
    name: 'family',
    title: `${family.length} trained models on example ${exampleIndex()}`,
    sentence: `Below a head stands the relation that it owns. Relations that are owned, of ${relations}: ${family.map((x) => `${owned(x)} with ${x.maps.length}`).join(', ')} heads. Choose a head to look at its model.`,
    width, height: 4 + family.length * (side + foot), items,
    table: () => ({
      head: ['heads', 'loss', 'head', 'owns', 'entropy on this example'],
      rows: family.flatMap(({r, maps}) =>
        maps.map((map) => [
          maps.length, tableNumber(r.facts.evaluation.loss), map.at,
          map.owns.join(' ') || 'nothing', tableNumber(core.entropy(map.values) / map.rows),
        ]),
      ),
    }),
    marks: {
      rows: family.length, cols: (i) => family[i].maps.length, box,
      find(x, y) {
        const [i, h] = [Math.floor((y - 4) / (side + foot)), Math.floor((x - left) / (side + gap))];
        return i >= 0 && h >= 0 && family[i]?.maps[h] ? [i, h] : null;
      },
      text: (i, h) =>
        `${family[i].maps.length} heads, head ${family[i].maps[h].at}: ${family[i].maps[h].owns.length ? `owns ${family[i].maps[h].owns.join(' and ')}` : 'owns no relation'}`,
    },
  };
}

LESSONS[6] = {
  get always() {
    return familyOf().length > 1 ? ['ex'] : null;
  },
  worlds: ['five-tokens', 'cat-sleeps', 'run'],
  build(main) {
    const world = lessonWorld(),
      choices = isRunWorld() ? [world.heads] : [1, 2, 4];
    main.append(
      controlRow(labChoice('heads', 'Heads', choices.map((H) => [H, String(H)]), world.heads)),
      dynamic('div', {id: 'split'}, () => splitTable(world)),
      el('div', {class: 'columns three', id: 'split-heads'},
        Array.from({length: Math.max(...choices)}, (_, h) =>
          figure(
            (width) => {
              const {H, heads} = splitNow(world);
              return h < H
                ? weightsPicture(width, world, heads[h].weights, {
                    name: `split-${h}`, title: `Head ${headNames(world, H)[h]}`,
                  })
                : null;
            },
            {id: `split-${h}`, most: isRunWorld() ? 280 : 380, again: explainCommand('attention')},
          ),
        ),
      ),
      el('div', {class: 'columns'}, el('div', {id: 'entropy'}, entropyTable()),
        figure(diversityPicture, {id: 'diversity', most: 600, again: 'headlab explain diversity'}),
      ),
    );
    if (familyOf().length > 1)
      main.append(
        figure(familyPicture, {
          id: 'family', most: 960, again: app.page.facts.sweep?.command,
          choose: (i, h) =>
            go({
              world: 'run', run: familyPatterns()[i].number, h: familyPatterns()[i].maps[h].at,
              ex: exampleIndex(), lab: {},
            }),
        }),
      );
  },
};
