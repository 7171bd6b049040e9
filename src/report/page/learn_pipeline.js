// Lesson 1: the whole way of a token through the heads of a layer, matrix by matrix, with its shapes;
// and where tokens lie before and after.

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
          : 'the input; the article begins behind this step, so x stands for q here',
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

/// Tokens before and after attention on the two widest axes of both.
function spacePicture(width, world) {
  const beside = besideEachOther(headsOfWorld(world));
  const stream = isRunWorld() && streamOf(world);
  if (stream === null) return null;
  const x = stream || world.v;
  const y = stream
    ? times(beside, world.W_O).map((row, t) => row.map((v, i) => v + x[t][i]))
    : beside;
  const made = together([x.flat(), y.flat()], x.length, x[0].length);
  return beforeAfter(width, made, world.tokens, {
    name: 'before-after', title: 'Before and after attention',
    sentence: stream
      ? 'The stream of each token (hollow square), and with what the heads add to it (dot).'
      : 'The value of each token (hollow square) and what it gathers (dot): averages lie closer together than what they average.',
  });
}

LESSONS[0] = {
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
      el('div', {class: 'columns'},
        figure((width) => pipelinePicture(width, world), {
          id: 'pipeline', most: 640, again: explainCommand,
        }),
        figure((width) => spacePicture(width, world), {
          id: 'before-after', most: 480, again: () => app.page.facts.command,
        }),
      ),
    );
  },
};

/// The command that prints the same in a terminal.
const explainCommand = () =>
  isRunWorld() ? `headlab explain attention ${run().name}` : `headlab explain ${worldName()}`;
