// One head: its card; its pattern with the truth drawn on it, and next to it that of another head,
// or its own before training or pruning; why a query looks where it looks, product by product; what
// the head then writes; its scores and baselines; its queries and keys in a plane.
import {attentionFunctionOf} from '../../engine/kinds.js';
import {keysSeen} from '../../engine/model.js';
import {pca, range} from '../../engine/numbers.js';
import {forwardPass} from '../../engine/pass.js';
import {idOf} from '../../engine/reports.js';
import {headWrites, whyWeight} from '../../engine/why.js';
import {bars, digits, matrix, shortened, small, weightText} from '../../draw/charts.js';
import {plot} from '../../draw/plot.js';
import {button, choice, dynamic, el, figure, live, note, quoted, tableOf} from '../../draw/ui.js';
import {
  app, chosen, example, exampleIndex, go, headsOf, isLive, isStored, lacking, noPattern,
  ownedBy,  relation, run, scoresOf, task, trace,
} from '../../state/state.js';
import {onCounted} from '../../parts/counts.js';
import {cardClass, cardNodes} from '../../parts/head_card.js';
import {headName, spoken} from '../../parts/questions.js';
import {flowPicture} from './head_flow.js';
import {knownBars} from '../../parts/stored.js';
import {
  chosenPicture, lockShown, lockedCell, panBy, patternCommand, patternOf, patternPicture, rowOf,
  tokensOf, zoomBy,
} from '../../parts/pattern.js';

// ---- the second pattern -----------------------------------------------------------------------

/// Candidates for side-by-side comparison with the chosen head: [value, words]; the most similar
/// head first.
function comparisonChoices() {
  const {heads} = run().reports;
  const x = chosen();
  const {parent} = run();
  const place = (y) => heads?.heads.findIndex((h) => idOf(h) === y?.at);
  const row = heads?.distances?.[place(x)];
  const kind = (y) => run().attentionLayers[y.m].kind;
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

/// The second pattern, {head, map, title}; or null.
function besideNow(x) {
  const {b} = app.state;
  if (!b || !comparisonChoices().some(([value]) => value === b)) return null;
  if (/^\d/.test(b)) {
    const y = headsOf().find((one) => one.at === b);
    return {head: y, map: patternOf(trace(), y.m, y.place), title: `Head ${b}`};
  }
  const {parent, steps} = run();
  const pass = b === 'start' ? forwardPass(run().modelAt(steps[0]), example())
    : forwardPass(parent.model, example());
  const place = b === 'start' ? x.place : parent.attentionLayers[x.m].placeOf(x.original);
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
      return `query ${t}, key ${s}: ${x.at} ${weightText(a, 4)}, other ${weightText(b, 4)}, ` +
        `difference ${digits(a - b)}`;
    },
  });
}

// ---- why, and what for -------------------------------------------------------------------------

/// The row of the locked query opened: q · k of its keys, dimension by dimension.
function rowPicture(width, x) {
  if (!trace().exact) return note('Queries and keys are not in this page, which has no weights.');
  const [t, s] = lockedCell(x);
  const {queries, keys} = tokensOf(x.m);
  const {from, to} = keysSeen(run(), x.m, example(), t);
  const n = to - from;
  const weights = rowOf(patternOf(trace(), x.m, x.place), t);
  const order = range(Math.min(to, keys.length) - from, (i) => from + i)
    .sort((a, b) => weights[b] - weights[a]);
  const shown = order.slice(0, 12);
  const hidden = s < from || s >= to;
  if (!shown.includes(s) && !hidden) shown[shown.length - 1] = s;
  const why = shown.map((key) => whyWeight(trace(), x.m, x.place, t, key));
  const values = Float32Array.from(why.flatMap((w) => [...w.product]));
  const locked = why[Math.max(shown.indexOf(s), 0)];
  const distance = locked.penalty
    ? `, less ${digits(locked.penalty, 3)} for the distance,` : '';
  return matrix({
    rowNames: shown.map((key) => `${key} ${keys[key]}`), colNames: range(locked.q.length, String),
    rowFill: (r) => (shown[r] === s ? 'accent' : 'ink'), values, kind: 'sign',
    top: Math.max(...values.map(Math.abs), 1e-6), width: Math.min(width, 720), cell: 40, tall: 24,
    leastTall: 18, rowBar: (r) => why[r].weight,
    about: {
      name: `row-${x.at}-${t}`, title: `Why query ${t} ${quoted(queries[t])} attends to these keys`,
      sentence: `Query × key in each dimension, keys with the most attention first; bars: the ` +
        `weight. Key ${s} ${quoted(keys[s])}: the products add up to ${digits(locked.score, 3)}; ` +
        `divided by √${locked.q.length}${distance} ` +
        `that is ${digits(locked.scaled, 3)}; ${attentionFunctionOf(run().config)} over ${n} ` +
        `keys makes it ${weightText(locked.weight, 3)}.` +
        (hidden ? ' The mask hides this key, so its weight is 0.' : ''),
    },
    say: (r, c) => `key ${shown[r]}, dimension ${c}: query ${digits(why[r].q[c])} × key ` +
      `${digits(why[r].k[c])} = ${digits(why[r].product[c])}`,
  });
}

/// The head's addition to the logits at the locked query.
function writesNode(x) {
  if (!trace().exact)
    return note('The output of a head needs the weights, which are not in this page.');
  const [t] = lockedCell(x);
  const {queries, keys} = tokensOf(x.m);
  const made = headWrites(trace(), x.m, x.place, t);
  const weights = rowOf(patternOf(trace(), x.m, x.place), t);
  const strongest = keys.map((words, s) => [`${s} ${words}`, weights[s], made.values[s]])
    .sort((a, b) => b[2] - a[2]).slice(0, 6).filter((row) => row[1] >= 1e-4);
  const from = tableOf(`Keys that contribute to the output at query ${t} ${quoted(queries[t])}`,
    ['key', 'weight', 'weight × size of the value through W_O'], strongest);
  if (!made.logits)
    return [from, note('Other parts of the model process the output of this head, so it adds to ' +
      'no logit directly. Ablate it to see its effect.')];
  const {outputs, target_names: names, answers} = task();
  const rows = names.map((name, k) => {
    const logits = made.logits.subarray(k * outputs, (k + 1) * outputs);
    const order = range(outputs).sort((a, b) => logits[b] - logits[a]);
    const words = (list) =>
      list.map((v) => `${quoted(answers[v])} ${digits(logits[v], 3)}`).join('  ');
    return [spoken(name), words(order.slice(0, 3)), words(order.slice(-3).reverse())];
  });
  return [from, tableOf('Logits raised and lowered directly, with the last norm held fixed',
    ['question', 'raises most', 'lowers most'], rows)];
}

/// Attention on the right keys of each relation, and the baseline.
function truthBars(width, x) {
  const rows = scoresOf(x).filter(({score}) => score.mass != null);
  if (!rows.length)
    return lacking('heads.json', 'Scores against the ground truth are') ||
      note('No relation of the task applies to this head.');
  const scoreWords = (s) => [
    `mass ${weightText(s.mass, 4)}`, `baseline ${weightText(s.baseline, 4)}`,
    `lift ${digits(s.lift)}`, `p ${digits(s.p, 3)}`,
    ...(s.queries != null ? [`${s.queries} queries`] : []),
  ].join(', ');
  const owned = ownedBy(x);
  return bars({
    width: Math.min(width, 560), unit: 'attention on the right keys', low: 0, high: 1,
    number: weightText, tickName: 'baseline',
    rows: rows.map(({name, i, score}) => ({
      name: spoken(name), value: score.mass, tick: score.baseline, strong: i === relation(x),
    })),
    about: {
      name: `truth-${x.at}`, title: 'Compared with the baseline',
      sentence: `Over ${run().reports.heads?.examples ?? 'all scored'} examples. ` +
        `${x.at} is the owner of ${owned.map(spoken).join(', ') || 'no question'}.`,
    },
    say: (r) => `${spoken(rows[r].name)}: ${scoreWords(rows[r].score)}`,
  });
}

/// The queries and keys of one head in one plane, which shows why its pattern is what it is.
function planePicture(width, x) {
  const layer = trace().attentionLayers[x.m];
  if (!layer.q) return note('Queries and keys need the weights, which are not in this page.');
  const {queries, keys} = tokensOf(x.m);
  const {dHead, kvHead, kvBlocks, heads} = run().attentionLayers[x.m];
  // the columns of one block of several, of the first n rows
  const cut = (values, n, block, blocks) =>
    range(n).flatMap((t) => [...values.subarray((t * blocks + block) * dHead).subarray(0, dHead)]);
  const points = [
    ...cut(layer.q, queries.length, x.place, heads.length),
    ...cut(layer.k, keys.length, kvHead[x.place], kvBlocks.length),
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

// ---- the view ----------------------------------------------------------------------------------

const STORED_TABS = [
  ['known', 'Known patterns', knownBars], ['truth', 'Compared with the baseline', truthBars]];
const TABS = [
  ['row', 'Why these keys', rowPicture], ['flow', 'To the answer', flowPicture],
  ['writes', 'Output', null],
  ['truth', 'Compared with the baseline', truthBars],
  ['plane', 'Queries and keys', planePicture]];

/// The tabs of this page: without a model, those that need none.
function tabsShown() {
  if (!isStored()) return TABS;
  return task().relations.length ? STORED_TABS : STORED_TABS.slice(0, 1);
}

/// The note in place of a picture of the chosen head; false if nothing is missing.
function missing() {
  if (chosen()) return !trace() && noPattern();
  if (!app.state.h) return note('This run has no heads.');
  return note(`Head ${app.state.h} was removed when this run was pruned. Its pattern is in the ` +
    'run from which it was pruned.');
}

const scoresCommand = () => run().reports.heads?.command ?? `headlab heads ${run().name}`;

function tabNodes() {
  const tabs = tabsShown();
  const open = () => (tabs.some(([name]) => name === app.state.tab) ? app.state.tab : tabs[0][0]);
  const look = {class: 'tabs', role: 'group', 'aria-label': 'More of this head'};
  const buttons = dynamic('div', look, () =>
    tabs.map(([name, words]) => button(words, () => go({tab: name}), {
      id: `tab-${name}`, 'aria-pressed': String(name === open()),
    })));
  return [
    buttons,
    ...tabs.filter(([, , make]) => make).map(([name, , make]) =>
      figure((width) => (name === open() ? missing() || make(width, chosen()) : null), {
        id: name, most: 760, again: /truth|known/.test(name) ? scoresCommand : patternCommand,
         choose: name === 'row' ? chooseKey : undefined,
      })),
    dynamic('div', {id: 'writes'}, () =>
      open() === 'writes' ? missing() || writesNode(chosen()) : []),
  ];
}

function chooseKey(r) {
  const {picture} = app.figures.find((f) => f.canvas.id === 'row');
  go({q: lockedCell(chosen())[0], k: parseInt(picture.table().rows[r][0], 10)});
}

/// A button that opens a second pattern, and once it is open the list of what it shows.
function comparisonControls() {
  const open = () => go({b: comparisonChoices()[1][0]});
  const opener = button('Compare with …', open, {id: 'beside-open'});
  const which = choice('beside', 'Compared with', comparisonChoices, (v) => go({b: v || null}),
    () => app.state.b);
  live(() => {
    which.hidden = !app.state.b;
    opener.hidden = !which.hidden || comparisonChoices().length < 2;
  });
  return [opener, which];
}

export const headView = {
  name: 'head', place: 'Head', title: 'Head', uses: ['h', 'ex', 'rel', 'step'],
  available: (page) => page.runs.some((r) => headsOf(r).length),
  build(main) {
    const size = () => ['queries', 'keys'].map((side) => tokensOf(chosen().m)[side].length);
    const title = () => [
      `Head ${chosen().at}`, run().attentionLayers[chosen().m].title,
      `example ${exampleIndex()}`,
      ...(app.state.step != null ? [`step ${app.state.step}`] : []),
    ].join(', ');
    const group = [];
    const pattern = figure(
      (width) => missing() || chosenPicture(width, {rel: relation(), title: title()}),
      {
        id: 'pattern', again: patternCommand, most: 620, choose: lockShown, group,
        zoom: (factor, at) => zoomBy(factor, at, ...size()),
        pan: (down, right) => panBy(down, right, ...size()),
      },
    );
    const own = el('div', null, pattern);
    const other = el('div', null,
      figure(besidePicture, {id: 'beside-pattern', most: 620, choose: lockShown, group}),
      ...tabNodes());
    const card = el('section', {id: 'card', 'aria-label': 'One head'});
    const fillCard = () => {
      card.className = cardClass(chosen());
      card.replaceChildren(...cardNodes(chosen()).filter(Boolean));
    };
    live(fillCard);
    onCounted(() => card.isConnected && fillCard());
    main.append(card);
    main.append(
      el('div', {class: 'controls'},
        ...comparisonControls(),
        task().length > 16 && [
          button('Zoom in', () => zoomBy(0.5, null, ...size()), {id: 'zoom-in'}),
          button('out', () => zoomBy(2, null, ...size()), {id: 'zoom-out'}),
          button('all', () => go({win: null}), {id: 'zoom-all'}),
        ]),
      el('div', {class: 'columns'}, own, other),
    );
  },
};
