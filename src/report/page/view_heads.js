// Overview: the verdict, and every head as a small map with its score beside chance. The grid is one
// stop of the Tab key; arrows move in it (the ARIA grid pattern). Pruned heads keep their cell.

/// The verdict in pieces; what it speaks of is a link away. Runs of this page that were pruned from
/// this one follow.
function verdict(r) {
  const pruned = app.page.runs.filter(({facts}) => app.page.runs[facts.parent] === r);
  return el('p', {class: 'verdict', id: 'verdict-live'},
    r.facts.verdict.map(({text: words, head: h, relation: rel, view}) =>
      h || view
        ? link(words, () => go(view ? {view} : {view: 'head', h, rel: rel || null}))
        : words,
    ),
    pruned.map((child) => [
      link(`${child.name} keeps ${headsOf(child).length} of them`, () =>
        go({run: app.page.runs.indexOf(child) + 1, h: null}),
      ),
      `: loss ${digits(child.facts.evaluation.loss)}${child.reports.prune?.finetuned ? ` after ${child.reports.prune.finetuned} steps of fine-tuning` : ''}. `,
    ]),
  );
}

/// What the relations ask for.
const meanings = ({relations}) =>
  relations.length > 0 &&
  relations.length <= 8 &&
  el('p', {class: 'small muted', id: 'meanings'},
    relations.map((r, i) => [i > 0 && ' · ', el('b', null, r.name), ` ${r.description}`]),
  );

VIEWS.push({
  name: 'heads', title: 'Overview', uses: ['ex', 'step'], available: (page) => page.runs.length > 0,
  build(main) {
    const heads = headsOf();
    main.append(verdict(run()), meanings(task()) || '');
    if (!run().modules.length)
      return main.append(
        note(
          'This model has 0 layers, so it has no heads. Its loss is what embedding and unembedding alone can do.',
        ),
      );
    main.append(
      el('div', {class: 'controls'},
        choice('sort', 'Sort by', sortings().map(([name]) => [name, name]),
          (v) => {
            go({sort: v});
            say(`Heads sorted by ${v}.`);
          },
          () => app.state.sort,
        ),
        task().length <= 256 &&
          choice('thumb', 'Maps show',
            [['example', 'this example'], ['mean', 'the mean over examples']],
            (v) => go({thumb: v}), () => app.state.thumb,
          ),
        el('span', {class: 'muted'}, '★ owns the relation · bar: attention on its truth · ',
          el('b', null, '┃'), ' chance',
        ),
      ),
    );
    main.append(headGrid(), lacking('heads.json', 'Scores of heads against the truth are') || '');
    const picture = () => gridPicture(Math.min(900, Math.max(300, main.clientWidth)));
    const table = el('div', {hidden: true});
    const command = `headlab heads ${run().name} --all`;
    main.append(
      el('figure', null,
        el('div', {class: 'tools'},
          button('Table',
            () => {
              const {head, rows} = picture().table();
              table.hidden = !table.hidden;
              table.replaceChildren(tableOf('All heads', head, rows, 200));
            },
            {class: 'table-button', id: 'grid-table'},
          ),
          saveButtons(picture, () => command),
        ),
        table, againLine(command),
      ),
    );
    if (heads.length && task().relations.length && run().reports.heads)
      main.append(
        figure((width) => relationMatrix(width), {
          id: 'heads-by-relations', again: `headlab heads ${run().name}`,
          choose: (r, c) =>
            go({view: 'head', h: headsOf()[r].at, rel: task().relations[c].name}),
        }),
      );
    main.append(...headsScatter());
  },
});

/// Heads x relations, shaded by lift: ● owns it; ○ is best on it, but owns nothing.
function relationMatrix(width) {
  const {relations} = task();
  const heads = headsOf();
  const scores = heads.map((x) =>
    relations.map((r, i) =>
      r.kind === run().modules[x.m].kind ? core.reportScore(run(), i, x.m, x.place) : null,
    ),
  );
  const values = Float32Array.from(scores.flat(), (s) =>
    s && s.lift != null ? Math.max(s.lift, 0) : NaN,
  );
  const owners = relations.map((_, i) => core.owner(run(), i));
  const leaders = relations.map((_, i) =>
    heads.findIndex(
      (x, h) =>
        scores[h][i] && scores.every((row) => !row[i] || !(row[i].lift > scores[h][i].lift)),
    ),
  );
  const owned = owners.filter(Boolean).length;
  return matrix({
    rowNames: heads.map((x) => x.at), colNames: relations.map((r) => r.name), values,
    width: Math.min(width, 90 + relations.length * 64), cell: 64, tall: 24, leastTall: 20,
    about: {
      name: 'heads-by-relations', title: 'Heads by relations (lift)',
      sentence: `${owned} of ${relations.length} relations have an owner (●). ○: the best head, but not enough to own it.`,
    },
    over: (box) =>
      relations.flatMap((_, i) => {
        const r = owners[i]
          ? heads.findIndex((x) => x.m === owners[i].m && x.place === owners[i].place)
          : leaders[i];
        if (r < 0) return [];
        const [x, y, w, h] = box(r, i);
        return [
          {
            type: 'dot', shape: 'circle', x: x + w / 2, y: y + h / 2, r: 6,
            fill: owners[i] ? 'ink' : 'paper', stroke: owners[i] ? 'paper' : 'ink', thick: 2,
          },
        ];
      }),
    say: (r, c) => {
      const s = scores[r][c];
      return `Head ${heads[r].at}, ${relations[c].name}: ${s ? `lift ${digits(s.lift, 3)}, mass ${digits(s.mass, 3)}, chance ${digits(s.null, 3)}, p ${digits(s.p, 2)}` : 'not asked of this module'}`;
    },
  });
}
