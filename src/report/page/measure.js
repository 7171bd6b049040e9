// The loss of what is switched on, over the held-out examples, beside what the program found.
import {drive} from './core_pass.js';
import {at2, evaluateSteps, idOf, subsetLoss} from './core_losses.js';
import {range} from './draw.js';
import {bars, digits} from './charts.js';
import {code, el, explained, note, quoted, say} from './ui.js';
import {
  app, chosen, example, gateArray, headsOf, isLive, isSlow, model, relation, run, task, trace,
  working,
} from './state.js';

export const measured = {key: '', result: null, done: 0, of: 0, whole: null};

/// Whether single cells of the example are hidden, and not a kind of edges of all examples.
export const hidesCells = () => /^\d/.test(app.state.hide || '');
const hidesEdges = () => Boolean(app.state.hide) && !hidesCells();

function measureKey() {
  const {state} = app;
  return JSON.stringify([
    state.run, state.step, state.gates, state.repl,
    hidesEdges() ? [state.hide, chosen()?.at, relation()] : null,
  ]);
}

/// The model that is shown: what losses are compared within.
const wholeKey = () => JSON.stringify([app.state.run, app.state.step]);

export function evaluation(options, count, progress, key) {
  return drive(
    evaluateSteps(run(), {model: model(), replacement: app.state.repl, count, ...options}),
    {slice: 8, progress, cancelled: () => measured.key !== key},
  );
}

/// The edges that are hidden in all examples, as core takes them.
function hiddenKind() {
  const head = chosen();
  if (!hidesEdges() || !head || relation(head) < 0) return undefined;
  const random = app.state.hide === 'random';
  return {relation: relation(head), heads: [[head.m, head.place]], random, seed: 0};
}

/// The loss with everything on, which is compared with; null if the measurement was cancelled.
async function wholeResult(plain, result, key) {
  if (measured.whole?.key === wholeKey()) return measured.whole.result;
  const whole = wholeKey();
  const all = plain ? result : await evaluation({gates: null}, undefined, null, key);
  if (all) measured.whole = {key: whole, result: all};
  return all;
}

/// Starts the measurement of the present gates, unless it runs or is done; a new one cancels it.
export async function measure() {
  const key = measureKey();
  if (!isLive() || measured.key === key) return;
  Object.assign(measured, {key, done: 0, result: null});
  working(1);
  const options = {gates: gateArray(), hide: hiddenKind()};
  const [size, few] = [task().set('held_out').size, isSlow() ? 1 : 32];
  const tell = ({done, result}) => {
    if (measured.key !== key) return;
    Object.assign(measured, {done, of: size, result: result || measured.result});
    showMeasured();
  };
  try {
    if (size > few) tell({done: few, result: await evaluation(options, few, null, key)});
    const result = await evaluation(
      options, undefined,
      (s) => tell({done: s.done, result: s.done > few ? s.sums.result : null}), key,
    );
    if (!result || !(await wholeResult(!options.gates && !options.hide, result, key))) return;
    tell({done: size, result});
    say(`Loss ${digits(result.loss)} nats, ${digits(100 * result.accuracy)} % right, over ` +
      `${size} held-out examples.`);
  } finally {
    working(-1);
  }
}

let measureListeners = [];

/// What is called when a measurement goes on.
export function onMeasured(...listeners) {
  measureListeners = listeners;
}
export const showMeasured = () => measureListeners.forEach((listener) => listener());

/// What the program found for edges that are hidden: the rise on the relation's own targets.
function programOfEdges() {
  const {gold_edges: gold} = run().reports;
  const [rel, {result, whole}] = [relation(), measured];
  const {name} = task().relations[rel] || {};
  const test = gold?.examples === task().set('held_out').size && gold.relations
    .find((r) => r.name === name)
    ?.tests.find((t) => t.heads.length === 1 && at2(t.heads[0]) === chosen().at);
  if (app.state.hide !== 'gold' || gateArray() || test?.gold?.change == null ||
    !whole?.result.relations[rel])
    return null;
  const ours = result.relations[rel].loss - whole.result.relations[rel].loss;
  return {ours, theirs: test.gold.change, from: 'gold_edges.json', what: `rise on ${name}`};
}

/// What the program itself found for exactly this: {ours, theirs, from, what}, or null.
function programSays() {
  const {state} = app;
  const {result} = measured;
  const {curve, ablation} = run().reports;
  const size = task().set('held_out').size;
  const off = Object.keys(state.gates);
  const found = (theirs, from) => ({ours: result.loss, theirs, from});
  if (state.step != null || !result) return null;
  if (state.hide) return programOfEdges();
  const known = (state.repl === 'zero' || !off.length) && curve?.subsets?.examples === size
    ? subsetLoss(run(), gateArray()) : null;
  if (known != null) return found(known, 'curve.json');
  if (!off.length)
    return run().facts.evaluation ? found(run().facts.evaluation.loss, 'headlab eval') : null;
  const single = off.length === 1 && state.gates[off[0]] === 0 && ablation?.kind === state.repl &&
    ablation.examples === size;
  const record = single && ablation.heads.find((h) => idOf(h) === off[0]);
  return record ? found(record.loss, 'ablation.json') : null;
}

/// The same number as the program found it, or nothing where it has no such number.
function agreement(complete) {
  const program = programSays();
  if (!program) return el('span', {class: 'muted small'}, oracleHint());
  const {theirs, ours, what, from} = program;
  const same = Math.abs(theirs - ours) <= 1e-5 + 1e-4 * Math.abs(theirs);
  return el('div', null, what ? `The program: ${what}` : 'The program',
    el('div', {class: 'big muted', id: 'program-loss'}, digits(theirs)),
    el('span', {class: `small ${!complete ? 'muted' : same ? 'badge' : 'badge bad'}`, id: 'agrees'},
      complete ? (same ? '✓ the same' : `✗ not the same: here ${digits(ours)}`) : 'waiting',
      ` (${from})`),
  );
}

export function lossNodes() {
  const {result, done, of, whole} = measured;
  if (!result) return el('p', null, 'Measuring …');
  const rise = whole?.key === wholeKey() ? result.loss - whole.result.loss : null;
  const complete = done >= of;
  return [
    el('div', {class: 'pair'},
      el('div', null, 'Loss', el('div', {class: 'big', id: 'live-loss'}, digits(result.loss)),
        el('span', {class: 'muted small'}, explained(rise
          ? `${rise > 0 ? '+' : ''}${digits(rise)} nats against all heads on` : 'nats per target')),
      ),
      el('div', null, 'Right',
        el('div', {class: 'big', id: 'live-accuracy'}, `${digits(100 * result.accuracy)} %`),
        el('span', {class: 'muted small'}, `of ${result.count} answers`),
      ),
      agreement(complete),
    ),
    el('p', {class: 'muted small'}, complete ? `over all ${of} held-out examples`
      : `over ${done} of ${of} held-out examples so far`),
  ];
}

export function oracleHint() {
  if (app.state.repl === 'zero' && !run().reports.curve?.subsets && headsOf().length <= 12)
    return ['every set: ', code(`headlab curve ${run().name}`)];
  return '';
}

/// Each target of the task by itself, and, where relations are no targets, the answers at which a
/// relation has a right key: [{name, loss, accuracy, count}].
const partsOf = ({targets = [], relations = [], count}) => [
  ...targets,
  ...relations.filter((r) => r.count < count && !targets.some((t) => t.name === r.name))
    .map((r) => ({...r, name: `where ${r.name} has a key`})),
];

export function relationBars(width) {
  const {result, whole} = measured;
  if (!result) return note('Measuring …');
  const parts = partsOf(result);
  const before = whole && partsOf(whole.result);
  const worst = parts.reduce((a, b) => (a && a.loss >= b.loss ? a : b), null);
  return bars({
    width: Math.min(width, 560), unit: 'loss (nats)', tickName: before ? 'all heads on' : undefined,
    rows: parts.map((p, i) => ({name: p.name, value: p.loss, tick: before?.[i]?.loss})),
    about: {
      name: 'live-by-relation', title: 'By question',
      sentence: worst ? `Worst: ${worst.name}, ${digits(worst.loss, 3)} nats, ` +
        `${digits(100 * worst.accuracy, 3)} % right.` : '',
    },
    say: (r) => `${parts[r].name}: loss ${digits(parts[r].loss)}, ` +
      `${digits(100 * parts[r].accuracy)} % right, ${parts[r].count} answers`,
  });
}

// ---- one example -----------------------------------------------------------------------------

/// The logits of the k-th question at a position, [vocab].
export function logitsAt(pass, t, k) {
  const {vocab, target_names: names} = task();
  return pass.logits.subarray((t * names.length + k) * vocab, (t * names.length + k + 1) * vocab);
}

/// What the model answers at a position: [{name, said, right, ok, likeliest: [[token, share]]}];
/// right is null where nothing is asked.
export function answersAt(t) {
  const pass = trace();
  if (!pass?.logits || t >= example().length) return [];
  const {vocab, target_names: names, tokens} = task();
  return names.map((name, k) => {
    const logits = logitsAt(pass, t, k);
    const order = range(vocab).sort((a, b) => logits[b] - logits[a]);
    const total = logits.reduce((sum, v) => sum + Math.exp(v - logits[order[0]]), 0);
    const right = example().targets ? example().targets[t * names.length + k] : -1;
    const share = (v) => Math.exp(logits[v] - logits[order[0]]) / total;
    return {
      name, said: quoted(tokens[order[0]]), right: right < 0 ? null : quoted(tokens[right]),
      ok: order[0] === right,
      likeliest: order.slice(0, 3).map((v) => [quoted(tokens[v]), share(v)]),
    };
  });
}
