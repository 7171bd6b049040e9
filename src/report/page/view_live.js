// The model, running in the page: a gate for each head, edges hidden, tokens changed. Its losses are
// over the same held-out examples as `ablate`, first a few, then all in slices, and stand beside
// what the program itself found for the same set of heads.

const measured = {key: '', result: null, done: 0, of: 0, whole: null};

function measureKey() {
  const {state} = app;
  return JSON.stringify([
    state.run,
    state.step,
    state.gates,
    state.repl,
    state.hide && !/^\d/.test(state.hide) ? [state.hide, chosen()?.at, relation()] : null,
  ]);
}

function evaluation(options, count, progress, key) {
  return core.drive(
    core.evaluateSteps(run(), {model: model(), replacement: app.state.repl, count, ...options}),
    {slice: 8, progress, cancelled: () => measured.key !== key},
  );
}

/// Starts the measurement of the present gates, unless it runs or is done; a new one cancels it.
async function measure() {
  const key = measureKey();
  if (!isLive() || measured.key === key) return;
  Object.assign(measured, {key, done: 0, result: null});
  ++app.busy;
  const head = chosen();
  const hide =
    app.state.hide && !/^\d/.test(app.state.hide) && head && relation(head) >= 0
      ? {
          relation: relation(head),
          heads: [[head.m, head.place]],
          random: app.state.hide === 'random',
          seed: 0,
        }
      : undefined;
  const size = task().set('held_out').size;
  const tell = (state) => {
    if (measured.key !== key) return;
    Object.assign(measured, {
      done: state.done,
      of: state.of,
      result: state.result || measured.result,
    });
    showMeasured();
  };
  try {
    const options = {gates: gateArray(), hide};
    const few = isSlow() ? 1 : 32;
    if (size > few) tell({done: few, of: size, result: await evaluation(options, few, null, key)});
    const result = await evaluation(
      options,
      undefined,
      (s) => tell({done: s.done, of: s.of, result: s.done > few ? s.sums.result : null}),
      key,
    );
    if (!result) return;
    const plain = !gateArray() && !hide;
    const whole = JSON.stringify([app.state.run, app.state.step]);
    if (plain) measured.whole = {key: whole, result};
    else if (measured.whole?.key !== whole)
      measured.whole = {key: whole, result: await evaluation({gates: null}, undefined, null, key)};
    tell({done: size, of: size, result});
    say(
      `Loss ${digits(result.loss)} nats, ${digits(100 * result.accuracy)} % right, over ${size} held-out examples.`,
    );
  } finally {
    --app.busy;
  }
}

let measureListeners = [];
const showMeasured = () => measureListeners.forEach((listener) => listener());

/// What the program itself found for exactly this: {ours, theirs, from, what}, or null.
function programSays() {
  const {state} = app;
  const {result, whole} = measured;
  const {curve, ablation, gold_edges: gold} = run().reports;
  const size = task().set('held_out').size;
  const off = Object.keys(state.gates);
  const say = (theirs, from, ours = result.loss, what = '') => ({ours, theirs, from, what});
  if (state.step != null || !result) return null;
  if (state.hide) {
    const [head, rel] = [chosen(), relation()];
    const name = task().facts.relations[rel]?.name;
    const test =
      gold?.examples === size &&
      gold.relations
        .find((r) => r.name === name)
        ?.tests.find((t) => t.heads.length === 1 && at2(t.heads[0]) === head.at);
    if (state.hide !== 'gold' || off.length || !test || !whole?.result.relations[rel]) return null;
    return say(
      test.gold.change,
      'gold_edges.json',
      result.relations[rel].loss - whole.result.relations[rel].loss,
      `rise on ${name}: here ${digits(result.relations[rel].loss - whole.result.relations[rel].loss)}`,
    );
  }
  const known =
    (state.repl === 'zero' || !off.length) && curve?.subsets?.examples === size
      ? core.subsetLoss(
          run(),
          gateArray() || run().modules.map((x) => new Float32Array(x.heads.length).fill(1)),
        )
      : null;
  if (known != null) return say(known, 'curve.json');
  if (!off.length)
    return run().facts.evaluation ? say(run().facts.evaluation.loss, 'headlab eval') : null;
  const single =
    off.length === 1 &&
    state.gates[off[0]] === 0 &&
    ablation?.kind === state.repl &&
    ablation.examples === size;
  const record = single && ablation.heads.find((h) => `${h.layer}.${h.head}` === off[0]);
  return record ? say(record.loss, 'ablation.json') : null;
}

function lossNodes() {
  const {result, done, of, whole} = measured;
  if (!result) return el('p', null, 'Measuring …');
  const program = programSays();
  const complete = done >= of;
  const agrees =
    program && Math.abs(program.theirs - program.ours) <= 1e-5 + 1e-4 * Math.abs(program.theirs);
  const rise =
    whole && whole.key === JSON.stringify([app.state.run, app.state.step])
      ? result.loss - whole.result.loss
      : null;
  return [
    el(
      'div',
      {class: 'pair'},
      el(
        'div',
        null,
        'Loss',
        el('div', {class: 'big', id: 'live-loss'}, digits(result.loss)),
        el(
          'span',
          {class: 'muted small'},
          rise
            ? `${rise > 0 ? '+' : ''}${digits(rise)} nats against all heads on`
            : 'nats per target',
        ),
      ),
      el(
        'div',
        null,
        'Right',
        el('div', {class: 'big', id: 'live-accuracy'}, `${digits(100 * result.accuracy)} %`),
        el('span', {class: 'muted small'}, `${result.count} answers`),
      ),
      el(
        'div',
        null,
        'The program says',
        el('div', {class: 'big muted', id: 'program-loss'}, program ? digits(program.theirs) : '–'),
        el(
          'span',
          {
            class: `small ${program && complete ? (agrees ? 'badge' : 'badge bad') : 'muted'}`,
            id: 'agrees',
          },
          program
            ? `${complete ? (agrees ? '✓ the same' : '✗ not the same') : 'waiting'} (${program.from})`
            : oracleHint(),
          program?.what ? el('div', null, program.what) : '',
        ),
      ),
    ),
    el(
      'p',
      {class: 'muted small'},
      complete
        ? `over all ${of} held-out examples`
        : `over ${done} of ${of} held-out examples so far`,
    ),
  ];
}

function oracleHint() {
  if (app.state.repl === 'zero' && !run().reports.curve?.subsets && headsOf(run()).length <= 12)
    return ['every set: ', code(`headlab curve ${run().name}`)];
  return 'has not measured this';
}

function relationBars(width) {
  const {result, whole} = measured;
  if (!result) return note('Measuring …');
  const parts = result.relations?.length ? result.relations : result.targets || [];
  const before =
    whole?.result && (result.relations?.length ? whole.result.relations : whole.result.targets);
  const worst = parts.reduce((a, b) => (a && a.loss >= b.loss ? a : b), null);
  return bars({
    width: Math.min(width, 560),
    unit: 'loss (nats)',
    tickName: before ? 'all heads on' : undefined,
    rows: parts.map((p, i) => ({
      name: p.name,
      value: p.loss,
      tick: before?.[i]?.loss,
      accuracy: p.accuracy,
    })),
    about: {
      name: 'live-by-relation',
      title: 'By question',
      sentence: worst
        ? `Worst: ${worst.name}, ${digits(worst.loss, 3)} nats, ${digits(100 * worst.accuracy, 3)} % right.`
        : '',
    },
    say: (r) =>
      `${parts[r].name}: loss ${digits(parts[r].loss)}, ${digits(100 * parts[r].accuracy)} % right, ${parts[r].count} answers`,
  });
}

/// A fader for each head, layer by layer.
function faders() {
  return el(
    'div',
    null,
    run()
      .modules.filter((module) => module.heads.length)
      .map((module) =>
        el(
          'fieldset',
          {class: 'gates'},
          el('legend', {class: 'small muted'}, moduleName(module)),
          module.heads.map((born) => {
            const at = `${module.index}.${born}`;
            const set = (v) => {
              const gates = {...app.state.gates};
              if (v === 1) delete gates[at];
              else gates[at] = v;
              go({gates, h: at});
            };
            const box = el('input', {
              type: 'checkbox',
              id: `gate-${at}`,
              'data-head': at,
              onchange: (event) => set(event.target.checked ? 1 : 0),
            });
            const slider = el('input', {
              type: 'range',
              min: 0,
              max: 1,
              step: 0.05,
              id: `fader-${at}`,
              'aria-label': `gate of head ${at}`,
              oninput: (event) => set(Number(event.target.value)),
            });
            const out = el('output', {for: `fader-${at}`});
            live(() => {
              const v = app.state.gates[at] ?? 1;
              box.checked = v > 0;
              slider.value = v;
              out.textContent = String(v);
            });
            return el(
              'div',
              {class: 'gate'},
              el('label', null, box, ` ${at}`),
              slider,
              out,
              el(
                'span',
                {class: 'muted small'},
                ownedBy({m: module.index, place: module.placeOf(born)}).join(', '),
              ),
            );
          }),
        ),
      ),
  );
}

/// The tokens of the example; a choice of the vocabulary replaces the one that was picked.
function tokenEditor() {
  let picked = null;
  const list = el(
    'select',
    {
      id: 'edit-token',
      'aria-label': 'new token',
      onchange: (event) =>
        picked !== null && go({edit: {...app.state.edit, [picked]: Number(event.target.value)}}),
    },
    task()
      .facts.tokens.slice(0, 500)
      .map((words, v) => el('option', {value: v}, visible(words))),
  );
  const places = (list, first, most) =>
    Array.from(list || [])
      .slice(0, Math.min(most, 128))
      .map((v, at) => [v, first + at]);
  const tokens = dynamic('div', {class: 'tokens', id: 'tokens'}, () =>
    [
      ...places(example().source, example().tokens.length, example().sourceLength),
      ...places(example().tokens, 0, example().length),
    ].map(([v, i]) =>
      button(
        visible(task().facts.tokens[v] ?? String(v)),
        () => {
          picked = i;
          list.value = String(v);
          list.focus();
          say(`Position ${i}: choose another token.`);
        },
        {
          id: `token-${i}`,
          class: app.state.edit[i] !== undefined ? 'edited' : null,
          'aria-label': `position ${i}: ${visible(task().facts.tokens[v] ?? '')}`,
        },
      ),
    ),
  );
  return el(
    'div',
    null,
    el('h3', null, 'Tokens'),
    el(
      'p',
      {class: 'small muted'},
      'Pick a token, then another in its place. ',
      dynamic('span', null, () =>
        Object.keys(app.state.edit).length && !example().gold(0, 0) && task().facts.relations.length
          ? 'The truth of an edited example is not known for this task, so none is drawn.'
          : '',
      ),
    ),
    tokens,
    list,
    ' ',
    button('As it was', () => go({edit: {}})),
  );
}

/// What the model answers at one position: each question, the right token, and what it thinks.
function answers() {
  const pass = trace();
  if (!pass?.logits) return [];
  const {vocab, target_names: names, tokens} = task().facts;
  const shown = example();
  const t = Math.min(app.state.q[0] ?? shown.length - 1, shown.length - 1);
  if (t < 0) return [];
  const rows = names.map((name, k) => {
    const logits = Array.from(
      pass.logits.subarray((t * names.length + k) * vocab, (t * names.length + k + 1) * vocab),
    );
    const top = Math.max(...logits);
    const total = logits.reduce((sum, v) => sum + Math.exp(v - top), 0);
    const order = logits
      .map((v, i) => [v, i])
      .sort((a, b) => b[0] - a[0])
      .slice(0, 3);
    const right = shown.targets ? shown.targets[t * names.length + k] : -1;
    return [
      name,
      right < 0 ? '–' : quoted(tokens[right]),
      order[0][1] === right ? '✓' : right < 0 ? '' : '✗',
      order
        .map(([v, i]) => `${quoted(tokens[i])} ${(Math.exp(v - top) / total).toFixed(3)}`)
        .join('  '),
    ];
  });
  return tableOf(
    {head: ['question', 'right', '', 'the model says (probability)'], rows},
    `Answers at position ${t}${app.state.q.length ? '' : ' (the last; lock a query in the pattern to choose)'}`,
  );
}

/// Two heads off: is the loss more than the sum of what each costs?
function pairNode() {
  const off = Object.keys(app.state.gates).filter((at) => app.state.gates[at] === 0);
  if (off.length !== 2 || Object.keys(app.state.gates).length !== 2)
    return el(
      'p',
      {class: 'small muted'},
      'Switch exactly two heads off to see whether they back each other up.',
    );
  const one = (at) => core.subsetLoss(run(), gateArray({[at]: 0}));
  const [a, b, both, none] = [
    one(off[0]),
    one(off[1]),
    measured.result?.loss,
    core.subsetLoss(
      run(),
      run().modules.map((x) => new Float32Array(x.heads.length).fill(1)),
    ),
  ];
  if ([a, b, both, none].some((v) => v == null) || app.state.repl !== 'zero')
    return el('p', {class: 'small muted'}, 'Pairs: ', code(`headlab ablate ${run().name} --pairs`));
  const sum = a + b - 2 * none;
  return tableOf(
    {
      head: ['silenced', 'rise of the loss'],
      rows: [
        [off[0], a - none],
        [off[1], b - none],
        ['sum of the two', sum],
        ['both at once', both - none],
        ['beyond the sum', both - none - sum],
      ],
    },
    `Heads ${off.join(' and ')}`,
  );
}

/// Ranks the reader's set of heads among all sets of its size, when asked.
function guessNode() {
  const subsets = run().reports.curve?.subsets;
  if (!subsets) return el('p', {class: 'small muted'}, 'Which heads suffice? ', oracleHint());
  const kept = subsets.heads.map(([m, born]) => (app.state.gates[`${m}.${born}`] ?? 1) > 0);
  const size = kept.filter(Boolean).length;
  const mine = kept.reduce((bits, on, i) => bits + (on ? 2 ** i : 0), 0);
  const same = subsets.losses
    .map((loss, i) => [loss, i])
    .filter(([, i]) => i.toString(2).replace(/0/g, '').length === size)
    .sort((a, b) => a[0] - b[0]);
  const names = (bits) =>
    subsets.heads
      .filter((_, i) => Math.floor(bits / 2 ** i) % 2)
      .map((h) => h.join('.'))
      .join(' ') || 'none';
  const rank = same.findIndex(([, i]) => i === mine) + 1;
  return el(
    'details',
    {id: 'guess'},
    el(
      'summary',
      null,
      `Guess first: which ${size} heads suffice? Switch the others off, then open this.`,
    ),
    el(
      'p',
      null,
      `Your ${size} heads (${names(mine)}) are number ${rank} of ${same.length} sets of that size: loss ${digits(subsets.losses[mine])}. The best is ${names(same[0][1])}: ${digits(same[0][0])}. Your regret: ${digits(subsets.losses[mine] - same[0][0])} nats.`,
    ),
  );
}

VIEWS.push({
  name: 'live',
  title: 'Live model',
  short: 'Live',
  uses: ['h', 'ex', 'rel', 'step'],
  available: (page) => page.runs.length > 0,
  build(main) {
    if (!isLive())
      return main.append(
        note(
          run().model
            ? 'The live model is off, because this page failed its own check.'
            : 'This page holds no weights. ',
          code(app.page.facts.command),
          run().model ? '' : ' with a larger budget embeds them.',
        ),
      );
    measureListeners = [];
    const result = el('div', {id: 'live-result', 'aria-live': 'off'});
    const pair = el('div');
    measureListeners.push(() => {
      result.replaceChildren(...[lossNodes()].flat());
      pair.replaceChildren(pairNode());
    });
    const name = () => run().name;
    const hides = [
      ['', 'none'],
      ['gold', 'on the truth drawn'],
      ['random', 'as many random ones'],
    ];
    const byQuestion = figure((width) => relationBars(width), {
      id: 'by-question',
      again: () => `headlab ablate ${name()} --kind ${app.state.repl}`,
    });
    const bars = app.figures[app.figures.length - 1];
    measureListeners.push(() => bars.draw());
    main.append(
      el(
        'p',
        null,
        'This is the trained model itself. Move a gate: all heads after it, and every answer, are computed again.',
      ),
      result,
      el(
        'div',
        {class: 'columns'},
        el(
          'div',
          null,
          faders(),
          headsOf(run()).length > 0 &&
            el(
              'div',
              {class: 'controls'},
              button('All on', () => go({gates: {}, hide: null}), {id: 'all-on'}),
              button('Only this head', () => onlyGate(chosen()), {id: 'only'}),
              choice(
                'repl',
                'In place of a silent head',
                [
                  ['zero', 'zero'],
                  ['mean', 'its mean'],
                  ['resample', 'another example’s output'],
                ],
                (v) => go({repl: v}),
              ),
              choice('hide', 'Hide edges of the chosen head', hides, (v) => go({hide: v || null})),
              button(
                'Hide the locked cells',
                () =>
                  app.state.k == null
                    ? say('Lock a cell of the pattern first.')
                    : go({hide: app.state.q.map((q) => `${q}.${app.state.k}`).join(',')}),
                {id: 'hide-locked'},
              ),
              dynamic('span', {class: 'small muted'}, () =>
                /^\d/.test(app.state.hide || '')
                  ? 'Hidden cells act on the example shown, not on the loss above.'
                  : '',
              ),
            ),
          byQuestion,
          headsOf(run()).length > 0 && [pair, dynamic('div', null, guessNode)],
        ),
        el(
          'div',
          null,
          figure(
            (width) =>
              chosen() && trace()
                ? patternPicture(width, {
                    head: chosen(),
                    rel: relation(),
                    title: `Head ${chosen().at}, example ${exampleIndex()}`,
                  })
                : chosen()
                  ? noPattern()
                  : note('No head to show.'),
            {
              id: 'live-pattern',
              most: 480,
              choose: (r, c, event) => lockQuery(r, c, event.shiftKey),
              again: () =>
                chosen() &&
                `headlab heads ${name()} --pattern ${chosen().at} --example ${exampleIndex()}`,
            },
          ),
          run().modules.length === 1 &&
            el(
              'p',
              {class: 'small muted'},
              'There is one layer: no head reads what another writes, so gates change answers, not patterns.',
            ),
          dynamic('div', {id: 'answers'}, answers),
          tokenEditor(),
        ),
      ),
    );
    live(() => {
      setValues({
        repl: app.state.repl,
        hide: /^\d/.test(app.state.hide || '') ? '' : app.state.hide,
      });
      measure();
      showMeasured();
    });
  },
});
