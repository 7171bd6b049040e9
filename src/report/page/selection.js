// What is being looked at (state.js), as things: the run, the head, the example with its edits, the
// pass over it with what is switched off. The views register themselves in VIEWS, in the order of
// their keys 1 to 9; each is {name, title, uses: [controls], build(main), available(page)}. The
// model and its numbers are the business of core_*.js.
const VIEWS = [];
const app = {page: null, state: null, figures: [], check: null, ready: false, busy: 0, view: null};

/// Whether a page shows a view: a textbook shows lessons, and says what it is.
const isShown = (view) =>
  view.available(app.page) && (!app.page.facts.textbook || ['learn', 'about'].includes(view.name));

const run = () => app.page.runs[Math.min(Math.max(app.state.run, 1), app.page.runs.length) - 1];
const task = () => run().task;
const isLive = (r = run()) => Boolean(r.live && app.check?.ok !== false);

/// All heads of a run, in order: {m, place, born, at: "layer.head"}.
const headsOf = (r = run()) =>
  core.headsOf(r).map(({m, place, born}) => ({m, place, born, at: `${m}.${born}`}));

/// The names of the relations that a head owns.
const ownedBy = ({m, place}, r = run()) =>
  task().relations
    .filter((_, i) => {
      const owner = core.owner(r, i);
      return owner && owner.m === m && owner.place === place;
    })
    .map((relation) => relation.name);

/// The chosen head: the state's, or the first owner of a relation, or the first there is.
function chosen(key = 'h', r = run()) {
  const named = app.state[key] && core.headOf(r, app.state[key]);
  if (app.state[key]) return named && named.place >= 0 ? {...named, at: app.state[key]} : null;
  const heads = headsOf(r);
  const first =
    heads.find(
      (x) => ownedBy(x, r)[0] === task().relations.find((_, i) => core.owner(r, i))?.name,
    ) || heads[0];
  return key === 'b' ? heads.find((x) => x.at !== first?.at) || first : first || null;
}

/// The relation whose truth is drawn: the state's, or the one that the chosen head scores best on.
function relation(head = chosen()) {
  const {relations} = task();
  if (app.state.rel === '' || !head) return -1;
  const {kind} = run().modules[head.m];
  if (app.state.rel != null) {
    const i = relations.findIndex((r) => r.name === app.state.rel);
    return i >= 0 && relations[i].kind === kind ? i : -1;
  }
  let [best, at] = [-Infinity, -1];
  for (const {i, score} of scoresOf(head)) if (score.lift > best) [best, at] = [score.lift, i];
  return at;
}

/// What heads.json says of a head and the relations that may be asked of it: [{name, i, score, owns}].
function scoresOf(head) {
  const owned = ownedBy(head);
  return task().relations.flatMap(({name, kind}, i) => {
    const asked = kind === run().modules[head.m].kind;
    const score = asked && core.reportScore(run(), i, head.m, head.place);
    return score ? [{name, i, score, owns: owned.includes(name)}] : [];
  });
}

/// Example indices from the lowest loss to the highest.
const ranked = memo(
  () => run().name,
  () => {
    const losses = run().losses('scored');
    return range(exampleCount()).sort((a, b) => (losses?.[a] || 0) - (losses?.[b] || 0) || a - b);
  },
);

function exampleCount() {
  return run().model ? task().set('scored').size : run().facts.shown || 0;
}

function exampleIndex() {
  const {ex} = app.state;
  const order = ranked();
  if (ex === 'typical') return order[Math.floor(order.length / 2)] ?? 0;
  if (ex === 'worst') return order.at(-1) ?? 0;
  return Math.min(ex, Math.max(exampleCount() - 1, 0));
}

/// A function that remembers its last result, while `key` gives the same string.
function memo(key, make) {
  let [last, value] = [];
  const get = () => {
    const now = key();
    if (now !== last) [last, value] = [now, make()];
    return value;
  };
  get.forget = () => {
    last = undefined;
  };
  get.key = key;
  return get;
}

const model = () =>
  app.state.step != null && run().steps.length ? run().modelAt(app.state.step) : run().model;
const where = () =>
  JSON.stringify([app.state.run, app.state.ex, app.state.edit, app.state.step, isLive()]);

/// The example shown, with the reader's edits (places beyond the tokens are those of the source);
/// gold where the task's rule is known for them.
const example = memo(where, () => {
  const original = task().set('scored').example(exampleIndex());
  const [tokens, source] = [
    Int32Array.from(original.tokens), original.source && Int32Array.from(original.source),
  ];
  const edited = Object.entries(app.state.edit).filter(
    ([i, v]) => i < tokens.length + (source?.length || 0) && v < task().vocab,
  );
  if (!edited.length) return original;
  for (const [i, v] of edited)
    i < tokens.length ? (tokens[i] = v) : (source[i - tokens.length] = v);
  const made =
    core.truthOf(task(), tokens) ||
    core.makeExample(task(), tokens, {source, targets: null, length: original.length});
  if (source) made.sourceLength = original.sourceLength;
  return made;
});

/// The gates as core takes them, or null if all are 1.
function gateArray(gates = app.state.gates, r = run()) {
  if (!Object.keys(gates).length) return null;
  return r.modules.map((module) =>
    Float32Array.from(module.heads, (born) => gates[`${module.index}.${born}`] ?? 1),
  );
}

function hiddenEdges() {
  const {hide} = app.state;
  const head = chosen();
  const rel = relation(head);
  if (!hide || !head || (rel < 0 && !/^\d/.test(hide))) return null;
  return (m, place) => {
    if (m !== head.m || place !== head.place) return null;
    if (hide === 'gold') return core.goldEdges(run(), example(), rel, m);
    if (hide === 'random') return core.randomEdges(run(), example(), rel, m);
    const {queries, keys} = baseTrace().modules[m];
    const bits = new Uint8Array(queries * keys);
    for (const [q, k] of hide.split(',').map((e) => e.split('.').map(Number)))
      if (q < queries && k < keys) bits[q * keys + k] = 1;
    return bits;
  };
}

/// What takes the place of silent heads in the example shown: nothing, means over examples, or what
/// the heads put out in the next example.
function replacement() {
  const {facts, modules} = run();
  if (app.state.repl === 'mean') return facts.means.map((block) => app.page.blocks.read(block));
  if (app.state.repl === 'zero') return null;
  const next = task().set('scored').example((exampleIndex() + 1) % exampleCount());
  const other = core.forward(model(), next);
  return modules.map((_, m) => other.modules[m].z);
}

/// Whether a pass takes more than about a third of a second.
function isSlow() {
  const {length: T, source_length: S} = task();
  return (
    run().facts.parameters * (T + S) +
      run().modules.reduce(
        (sum, x) => sum + x.heads.length * (x.dHead + x.dValue) * T * Math.max(T, S),
        0,
      ) >
    6e7
  );
}

/// A pass, at once where it takes less than a third of a second; a longer one runs in slices, and
/// is null until it is there.
function passOf(options) {
  if (!isSlow()) return core.forward(model(), example(), options);
  const key = where() + (options.base ? trace.key() : '');
  if (!slow.done.has(key) && slow.running !== key) {
    slow.running = key;
    ++app.busy;
    core
      .drive(core.forwardSteps(model(), example(), options), {
        cancelled: () => slow.running !== key,
      })
      .then((pass) => {
        --app.busy;
        if (!pass) return;
        slow.running = '';
        if (slow.done.size > 3) slow.done.delete(slow.done.keys().next().value);
        slow.done.set(key, pass);
        baseTrace.forget();
        trace.forget();
        show(true);
      });
  }
  return slow.done.get(key) || null;
}

const slow = {running: '', done: new Map()};

/// What stands in the place of a pattern that is not there.
const noPattern = () =>
  isLive()
    ? note('The model is computing this example …')
    : note(
        'This page holds neither usable weights nor patterns of examples; the overview shows mean patterns.',
      );

/// The model's pass over the example without, and with, what the reader switched off; null where
/// there is neither a model nor a stored pattern.
const baseTrace = memo(where, () => {
  if (isLive()) return passOf({});
  return run().facts.patterns ? core.storedTrace(run(), exampleIndex()) : null;
});
const trace = memo(
  () =>
    where() +
    JSON.stringify([app.state.gates, app.state.hide, app.state.repl, app.state.h, app.state.rel]),
  () => {
    const [gates, hidden] = [gateArray(), hiddenEdges()];
    if (!isLive() || (!gates && !hidden) || !baseTrace()) return baseTrace();
    return passOf({gates, hidden, replacement: replacement(), base: baseTrace()});
  },
);

/// What a view lacks, with the command that writes it; null if the file is there.
function lacking(file, what, r = run()) {
  const command = core.missing(r, file);
  if (command === null) return null;
  return note(
    `${what} not in this page. `,
    command
      ? [
          'This writes them: ', code(command),
          ...(command.includes('headlab page') ? [] : [', then ', code(app.page.facts.command)]),
          '.',
        ]
      : 'Nothing can write them for this run.',
  );
}
