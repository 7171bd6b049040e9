// The page as a whole: what is being looked at (state.js), which view shows it, the controls that
// all views share, and the keys. The views register themselves in VIEWS, in the order of their keys
// 1 to 9; each is {name, title, uses: [controls], build(main), available(page)}. The model and its
// numbers are core.js's business.
const core = globalThis.headlabCore;
const VIEWS = [];
const app = {page: null, state: null, figures: [], check: null, ready: false, busy: 0, view: null};

const run = () => app.page.runs[Math.min(Math.max(app.state.run, 1), app.page.runs.length) - 1];
const task = () => run().task;
const isLive = (r = run()) => Boolean(r.live && app.check?.ok !== false);

/// All heads of a run, in order: {m, place, born, at: "layer.head"}.
function headsOf(r) {
  return r.modules.flatMap((module) =>
    module.heads.map((born, place) => ({
      m: module.index,
      place,
      born,
      at: `${module.index}.${born}`,
    })),
  );
}

/// The names of the relations that a head owns.
const ownedBy = ({m, place}, r = run()) =>
  task()
    .facts.relations.filter((_, i) => {
      const owner = core.owner(r, i);
      return owner && owner.m === m && owner.place === place;
    })
    .map((relation) => relation.name);

/// Shows values in inputs and lists that the reader is not using just now.
function setValues(values) {
  for (const [id, value] of Object.entries(values)) {
    const node = document.getElementById(id);
    if (node && document.activeElement !== node) node.value = value ?? '';
  }
}

/// The chosen head: the state's, or the first owner of a relation, or the first there is.
function chosen(key = 'h', r = run()) {
  const named = app.state[key] && core.headOf(r, app.state[key]);
  if (app.state[key]) return named && named.place >= 0 ? {...named, at: app.state[key]} : null;
  const heads = headsOf(r);
  const first =
    heads.find(
      (x) => ownedBy(x, r)[0] === task().facts.relations.find((_, i) => core.owner(r, i))?.name,
    ) || heads[0];
  return key === 'b' ? heads.find((x) => x.at !== first?.at) || first : first || null;
}

/// The relation whose truth is drawn: the state's, or the one that the chosen head scores best on.
function relation(head = chosen()) {
  const {relations} = task().facts;
  if (app.state.rel === '' || !head) return -1;
  const {kind} = run().modules[head.m];
  if (app.state.rel != null) {
    const i = relations.findIndex((r) => r.name === app.state.rel);
    return i >= 0 && relations[i].kind === kind ? i : -1;
  }
  let [best, at] = [-Infinity, -1];
  relations.forEach((r, i) => {
    const score = r.kind === kind ? core.reportScore(run(), i, head.m, head.place) : null;
    if (score && score.lift > best) [best, at] = [score.lift, i];
  });
  return at;
}

/// Example indices from the lowest loss to the highest.
const ranked = memo(
  () => run().name,
  () => {
    const losses = run().losses('scored');
    return Array.from({length: exampleCount()}, (_, i) => i).sort(
      (a, b) => (losses?.[a] || 0) - (losses?.[b] || 0) || a - b,
    );
  },
);

function exampleCount() {
  return run().model ? task().set('scored').size : run().facts.shown || 0;
}

function exampleIndex() {
  const {ex} = app.state;
  const order = ranked();
  if (ex === 'typical') return order[Math.floor(order.length / 2)] ?? 0;
  if (ex === 'worst') return order[order.length - 1] ?? 0;
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
  app.state.step != null && run().steps?.length ? run().modelAt(app.state.step) : run().model;
const where = () =>
  JSON.stringify([app.state.run, app.state.ex, app.state.edit, app.state.step, isLive()]);

/// The example shown, with the reader's edits (places beyond the tokens are those of the source); gold where the task's rule is known for them.
const example = memo(where, () => {
  const original = task().set('scored').example(exampleIndex());
  const [tokens, source] = [
    Int32Array.from(original.tokens),
    original.source && Int32Array.from(original.source),
  ];
  const edited = Object.entries(app.state.edit).filter(
    ([i, v]) => i < tokens.length + (source?.length || 0) && v < task().facts.vocab,
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
  const other = core.forward(
    model(),
    task()
      .set('scored')
      .example((exampleIndex() + 1) % exampleCount()),
    {},
  );
  return modules.map((_, m) => other.modules[m].z);
}

/// Whether a pass takes more than about a third of a second.
function isSlow() {
  const {length: T, source_length: S} = task().facts;
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
          'This writes them: ',
          code(command),
          ...(command.includes('headlab page') ? [] : [', then ', code(app.page.facts.command)]),
          '.',
        ]
      : 'Nothing can write them for this run.',
  );
}

// ---- state and address ---------------------------------------------------------------------

let written = '';
let timer = 0;

/// Changes the state. A change of view, run or head is a step that Back takes back; anything else
/// replaces the address, at most four times a second.
function go(changes) {
  const before = app.state;
  if (changes.view && !usable(changes.view)) return;
  app.state = {...before, ...changes};
  const step = ['view', 'run', 'h', 'a', 'b', 'page'].some((key) => app.state[key] !== before[key]);
  if (step) writeAddress(true);
  else if (!timer) timer = setTimeout(() => writeAddress(false), 250);
  const moved = app.state.view !== before.view;
  show(moved || app.state.run !== before.run);
  if (!moved) return;
  window.scrollTo(0, 0);
  if (document.activeElement === document.body) document.getElementById('view-title').focus();
}

function writeAddress(push) {
  clearTimeout(timer);
  timer = 0;
  const hash = formatHash(app.state);
  if (hash === written) return;
  written = hash;
  try {
    // a sandboxed frame may forbid it; the page works without
    history[push ? 'pushState' : 'replaceState'](
      null,
      '',
      hash || location.pathname + location.search,
    );
  } catch {
    /* nothing is lost but the address */
  }
}

function readAddress() {
  const {state, notices} = parseHash(location.hash);
  written = location.hash;
  if (!usable(state.view)) {
    notices.push(`This page has no view ${state.view}.`);
    state.view = VIEWS.find((v) => v.available(app.page))?.name;
  }
  for (const key of ['h', 'a', 'b'])
    if (state[key] && app.page.runs.length && !core.headOf(app.page.runs[0], state[key])) {
      notices.push(`There is no head ${state[key]} in this run.`);
      state[key] = null;
    }
  app.state = state;
  document.getElementById('notices').replaceChildren(...notices.map((words) => note(words)));
  show(true);
}

const usable = (name) => VIEWS.some((view) => view.name === name && view.available(app.page));

/// The kept step nearest to a step; null where it is the last, or none is kept.
function nearestStep(step) {
  const steps = (app.page.runs.length && run().steps) || [];
  if (step == null || !steps.length) return null;
  const near = steps.reduce(
    (best, s) => (Math.abs(s - step) < Math.abs(best - step) ? s : best),
    steps[0],
  );
  return near === steps[steps.length - 1] ? null : near;
}

function show(rebuild) {
  const {state} = app;
  state.step = nearestStep(state.step);
  const root = document.documentElement;
  if (root.dataset.theme !== state.theme) palettes = {};
  root.dataset.theme = state.theme;
  root.classList.toggle('embed', state.embed === '1');
  if (rebuild) build();
  else refresh();
  document.getElementById('address').textContent = formatHash(state) || '#';
  judge();
  for (const link of document.querySelectorAll('#views a')) {
    link.href = formatHash({...state, view: link.dataset.view}) || '#';
    if (link.dataset.view === state.view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function build() {
  const view = VIEWS.find((v) => v.name === app.state.view);
  const main = document.getElementById('view');
  refreshers = [];
  app.figures = [];
  app.view = view;
  buildControls(view.uses || []);
  main.replaceChildren(el('h2', {id: 'view-title', tabindex: -1}, view.title));
  view.build(main);
  app.figures.forEach((f) => f.draw());
  document.title = `${view.title} · ${app.page.facts.title} · headlab`;
}

// ---- controls that several views share -----------------------------------------------------

const CONTROLS = {
  run: () =>
    app.page.runs.length > 1 &&
    choice(
      'pick-run',
      'Run',
      app.page.runs.map((r, i) => [i + 1, r.name]),
      (v) => go({run: Number(v), h: null, gates: {}, step: null}),
      {'data-key': 'run'},
    ),
  h: () =>
    headsOf(run()).length > 0 &&
    choice(
      'pick-head',
      'Head',
      headsOf(run()).map((x) => [x.at, headName(x)]),
      (v) => go({h: v}),
    ),
  ex: () =>
    exampleCount() > 0 &&
    el(
      'span',
      null,
      choice('pick-example', 'Example', exampleOptions(), (v) =>
        go({ex: /^\d/.test(v) ? Number(v) : v, edit: {}}),
      ),
      button('◀', () => stepExample(-1), {'aria-label': 'previous example', id: 'example-back'}),
      button('▶', () => stepExample(1), {'aria-label': 'next example', id: 'example-next'}),
    ),
  rel: () =>
    headsOf(run()).length > 0 &&
    task().facts.relations.length > 0 &&
    choice(
      'pick-relation',
      'Truth',
      [['', 'hidden'], ...task().facts.relations.map((r) => [r.name, r.name])],
      (v) => go({rel: v}),
    ),
  step: () => run().steps?.length > 0 && isLive() && stepControl(),
};

function headName(x) {
  const [{kind}, owned] = [run().modules[x.m], ownedBy(x)];
  return (
    x.at + (kind !== 'self' ? ` ${kind}` : '') + (owned.length ? ` ★ ${owned.join(', ')}` : '')
  );
}

function exampleOptions() {
  const order = ranked();
  const decile = (d) => order[Math.round((d / 10) * (order.length - 1))];
  const named = [
    ['typical', 'typical (median loss)'],
    ['worst', 'worst (highest loss)'],
  ];
  const deciles =
    order.length > 20
      ? Array.from({length: 9}, (_, d) => [
          decile(d + 1),
          `${decile(d + 1)} · decile ${d + 1} of the loss`,
        ])
      : [];
  const taken = new Set(deciles.map(([i]) => i));
  const first = Array.from({length: Math.min(order.length, 16)}, (_, i) => [i, String(i)]).filter(
    ([i]) => !taken.has(i),
  );
  const here = exampleIndex();
  if (!taken.has(here) && here >= first.length) first.push([here, String(here)]);
  return [...named, ...deciles, ...first];
}

function stepExample(by) {
  const n = exampleCount();
  go({ex: (exampleIndex() + by + n) % n, edit: {}});
}

function stepControl() {
  const {steps} = run();
  const slider = el('input', {
    type: 'range',
    id: 'pick-step',
    min: 0,
    max: steps.length - 1,
    step: 1,
    'aria-label': 'training step',
    oninput: (event) => go({step: steps[event.target.value]}),
  });
  const words = el('output', {for: 'pick-step'});
  live(() => {
    const step = app.state.step ?? steps[steps.length - 1];
    slider.value = steps.findIndex((s) => s >= step);
    slider.setAttribute('aria-valuetext', `step ${step}`);
    words.textContent = String(step);
  });
  return el('label', null, 'Step ', slider, words);
}

function buildControls(uses) {
  const bar = document.getElementById('controls');
  bar.replaceChildren(
    ...['run', ...uses]
      .filter((key, i, all) => all.indexOf(key) === i)
      .map((key) => CONTROLS[key]())
      .filter(Boolean),
  );
  bar.append(
    dynamic('span', {id: 'edited'}, () => {
      const off = Object.entries(app.state.gates).map(([at, v]) =>
        v === 0 ? `${at} off` : `${at} at ${v}`,
      );
      const parts = [
        ...off,
        ...(app.state.hide ? [`${app.state.hide} edges hidden`] : []),
        ...(Object.keys(app.state.edit).length ? ['tokens edited'] : []),
        ...(app.state.step != null ? [`step ${app.state.step}`] : []),
      ];
      return parts.length
        ? [
            el('b', null, `Changed: ${parts.join(', ')}`),
            button('Undo all', () => go({gates: {}, hide: null, edit: {}, step: null}), {
              id: 'undo',
            }),
          ]
        : [];
    }),
  );
  live(() => {
    setValues({
      'pick-run': app.state.run,
      'pick-head': chosen()?.at,
      'pick-relation': uses.includes('rel') ? task().facts.relations[relation()]?.name : '',
    });
    const list = document.getElementById('pick-example');
    if (list) {
      list.replaceChildren(
        ...exampleOptions().map(([value, words]) => el('option', {value}, words)),
      );
      list.value = String(app.state.ex);
    }
  });
}

// ---- keys ----------------------------------------------------------------------------------

const KEYS = [
  ['1–9', 'views, in their order'],
  ['Tab', 'regions; arrows, Home, End, Page keys move inside a picture or the grid'],
  ['Enter', 'open a head, or lock a query'],
  ['Shift+Enter', 'add the query to the sum'],
  ['Esc', 'unlock, or back to the overview'],
  ['x', 'switch this head off or on'],
  ['X', 'only this head, or all'],
  ['a', 'all heads on'],
  ['g', 'truth on or off'],
  ['n', 'chance level on or off'],
  ['c', 'compare this head'],
  ['[ ]', 'example'],
  [', .', 'training step, or heads kept'],
  ['t', 'table of the first picture'],
  ['s', 'save the first picture as SVG'],
  ['l', 'copy a link to this'],
  ['d', 'light, dark, as the system'],
  ['+ − 0', 'zoom a pattern'],
  ['?', 'this list'],
];

const ACTIONS = {
  x: () => toggleGate(chosen()),
  X: () => onlyGate(chosen()),
  a: () => go({gates: {}, hide: null}),
  g: () => go({rel: app.state.rel === '' ? null : ''}),
  n: () => go({null: app.state.null === 'on' ? 'off' : 'on'}),
  c: () => usable('compare') && go({view: 'compare', a: chosen()?.at || null}),
  '[': () => exampleCount() && stepExample(-1),
  ']': () => exampleCount() && stepExample(1),
  ',': () => stepTime(-1),
  '.': () => stepTime(1),
  t: () => document.querySelector('#view figure .table-button')?.click(),
  s: () => app.figures[0]?.picture && save(app.figures[0].picture, 'svg', ''),
  l: () => copyLink(),
  d: () => cycleTheme(),
  '?': () => document.getElementById('keys-dialog').showModal(),
  Escape: () =>
    app.state.q.length
      ? go({q: [], k: null})
      : go({view: VIEWS.find((v) => v.available(app.page)).name}),
};

function toggleGate(head) {
  if (!head || !isLive()) return;
  const gates = {...app.state.gates};
  if (gates[head.at] === undefined) gates[head.at] = 0;
  else delete gates[head.at];
  go({gates});
  say(`Head ${head.at} is ${gates[head.at] === 0 ? 'off' : 'on'}.`);
}

function onlyGate(head) {
  if (!head || !isLive()) return;
  const others = headsOf(run()).filter((x) => x.at !== head.at);
  const already = others.every((x) => app.state.gates[x.at] === 0);
  go({gates: already ? {} : Object.fromEntries(others.map((x) => [x.at, 0]))});
}

function stepTime(by) {
  if (app.view.stepBy) return app.view.stepBy(by);
  const {steps} = run();
  if (!steps?.length || !isLive()) return undefined;
  const at = app.state.step == null ? steps.length - 1 : steps.indexOf(app.state.step);
  const next = Math.max(0, Math.min(at + by, steps.length - 1));
  return go({step: steps[next]});
}

function cycleTheme() {
  go({theme: {auto: 'light', light: 'dark', dark: 'auto'}[app.state.theme]});
  say(`Colours: ${app.state.theme === 'auto' ? 'as the system' : app.state.theme}.`);
}

async function copyLink() {
  writeAddress(false);
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link to exactly this is in the clipboard.');
  } catch {
    say(
      `The address bar holds the link: ${formatHash(app.state) || 'nothing differs from the default'}`,
    );
  }
}

function onKey(event) {
  const typing = event.target.closest?.('input:not([type="checkbox"]), select, textarea, dialog');
  if (typing || event.ctrlKey || event.altKey || event.metaKey || app.state.keys === 'off') return;
  const views = VIEWS.filter((v) => v.available(app.page));
  const action = /^[1-9]$/.test(event.key)
    ? views[event.key - 1] && (() => go({view: views[event.key - 1].name}))
    : ACTIONS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

// ---- start ---------------------------------------------------------------------------------

/// Compares the page's model with the logits and patterns that the program embedded, and says so.
async function checkModel() {
  const badge = document.getElementById('check');
  const withModel = app.page.runs.filter((r) => r.model);
  if (!withModel.length)
    badge.textContent = 'This page holds no weights: patterns are as the program stored them.';
  for (const r of withModel) {
    const result = await core.drive(core.selfCheckSteps(r));
    if (app.check === null || !result.ok) app.check = result;
    badge.textContent = `${result.ok ? '✓' : '✗'} ${result.sentence}`;
    badge.classList.toggle('bad', !result.ok);
    if (!result.ok) break;
  }
  judge();
}

/// Shows the banner, and takes everything live away, if the check failed or a block of numbers that
/// was decoded since is damaged.
function judge() {
  const {damaged} = app.page.blocks;
  const banner = document.getElementById('banner');
  if (!banner.hidden || (app.check?.ok !== false && !damaged.size)) return;
  banner.hidden = false;
  banner.textContent =
    app.check?.ok === false
      ? app.check.sentence
      : `Numbers in this page are damaged (${[...damaged].join(', ')}), so everything live is off.`;
  app.check = {...app.check, ok: false};
  show(true);
}

function header() {
  const {facts} = app.page;
  document.getElementById('run').textContent = facts.title;
  document.getElementById('page-command').replaceChildren('again: ', code(facts.command));
  document.getElementById('views').replaceChildren(
    ...VIEWS.filter((v) => v.available(app.page)).map((v) =>
      el(
        'a',
        {
          href: '#',
          'data-view': v.name,
          id: `view-${v.name}`,
          onclick: (event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            go({view: v.name});
          },
        },
        v.short || v.title,
      ),
    ),
  );
  const on = (id, act) => document.getElementById(id).addEventListener('click', act);
  on('skip', (event) => {
    event.preventDefault();
    document.getElementById('view-title').focus();
  });
  on('link', copyLink);
  on('theme', cycleTheme);
  on('keys', ACTIONS['?']);
  on('keys-close', () => document.getElementById('keys-dialog').close());
  document
    .getElementById('keys-off')
    .addEventListener('change', (event) => go({keys: event.target.checked ? 'off' : 'on'}));
  document
    .getElementById('keys-list')
    .replaceChildren(tableOf({head: ['key', 'does'], rows: KEYS}, 'Keys'));
}

async function start() {
  app.page = core.fromDocument(document);
  document.getElementById('static').hidden = true;
  for (const id of ['app', 'tools']) document.getElementById(id).hidden = false;
  header();
  readAddress();
  document.addEventListener('keydown', onKey);
  window.addEventListener('popstate', readAddress);
  window.addEventListener('hashchange', () => location.hash !== written && readAddress());
  window.addEventListener('resize', () => app.figures.forEach((f) => f.draw()));
  for (const media of ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print'])
    matchMedia(media).addEventListener('change', () => {
      palettes = {};
      show(false);
    });
  await checkModel();
  refresh();
  app.ready = true;
}
