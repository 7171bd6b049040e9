// Two heads beside each other, cell by cell, and their difference; all distances; and two runs,
// before
// and after pruning or matched by what their heads look at; and where tokens lie in space.
import {drive, forwardPass, pca} from './core_pass.js';
import {cheapestPairs, distancesSteps, idOf, ownerOf, reportScore} from './core_losses.js';
import {range} from './draw.js';
import {digits, matrix, plot, shortened, small} from './charts.js';
import {button, choice, code, el, figure, note, tableOf} from './ui.js';
import {
  app, chosen, example, go, headName, headsOf, isLive, isSlow, lacking, noPattern, run, task,
  trace,
} from './state.js';
import {patternCommand, patternOf, patternPicture, sides} from './pattern.js';

const COMPARE_MODES = [
  ['difference', 'A − B'],
  ['before', 'A before pruning'], ['change', 'A now − A before pruning'],
];

/// The pattern of a head in the run that this one was pruned from, on the same example.
function beforePruning(head) {
  const {parent} = run();
  if (!parent?.model || parent.task !== task() || !isLive() || isSlow()) return null;
  const place = parent.modules[head.m].placeOf(head.born);
  return patternOf(forwardPass(parent.model, example(), {}), head.m, place);
}

function compared() {
  const [a, b] = [chosen('a'), chosen('b')];
  if (!a || !b)
    return note(
      'One of the two heads was removed when this run was pruned: its cell is empty in the ' +
        'overview. Choose another.',
    );
  if (!trace()) return noPattern();
  if (run().modules[a.m].kind !== run().modules[b.m].kind)
    return note(
      'These heads look from and at different tokens, so their cells cannot be compared.',
    );
  const [one, two] = [a, b].map((x) => patternOf(trace(), x.m, x.place));
  return {a, b, one, two};
}

function comparePicture(width, which) {
  const made = compared();
  if (made instanceof Node) return which === 'a' ? made : null;
  const {a, b, one, two} = made;
  const less = (other) => ({...one, values: one.values.map((v, i) => v - other.values[i])});
  const before = ['before', 'change'].includes(which) && beforePruning(a);
  if (before === null) return note('This run was not pruned from another one in this page.');
  const [values, title, kind] = {
    before: () => [before, `Head ${a.at} before pruning`],
    change: () => [less(before), `Head ${a.at}: now − before pruning`, 'sign'],
    a: () => [one, `A: head ${a.at}`], b: () => [two, `B: head ${b.at}`],
    difference: () => [less(two), `${a.at} − ${b.at}`, 'sign'],
  }[which]();
  return patternPicture(width, {
    head: which === 'b' ? b : a, values, title, kind,
    say: (t, s) => {
      const i = t * one.cols + s;
      const [x, y] = [one.values[i], two.values[i]];
      return `query ${t}, key ${s}: A ${digits(x)} · B ${digits(y)} · A − B ${digits(x - y)}`;
    },
  });
}

function distancePicture(width) {
  const {heads} = run().reports;
  if (!heads?.distances)
    return (
      lacking('heads.json', 'Distances of heads are') || note('This run has no distances of heads.')
    );
  const [order, names] = [neighbours(heads.distances), neighbourNames()];
  // heads of different kinds have no distance
  const at = (r, c) => heads.distances[order[r]][order[c]] ?? NaN;
  const values = Float32Array.from(order.flatMap((_, r) => order.map((__, c) => at(r, c))));
  let [least, pair] = [Infinity, ''];
  order.forEach((_, r) =>
    order.forEach((__, c) => {
      if (r < c && at(r, c) < least) [least, pair] = [at(r, c), `${names[r]} and ${names[c]}`];
    }),
  );
  return matrix({
    rowNames: names, colNames: names, values, top: Math.sqrt(Math.log(2)),
    width: Math.min(width, 520), cell: 36,
    about: {
      name: 'distances', title: 'Distances of heads',
      sentence: pair
        ? `Jensen-Shannon distance of patterns, 0 to √ln 2 = 0.833, similar heads together. ` +
          `Most alike: ${pair}, ${digits(least, 3)}.`
        : 'There is one head.',
    },
    say: (r, c) =>
      `heads ${names[r]} and ${names[c]}: distance ${digits(at(r, c))}; Enter compares them`,
  });
}

/// An order in which each head stands beside the nearest of those that are left.
function neighbours(distances) {
  const left = range(distances.length);
  const order = left.splice(0, 1);
  while (left.length) {
    const to = (i) => distances[order.at(-1)][i] ?? Infinity;
    const next = left.reduce((best, i) => (to(i) < to(best) ? i : best));
    order.push(...left.splice(left.indexOf(next), 1));
  }
  return order;
}

function neighbourNames() {
  const {distances, heads} = run().reports.heads;
  return neighbours(distances).map((i) => idOf(heads[i]));
}

/// Before and after pruning: each head as born, with what it did then and does now.
function prunedTable(child) {
  const {parent} = child;
  const {relations} = task();
  const ids = [...new Map([...headsOf(parent), ...headsOf(child)].map((x) => [x.at, x])).values()];
  const find = (r, at) => headsOf(r).find((x) => x.at === at);
  const score = (r, at, i) => {
    const x = find(r, at);
    return x ? reportScore(r, i, x.m, x.place)?.lift : null;
  };
  const rows = ids.map((x) => [
    x.at, find(child, x.at) ? 'kept' : '✕ removed',
    ...relations.map((_, i) => {
      const [before, after] = [score(parent, x.at, i), score(child, x.at, i)];
      return `${digits(before, 2)} → ${find(child, x.at) ? digits(after, 2) : '✕'}`;
    }),
  ]);
  const moves = relations.map((r, i) => {
    const [before, after] = [ownerOf(parent, i), ownerOf(child, i)];
    const name = (owner, of) =>
      owner ? headsOf(of).find((x) => x.m === owner.m && x.place === owner.place)?.at : null;
    const [was, is] = [name(before, parent), name(after, child)];
    if (!was) return `${r.name}: nobody owned it${is ? `; now ${is} does` : ''}.`;
    return was === is
      ? `${r.name}: ${was} still does it.`
      : `${r.name}: ${was} did it; ${is ? `${is} took it over` : 'nobody does now'}.`;
  });
  const loss = (r) => digits(r.facts.evaluation?.loss);
  return [
    el('h3', null, `Before and after pruning: ${parent.name} → ${child.name}`),
    el('p', null, `Loss ${loss(parent)} before, ${loss(child)} now. ${moves.join(' ')}`),
    tableOf('Each head by the number it was born with',
      ['head', '', ...relations.map((r) => `${r.name}: lift`)], rows,
    ),
  ];
}

/// Two runs of one task: heads matched so that their patterns differ least, on the same examples.
function matchRuns(out) {
  const other = app.page.runs[(app.state.run2 || 2) - 1];
  if (!other || other === run())
    return out.replaceChildren(note('Choose another run to match with.'));
  if (other.task !== run().task || !other.model || !isLive())
    return out.replaceChildren(
      note(
        'Their heads cannot be matched: the runs have different tasks or lengths, or no ' +
          'weights. Their tables stand in the overview.',
      ),
    );
  out.replaceChildren(note('Matching …'));
  return drive(distancesSteps(run(), other, {examples: 16})).then((distances) => {
    const [mine, theirs] = [headsOf(), headsOf(other)];
    const pairs = cheapestPairs(distances);
    const rows = mine.map((x, i) => {
      const j = pairs[i];
      const found = j != null && j >= 0;
      return [
        x.at, found ? theirs[j].at : '–', found ? distances[i][j] : null,
        found && distances[i].some((d, k) => k !== j && Math.abs(d - distances[i][j]) < 0.01)
          ? 'another is as near'
          : '',
      ];
    });
    out.replaceChildren(
      tableOf('Heads matched by the least total Jensen-Shannon distance',
        [run().name, other.name, 'distance', ''], rows,
      ),
    );
  });
}

export const compareView = {
  name: 'compare', place: 'Head', title: 'Compare', uses: ['ex', 'step'],
  available: (page) => page.runs.some((r) => headsOf(r).length > 1) || page.runs.length > 1,
  build(main) {
    const options = headsOf().map((x) => [x.at, headName(x)]);
    const group = [];
    const three = ['a', 'b', null].map((which) =>
      figure((width) => comparePicture(width, which || app.state.mode), {
        id: `compare-${which || 'mode'}`, group, most: 420,
        again: patternCommand(which === 'b' ? 'b' : 'a'),
      }),
    );
    main.append(
      el('div', {class: 'controls'},
        choice('pick-a', 'A', options, (v) => go({a: v}), () => chosen('a')?.at),
        choice('pick-b', 'B', options, (v) => go({b: v}), () => chosen('b')?.at),
        choice('mode', 'Third', COMPARE_MODES, (v) => go({mode: v}), () => app.state.mode),
      ),
      el('div', {class: 'columns three'}, three),
      figure(distancePicture, {
        id: 'distances', again: () => `headlab heads ${run().name} --map`,
        choose: (r, c) => {
          go({a: neighbourNames()[r], b: neighbourNames()[c]});
          window.scrollTo(0, 0);
        },
      }),
    );
    if (run().parent) main.append(...prunedTable(run()));
    const others = app.page.runs.filter((r) => r !== run());
    if (!others.length)
      return main.append(
        note('One run is in this page. Another beside it: ',
          code(`${app.page.facts.command} OTHER_RUN`),
        ),
      );
    const out = el('div');
    return main.append(
      el('h3', null, 'Two runs'),
      choice('pick-run2', 'Match the heads with',
        others.map((r) => [app.page.runs.indexOf(r) + 1, r.name]), (v) => go({run2: Number(v)}),
      ),
      ' ',
      button('Match',
        () => {
          if (!app.state.run2) app.state.run2 = app.page.runs.indexOf(others[0]) + 1;
          matchRuns(out);
        },
        {id: 'match'},
      ),
      out,
    );
  },
};

/// The queries and keys of one head in one plane, which shows why its pattern is what it is.
export function planePicture(width, head) {
  const module = trace().modules[head.m];
  if (!module.q) return note('Queries and keys need the weights, which are not in this page.');
  const {queries, keys} = sides(head.m);
  const {dHead, kvHead, kvBlocks, heads} = run().modules[head.m];
  // the columns of one block of several, of the first n rows
  const cut = (values, n, block, blocks) =>
    range(n).flatMap((t) => [...values.subarray((t * blocks + block) * dHead).subarray(0, dHead)]);
  const points = [
    ...cut(module.q, queries.length, head.place, heads.length),
    ...cut(module.k, keys.length, kvHead[head.place], kvBlocks.length),
  ];
  const {projected, share} = pca(points, queries.length + keys.length, dHead);
  const from = (first, n) => range(n, (i) => [...projected.subarray(2 * (first + i)).slice(0, 2)]);
  const words = [queries.map((w, i) => `q${i} ${w}`), keys.map((w, i) => `k${i} ${w}`)];
  const picture = plot({
    width, height: Math.min(420, width * 0.75), names: false,
    x: {label: `first axis, ${digits(100 * share[0], 3)} % of the variance`},
    y: {label: `second, ${digits(100 * share[1], 3)} %`},
    series: [
      {name: 'query', points: from(0, queries.length), shape: 'triangle', color: 's1'},
      {name: 'key', points: from(queries.length, keys.length), shape: 'circle', color: 's0'},
    ].map((s) => ({...s, line: false, r: 4})),
    about: {
      name: `plane-${head.at}`, title: `Queries and keys of head ${head.at}`,
      sentence: `Triangles are queries, dots keys, in one plane of the ${dHead} dimensions: a ` +
        'query gives most weight to keys that lie in its direction.',
    },
    say: (r, c) => words[r][c],
  });
  if (keys.length <= 64)
    words.forEach((list, r) => list.forEach((name, i) => {
      const [x, y, w, h] = picture.marks.box(r, i);
      picture.items.push(small(x + w + 2, y + h / 2 - 6, shortened(name, 60, 11, true)));
    }));
  return picture;
}
