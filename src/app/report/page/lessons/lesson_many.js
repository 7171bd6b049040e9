// Lesson on the number of heads: the same width in 1, 2 or 4 heads; all trained models on one
// input; and, folded, how widely heads look, how diverse trained heads are, and how many parameters
// they take.
import {forwardPass} from '../engine/pass.js';
import {
  digits, grouped, label, matrix, rect, shaded, small, tableNumber, textWidth,
} from '../draw/charts.js';
import {programPlot} from '../draw/plot.js';
import {button, dynamic, el, figure, live, note, tableOf} from '../draw/ui.js';
import {
  app, example, exampleIndex, go, headsOf, isLive, memo, ownedBy, run, task, usable, where,
} from '../state/state.js';
import {patternOf} from '../parts/pattern.js';
import {spoken} from '../parts/questions.js';
import {
  attentionSizes, diversityOf, entropyOf, focusOf, headsOfWorld, isUniform,
} from '../engine/worked_example.js';
import {
  controlRow, cutNote, fixed, folded, hasRun, headNames, isRunWorld, lab, labBox, labChoice,
  lessonWorld, setLab,
} from './learn.js';

const COUNT_FIELDS = [['d', 512, 65536, 'width of a token'], ['H', 8, 1024, 'heads']];
const countNow = () => ({d: lab('d', 512), H: lab('H', 8), bias: lab('bias', 1) === 1});

function countField([key, initial, max, what]) {
  const input = el('input', {
    type: 'number', id: `count-${key}`, min: 1, max, class: 'short', 'aria-label': what,
    oninput: (event) =>
      setLab({[key]: event.target.value === '' ? -1 : Number(event.target.value)}),
  });
  live(() => {
    if (document.activeElement !== input) input.value = lab(key, initial);
  });
  return el('label', null, `${key}, ${what} `, input);
}

function countTable() {
  const made = attentionSizes(countNow());
  if (made.error) return note(made.error);
  return [
    made.note && note(made.note),
    el('p', null, el('span', {class: 'big', id: 'count-total'}, grouped(made.total)),
      ' parameters in one layer of attention, whatever H is, as long as it divides d'),
    tableOf(`d_k = d_v = ${made.dk}`, ['matrix', 'shape', 'numbers'],
      made.matrices.map((x) => [x.name, `[${x.rows}, ${x.cols}]`, grouped(x.count)]))];
}

function countNodes() {
  const known = [[512, 8], [768, 12], [512, 7], [4, 8]].map(([d, H]) =>
    button(`${d} / ${H}`, () => setLab({d, H, bias: 1}), {id: `count-${d}-${H}`}));
  return [
    controlRow(...COUNT_FIELDS.map(countField), labBox('bias', 'biases', 1), ...known),
    dynamic('div', {id: 'count'}, countTable),
    el('p', {class: 'again'}, 'command: ', dynamic('code', null,
      () => `headlab cost --d-model ${countNow().d} --heads ${countNow().H}`))];
}

const splitNow = (world) => {
  const H = lab('heads', world.heads);
  return {H, heads: headsOfWorld(world, H)};
};

/// The heads side by side: rows are words that look, columns the words they look at.
function splitPicture(width, world) {
  const {H, heads} = splitNow(world);
  const {tokens, keys} = world;
  const n = keys.length;
  const names = headNames(world, H);
  const rows = tokens.map((_, r) => heads.flatMap(({weights}) => weights[r]));
  const about = {
    name: 'split-heads', title: H === 1 ? '1 head' : `${H} heads`,
    sentence: 'Rows: the words that look. Columns: the words they look at. Shade: the attention.',
  };
  const picture = matrix({
    rowNames: tokens, colNames: heads.flatMap(() => keys), numbers: false, width, about,
    values: Float32Array.from(rows.flat()), kind: 'weight', top: Math.max(...rows.flat()), cell: 34,
    say: (r, c) =>
      `head ${names[Math.floor(c / n)]}, ${tokens[r]} → ${keys[c % n]}: ${fixed(rows[r][c])}`,
    table: () => ({head: ['head', 'query', ...keys], rows: heads.flatMap(({weights}, h) =>
      tokens.map((words, r) => [names[h], words, ...weights[r].map(tableNumber)]))}),
  });
  const parts = heads.flatMap((_, h) => {
    const [x, y, wide, tall] = picture.marks.box(0, h * n);
    const bottom = y + tall * tokens.length;
    return [rect(x, y, wide * n, bottom - y, {stroke: 'ink'}),
      label(x, bottom + 12, `head ${names[h]}`, {bold: true})];
  });
  return {...picture, height: picture.height + 16, items: [...picture.items, ...parts]};
}

function splitTable(world) {
  const {H, heads} = splitNow(world);
  const n = world.keys.length;
  const uniform = heads.map((head) => head.weights.filter(isUniform).length);
  const all = uniform.reduce((a, b) => a + b, 0);
  return [
    el('p', {id: 'uniform-rows'},
      `d_k = ${heads[0].q[0].length}. ${all} of ${H * world.tokens.length} rows are ` +
        `uniform${all ? ', because their query is 0' : ''}; diversity ` +
        `${fixed(diversityOf(heads.map((head) => head.weights)))}.`),
    cutNote(world),
    tableOf(`Entropy of uniform attention over ${n} keys: ln ${n} = ${fixed(Math.log(n), 3)}`,
      ['head', 'entropy', 'focus', 'uniform rows'],
      heads.map(({weights}, h) => [
        headNames(world, H)[h], fixed(entropyOf(weights), 3),
        `${fixed(100 * focusOf(weights), 1)} %`, String(uniform[h])]))];
}

/// The trained models of the task shown, from few heads to many.
const familyOf = () => app.page.runs.map((r) => ({r, heads: headsOf(r)})).filter(
      ({r, heads: {length}}) =>
        isLive(r) && r.task === task() &&
        r.attentionLayers.length === run().attentionLayers.length &&
        length > 0 && length <= 16)
    .sort((a, b) => a.heads.length - b.heads.length);

const familyPatterns = memo(where, () =>
  familyOf().map(({r, heads}) => {
    const pass = forwardPass(r.model, example(), {});
    const maps = heads.map((x) =>
      ({...x, ...patternOf(pass, x.m, x.place), owns: ownedBy(x, r).map(spoken)}));
    return {r, maps};
  }),
);

/// All heads of all models on one input: a row for each model, under each head what it owns.
function familyPicture(width) {
  const family = familyPatterns();
  const most = Math.max(...family.map(({maps}) => maps.length));
  const left = 76;
  const gap = 6;
  const foot = 30;
  const side = Math.min(104, (width - left) / most - gap);
  const box = (i, h) => [left + h * (side + gap), 4 + i * (side + foot), side, side];
  const find = (x, y) => {
    const i = Math.floor((y - 4) / (side + foot));
    const h = Math.floor((x - left) / (side + gap));
    return i >= 0 && h >= 0 && family[i]?.maps[h] ? [i, h] : null;
  };
  const owned = ({maps}) => new Set(maps.flatMap((map) => map.owns)).size;
  const isScored = ({r}) => Boolean(r.reports.heads);
  const counts = family.filter(isScored).map((x) => `${owned(x)} with ${x.maps.length}`);
  const unscored = family.length - counts.length;
  const found = counts.length
    ? ` Relations that are owned, of ${task().relations.length}: ${counts.join(', ')} heads.` : '';
  const notYet = unscored ? ` Not scored yet: ${unscored} of ${family.length} models.` : '';
  const owns = (map) => map.owns.join(' ') || 'nothing';
  const cells = family.flatMap(({r, maps}) =>
    maps.map((map) => [maps.length, tableNumber(r.facts.evaluation.loss), map.at, owns(map)]));
  return {
    name: 'family', title: `${family.length} trained models on example ${exampleIndex()}`,
    sentence: `Below each head: the questions that it owns, or ★ if there is no room.${found}${
      notYet}`,
    width, height: 4 + family.length * (side + foot),
    items: family.flatMap((x, i) => familyRow(x, (h) => box(i, h))),
    table: () => ({head: ['heads', 'loss', 'head', 'owner of'], rows: cells}),
    marks: {
      rows: family.length, cols: (i) => family[i].maps.length, box, find,
      text: (i, h) =>
        `${family[i].maps.length} heads, head ${family[i].maps[h].at}: ${owns(family[i].maps[h])}`,
    },
  };
}

function familyRow({r, maps}, box) {
  const [, top] = box(0);
  const words = (owns, room) =>
    (textWidth(owns.join(' '), 11) > room ? '★'.repeat(owns.length) : owns.join(' ') || '–');
  return [
    small(0, top + 8, `${maps.length} head${maps.length > 1 ? 's' : ''}`, {
      bold: true, fill: 'ink',
    }),
    small(0, top + 24, `loss ${digits(r.facts.evaluation.loss, 2)}`),
    ...maps.flatMap((map, h) => {
      const [x, y, w] = box(h);
      return [
        {type: 'map', x, y, w, h: w, ...shaded(map)},
        rect(x, y, w, w, {stroke: 'edge'}),
        small(x, y + w + 9, words(map.owns, w + 6), map.owns.length && {bold: true, fill: 'ink'})];
    }),
  ];
}

/// The answer of this page to the question of the lesson: a number, and why.
function answer() {
  const {needed, relations} = hasRun() ? task() : {};
  const share = hasRun() && !run().facts.normalises
    ? 'one head attends to them with one dot product'
    : 'the weights of one head sum to 1';
  if (!needed)
    return 'As many heads as there are tokens to which one query must attend for different ' +
      'reasons.';
  const names = relations.map((r) => spoken(r.name)).join(', ');
  const tokens = relations.length === 1 ? `1 token (${names})`
    : `${relations.length} tokens for different reasons (${names})`;
  return `${needed}: a query of this task must attend to ${tokens}, and ${share}. ` +
    'More heads at the same width are narrower and mostly repeat each other.';
}

export const manyLesson = {
  get always() {
    return familyOf().length > 1 ? ['ex'] : null;
  },
  worlds: ['five-tokens', 'cat-sleeps', 'run'],
  build(main) {
    const world = lessonWorld();
    const choices = isRunWorld() ? [world.heads] : [1, 2, 4];
    main.append(
      controlRow(labChoice('heads', 'Heads', choices.map((H) => [H, String(H)]), world.heads)),
      figure((width) => splitPicture(width, world), {id: 'split-heads', most: 760}));
    if (familyOf().length > 1)
      main.append(
        figure(familyPicture, {
          id: 'family', most: 960, again: app.page.facts.sweep?.command,
          choose(i, h) {
            const {r, maps} = familyPatterns()[i];
            const run = app.page.runs.indexOf(r) + 1;
            go({view: usable('head') ? 'head' : 'learn', run, h: maps[h].at, ex: exampleIndex()});
          },
        }),
      );
    main.append(
      el('p', {class: 'conclusion', id: 'answer'}, `How many? ${answer()}`),
      folded('how widely each head looks', dynamic('div', {id: 'split'}, () => splitTable(world))));
    const {diversity} = app.page.facts;
    if (diversity)
      main.append(folded('how different trained heads are',
        figure((width) => programPlot(diversity, width, {name: 'diversity'}),
          {id: 'diversity', most: 600})));
    main.append(folded('what heads cost in parameters', ...countNodes()));
  },
};
