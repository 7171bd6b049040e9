// One head, large: its pattern with the truth drawn on it, who looks at whom, why one cell is as
// bright as it is, and what the head then writes. The truth is told by shape: a full outline is a
// hit, a dashed one a miss, a bar at the row's end the attention that went elsewhere, and a row
// number in brackets has no question.
import {keysSeen} from './core_model.js';
import {headWrites, traceOf, whyWeight} from './core_pass.js';
import {range} from './draw.js';
import {bars, digits, matrix, tableNumber} from './charts.js';
import {button, choice, dynamic, el, figure, note, quoted, say, tableOf} from './ui.js';
import {
  app, chosen, example, exampleCount, exampleIndex, go, headsOf, isLive, isSlow, lacking,
  noPattern, ownedBy, relation, run, scoresOf, task, trace,
} from './state.js';
import {moduleName} from './heads.js';
import {
  lockQuery, lockShown, panBy, patternCommand, patternOf, patternPicture, railPicture, rowOf,
  sides, zoomBy,
} from './pattern.js';
import {planePicture} from './compare.js';

/// What a head owns; or what it does as an owner would, though another does it more.
function whatItOwns(head, owned) {
  if (owned.length) return `This head owns ${owned.join(', ')}.`;
  const too = scoresOf(head).filter(({score}) => score.lift >= 0.3 && score.p < 0.01);
  if (!too.length) return 'It owns no relation: that takes a lift of at least 0.3 and p < 0.01.';
  const most = ({name}) => headsOf().find((x) => ownedBy(x).includes(name))?.at ?? 'another';
  return `It does ${too.map((x) => `${x.name} too (${most(x)} most)`).join(', ')}.`;
}

/// Attention on the truth of each relation, beside chance.
function truthBars(width, head) {
  const [owned, withChance] = [ownedBy(head), app.state.null === 'on'];
  const rows = scoresOf(head)
    .filter(({score}) => score.mass != null)
    .map(({name, i, score, owns}) => ({
      name: `${owns ? '★ ' : ''}${name}`, value: score.mass,
      tick: withChance ? score.null : undefined, strong: i === relation(head), score,
    }));
  if (!rows.length)
    return (
      lacking('heads.json', 'Scores against the truth are') ||
      note('No relation of this task is asked of this head.')
    );
  const drawn = rows.find((r) => r.strong);
  const told = drawn
    ? ` ${drawn.name}: lift ${digits(drawn.score.lift, 3)}, p ` +
      `${digits(drawn.score.p, 2)}${drawn.score.queries == null ? '' : `, ` +
      `${drawn.score.queries} queries`}.`
    : '';
  return bars({
    width: Math.min(width, 560), rows, unit: 'attention on the truth', low: 0, high: 1,
    tickName: withChance ? 'chance' : undefined,
    about: {
      name: `truth-${head.at}`, title: 'Against the truth',
      sentence:
        withChance
          ? `${whatItOwns(head, owned)} Scores are over ` +
            `${run().reports.heads?.examples ?? 'all scored'} examples, not this one.${told}`
          : 'As a naive reader sees it: without chance, every high bar looks like a finding.',
    },
    say: (r) => {
      const s = rows[r].score;
      return `${rows[r].name}: mass ${digits(s.mass)}, chance ${digits(s.null)}, lift ` +
        `${digits(s.lift)}, p ${digits(s.p, 2)}${s.queries != null ? `, ${s.queries} ` +
        `queries` : ''}, split B`;
    },
  });
}

/// Why the locked cell is as it is: q, k and their product, dimension by dimension.
function whyPicture(width, head) {
  const [t, s] = [app.state.q[0], app.state.k];
  const pass = trace();
  if (t == null || s == null || !pass.exact)
    return note(
      pass.exact
        ? 'Click a cell of the pattern (or Enter) to lock it: then its query, key and their ' +
          'product stand here.'
        : 'Queries and keys are not in this page, which holds stored patterns only.',
    );
  const {queries, keys} = sides(head.m);
  if (t >= queries.length || s >= keys.length)
    return note('The locked cell is not in this example.');
  if (s >= keysSeen(run(), head.m, example(), t))
    return note(`Query ${t} may not see key ${s}: it is hidden by the mask, and its weight is 0.`);
  const w = whyWeight(pass, head.m, head.place, t, s);
  const values = Float32Array.from([...w.q, ...w.k, ...w.product]);
  const top = Math.max(...values.map(Math.abs), 1e-6);
  return matrix({
    rowNames: ['query', 'key', 'product'], colNames: range(w.q.length, String), values,
    kind: 'sign', top, width: Math.min(width, 640), cell: 40, tall: 24, leastTall: 24,
    about: {
      name: `why-${head.at}-${t}-${s}`, title: `Why query ${t} gives key ${s} that weight`,
      sentence: `The products add up to ${digits(w.score)}; divided by √${w.q.length} that is ` +
        `${digits(w.scaled)}; softmax over the keys that the query sees makes it ` +
        `${digits(w.weight)}.`,
    },
    say: (r, c) =>
      `dimension ${c}: query ${digits(w.q[c])} × key ${digits(w.k[c])} = ${digits(w.product[c])}`,
  });
}

/// What the head adds to the logits at the locked query.
function writesNode(head) {
  const t = app.state.q[0];
  const pass = trace();
  if (t == null || !pass.exact) return note('Lock a query to see what the head writes there.');
  const {queries, keys} = sides(head.m);
  if (t >= queries.length) return note('The locked query is not in this example.');
  const made = headWrites(pass, head.m, head.place, t);
  const {values} = patternOf(pass, head.m, head.place);
  const strongest = keys
    .map((words, s) => [`${s} ${words}`, values[t * keys.length + s], made.values[s]])
    .sort((a, b) => b[2] - a[2])
    .slice(0, 6);
  const parts = [
    el('h3', null, `What it writes at query ${t} ${quoted(queries[t])}`),
    tableOf('Where it comes from',
      ['from key', 'weight', 'weight × size of the value through W_O'], strongest,
    ),
  ];
  if (!made.logits)
    return [
      ...parts,
      note(
        'Logits are not read off this head: others stand between it and the answer. Switch it ' +
          'off in the live model instead.',
      ),
    ];
  const {vocab, target_names: names, tokens} = task();
  const rows = names.map((name, k) => {
    const logits = made.logits.subarray(k * vocab, (k + 1) * vocab);
    const order = range(vocab).sort((a, b) => logits[b] - logits[a]);
    const words = (list) => list.map((v) => `${quoted(tokens[v])} ` +
      `${digits(logits[v], 3)}`).join('  ');
    return [name, words(order.slice(0, 3)), words(order.slice(-3).reverse())];
  });
  return [
    ...parts,
    tableOf('Logits it raises and lowers directly (last norm held fixed)',
      ['question', 'raises most', 'lowers most'], rows,
    ),
  ];
}

/// In cross-attention: what the encoder positions that a target token reads have read themselves.
function twoHops(head) {
  if (run().modules[head.m].kind !== 'cross' || app.state.q[0] == null) return [];
  const encoder = run()
    .modules.filter((x) => x.kind === 'encoder' && x.heads.length)
    .pop();
  const map = patternOf(trace(), head.m, head.place);
  if (!encoder || app.state.q[0] >= map.rows) return [];
  const row = rowOf(map, app.state.q);
  const hops = new Float32Array(map.cols);
  encoder.heads.forEach((_, place) => {
    const own = patternOf(trace(), encoder.index, place);
    for (let s = 0; s < map.cols; ++s)
      for (let j = 0; j < map.cols; ++j)
        hops[j] += (row[s] * own.values[s * map.cols + j]) / encoder.heads.length;
  });
  const {keys} = sides(head.m);
  return tableOf("Two hops: the product of this row and the last encoder layer's mean pattern",
    ['source', 'read directly', 'through the encoder'],
    keys.map((words, s) => [`${s} ${words}`, tableNumber(row[s]), tableNumber(hops[s])]),
  );
}

/// The example, among those that are quick to try, on which this head puts least on the truth.
function worstFor(head, rel) {
  if (isSlow()) {
    say('One pass of this model takes too long to try many examples.');
    return;
  }
  const until = performance.now() + 400;
  let [worst, least] = [exampleIndex(), Infinity];
  for (let i = 0; i < exampleCount() && performance.now() < until; ++i) {
    const shown = task().set('scored').example(i);
    const pass = traceOf(run(), i);
    const values = pass.pattern(head.m, head.place);
    const across = values.length / (pass.modules[head.m].queries || 1);
    let [mass, asked] = [0, 0];
    for (let t = 0; t < values.length / across; ++t) {
      const keys = shown.gold(rel, t) || [];
      if (keys.length) ++asked;
      for (const s of keys) mass += values[t * across + s];
    }
    if (asked && mass / asked < least) [least, worst] = [mass / asked, i];
  }
  go({ex: worst});
}

export const headView = {
  name: 'head', place: 'Head', title: 'One head', short: 'Head', uses: ['h', 'ex', 'rel', 'step'],
  available: (page) => page.runs.some((r) => headsOf(r).length),
  build(main) {
    const ask = patternCommand();
    const missing = () =>
      !chosen() &&
      note(
        app.state.h
          ? `Head ${app.state.h} was removed when this run was pruned. Its pattern is in the ` +
            `run it came from.`
          : 'This run has no heads.',
      );
    const blank = () => missing() || (!trace() && noPattern());
    const guarded = (make) => (width) => blank() || make(width, chosen());
    const title = (head) =>
      `Head ${head.at}, ${moduleName(run().modules[head.m]).toLowerCase()}, example ` +
        `${exampleIndex()}${app.state.step != null ? `, step ${app.state.step}` : ''}`;
    const rails = (r, t) => {
      const row = patternOf(trace(), chosen().m, chosen().place);
      const v = row.values.subarray(t * row.cols, (t + 1) * row.cols);
      lockQuery(t, v.indexOf(Math.max(...v)));
    };
    const big = figure(
      guarded((width, head) =>
        patternPicture(width, {head, rel: relation(head), title: title(head)}),
      ),
      {
        id: 'pattern', again: ask, most: 760, choose: lockShown,
        zoom: (factor, at) => zoomBy(factor, at, ...size()),
        pan: (down, right) => panBy(down, right, ...size()),
      },
    );
    const size = () => {
      const {queries, keys} = sides(chosen().m);
      return [queries.length, keys.length];
    };
    main.append(
      el('div', {class: 'controls'},
        button('Zoom in', () => zoomBy(0.5, app.figures[0].at, ...size()), {id: 'zoom-in'}),
        button('out', () => zoomBy(2, null, ...size())), button('fit', () => go({win: null})),
        choice('sum', 'Several queries are', [['sum', 'summed'], ['mean', 'averaged']],
          (v) => go({sum: v}),
        ),
        button('Where it errs most',
          () => isLive() && chosen() && relation() >= 0 && worstFor(chosen(), relation()),
          {id: 'errs'},
        ),
      ),
      el('div', {class: 'columns'},
        el('div', null, big,
          figure(guarded(railPicture), {id: 'rails', choose: rails, again: ask}),
          el('label', null, 'Draw ',
            el('input', {
              type: 'range', id: 'mass', min: 0.1, max: 1, step: 0.05, value: app.state.mass,
              'aria-label': 'share of attention drawn',
              oninput: (event) => go({mass: Number(event.target.value)}),
            }),
            ' of the attention',
          ),
        ),
        el('div', null,
          figure(guarded(truthBars), {id: 'truth', again: () => `headlab heads ${run().name}`}),
          figure(guarded(whyPicture), {id: 'why', again: ask}),
          dynamic('div', {id: 'writes'}, () =>
            blank() ? [] : [writesNode(chosen()), twoHops(chosen())],
          ),
          figure(guarded(planePicture), {id: 'plane', again: ask}),
        ),
      ),
    );
  },
};
