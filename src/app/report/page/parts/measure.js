// The loss of what is switched on, over the held-out examples, next to what the program found.
import {range} from '../engine/numbers.js';
import {evaluateSteps} from '../engine/losses.js';
import {drive} from '../engine/pass.js';
import {idOfPair, idOf, subsetLoss} from '../engine/reports.js';
import {bars, digits} from '../draw/charts.js';
import {code, el, explained, figure, figures, note, quoted, say} from '../draw/ui.js';
import {
  app, chosen, example, gateArray, headsOf, isLive, isSlow, model, relation, run, task, trace,
  working,
} from '../state/state.js';
import {spoken} from './questions.js';

/// The last measurement: of which gates, its number, its run and its result, which stays until the
/// next has one (`waiting`); the result of the model as it is (`whole`).
export const measured = {
  key: '', number: 0, run: null, result: null, waiting: false, done: 0, of: 0, whole: null,
};

/// Whether single cells of the example are masked, and not a kind of edges of all examples.
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

/// A loss over held-out examples; null if another measurement begins before its end.
function evaluation(options, count, progress) {
  const {number} = measured;
  return drive(
    evaluateSteps(run(), {model: model(), replacement: app.state.repl, count, ...options}),
    {slice: 16, progress, cancelled: () => measured.number !== number},
  );
}

/// The edges that are masked in all examples, as core takes them.
function maskedKind() {
  const head = chosen();
  if (!hidesEdges() || !head || relation(head) < 0) return undefined;
  const random = app.state.hide === 'random';
  return {relation: relation(head), heads: [[head.m, head.place]], random, seed: 0};
}

/// The loss with everything on, which is compared with; null if the measurement was cancelled.
async function wholeResult(plain, result) {
  if (measured.whole?.key === wholeKey()) return measured.whole.result;
  const whole = wholeKey();
  const all = plain ? result : await evaluation({gates: null});
  if (all) measured.whole = {key: whole, result: all};
  return all;
}

/// Starts the measurement of the present gates, unless it runs or is done. A new one cancels it; an
/// older one never writes over a newer.
export async function measure() {
  const key = measureKey();
  if (!isLive() || measured.key === key) return;
  const number = measured.number + 1;
  if (measured.run !== run()) measured.result = null;
  Object.assign(measured, {key, number, run: run(), done: 0, waiting: true});
  working(1);
  const options = {gates: gateArray(), hide: maskedKind()};
  const size = task().set('held_out').size;
  const few = isSlow() ? 1 : 32;
  let lastShown = -Infinity;  // in milliseconds; results are shown a few times a second
  const tell = (done, result) => {
    const tooSoon = done < size && performance.now() < lastShown + 200;
    if (measured.number !== number || tooSoon) return;
    lastShown = performance.now();
    Object.assign(measured, {done, of: size, result: result(), waiting: false});
    showMeasured();
  };
  try {
    if (size > few) {
      const first = await evaluation(options, few);
      if (first) tell(few, () => first);
    }
    const result = await evaluation(options, undefined,
      (s) => s.done > few && tell(s.done, () => s.sums.result));
    if (!result || !(await wholeResult(!options.gates && !options.hide, result))) return;
    tell(size, () => result);
    say(`Loss ${digits(result.loss)} nats, ${digits(100 * result.accuracy)} % right, over ` +
      `${size} held-out examples.`);
  } finally {
    working(-1);
  }
}

/// Shows how far the measurement is, where the open view has a dial.
export let showMeasured = () => {};

/// The dial next to the losses by question. It keeps its height and, until the next result is
/// there, shows the last one faded: nothing below moves under the pointer. `tell` is called with
/// it.
export function dial(options, tell = () => {}) {
  const result = el('div', {id: 'live-result'});
  const panel = el('div', {class: 'columns dial'}, result,
    figure(relationBars, {id: 'by-question', ...options}));
  const {draw} = figures.at(-1);
  showMeasured = () => {
    panel.classList.toggle('waiting', measured.waiting);
    if (measured.waiting && result.hasChildNodes()) return;
    result.replaceChildren(...lossNodes());
    draw();
    tell();
  };
  return panel;
}

/// The program's result for masked edges: the rise on the relation's own targets.
function programOfEdges() {
  const {truth_edges: edges} = run().reports;
  const rel = relation();
  const {result, whole} = measured;
  const {name} = task().relations[rel] || {};
  const test = edges?.examples === task().set('held_out').size && edges.relations
    .find((r) => r.name === name)
    ?.tests.find((t) => t.heads.length === 1 && idOfPair(t.heads[0]) === chosen().at);
  if (app.state.hide !== 'truth' || gateArray() || test?.truth?.change == null ||
    !whole?.result.relations[rel])
    return null;
  const ours = result.relations[rel].loss - whole.result.relations[rel].loss;
  const what = `rise on ${spoken(name)}`;
  return {ours, theirs: test.truth.change, from: 'truth_edges.json', what};
}

/// The program's result for the present gates and edges: {ours, theirs, from, what}, or null.
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

/// One number of the dial: its name, the number, and what it says, each in its place.
const reading = (name, id, value, ...words) =>
  el('div', null, name, el('div', {class: 'big', id}, value),
    el('div', {class: 'small muted'}, ...words));

/// The same number as the program found it, if it has such a number.
function agreement(complete) {
  const program = programSays();
  if (!program) return reading('The program', 'program-loss', '–', oracleHint());
  const {theirs, ours, what, from} = program;
  const same = Math.abs(theirs - ours) <= 1e-5 + 1e-4 * Math.abs(theirs);
  let mark = {look: '', words: 'waiting'};
  if (complete && same) mark = {look: 'badge', words: '✓ the same'};
  if (complete && !same)
    mark = {look: 'badge bad', words: `✗ not the same: here ${digits(ours)}`};
  const name = what ? `The program: ${what}` : 'The program';
  return reading(name, 'program-loss', digits(theirs),
    el('span', {class: mark.look, id: 'agrees'}, `${mark.words} (${from})`));
}

/// Describes the difference of a loss from that of all heads on; "" for 0 and null.
function riseWords(rise) {
  if (!rise) return 'nats per target';
  return `${rise > 0 ? '+' : ''}${digits(rise)} nats against all heads on`;
}

function lossNodes() {
  const {result, done, of, whole} = measured;
  if (!result) return [el('p', null, 'Measuring …')];
  const rise = whole?.key === wholeKey() ? result.loss - whole.result.loss : null;
  const complete = done >= of;
  return [
    el('div', {class: 'pair'},
      reading('Loss', 'live-loss', digits(result.loss), explained(riseWords(rise))),
      reading('Right', 'live-accuracy', `${digits(100 * result.accuracy)} %`,
        `of ${result.count} answers`),
      agreement(complete),
    ),
    el('p', {class: 'muted small'}, complete ? `over all ${of} held-out examples`
      : `over ${done} of ${of} held-out examples so far`),
  ];
}

export function oracleHint() {
  if (app.state.repl === 'zero' && !run().reports.curve?.subsets && headsOf().length <= 12)
    return ['All sets of heads: ', code(`headlab curve ${run().name}`)];
  return '';
}

/// Each target of the task by itself, and, where relations are no targets, the answers at which a
/// relation has a right key: [{name, loss, accuracy, count}].
const partsOf = ({targets = [], relations = [], count}) => [
  ...targets.map((t) => ({...t, name: spoken(t.name)})),
  ...relations.filter((r) => r.count < count && !targets.some((t) => t.name === r.name))
    .map((r) => ({...r, name: `where ${spoken(r.name)} has a key`})),
];

function relationBars(width) {
  const {result, whole} = measured;
  if (!result) return note('Measuring …');
  const parts = partsOf(result);
  const before = whole && partsOf(whole.result);
  const worst = parts.reduce((a, b) => (a && a.loss >= b.loss ? a : b), null);
  return bars({
    width: Math.min(width, 560), unit: 'loss (nats)', tickName: before ? 'all heads on' : undefined,
    rows: parts.map((p, i) => ({name: p.name, value: p.loss, tick: before?.[i]?.loss})),
    about: {
      name: 'live-by-relation', title: 'Loss for each question',
      sentence: worst ? `Worst: ${worst.name}, ${digits(worst.loss, 3)} nats, ` +
        `${digits(100 * worst.accuracy, 3)} % right.` : '',
    },
    say: (r) => `${parts[r].name}: loss ${digits(parts[r].loss)}, ` +
      `${digits(100 * parts[r].accuracy)} % right, ${parts[r].count} answers`,
  });
}

// ---- one example -----------------------------------------------------------------------------

/// The logits of the k-th question at a position, [outputs].
export function logitsAt(pass, t, k) {
  const {outputs, target_names: names} = task();
  const row = t * names.length + k;
  return pass.logits.subarray(row * outputs, (row + 1) * outputs);
}

/// The model's answers at a position: [{name, said, right, ok, likeliest: [[token, share]]}];
/// right is null where nothing is asked.
export function answersAt(t) {
  const pass = trace();
  if (!pass?.logits || t >= example().length) return [];
  const {outputs, target_names: names, answers} = task();
  return names.map((name, k) => {
    const logits = logitsAt(pass, t, k);
    const order = range(outputs).sort((a, b) => logits[b] - logits[a]);
    const total = logits.reduce((sum, v) => sum + Math.exp(v - logits[order[0]]), 0);
    const right = example().targets ? example().targets[t * names.length + k] : -1;
    const share = (v) => Math.exp(logits[v] - logits[order[0]]) / total;
    return {
      name, said: quoted(answers[order[0]]), right: right < 0 ? null : quoted(answers[right]),
      ok: order[0] === right,
      likeliest: order.slice(0, 3).map((v) => [quoted(answers[v]), share(v)]),
    };
  });
}
