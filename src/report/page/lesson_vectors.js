// Lesson 1: the whole way of a token through the heads of a layer, matrix by matrix, with its
// shapes;
// and where tokens lie before and after.
import {range} from './draw.js';
import {bars, digits} from './charts.js';
import {button, choice, dynamic, el, figure, quoted, tableOf, visible} from './ui.js';
import {baseTrace, chosen, example, go, noPattern, run, task, trace} from './state.js';
import {faders, logitsAt, positionShown} from './live.js';
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
    Array.from(pass.residual[m].subarray(t * model.C, (t + 1) * model.C)),
  );
}

/// The input of the module, as its matrices see it: of an article's world, q seen through W_Q = 1.
function inputOf(world) {
  if (!isRunWorld()) return world.q;
  const {module, model} = baseTrace().modules[chosen().m];
  const stream = streamOf(world);
  if (!stream || model.config.norm !== 'pre') return stream;
  return stream.map((row) =>
    Array.from(model.norm(Float32Array.from(row), module.name.replace(/attn$/, 'ln1.'))),
  );
}

/// The steps: [{name, rows, rowNames, colNames, tints, words}], of head h where heads are apart.
function pipelineSteps(world, h) {
  const [heads, name] = [headsOfWorld(world), headNames(world)[h]];
  const [one, beside, x] = [heads[h], besideEachOther(heads), inputOf(world)];
  const [H, dk, dv] = [world.heads, one.q[0].length, one.v[0].length];
  const [T, S] = [world.tokens, world.keys];
  const W_Q = world.W_Q || identity(world.q[0].length);
  const columns = `the tint says whose column it is: ${dk} for each of ${H} heads`;
  return [
    x && {
      name: 'x', rows: x, rowNames: T, colNames: numbered(x[0].length),
      words:
        isRunWorld() || world.from_input
          ? 'the input, one row for each token'
          : 'the input; the sentence begins after this step, so x stands for q here',
    },
    {
      name: 'W_Q', rows: W_Q, rowNames: numbered(W_Q.length, 'x'), colNames: numbered(H * dk),
      tints: withHeads(H, dk),
      words: `every column reads all rows, that is all of x; ${columns}`,
    },
    {
      name: 'q = x W_Q', rows: world.q, rowNames: T, colNames: numbered(H * dk),
      tints: withHeads(H, dk), words: `queries of all heads in one product; ${columns}`,
    },
    {
      name: `q of head ${name}`, rows: one.q, rowNames: T, colNames: numbered(dk),
      tints: numbered(dk).map(() => h),
      words: 'the cut: the columns of one head; k and v are cut alike',
    },
    {
      name: 'scores q kᵀ', rows: one.dots, rowNames: T, colNames: S,
      words: 'one dot product for each query and key',
    },
    {
      name: 'weights', rows: one.weights, rowNames: T, colNames: S, weights: true,
      words: `softmax of the scores / √${dk}: rows sum to 1`,
    },
    {
      name: 'z = weights v', rows: one.z, rowNames: T, colNames: numbered(dv),
      tints: numbered(dv).map(() => h), words: 'the values, averaged by the weights',
    },
    {
      name: 'concat', rows: beside, rowNames: T, colNames: numbered(H * dv),
      tints: withHeads(H, dv),
      words: 'all heads side by side: no column knows of two heads',
    },
    {
      name: 'W_O', rows: world.W_O, rowNames: numbered(H * dv, 'z'),
      colNames: numbered(world.W_O[0].length), rowTints: withHeads(H, dv),
      words: 'its rows belong to heads; every column reads them all',
    },
    {
      name: 'y = concat W_O', rows: times(beside, world.W_O), rowNames: T,
      colNames: numbered(world.W_O[0].length),
      words: 'what the layer adds to the stream, of the width of x',
    },
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

export const vectorsLesson = {
  worlds: ['five-tokens', 'cat-sleeps', 'run'], uses: ['h', 'ex'],
  build(main) {
    const world = lessonWorld();
    const last = pipelineSteps(world, 0).length - 1;
    main.append(
      controlRow(...stepButtons(() => [lab('step'), last]), headChoice(world)),
      dynamic('div', {class: 'tokens', role: 'group', 'aria-label': 'steps'}, () =>
        pipelineSteps(world, headOfLab(world.heads)).map((step, i) =>
          button(`${step.name} ${shapeOf(step)}`, () => setLab({step: i}), {
            id: `step-${i}`, 'aria-pressed': String(i === lab('step')),
          }),
        ),
      ),
      figure((width) => pipelinePicture(width, world), {
        id: 'pipeline', most: 640, again: explainCommand,
      }),
    );
  },
};

/// The command that prints the same in a terminal.
export const explainCommand = () =>
  isRunWorld() ? `headlab explain attention ${run().name}` : `headlab explain ${worldName()}`;
// Lesson 4: faders on heads, and W_O as the desk that mixes them; on a run, the logits that move.

const deskGates = (world) => range(world.heads, (h) => lab(`g${h}`, 1));
const deskMixer = (world) => (lab('mix') ? world.W_O : identity(world.v[0].length));

/// z of all heads through their faders and W_O, [T][d], and without them.
function deskOutput(world) {
  const [heads, gates, W_O] = [headsOfWorld(world), deskGates(world), deskMixer(world)];
  const faded = heads.map((head, h) => ({z: head.z.map((row) => row.map((v) => v * gates[h]))}));
  return {
    heads, now: times(besideEachOther(faded), W_O), whole: times(besideEachOther(heads), W_O),
  };
}

function deskPicture(width, world) {
  const {now, whole} = deskOutput(world);
  const t = queryOf(world);
  return bars({
    width: Math.min(width, 560), unit: 'output', tickName: 'all faders at 1',
    low: Math.min(0, ...whole.flat(), ...now.flat()),
    high: Math.max(...whole.flat(), ...now.flat()),
    rows: now[t].map((v, i) => ({name: `y${i}`, value: v, tick: whole[t][i]})),
    about: {
      name: 'desk', title: `Output of ${world.tokens[t]}`,
      sentence: `Over all tokens the output changed by ${fixed(l2(minus(whole, now)))} (L2).`,
    },
  });
}

function deskOfWorld(main, world) {
  main.append(
    controlRow(queryChoice(world),
      labChoice('mix', 'W_O', [[0, 'the identity'], [1, 'mixes (orthogonal)']]),
      ...headNames(world).map((name, h) =>
        labSlider(`g${h}`, `Head ${name}`, {words: (v) => fixed(v, 2)}),
      ),
    ),
    figure((width) => deskPicture(width, world), {
      id: 'desk', most: 560, again: explainCommand,
    }),
    dynamic('div', {id: 'desk-change'}, () => {
      const {heads, now, whole} = deskOutput(world);
      return tableOf('What faders take from the output of all tokens', ['', 'L2 of the change'], [
        ['now', fixed(l2(minus(whole, now)))],
        ...headNames(world).map((name, h) => [
          `head ${name} silent`, fixed(lossOfSilence(heads, h, deskMixer(world))),
        ]),
      ]);
    }),
  );
}

/// The logits of one answer at the query that is shown: the highest, now and with all faders at 1.
function logitsPicture(width) {
  const [now, base] = [trace(), baseTrace()];
  if (!now?.logits || !base?.logits) return noPattern();
  const {target_names: names, tokens} = task();
  const [t, k] = [positionShown(), Math.min(lab('target'), names.length - 1)];
  const [mine, before] = [logitsAt(now, t, k), logitsAt(base, t, k)];
  const right = example().targets ? example().targets[t * names.length + k] : -1;
  const order = [...before.keys()].sort((a, b) => before[b] - before[a]).slice(0, 8);
  if (right >= 0 && !order.includes(right)) order.push(right);
  return bars({
    width: Math.min(width, 560), unit: 'logit', tickName: 'all faders at 1',
    rows: order.map((v) => ({
      name: `${v === right ? '✓ ' : ''}${visible(tokens[v] ?? String(v))}`,
      value: mine[v], tick: before[v], strong: v === right,
    })),
    about: {
      name: 'logits', title: `Logits of ${names[k]} at position ${t}`,
      sentence:
        right >= 0
          ? `The right answer is ${quoted(tokens[right])}: ${digits(mine[right])} now, ` +
            `${digits(before[right])} with all faders at 1.`
          : 'There is no right answer here.',
    },
  });
}

export const deskLesson = {
  worlds: ['five-tokens', 'cat-sleeps', 'run'], uses: ['ex'],
  build(main) {
    if (!isRunWorld()) return deskOfWorld(main, lessonWorld());
    const positions = range(example().length, (t) => [t, String(t)]);
    const position = choice('lab-query', 'Position', positions, (v) => go({q: [Number(v)]}),
      positionShown,
    );
    main.append(
      el('div', {class: 'columns'},
        el('div', null, faders(),
          controlRow(button('All at 1', () => go({gates: {}}), {id: 'all-on'})),
        ),
        el('div', null,
          controlRow(position,
            labChoice('target', 'Question', task().target_names.map((name, k) => [k, name])),
          ),
          figure(logitsPicture, {
            id: 'logits', most: 560, again: () => `headlab ablate ${run().name}`,
          }),
        ),
      ),
    );
  },
};
