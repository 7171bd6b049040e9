// The objects that the state (address.js) names: the run, the head, the example with the tokens
// that were typed, the pass over it with what is switched off; and what changes it. A view is
// {name, place, title, uses: [controls], build(main), available(page)}. The model and its numbers
// are the business of the engine.
import {range} from '../engine/numbers.js';
import {headNamed, makeExample, truthOf} from '../engine/page_data.js';
import {maskedFor} from '../engine/edges.js';
import {drive, forwardPass, forwardSteps} from '../engine/pass.js';
import {reportScore} from '../engine/reports.js';
import {storedTrace} from '../engine/stored_trace.js';
import {byId, choice, code, figures, note, say, sliderOf} from '../draw/ui.js';
import {formatHash} from './address.js';

export const app = {
  page: null, state: null, check: null, busy: 1, view: null, figures, views: [], lessons: [],
  show() {},
};

/// Something begins to be computed (1), or ends (-1).
export function working(by) {
  app.busy += by;
  byId('view').setAttribute('aria-busy', String(app.busy > 0));
}

/// Whether the page is one of stored patterns: it has no model, no loss and no history.
export const isStored = () => Boolean(app.page.facts.stored);

/// Whether a page shows a view: a textbook shows lessons, and says what it is.
export const isShown = (view) =>
  view.available(app.page) && (!app.page.facts.textbook || ['learn', 'about'].includes(view.name));

export const run = () =>
  app.page.runs[Math.min(Math.max(app.state.run, 1), app.page.runs.length) - 1];
export const task = () => run().task;
export const isLive = (r = run()) => Boolean(r.live && app.check?.ok !== false);

/// The runs of the page that were pruned from this one.
export const prunedRuns = () =>
  app.page.runs.filter(({facts}) => app.page.runs[facts.parent] === run());

/// All heads of a run, in order: {m, place, original, at: "layer.head"}.
export const headsOf = (r = run()) => r.attentionLayers.flatMap(({index: m, heads}) =>
  heads.map((original, place) => ({m, place, original, at: `${m}.${original}`})));

/// The names of the relations that a head owns.
export const ownedBy = (x, r = run()) => task().relations
    .filter((_, i) => reportScore(r, i, x)?.role === 'owner').map(({name}) => name);

/// The chosen head: the state's, or the first owner of a relation, or the first there is.
export function chosen(r = run()) {
  const named = app.state.h && headNamed(r, app.state.h);
  if (app.state.h) return named && named.place >= 0 ? {...named, at: app.state.h} : null;
  return headsOf(r).find((x) => ownedBy(x, r).length) || headsOf(r)[0] || null;
}

/// The relation whose truth is drawn: the state's, or the one that the chosen head does best, if it
/// is clearly above the baseline.
export function relation(head = chosen()) {
  const {relations} = task();
  if (app.state.rel === '' || !head) return -1;
  const {kind} = run().attentionLayers[head.m];
  if (app.state.rel != null) {
    const i = relations.findIndex((r) => r.name === app.state.rel);
    return i >= 0 && relations[i].kind === kind ? i : -1;
  }
  let best = 0.05;
  let at = -1;
  for (const {i, score} of scoresOf(head)) if (score.lift > best) [best, at] = [score.lift, i];
  return at;
}

/// The scores of a head in heads.json, on the relations of its kind of attention: [{name, i, score,
/// owns}].
export function scoresOf(head) {
  return task().relations.flatMap(({name, kind}, i) => {
    const asked = kind === run().attentionLayers[head.m].kind;
    const score = asked && reportScore(run(), i, head);
    const corrected = {...score, p: score?.p_holm ?? score?.p};  // of one p in this page
    return score ? [{name, i, score: corrected, owns: score.role === 'owner'}] : [];
  });
}

/// Example indices from the lowest loss to the highest.
const ranked = memo(() => run().name, () => {
  const losses = run().losses('scored');
  return range(exampleCount()).sort((a, b) => (losses?.[a] || 0) - (losses?.[b] || 0) || a - b);
});

export const exampleCount = () => run().model ? task().set('scored').size : run().facts.shown || 0;

export function exampleIndex() {
  const {ex} = app.state;
  const order = ranked();
  if (isStored() && !/^\d/.test(ex)) return 0;  // no losses rank the examples
  if (ex === 'typical') return order[Math.floor(order.length / 2)] ?? 0;
  if (ex === 'worst') return order.at(-1) ?? 0;
  return Math.min(ex, Math.max(exampleCount() - 1, 0));
}

/// A function that remembers its last result, while `key` gives the same string.
export function memo(key, make) {
  let last;
  let value;
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

const keepsWeights = () => run().steps.length > 0 && isLive();
export const model = () =>
  app.state.step != null && keepsWeights() ? run().modelAt(app.state.step) : run().model;
/// The steps that can be looked at: those whose weights were kept, else those that were scored.
export const timeSteps = () => keepsWeights() ? run().steps : run().facts.history?.steps || [];
export const where = () =>
  JSON.stringify([app.state.run, app.state.ex, app.state.tokens, app.state.step, isLive()]);

/// The example shown, or with the tokens that the reader typed (those of the source, where there is
/// one); ground truth where the task's rule is known for them.
export const example = memo(where, () => {
  const original = task().set('scored').example(exampleIndex());
  const typed = app.state.tokens.filter((v) => v < task().vocab);
  if (!typed.length || original.vectors || !isLive()) return original;  // stored patterns stay
  if (original.source) {
    const source = Int32Array.from(original.source, (v, i) => typed[i] ?? v);
    const made = makeExample(task(), original.tokens, {source, length: original.length});
    return Object.assign(made, {sourceLength: Math.min(typed.length, source.length)});
  }
  const tokens = typed.slice(0, task().length);
  return truthOf(task(), tokens) || makeExample(task(), tokens);
});

/// The gates as core takes them, or null if all are 1.
export function gateArray(gates = app.state.gates, r = run()) {
  if (!Object.keys(gates).length) return null;
  return r.attentionLayers.map((layer) =>
    Float32Array.from(layer.heads, (original) => gates[`${layer.index}.${original}`] ?? 1),
  );
}

/// Whether a single cell of the example is masked, and not a kind of edges of all examples.
export const hidesCells = () => /^\d/.test(app.state.hide || '');

/// The kind of edges that is masked in all examples, as the engine takes it; or undefined.
export function hiddenKind() {
  const {hide} = app.state;
  const head = chosen();
  const rel = relation(head);
  if (!hide || hidesCells() || rel < 0) return undefined;
  return {relation: rel, heads: [[head.m, head.place]], random: hide === 'random'};
}

function maskedEdges() {
  const kind = hiddenKind();
  if (kind) return maskedFor(run(), example(), kind);
  const head = chosen();
  if (!hidesCells() || !head) return null;
  return (m, place) => {
    if (m !== head.m || place !== head.place) return null;
    const {queries, keys} = baseTrace().attentionLayers[m];
    const bits = new Uint8Array(queries * keys);
    const [q, k] = app.state.hide.split('.').map(Number);
    if (q < queries && k < keys) bits[q * keys + k] = 1;
    return bits;
  };
}

/// The replacement of ablated heads in the example shown: nothing, means over examples, or what
/// the heads put out in the next example.
export function replacement() {
  const {facts, attentionLayers} = run();
  if (app.state.repl === 'mean') return facts.means.map((block) => app.page.blocks.read(block));
  if (app.state.repl === 'zero') return null;
  const next = task().set('scored').example((exampleIndex() + 1) % exampleCount());
  const other = forwardPass(model(), next);
  return attentionLayers.map((_, m) => other.attentionLayers[m].z);
}

/// Whether a pass takes more products than these: some 30 ms, after which a page feels slow.
export function isSlow(products = 2e7) {
  const {length: T, source_length: S} = task();
  const widths = run().attentionLayers.reduce(
    (sum, layer) => sum + layer.heads.length * (layer.dHead + layer.dValue), 0);
  return run().facts.parameters * (T + S) + widths * T * Math.max(T, S) > products;
}

/// A pass, at once where it is fast; a longer one runs in slices, and is null until it is there.
function passOf(options) {
  if (!isSlow()) return forwardPass(model(), example(), options);
  const key = where() + (options.base ? trace.key() : '');
  if (!slow.done.has(key) && slow.running !== key) {
    slow.running = key;
    working(1);
    drive(forwardSteps(model(), example(), options), () => slow.running !== key)
      .then((pass) => {
        working(-1);
        if (!pass) return;
        slow.running = '';
        if (slow.done.size > 3) slow.done.delete(slow.done.keys().next().value);
        slow.done.set(key, pass);
        baseTrace.forget();
        trace.forget();
        app.show(true);
      });
  }
  return slow.done.get(key) || null;
}

export const slow = {running: '', done: new Map()};

/// Why there is no live model; null for stored patterns, which never had one.
export const noModel = () => {
  if (isStored()) return null;
  const {unknown, live} = run();
  const {command} = app.page.facts;
  if (unknown.length)
    return note(`This page cannot compute ${unknown.join(', ')}, so the model does not run here; ` +
      'the page shows patterns stored by the program.');
  if (live) return note('The model does not run here, because this page failed its own check.');
  const without = / --no-weights\b/;
  return note('This page holds no weights. ', code(command.replace(without, '')),
    without.test(command) ? ' embeds them.' : ' with a larger --budget embeds them.');
};

/// The note in place of a pattern that is not there.
export const noPattern = () =>
  isLive() ? note('The model is computing this example …') : noModel();

/// The model's pass over the example without, and with, what the reader switched off; null where
/// there is neither a model nor a stored pattern.
export const baseTrace = memo(where, () => {
  if (isLive()) return passOf({});
  return run().facts.patterns ? storedTrace(run(), exampleIndex()) : null;
});
export const trace = memo(
  () => where() +
    JSON.stringify([app.state.gates, app.state.hide, app.state.repl, app.state.h, app.state.rel]),
  () => {
    const gates = gateArray();
    const masked = maskedEdges();
    if (!isLive() || (!gates && !masked) || !baseTrace()) return baseTrace();
    return passOf({gates, masked, replacement: replacement(), base: baseTrace()});
  },
);

/// Shows the command that writes a missing file.
function writingNodes(command) {
  if (!command) return 'No command can compute them for this run.';
  const isPage = command.includes('headlab page');
  const page = isPage ? [] : [', then ', code(app.page.facts.command)];
  return ['This writes them: ', code(command), ...page, '.'];
}

/// A note on a file that a view lacks, with the command that writes it; null if the file is there.
export function lacking(file, what, r = run()) {
  const {present, outdated, step, command} = r.facts.files.find((one) => one.file === file) || {};
  if (present !== false && !outdated) return null;
  const earlier = outdated ? `of step ${step}, of earlier weights, and` : '';
  return note(`${what} ${earlier} not in this page. `, writingNodes(command));
}

/// A model as it was trained, on an example as it is: nothing that a reader can change is changed.
export const UNCHANGED = {gates: {}, hide: null, tokens: [], step: null, scene: 0, kept: null};
/// Another run from its beginning: its own example, query and head.
export const FRESH = {...UNCHANGED, h: null, b: null, ex: 'typical', q: null, k: null};

// ---- the address ---------------------------------------------------------------------------

export let written = '';
let timer = 0;

/// Changes the state. A change of view, run or head is a step that Back takes back; anything else
/// replaces the address, at most four times a second.
export function go(changes) {
  const before = app.state;
  if (changes.view && !usable(changes.view)) return;
  app.state = {...before, ...changes};
  // a view that follows the run keeps its elements, and is one place of the reader's way back
  const follows = (key) => key === 'run' && app.view?.followsRun;
  const isChanged = (key) => app.state[key] !== before[key] && !follows(key);
  const step = ['view', 'run', 'h', 'b', 'lesson'].some(isChanged);
  if (step) writeAddress(true);
  else if (!timer) timer = setTimeout(() => writeAddress(false), 250);
  const moved = app.state.view !== before.view;
  app.show(moved || ['run', 'lesson', 'world'].some(isChanged));
  if (!moved) return;
  window.scrollTo(0, 0);
  if (document.activeElement === document.body) byId('view-title').focus();
}

export function writeAddress(push) {
  clearTimeout(timer);
  timer = 0;
  const hash = formatHash(app.state);
  if (hash === written) return;
  written = hash;
  try {
    // a sandboxed frame may forbid it; the page works without
    const place = hash || location.pathname + location.search;
    history[push ? 'pushState' : 'replaceState'](null, '', place);
  } catch {/* nothing is lost but the address */}
}

/// The address is the reader's: what it says need not be written again.
export function noteAddress() {
  written = location.hash;
}
export const hasMoved = () => location.hash !== written;

export const usable = (name) => app.views.some((view) => view.name === name && isShown(view));

/// The list of the runs of the page, if there are several; `changes` go with another run.
export const runChoice = (id, changes) => app.page.runs.length > 1 &&
  choice(id, 'Run', app.page.runs.map((r, i) => [i + 1, r.name]),
    (v) => go({...changes, run: Number(v)}), () => app.state.run);

export const stepSlider = () =>
  sliderOf('pick-step', 'Step', {
    min: 0, max: timeSteps().length - 1, step: 1, 'aria-label': 'training step',
    value: () => timeSteps().indexOf(app.state.step ?? timeSteps().at(-1)),
    words: (i) => String(timeSteps()[i]), act: (i) => go({step: timeSteps()[i]}),
  });

const nearest = (steps, step) =>
  steps.reduce((a, b) => (Math.abs(b - step) < Math.abs(a - step) ? b : a));

/// The step nearest to a step that can be looked at; null where it is the last, or there is none.
export function nearestStep(step) {
  const steps = app.page.runs.length ? timeSteps() : [];
  if (step == null || !steps.length) return null;
  const near = nearest(steps, step);
  return near === steps.at(-1) ? null : near;
}

/// The step whose mean patterns replace those of the selected step; null where the model
/// itself is of that step, or there are none.
export const mapStep = () => app.state.step == null || keepsWeights() || !run().facts.maps ? null
  : nearest(run().facts.maps.steps, app.state.step);

/// The gates after a head is switched off, or on again.
export function toggledGates(head) {
  const gates = {...app.state.gates};
  if (gates[head.at] === undefined) gates[head.at] = 0;
  else delete gates[head.at];
  return gates;
}

export function toggleGate(head) {
  if (!head || !isLive()) return;
  const gates = toggledGates(head);
  go({gates});
  say(`Head ${head.at} is ${gates[head.at] === 0 ? 'off' : 'on'}.`);
}

export function onlyGate(head) {
  if (!head || !isLive()) return;
  const gates = onlyHeads([head.at]);
  const already = Object.keys(gates).every((at) => app.state.gates[at] === 0);
  go({gates: already ? {} : gates});
}

/// Gates of 0 for these heads.
export const ablatedGates = (heads) => Object.fromEntries(heads.map((x) => [x.at, 0]));
/// Gates of 0 for all heads but those of these names.
export const onlyHeads = (names) => ablatedGates(headsOf().filter((x) => !names.includes(x.at)));
