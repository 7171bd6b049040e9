// From vectors to heads and back: the whole way of a token through the heads of a layer, matrix by
// matrix, with its shapes; and at its end W_O, which mixes heads, with a gate for each.
import {isSumStream} from './core_wirings.js';
import {range} from './draw.js';
import {bars} from './charts.js';
import {button, dynamic, el, figure, tableOf} from './ui.js';
import {baseTrace, chosen, run} from './state.js';
import {
  besideEachOther, headsOfWorld, identity, l2, lossOfSilence, minus, times,
} from './worlds.js';
import {
  controlRow, fixed, headChoice, headNames, headOfLab, isRunWorld, lab, labChoice, labSlider,
  lessonWorld, numbersPicture, queryChoice, queryOf, setLab, stepButtons, worldName,
} from './learn.js';

const withHeads = (H, each) => range(H * each, (i) => Math.floor(i / each));
const numbered = (n, sign = '') => range(n, (i) => sign + i);

/// The residual stream before the layer; null where that is not one stream.
function streamOf(world) {
  const pass = baseTrace();
  const {m, model} = pass.modules[chosen().m];
  if (model.stacks.length > 1) return null;
  return world.tokens.map((_, t) =>
    Array.from(pass.residual[m].subarray(t * model.C, (t + 1) * model.C)));
}

/// The input of the module, as its matrices see it: of an article's world, q seen through W_Q = 1.
function inputOf(world) {
  if (!isRunWorld()) return world.q;
  const {module, model} = baseTrace().modules[chosen().m];
  const stream = streamOf(world);
  if (!stream || !isSumStream(model.config)) return stream;
  return stream.map((row) =>
    Array.from(model.norm(Float32Array.from(row), module.name.replace(/attn$/, 'ln1.'))));
}

/// The steps: [{name, rows, rowNames, colNames, tints, words}], of head h where heads are apart.
function pipelineSteps(world, h) {
  const heads = headsOfWorld(world);
  const name = headNames(world)[h];
  const one = heads[h];
  const beside = besideEachOther(heads);
  const x = inputOf(world);
  const H = world.heads;
  const dk = one.q[0].length;
  const dv = one.v[0].length;
  const {tokens: T, keys: S, W_O} = world;
  const W_Q = world.W_Q || identity(world.q[0].length);
  const named = isRunWorld() || world.from_input;
  const all = withHeads(H, dk);
  const columns = `the tint shows the head of each column: ${dk} columns for each of ${H} heads`;
  const step = (name, rows, rowNames, words, more) =>
    ({name, rows, rowNames, words, colNames: numbered(rows[0].length), ...more});
  return [
    x && step('x', x, T, named ? 'the input, one row for each token'
      : 'the input; this example begins after the projection, so q is shown here'),
    step('W_Q', W_Q, numbered(W_Q.length, 'x'),
      `every column uses all rows, that is, all of x; ${columns}`, {tints: all}),
    step('q = x W_Q', world.q, T, `queries of all heads in one product; ${columns}`, {tints: all}),
    step(`q of head ${name}`, one.q, T, 'the columns of one head; k and v are split alike',
      {tints: numbered(dk).map(() => h)}),
    step('scores q kᵀ', one.dots, T, 'one dot product for each query and key', {colNames: S}),
    step('weights', one.weights, T, `softmax of the scores / √${dk}: rows sum to 1`,
      {colNames: S, weights: true}),
    step('z = weights v', one.z, T, 'the values, averaged by the weights',
      {tints: numbered(dv).map(() => h)}),
    step('concat', beside, T, 'outputs of all heads, concatenated: each column depends on one head',
      {tints: withHeads(H, dv)}),
    step('W_O', W_O, numbered(H * dv, 'z'), 'rows belong to heads; every column uses all of them',
      {rowTints: withHeads(H, dv)}),
    step('y = concat W_O', times(beside, W_O), T,
      'what the layer adds to the residual stream, as wide as x'),
  ].filter(Boolean);
}

const shapeOf = (step) => `[${step.rows.length}, ${step.rows[0].length}]`;

function pipelinePicture(width, world) {
  const step =
    pipelineSteps(world, headOfLab(world.heads))[lab('step')] || pipelineSteps(world, 0)[0];
  return numbersPicture(width, {
    ...step, signed: !step.weights, places: step.weights ? 4 : 2,
    about: {name: 'pipeline', title: `${step.name} ${shapeOf(step)}`, sentence: `${step.words}.`},
  });
}

function pipelineNodes(world) {
  const last = pipelineSteps(world, 0).length - 1;
  return [
    controlRow(...stepButtons(() => [lab('step'), last]), headChoice(world)),
    dynamic('div', {class: 'tokens', role: 'group', 'aria-label': 'steps'}, () =>
      pipelineSteps(world, headOfLab(world.heads)).map((step, i) =>
        button(`${step.name} ${shapeOf(step)}`, () => setLab({step: i}),
          {id: `step-${i}`, 'aria-pressed': String(i === lab('step'))}))),
    figure((width) => pipelinePicture(width, world), {
      id: 'pipeline', most: 640, again: explainCommand,
    }),
  ];
}

/// The command that prints the same in a terminal.
const explainCommand = () =>
  isRunWorld() ? `headlab explain attention ${run().name}` : `headlab explain ${worldName()}`;

const deskGates = (world) => range(world.heads, (h) => lab(`g${h}`, 1));
const deskMixer = (world) =>
  isRunWorld() || lab('mix') ? world.W_O : identity(world.v[0].length);

/// z of all heads through their gates and W_O, [T][d], and without them.
function deskOutput(world) {
  const heads = headsOfWorld(world);
  const gates = deskGates(world);
  const W_O = deskMixer(world);
  const faded = heads.map((head, h) => ({z: head.z.map((row) => row.map((v) => v * gates[h]))}));
  return {
    heads, now: times(besideEachOther(faded), W_O), whole: times(besideEachOther(heads), W_O),
  };
}

function deskPicture(width, world) {
  const {now, whole} = deskOutput(world);
  const t = queryOf(world);
  return bars({
    width: Math.min(width, 560), unit: 'output', tickName: 'all gates at 1',
    low: Math.min(0, ...whole.flat(), ...now.flat()),
    high: Math.max(...whole.flat(), ...now.flat()),
    rows: now[t].slice(0, 16).map((v, i) => ({name: `y${i}`, value: v, tick: whole[t][i]})),
    about: {
      name: 'desk', title: `Output of ${world.tokens[t]}`,
      sentence: (now[t].length > 16 ? `The first 16 of ${now[t].length} numbers. ` : '') +
        `Over all tokens the output changed by ${fixed(l2(minus(whole, now)))} (L2).`,
    },
  });
}

function deskNodes(world) {
  const changes = () => {
    const {heads, now, whole} = deskOutput(world);
    return tableOf('Change of the output of all tokens by gates', ['', 'L2 of the change'], [
      ['now', fixed(l2(minus(whole, now)))],
      ...headNames(world).map((name, h) => [
        `head ${name} off`, fixed(lossOfSilence(heads, h, deskMixer(world)))])]);
  };
  return [
    controlRow(queryChoice(world),
      !isRunWorld() && labChoice('mix', 'W_O', [[0, 'the identity'], [1, 'mixes']]),
      ...headNames(world).map((name, h) =>
        labSlider(`g${h}`, `Head ${name}`, {words: (v) => fixed(v, 2)}))),
    figure((width) => deskPicture(width, world), {id: 'desk', most: 560, again: explainCommand}),
    dynamic('div', {id: 'desk-change'}, changes)];
}

export const vectorsLesson = {
  worlds: ['run', 'five-tokens', 'cat-sleeps'], uses: ['h', 'ex'],
  build(main) {
    const world = lessonWorld();
    main.append(...pipelineNodes(world), el('h3', null, 'The mixing desk'), ...deskNodes(world));
  },
};
