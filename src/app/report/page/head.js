// One head: its card; its pattern with the truth drawn on it, and beside it that of another head,
// or its own before training or pruning; why a query looks where it looks, product by product; what
// the head then writes; its scores beside chance, over training; its queries and keys in a plane.
import {attentionFunctionOf, keysSeen} from './core_model.js';
import {pca} from './core_numbers.js';
import {forwardPass} from './core_pass.js';
import {at2} from './core_reports.js';
import {headWrites, whyWeight} from './core_why.js';
import {range} from './draw.js';
import {
  bars, digits, label, line, matrix, plot, shortened, small, tableNumber,
} from './charts.js';
import {button, choice, dynamic, el, figure, live, note, quoted, tableOf} from './ui.js';
import {
  app, chosen, example, exampleIndex, go, headName, headsOf, isLive, lacking, noPattern, ownedBy,
  relation, run, scoresOf, task, trace,
} from './state.js';
import {cardOf, moduleName} from './heads.js';
import {logitsAt} from './measure.js';
import {
  chosenPicture, lockShown, lockedCell, panBy, patternCommand, patternOf, patternPicture, rowOf,
  sides, zoomBy,
} from './pattern.js';

// ---- beside ----------------------------------------------------------------------------------

/// What may stand beside a head: [value, words]; the head most like it first.
function besides() {
  const {heads} = run().reports;
  const [x, {parent}] = [chosen(), run()];
  const row = heads?.distances?.[heads.heads.findIndex((h) => `${h.layer}.${h.head}` === x?.at)];
  const place = (y) => heads.heads.findIndex((h) => `${h.layer}.${h.head}` === y.at);
  const kind = (y) => run().modules[y.m].kind;
  const others = headsOf().filter((y) => x && y.at !== x.at && kind(y) === kind(x));
  const near = (y) => row?.[place(y)] ?? Infinity;
  const sorted = [...others].sort((a, b) => near(a) - near(b));
  return [
    ['', 'nothing'],
    ...sorted.map((y, i) => [y.at, `${headName(y)}${row && i === 0 ? ', most like it' : ''}`]),
    ...(run().steps.length && isLive() ? [['start', `itself at step ${run().steps[0]}`]] : []),
    ...(parent?.model && parent.task === task() && isLive() ? [['parent', 'itself before ' +
      'pruning']] : []),
  ];
}

/// The pattern that stands beside, {head, map, title}; or null.
function besideNow(x) {
  const {b} = app.state;
  if (!b || !besides().some(([value]) => value === b)) return null;
  if (/^\d/.test(b)) {
    const y = headsOf().find((one) => one.at === b);
    return {head: y, map: patternOf(trace(), y.m, y.place), title: `Head ${b}`};
  }
  const {parent, steps} = run();
  const pass = b === 'start' ? forwardPass(run().modelAt(steps[0]), example())
    : forwardPass(parent.model, example());
  const place = b === 'start' ? x.place : parent.modules[x.m].placeOf(x.born);
  const title = b === 'start' ? `Head ${x.at} at step ${steps[0]}` : `Head ${x.at} before pruning`;
  return {head: x, map: patternOf(pass, x.m, place), title};
}

function besidePicture(width) {
  const x = chosen();
  const other = x && trace() && besideNow(x);
  if (!other) return null;
  const own = patternOf(trace(), x.m, x.place);
  const values = (t, s) => [own, other.map].map((map) => map.values[t * map.cols + s]);
  return patternPicture(width, {
    head: other.head, values: other.map, title: other.title, rel: relation(x), lock: x,
    say: (t, s) => {
      const [a, b] = values(t, s);
      return `query ${t}, key ${s}: ${x.at} ${digits(a)}, beside ${digits(b)}, difference ` +
        `${digits(a - b)}`;
    },
  });
}

// ---- why, and what for -------------------------------------------------------------------------

/// The row of the locked query opened: q · k of its keys, dimension by dimension.
function rowPicture(width, x) {
  if (!trace().exact) return note('Queries and keys are not in this page, which has no weights.');
  const [t, s] = lockedCell(x);
  const {queries, keys} = sides(x.m);
  const {from, to} = keysSeen(run(), x.m, example(), t), n = to - from;
  const weights = rowOf(patternOf(trace(), x.m, x.place), t);
  const order = range(Math.min(to, keys.length) - from, (i) => from + i)
    .sort((a, b) => weights[b] - weights[a]);
  const shown = order.slice(0, 12);
  const hidden = s < from || s >= to;
  if (!shown.includes(s) && !hidden) shown[shown.length - 1] = s;
  const why = shown.map((key) => whyWeight(trace(), x.m, x.place, t, key));
  const values = Float32Array.from(why.flatMap((w) => [...w.product]));
  const locked = why[Math.max(shown.indexOf(s), 0)];
  return matrix({
    rowNames: shown.map((key) => `${key} ${keys[key]}`), colNames: range(locked.q.length, String),
    rowFill: (r) => (shown[r] === s ? 'accent' : 'ink'), values, kind: 'sign',
    top: Math.max(...values.map(Math.abs), 1e-6), width: Math.min(width, 720), cell: 40, tall: 24,
    leastTall: 18, rowBar: (r) => why[r].weight,
    about: {
      name: `row-${x.at}-${t}`, title: `Why query ${t} ${quoted(queries[t])} looks where it looks`,
      sentence: `Query × key in each dimension, keys with the most attention first; bars: the ` +
        `weight. Key ${s} ${quoted(keys[s])}: the products add up to ${digits(locked.score, 3)}; ` +
        `divided by √${locked.q.length}` +
        `${locked.penalty ? `, less ${digits(locked.penalty, 3)} for the distance,` : ''} ` +
        `that is ${digits(locked.scaled, 3)}; ${attentionFunctionOf(run().config)} over ${n} ` +
        `keys makes it ${digits(locked.weight, 3)}.` +
        (hidden ? ' The mask hides this key, so its weight is 0.' : ''),
    },
    say: (r, c) => `key ${shown[r]}, dimension ${c}: query ${digits(why[r].q[c])} × key ` +
      `${digits(why[r].k[c])} = ${digits(why[r].product[c])}`,
  });
}

/// What the head adds to the logits at the locked query.
function writesNode(x) {
  if (!trace().exact) return note('What a head writes needs the weights, which are not here.');
  const [t] = lockedCell(x);
  const {queries, keys} = sides(x.m);
  const made = headWrites(trace(), x.m, x.place, t);
  const weights = rowOf(patternOf(trace(), x.m, x.place), t);
  const strongest = keys.map((words, s) => [`${s} ${words}`, weights[s], made.values[s]])
    .sort((a, b) => b[2] - a[2]).slice(0, 6).filter((row) => row[1] >= 1e-4);
  const from = tableOf(`Where query ${t} ${quoted(queries[t])} takes it from`,
    ['key', 'weight', 'weight × size of the value through W_O'], strongest);
  if (!made.logits)
    return [from, note('Other parts stand between this head and the answer, so it has no logits ' +
      'of its own. Switch it off to see what it is for.')];
  const {outputs, target_names: names, answers} = task();
  const rows = names.map((name, k) => {
    const logits = made.logits.subarray(k * outputs, (k + 1) * outputs);
    const order = range(outputs).sort((a, b) => logits[b] - logits[a]);
    const words = (list) =>
      list.map((v) => `${quoted(answers[v])} ${digits(logits[v], 3)}`).join('  ');
    return [name, words(order.slice(0, 3)), words(order.slice(-3).reverse())];
  });
  return [from, tableOf('Logits that it raises and lowers directly, the last norm held fixed',
    ['question', 'raises most', 'lowers most'], rows)];
}

/// Attention on the right keys of each relation, beside chance.
function truthBars(width, x) {
  const rows = scoresOf(x).filter(({score}) => score.mass != null);
  if (!rows.length)
    return lacking('heads.json', 'Scores against the truth are') ||
      note('Nothing is asked of this head.');
  const told = (s) => `mass ${digits(s.mass)}, chance ${digits(s.null)}, lift ${digits(s.lift)}, ` +
    `p ${digits(s.p, 3)}${s.queries != null ? `, ${s.queries} queries` : ''}`;
  const owned = ownedBy(x);
  return bars({
    width: Math.min(width, 560), unit: 'attention on the right keys', low: 0, high: 1,
    tickName: 'chance',
    rows: rows.map(({name, i, score}) => ({
      name, value: score.mass, tick: score.null, strong: i === relation(x),
    })),
    about: {
      name: `truth-${x.at}`, title: 'Beside chance',
      sentence: `Over ${run().reports.heads?.examples ?? 'all scored'} examples. ` +
        (owned.length ? `${x.at} owns ${owned.join(', ')}.` : `${x.at} owns nothing.`),
    },
    say: (r) => `${rows[r].name}: ${told(rows[r].score)}`,
  });
}

function liftPicture(width, x) {
  const {history} = run().facts;
  const at = history?.heads.findIndex((h) => at2(h) === x.at) ?? -1;
  if (at < 0) return lacking('heads.jsonl', 'Scores over training are') || note('Not tracked.');
  const series = Object.entries(history.relations).map(([name, r]) => ({
    name, r: 2.2, points: history.steps.map((s, i) => [s, r.lift[at][i]]).filter((p) =>
      p[1] != null),
  })).filter((s) => s.points.length);
  const low = Math.min(0, ...series.flatMap((s) => s.points.map((p) => p[1])));
  const step = app.state.step;
  return plot({
    width, height: 280, series, x: {label: 'step'},
    y: {label: 'lift', high: 1, low},
    lines: step == null ? [] : [{x: step, name: `step ${step}`, strong: true}],
    about: {
      name: `lift-${x.at}`, title: `Head ${x.at} over training`,
      sentence: 'The lift on each relation: 0 is chance, 1 is perfect.',
    },
  });
}

/// The queries and keys of one head in one plane, which shows why its pattern is what it is.
function planePicture(width, x) {
  const module = trace().modules[x.m];
  if (!module.q) return note('Queries and keys need the weights, which are not in this page.');
  const {queries, keys} = sides(x.m);
  const {dHead, kvHead, kvBlocks, heads} = run().modules[x.m];
  // the columns of one block of several, of the first n rows
  const cut = (values, n, block, blocks) =>
    range(n).flatMap((t) => [...values.subarray((t * blocks + block) * dHead).subarray(0, dHead)]);
  const points = [
    ...cut(module.q, queries.length, x.place, heads.length),
    ...cut(module.k, keys.length, kvHead[x.place], kvBlocks.length),
  ];
  const {projected, share} = pca(points, queries.length + keys.length, dHead);
  const from = (first, n) => range(n, (i) => [...projected.subarray(2 * (first + i)).slice(0, 2)]);
  const words = [queries.map((w, i) => `q${i} ${w}`), keys.map((w, i) => `k${i} ${w}`)];
  const picture = plot({
    width, height: Math.min(420, width * 0.75),
    x: {label: `first axis, ${digits(100 * share[0], 3)} % of the variance`},
    y: {label: `second, ${digits(100 * share[1], 3)} %`},
    series: [
      {name: 'query', points: from(0, queries.length), shape: 'triangle', color: 's1'},
      {name: 'key', points: from(queries.length, keys.length), shape: 'circle', color: 's0'},
    ].map((s) => ({...s, line: false, r: 4})),
    about: {
      name: `plane-${x.at}`, title: `Queries and keys of head ${x.at}`,
      sentence: `Triangles are queries, dots keys, in one plane of the ${dHead} dimensions: a ` +
        'query gives most weight to keys that lie in its direction.',
    },
    say: (r, c) => words[r][c],
  });
  if (keys.length <= 64 && width > 400)
    words.forEach((list, r) => list.forEach((name, i) => {
      const [px, py, w, h] = picture.marks.box(r, i);
      const [x, anchor] = px > width - 80 ? [px - 2, 'end'] : [px + w + 2];
      picture.items.push(small(x, py + h / 2 - 6, shortened(name, 60, 11, true), {anchor}));
    }));
  return picture;
}

// ---- from tokens to the answer -----------------------------------------------------------------

/// The answer that the locked query gives, and what each head of a module has to do with it:
/// {name, answer, flows: [{y, weights, adds}]}; `adds` is to the logit of the answer, above the
/// mean of all logits. null where other parts stand between.
function flowsOf(x, t) {
  const {target_names: names, relations, outputs, answers} = task();
  const k = Math.max(0, names.indexOf(relations[relation()]?.name));
  const logits = logitsAt(trace(), t, k);
  const said = logits.indexOf(Math.max(...logits));
  const flows = headsOf().filter((y) => y.m === x.m).map((y) => {
    const {logits: all} = headWrites(trace(), y.m, y.place, t);
    const added = all?.subarray(k * outputs, (k + 1) * outputs);
    const adds = added && added[said] - added.reduce((a, b) => a + b) / outputs;
    return {y, weights: rowOf(patternOf(trace(), y.m, y.place), t), adds};
  });
  return flows.some(({adds}) => adds == null) ? null
    : {name: names[k], answer: quoted(answers[said]), flows};
}

/// Lines as thick as attention from tokens to heads, and as what heads add from there to the
/// answer. Of more than 32 tokens, those with the thickest lines.
function flowItems(width, {name, answer, flows}, {keys, at, chosenHead}) {
  const [from, to] = [64, width - 110];
  const middle = (from + to) / 2;
  const most = Math.max(...flows.map(({adds}) => Math.abs(adds)), 1e-9);
  const size = ({weights, adds}, s) => (weights[s] * Math.abs(adds)) / most;
  const thickest = (s) => Math.max(...flows.map((flow) => size(flow, s)));
  const shown = range(keys.length).sort((a, b) => thickest(b) - thickest(a)).slice(0, 32)
    .sort((a, b) => a - b);
  const ribbon = (a, b, thick, {adds}) =>
    line([a, b], {stroke: adds < 0 ? 's1' : 's0', alpha: 0.6, thick: Math.max(thick, 0.3)});
  const end = [to, at(0, 1)];
  const drawn = flows.flatMap((flow, i) => {
    const here = at(i, flows.length);
    return [
      ...shown.flatMap((s, j) => (size(flow, s) < 0.01 ? []
        : ribbon([from, at(j, shown.length)], [middle - 18, here], 14 * size(flow, s), flow))),
      ribbon([middle + 18, here], end, (14 * Math.abs(flow.adds)) / most, flow),
      label(middle, here, flow.y.at, {anchor: 'middle', bold: flow.y.at === chosenHead.at}),
    ];
  });
  return [
    ...drawn, label(to + 8, end[1], `${name}: ${answer}`),
    ...shown.map((s, j) => label(from - 6, at(j, shown.length),
      `${s} ${shortened(keys[s], 40, 12)}`, {anchor: 'end', mono: true})),
  ];
}

/// Tokens, heads and the answer of the locked query.
function flowPicture(width, x) {
  const [t] = lockedCell(x);
  const {queries, keys} = sides(x.m);
  const made = trace().exact && flowsOf(x, t);
  if (!made) return note('Nothing is known here of what each head adds to an answer.');
  const {name, answer, flows} = made;
  const height = 26 * Math.max(Math.min(keys.length, 32), flows.length) + 12;
  const at = (i, n) => (height * (i + 0.5)) / n;
  const most = ({weights}) => keys[weights.indexOf(Math.max(...weights))];
  const rows = flows.map((flow) => [flow.y.at, tableNumber(flow.adds), most(flow)]);
  return {
    name: `flow-${t}`, title: `How query ${t} ${quoted(queries[t])} comes to ${answer} (${name})`,
    sentence: 'From tokens to heads: attention; from heads to the answer: what each adds to its ' +
      'logit, the last norm held fixed. Blue raises it, orange lowers it.' +
      (keys.length > 32 ? ' Only the 32 tokens with the thickest lines are shown.' : ''),
    width, height, items: flowItems(width, made, {keys, at, chosenHead: x}),
    table: () => ({head: ['head', 'adds to the logit', 'looks most at'], rows}),
    marks: {
      rows: flows.length, cols: () => 1,
      text: (r) => `head ${rows[r][0]} adds ${digits(flows[r].adds, 3)} to the logit of ${answer}`,
      box: (r) => [(width - 46) / 2 - 18, at(r, flows.length) - 10, 36, 20],
      find: (_, y) => [Math.min(Math.floor((y * flows.length) / height), flows.length - 1), 0],
    },
  };
}

// ---- the view ----------------------------------------------------------------------------------

const TABS = [
  ['row', 'Why there', rowPicture], ['flow', 'To the answer', flowPicture],
  ['writes', 'What it writes', null],
  ['truth', 'Beside chance', truthBars], ['time', 'Over training', liftPicture],
  ['plane', 'Queries and keys', planePicture]];

const missing = () => !chosen()
    ? note(app.state.h ? `Head ${app.state.h} was removed when this run was pruned. Its pattern ` +
        'is in the run that it came from.' : 'This run has no heads.')
    : !trace() && noPattern();

function tabNodes() {
  const open = () => (TABS.some(([name]) => name === app.state.tab) ? app.state.tab : 'row');
  const look = {class: 'tabs', role: 'group', 'aria-label': 'More of this head'};
  const buttons = dynamic('div', look, () =>
    TABS.map(([name, words]) => button(words, () => go({tab: name}), {
      id: `tab-${name}`, 'aria-pressed': String(name === open()),
    })));
  return [
    buttons,
    ...TABS.filter(([, , make]) => make).map(([name, , make]) =>
      figure((width) => (name === open() ? missing() || make(width, chosen()) : null), {
        id: name, most: 760, again: name === 'truth' ? () => `headlab heads ${run().name}`
          : patternCommand, choose: name === 'row' ? chooseKey : undefined,
      })),
    dynamic('div', {id: 'writes'}, () =>
      open() === 'writes' ? missing() || writesNode(chosen()) : []),
  ];
}

/// Locks the key of a row of the opened products.
function chooseKey(r) {
  const {picture} = app.figures.find((f) => f.canvas.id === 'row');
  go({q: lockedCell(chosen())[0], k: parseInt(picture.table().rows[r][0], 10)});
}

export const headView = {
  name: 'head', place: 'Head', title: 'Head', uses: ['h', 'ex', 'rel', 'step'],
  available: (page) => page.runs.some((r) => headsOf(r).length),
  build(main) {
    const size = () => ['queries', 'keys'].map((side) => sides(chosen().m)[side].length);
    const title = () => `Head ${chosen().at}, ${moduleName(run().modules[chosen().m])}, example ` +
      `${exampleIndex()}${app.state.step != null ? `, step ${app.state.step}` : ''}`;
    const group = [];
    const pattern = figure(
      (width) => missing() || chosenPicture(width, {rel: relation(), title: title()}),
      {
        id: 'pattern', again: patternCommand, most: 620, choose: lockShown, group,
        zoom: (factor, at) => zoomBy(factor, at, ...size()),
        pan: (down, right) => panBy(down, right, ...size()),
      },
    );
    const own = el('div', null, pattern), other = el('div', null,
      figure(besidePicture, {id: 'beside-pattern', most: 620, choose: lockShown, group}));
    const look = {class: 'card', id: 'card'};
    const card = dynamic('div', look, () => (chosen() ? cardOf(chosen()) : []));
    const opener = button('Beside …', () => go({b: besides()[1][0]}), {id: 'beside-open'});
    const which = choice('beside', 'Beside', besides, (v) => go({b: v || null}), () => app.state.b);
    live(() => {  // the card stands where there is room
      which.hidden = !app.state.b;
      opener.hidden = !which.hidden || besides().length < 2;
      const side = app.state.b ? own : other;
      if (card.parentNode !== side) side.append(card);
    });
    main.append(
      el('div', {class: 'controls'},
        opener, which,
        task().length > 16 && [
          button('Zoom in', () => zoomBy(0.5, null, ...size()), {id: 'zoom-in'}),
          button('out', () => zoomBy(2, null, ...size()), {id: 'zoom-out'}),
          button('all', () => go({win: null}), {id: 'zoom-all'}),
        ]),
      el('div', {class: 'columns'}, own, other),
      ...tabNodes(),
    );
  },
};
