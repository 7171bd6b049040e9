// How many answers are right, and the loss, over all held-out examples, without any heads and at
// any kept step. Counted in slices; what is asked for last is counted first, and what is counted so
// far can be shown. Read next: measure.js, which compares one measurement with the program's.
import {evaluateSteps} from '../engine/losses.js';
import {
  ablatedGates, app, gateArray, headsOf, isLive, model, run, task, working,
} from '../state/state.js';

const countRecords = new Map();
const countQueue = [];
let tellCounts = () => {};

/// Calls `act` when counts have changed, at most some times a second.
export function onCounted(act) {
  tellCounts = act;
}

const keyOf = (off, step) => JSON.stringify([app.state.run, step, [...off].sort()]);

/// Counts of the program with all heads after training; null of other sets.
function knownCount(off, step) {
  const {evaluation} = run().facts;
  if (off.length || step != null || !evaluation) return null;
  const {examples} = evaluation;
  return {...evaluation, counted: examples, of: examples, done: true};
}

function newRecord(off, step) {
  const known = knownCount(off, step);
  if (known) return known;
  const of = task().set('held_out').size;
  const record = {accuracy: null, loss: null, targets: [], counted: 0, of, done: false};
  if (!isLive()) return record;
  const heads = headsOf().filter((x) => off.includes(x.at));
  record.steps = evaluateSteps(run(), {model: model(),
    gates: heads.length ? gateArray(ablatedGates(heads)) : null});
  if (!countQueue.length) startCounting();
  return record;
}

/// The counts without the heads of these names at the step that is shown: {accuracy, loss, targets,
/// counted: the number of examples so far, of, done}. Numbers are null until there are some, and
/// remain so if the page cannot run the model.
export function countsWithout(off) {
  const {step} = app.state;
  const key = keyOf(off, step);
  if (!countRecords.has(key)) countRecords.set(key, newRecord(off, step));
  const record = countRecords.get(key);
  if (record.steps && !record.done) {
    const at = countQueue.indexOf(record);
    if (at >= 0) countQueue.splice(at, 1);
    countQueue.unshift(record);
  }
  return record;
}

/// The counts of what is shown now.
export const countsNow = () =>
  countsWithout(headsOf().map((x) => x.at).filter((at) => app.state.gates[at] === 0));

/// The share of right answers if each target always got its most frequent answer.
export function guessShare() {
  const set = task().set('held_out');
  if (set.guess != null) return set.guess;
  const K = task().target_names.length;
  const counts = task().target_names.map(() => new Map());
  let all = 0;
  for (let i = 0; i < set.size; ++i) {
    (set.example(i).targets || []).forEach((answer, at) => {
      if (answer < 0) return;
      const mine = counts[at % K];
      mine.set(answer, (mine.get(answer) || 0) + 1);
      ++all;
    });
  }
  const most = counts.reduce((sum, mine) => sum + Math.max(0, ...mine.values()), 0);
  set.guess = most / Math.max(1, all);
  return set.guess;
}

// ---- the work --------------------------------------------------------------------------------

function countSlice(record) {
  const {done, value} = record.steps.next();
  const result = done ? value : value.sums && value.done % 32 === 0 && value.sums.result;
  if (result) {
    const {accuracy, loss, targets, examples: counted} = result;
    Object.assign(record, {accuracy, loss, targets, counted, done});
  }
  return done;
}

function startCounting() {
  working(1);
  let shown = 0;
  const turn = () => {
    const end = performance.now() + 12;
    let finished = false;
    while (countQueue.length && performance.now() < end) {
      const [record] = countQueue;
      if (!countSlice(record)) continue;
      countQueue.splice(countQueue.indexOf(record), 1);
      finished = true;
    }
    if (finished || performance.now() > shown + 200) {
      shown = performance.now();
      tellCounts();
    }
    if (countQueue.length) return setTimeout(turn, 0);
    working(-1);
    return undefined;
  };
  setTimeout(turn, 0);
}
