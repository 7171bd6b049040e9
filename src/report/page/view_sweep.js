// A sweep: the knee with every seed as a dot, a table of all groups, and a slider over the number of
// heads that shows the trained models on one input.

const sweepGroups = () => app.page.facts.sweep.groups;
/// The heads of a layer; NaN where layers differ.
const headCount = (group) => Number(group.model.heads);
const spread = (v) =>
  v?.mean == null
    ? '–'
    : `${digits(v.mean, 3)}${v.half_width != null ? ` ± ${digits(v.half_width, 2)}` : ''}`;

function kneePicture(width) {
  const groups = sweepGroups()
    .filter((g) => headCount(g) >= 0)
    .sort((a, b) => headCount(a) - headCount(b));
  const tasks = [...new Set(groups.map((g) => g.task))];
  const positive = (v) => Math.max(v, 1e-9);
  const series = tasks.flatMap((name, i) => {
    const mine = groups.filter((g) => g.task === name);
    const means = mine.map((g) => {
      const {mean, half_width: half} = g.loss;
      if (half == null) return [headCount(g), positive(mean)];
      const low = Math.max(mean - half, Math.min(...g.losses) / 2);
      return [headCount(g), positive(mean), positive(low), mean + half];
    });
    const seeds = mine.flatMap((g) =>
      g.losses.filter((v) => v != null).map((v) => [headCount(g), positive(v)]),
    );
    const color = SERIES[i % 7];
    return [
      {
        name: tasks.length > 1 ? name.split(':')[0] : 'mean', points: means, color,
        shape: SHAPES[i % 4],
      },
      {name: 'single seeds', points: seeds, line: false, hollow: true, r: 4, color, shape: 'circle'},
    ];
  });
  const comparison = app.page.facts.sweep.comparisons?.[0];
  return plot({
    width, height: 360, series,
    x: {label: 'heads', names: [...new Set(groups.map(headCount))]},
    y: {label: 'loss (nats, log)', log: true},
    about: {
      name: 'knee', title: 'Loss against the number of heads',
      sentence: comparison
        ? `${comparison.enough} is enough: ${comparison.one} loses ${spread(comparison.loss_gain)} nats against ${comparison.best}.${comparison.equal_parameters ? ' The numbers of parameters are equal.' : ''}`
        : `${groups.length} groups of runs; lines are 95 % intervals, dots single seeds.`,
    },
  });
}

VIEWS.push({
  name: 'sweep', title: 'Sweep', uses: ['ex'], available: (page) => Boolean(page.facts.sweep),
  build(main) {
    const {sweep} = app.page.facts;
    const rows = sweepGroups().map((g) => [
      g.name, g.parameters, spread(g.loss), spread(g.accuracy), spread(g.specialization),
      g.losses.map((v) => (v == null ? 'failed' : digits(v, 3))).join('  '),
    ]);
    main.append(
      figure(kneePicture, {id: 'knee', most: 860, again: sweep.command}),
      tableOf('Mean ± 95 % interval over seeds',
        ['group', 'parameters', 'loss', 'accuracy', 'own a head', 'each seed'], rows,
      ),
    );
    if (sweep.missing?.length)
      main.append(
        note(
          `Not finished: ${sweep.missing.map((m) => m.name || m).join(', ')}. `,
          code(sweep.command), ' goes on where it stopped.',
        ),
      );
    if (!app.page.runs.length) return;
    const slider = sliderOf('sweep-run', 'Heads', {
      min: 1, max: app.page.runs.length, step: 1, 'aria-label': 'number of heads',
      value: () => app.state.run, words: () => `${headsOf().length} (${run().name})`,
      act(number) {
        go({run: number, h: null});
        byId('sweep-run').focus();
      },
    });
    main.append(
      el('h3', null, 'The trained models on one input'), el('p', null, slider),
      verdict(run()), headGrid(),
    );
  },
});
