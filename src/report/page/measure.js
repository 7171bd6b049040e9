// The loss of what is switched on, over the held-out examples, beside what the program found.
import {drive} from './core_pass.js';
import {at2, evaluateSteps, idOf, subsetLoss} from './core_losses.js';
import {bars, digits} from './charts.js';
import {code, el, note, say} from './ui.js';
import {
  app, chosen, gateArray, headsOf, isLive, isSlow, model, relation, run, task,
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

/// Starts the measurement of the present gates, unless it runs or is done; a new one cancels it.
export async function measure() {
  const key = measureKey();
  if (!isLive() || measured.key === key) return;
  Object.assign(measured, {key, done: 0, result: null});
  ++app.busy;
  const head = chosen();
  const hide =
    hidesEdges() && head && relation(head) >= 0
      ? {
          relation: relation(head), heads: [[head.m, head.place]],
          random: app.state.hide === 'random', seed: 0,
        }
      : undefined;
  const size = task().set('held_out').size;
  const tell = (state) => {
    if (measured.key !== key) return;
    Object.assign(measured, {
      done: state.done, of: state.of, result: state.result || measured.result,
    });
    showMeasured();
  };
  try {
    const options = {gates: gateArray(), hide};
    const few = isSlow() ? 1 : 32;
    if (size > few) tell({done: few, of: size, result: await evaluation(options, few, null, key)});
    const result = await evaluation(
      options, undefined,
      (s) => tell({done: s.done, of: s.of, result: s.done > few ? s.sums.result : null}),
      key,
    );
    if (!result) return;
    const whole = wholeKey();
    if (measured.whole?.key !== whole) {
      const plain = !options.gates && !hide;
      const all = plain ? result : await evaluation({gates: null}, undefined, null, key);
      if (!all) return;
      measured.whole = {key: whole, result: all};
    }
    tell({done: size, of: size, result});
    say(
      `Loss ${digits(result.loss)} nats, ${digits(100 * result.accuracy)} % right, over ${size} ` +
        `held-out examples.`,
    );
  } finally {
    --app.busy;
  }
}

let measureListeners = [];

/// What is called when a measurement goes on.
export function onMeasured(...listeners) {
  measureListeners = listeners;
}
export const showMeasured = () => measureListeners.forEach((listener) => listener());

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
    const name = task().relations[rel]?.name;
    const test =
      gold?.examples === size &&
      gold.relations
        .find((r) => r.name === name)
        ?.tests.find((t) => t.heads.length === 1 && at2(t.heads[0]) === head.at);
    if (state.hide !== 'gold' || off.length || !test || !whole?.result.relations[rel]) return null;
    const rise = result.relations[rel].loss - whole.result.relations[rel].loss;
    return say(test.gold.change, 'gold_edges.json', rise, `rise on ${name}: here ${digits(rise)}`);
  }
  const known =
    (state.repl === 'zero' || !off.length) && curve?.subsets?.examples === size
      ? subsetLoss(run(), gateArray())
      : null;
  if (known != null) return say(known, 'curve.json');
  if (!off.length)
    return run().facts.evaluation ? say(run().facts.evaluation.loss, 'headlab eval') : null;
  const single =
    off.length === 1 &&
    state.gates[off[0]] === 0 &&
    ablation?.kind === state.repl &&
    ablation.examples === size;
  const record = single && ablation.heads.find((h) => idOf(h) === off[0]);
  return record ? say(record.loss, 'ablation.json') : null;
}

export function lossNodes() {
  const {result, done, of, whole} = measured;
  if (!result) return el('p', null, 'Measuring …');
  const program = programSays();
  const complete = done >= of;
  const agrees =
    program && Math.abs(program.theirs - program.ours) <= 1e-5 + 1e-4 * Math.abs(program.theirs);
  const rise = whole?.key === wholeKey() ? result.loss - whole.result.loss : null;
  return [
    el('div', {class: 'pair'},
      el('div', null, 'Loss', el('div', {class: 'big', id: 'live-loss'}, digits(result.loss)),
        el('span', {class: 'muted small'},
          rise
            ? `${rise > 0 ? '+' : ''}${digits(rise)} nats against all heads on`
            : 'nats per target',
        ),
      ),
      el('div', null, 'Right',
        el('div', {class: 'big', id: 'live-accuracy'}, `${digits(100 * result.accuracy)} %`),
        el('span', {class: 'muted small'}, `${result.count} answers`),
      ),
      el('div', null, program?.what ? 'The rise, says the program' : 'The program says',
        el('div', {class: 'big muted', id: 'program-loss'}, program ? digits(program.theirs) : '–'),
        el('span',
          {
            class: `small ${program && complete ? (agrees ? 'badge' : 'badge bad') : 'muted'}`,
            id: 'agrees',
          },
          program
            ? `${complete ? (agrees ? '✓ the same' : '✗ not the same') : 'waiting'} ` +
              `(${program.from})`
            : oracleHint(),
          program?.what && el('div', null, program.what),
        ),
      ),
    ),
    el('p', {class: 'muted small'},
      complete
        ? `over all ${of} held-out examples`
        : `over ${done} of ${of} held-out examples so far`,
    ),
  ];
}

export function oracleHint() {
  if (app.state.repl === 'zero' && !run().reports.curve?.subsets && headsOf().length <= 12)
    return ['every set: ', code(`headlab curve ${run().name}`)];
  return 'has not measured this';
}

export function relationBars(width) {
  const {result, whole} = measured;
  if (!result) return note('Measuring …');
  // a relation that all answers belong to is no question of its own
  const split = result.relations?.some(({count}) => count < result.count);
  const parts = split ? result.relations : result.targets || [];
  const before = split ? whole?.result.relations : whole?.result.targets;
  const worst = parts.reduce((a, b) => (a && a.loss >= b.loss ? a : b), null);
  return bars({
    width: Math.min(width, 560), unit: 'loss (nats)', tickName: before ? 'all heads on' : undefined,
    rows: parts.map((p, i) => ({
      name: p.name, value: p.loss, tick: before?.[i]?.loss, accuracy: p.accuracy,
    })),
    about: {
      name: 'live-by-relation', title: 'By question',
      sentence: worst
        ? `Worst: ${worst.name}, ${digits(worst.loss, 3)} nats, ` +
          `${digits(100 * worst.accuracy, 3)} % right.`
        : '',
    },
    say: (r) =>
      `${parts[r].name}: loss ${digits(parts[r].loss)}, ${digits(100 * parts[r].accuracy)} % ` +
        `right, ${parts[r].count} answers`,
  });
}
