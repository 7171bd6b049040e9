// The share of right answers and the loss over all held-out examples, with any gates and masked
// edges and at any kept step. Counted in slices; what is asked for last is counted first, and what
// is counted so far can be shown. Read next: measure.js, which compares losses with the program's.
import {evaluateSteps} from '../engine/losses.js';
import {
  ablatedGates, app, gateArray, headsOf, isLive, isSlow, model, run, task, working,
} from '../state/state.js';

const countRecords = new Map();
const countQueue = [];
let isCounting = false;
let passing = null;  // the record that nobody needs once another one is asked for
let tellCounts = () => {};

/// Calls `act` when counts have changed, at most some times a second.
export function onCounted(act) {
  tellCounts = act;
}

function newRecord(changes) {
  const of = task().set('held_out').size;
  const record = {accuracy: null, loss: null, targets: [], counted: 0, of, done: false};
  if (isLive()) record.steps = evaluateSteps(run(), {model: model(), ...changes});
  return record;
}

/// The counts under changes {gates, replacement, hide} as evaluateSteps() takes them, at the step
/// that is shown: {accuracy, loss, targets, relations, count, counted: the number of examples so
/// far, of, done}. Numbers are null until there are some, and remain so if the page cannot run the
/// model.
export function countsUnder(changes) {
  const key = JSON.stringify([app.state.run, app.state.step, changes]);
  if (!countRecords.has(key)) countRecords.set(key, newRecord(changes));
  const record = countRecords.get(key);
  if (record.steps && !record.done) {
    leaveQueue(record);
    countQueue.unshift(record);
    startCounting();
  }
  return record;
}

function leaveQueue(record) {
  const at = countQueue.indexOf(record);
  if (at >= 0) countQueue.splice(at, 1);
}

/// The counts under changes that the reader is still making: the call for the next changes ends the
/// counting of these.
export function countsInPassing(changes) {
  const record = countsUnder(changes);
  if (passing !== record) leaveQueue(passing);
  passing = record;
  return record;
}

/// The counts without the heads of these names; those with all heads after training are the
/// program's.
export function countsWithout(off) {
  const {evaluation} = run().facts;
  const heads = headsOf().filter((x) => off.includes(x.at));
  if (heads.length || app.state.step != null || !evaluation)
    return countsUnder({gates: gateArray(ablatedGates(heads))});
  const {examples} = evaluation;
  return {...evaluation, counted: examples, of: examples, done: true};
}

/// The counts of what is shown now.
export const countsNow = () =>
  countsWithout(headsOf().map((x) => x.at).filter((at) => app.state.gates[at] === 0));

/// The share of right answers if each target always got its most frequent answer.
export const guessShare = () => task().set('held_out').facts.guess;

// ---- the work --------------------------------------------------------------------------------

function countSlice(record) {
  const {done, value} = record.steps.next();
  const few = isSlow() ? 1 : 32;
  const result = done ? value : value.sums && value.done % few === 0 && value.sums.result;
  if (result) Object.assign(record, {...result, counted: result.examples, done});
  return done;
}

function startCounting() {
  if (isCounting) return;
  isCounting = true;
  working(1);
  let shown = 0;
  const turn = () => {
    const end = performance.now() + 12;
    let finished = false;
    while (countQueue.length && performance.now() < end) {
      const [record] = countQueue;
      if (!countSlice(record)) continue;
      leaveQueue(record);
      finished = true;
    }
    if (finished || performance.now() > shown + 200) {
      shown = performance.now();
      tellCounts();
    }
    if (countQueue.length) return setTimeout(turn, 0);
    isCounting = false;
    working(-1);
    return undefined;
  };
  setTimeout(turn, 0);
}
