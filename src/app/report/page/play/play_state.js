// The state of the playground: the knobs, which the address holds, the nets that train, and what is
// shown of them. Training is deterministic, so a link restores a state: the knobs, the step, and
// what was done to heads on the way. Nothing here draws: play.js sets `view.draw`.
import {byId} from '../draw/ui.js';
import {count, defaultState, formatHash, oneOf, parseHash} from '../state/address.js';
import {Sequences} from './train/sequences.js';
import {Trainer} from './train/trainer.js';

export const HEAD_WIDTH = 8;  // of queries, keys and values
export const BATCH = 32;
export const WARMUP = 30;
const MEASURED_EVERY = 8;  // steps
const MOST_RESTORED = 5000;

/// How the tasks that the page knows begin; other tasks take their recommended heads and layers.
const STARTS = {
  relations: {heads: 4, layers: 1, lr: 0.02, steps: 500},
  induction: {heads: 2, layers: 2, lr: 0.01, steps: 400},
  sort: {heads: 2, layers: 1, lr: 0.01, steps: 200},
  english: {heads: 4, layers: 1, lr: 0.01, steps: 400},
};
export const LIMITS = {heads: [1, 8], layers: [1, 2], seed: [0, 99]};
export const SPEEDS = {slow: 8, normal: 60, fast: Infinity};  // steps in a second
export const CHOICES = {
  positions: ['learned', 'sinusoidal', 'none', 'rotary', 'alibi'],
  attention: ['softmax', 'softmax_one', 'sigmoid'],
  network: ['none', 'gelu', 'relu', 'swiglu'],
  norm: ['layer', 'rms', 'none'],
  width: [16, 32, 48, 64],
  lr: [0.001, 0.003, 0.01, 0.02, 0.05, 0.2],
};

const anyOf = (key) => oneOf(...CHOICES[key].map((value) => String(value).replace('.', '\\.')));
const numberOf = (key) => {
  const {parse} = anyOf(key);
  return {parse: (s) => parse(s) && Number(s), format: String};
};
const within = ([least, most]) => ({
  parse: (s) => (count.parse(s) >= least && count.parse(s) <= most ? Number(s) : undefined),
  format: String,
});
/// Changes of heads: step-head-state, one after the other; heads of a second net follow those of
/// the first.
const ACTS = {
  parse: (s) => (/^(\d{1,5}-\d{1,3}-(on|ablated|pruned))(,\d{1,5}-\d{1,3}-(on|ablated|pruned))*$/
    .test(s) ? s.split(',') : undefined),
  format: (acts) => acts.join(','),
};
/// The keys of the address; the task decides the defaults of those that are null.
const KNOB_KEYS = {
  task: [{parse: (s) => (tasks[s] ? s : undefined), format: String}, null],
  heads: [within(LIMITS.heads), null], layers: [within(LIMITS.layers), null],
  lr: [numberOf('lr'), null], width: [numberOf('width'), 48], seed: [within(LIMITS.seed), 0],
  positions: [anyOf('positions'), 'learned'], attention: [anyOf('attention'), 'softmax'],
  network: [anyOf('network'), 'none'], norm: [anyOf('norm'), 'layer'],
  two: [oneOf('yes', 'no'), 'no'], speed: [oneOf(...Object.keys(SPEEDS)), 'normal'],
  theme: [oneOf('auto', 'light', 'dark'), 'auto'],
  step: [within([0, MOST_RESTORED]), 0], acts: [ACTS, []],
};

export const tasks = {};
export const facts = {};
export const knobs = {};
export const view = {
  labs: [],         // the nets that train: one, or two with different seeds
  isRunning: false, until: 0, due: 0,
  example: 0, query: 0,
  moment: null,     // the measurement that is looked at; null: now
  ablation: null,   // what the last ablation changed
  pruning: null,    // the last pruning: {keep, step}
  restoring: null,  // the acts and the step of a link, until they are reached
  acts: [], trained: [], draw: () => {},
};
export const currentTask = () => tasks[knobs.task];
export const isPair = () => knobs.two === 'yes';

/// Reads the facts of the page and the address; returns what the address says in vain.
export function readState() {
  Object.assign(facts, JSON.parse(byId('facts').textContent));
  for (const one of facts.tasks) {
    let name = one.name;
    for (let n = 2; tasks[name]; ++n) name = `${one.name}${n}`;
    tasks[name] = new Sequences({...one, key: name});
  }
  const {state, notices} = parseHash(location.hash, KNOB_KEYS);
  Object.assign(knobs, defaultState(KNOB_KEYS), startOf(state.task ?? Object.keys(tasks)[0]));
  for (const key of Object.keys(KNOB_KEYS)) if (state[key] !== null) knobs[key] = state[key];
  if (state.step > 0) view.restoring = {step: state.step, acts: [...state.acts]};
  return notices;
}

/// The settings with which a task begins.
export function startOf(task) {
  const {name, recommended} = tasks[task];
  const heads = recommended.needed_heads || recommended.heads;
  const usual = {heads: Math.min(LIMITS.heads[1], heads), lr: 0.01, steps: 500,
    layers: Math.max(1, Math.min(LIMITS.layers[1], recommended.layers))};
  return {task, ...usual, ...STARTS[name]};
}

const stateOfKnobs = () => ({...knobs, step: view.labs[0].steps, acts: view.acts, unknown: []});
/// The address of this state: the knobs, the step, and what was done to heads.
export const addressOfState = () => formatHash(stateOfKnobs(), KNOB_KEYS);

function writeState() {
  if (view.restoring) return;
  try {
    history.replaceState(null, '', addressOfState() || location.pathname);
  } catch { /* a frame without an address */ }
}

export const configOfKnobs = () => ({
  layers: knobs.layers, heads: knobs.heads, d_model: knobs.width, d_head: HEAD_WIDTH,
  d_ff: knobs.network === 'none' ? 0 : 4 * knobs.width, norm: knobs.norm,
  activation: knobs.network === 'none' ? 'gelu' : knobs.network,
  positions: knobs.positions, attention_function: knobs.attention,
});

/// New nets from the knobs, at step 0.
export function renew() {
  keepRecord();
  const {lr, steps, seed} = knobs;
  const task = currentTask();
  view.labs = (isPair() ? [0, 1] : [0]).map((more) => {
    const lab = new Trainer(task, {config: configOfKnobs(), batch: BATCH, seed: seed + more, lr,
      warmup: WARMUP, steps, ownerLift: facts.owner_lift});
    lab.was = [];  // what a head owned before it was ablated
    return lab;
  });
  Object.assign(view,
    {until: steps, due: 0, ablation: null, pruning: null, moment: null, acts: []});
  chooseExample(0);
}

/// Changes knobs: all nets start again at step 0.
export function change(some) {
  Object.assign(knobs, some);
  view.restoring = null;
  view.isRunning = false;
  renew();
  writeState();
  view.rebuild();
}

/// The next held-out example that has a query with all relations at different keys, and that query.
export function chooseExample(from) {
  const {length: T, held} = currentTask();
  let best = null;
  for (let n = 0; n < Math.min(14, held.size); ++n) {
    const b = (from + n) % held.size;
    for (let t = 0; t < held.lengths[b]; ++t) {
      const keys = held.keys.map((row) => row[b * T + t]).filter((key) => key >= 0);
      const value = new Set(keys).size * 100 + t - n / 10;
      if (keys.length && (!best || value > best.value)) best = {b, t, value};
    }
  }
  Object.assign(view, {example: best?.b ?? 0, query: best?.t ?? 0});
}

/// Steps all nets; `limit` is when the time of this frame ends.
export function trainSteps(steps, limit = Infinity) {
  for (let i = 0; i < steps && performance.now() < limit; ++i) {
    restoreActs();
    if (view.restoring?.step <= view.labs[0].steps) {
      finishRestoring();
      return;
    }
    for (const lab of view.labs) {
      lab.step();
      if (lab.steps % MEASURED_EVERY === 0 || lab.steps === view.until) lab.measure();
    }
    if (view.labs[0].steps >= view.until && !view.restoring) {
      stopTraining();
      return;
    }
  }
}

/// Does what a link says was done at this step.
function restoreActs() {
  const acts = view.restoring?.acts ?? [];
  while (acts.length && Number(acts[0].split('-')[0]) === view.labs[0].steps) {
    const [, place, state] = acts.shift().split('-');
    const {heads} = view.labs[0];
    const lab = view.labs[Math.floor(place / heads)];
    if (lab) setHead(lab, place % heads, state);
  }
}

function finishRestoring() {
  for (const lab of view.labs) lab.measure();
  view.restoring = null;
  view.until = Math.max(view.until, view.labs[0].steps);
  stopTraining();
}

export function stopTraining() {
  view.isRunning = false;
  writeState();
}

/// Trains or pauses; past the plan 200 steps more.
export function toggleTraining() {
  view.isRunning = !view.isRunning;
  view.moment = null;
  const {steps} = view.labs[0];
  if (view.isRunning && steps >= view.until) view.until = steps + 200;
  if (!view.isRunning) writeState();
  view.draw();
}

export function trainOne() {
  view.isRunning = false;
  view.moment = null;
  view.until = Math.max(view.until, view.labs[0].steps + 1);
  trainSteps(1);
  for (const lab of view.labs) lab.measure();
  writeState();
  view.draw();
}

/// Sets a head on, ablated or pruned, and notes it for the address.
function setHead(lab, x, state) {
  if (lab.state[x] === 'on') lab.was[x] = lab.relationsOf(x);
  lab.set(x, state);
  view.acts.push(`${lab.steps}-${view.labs.indexOf(lab) * lab.heads + x}-${state}`);
}

export function toggleHead(lab, x) {
  view.moment = null;
  const {accuracy} = lab.now;
  setHead(lab, x, lab.state[x] === 'on' ? 'ablated' : 'on');
  lab.measure();
  view.ablation = lab.state[x] === 'on' ? null : {lab, x, accuracy, step: lab.steps};
  writeState();
  view.draw();
}

export function allHeadsOn() {
  view.moment = null;
  for (const lab of view.labs) {
    lab.state.forEach((state, x) => state !== 'on' && setHead(lab, x, 'on'));
    lab.measure();
  }
  Object.assign(view, {ablation: null, pruning: null});
  writeState();
  view.draw();
}

/// Removes heads until `keep` are left; past the plan 150 steps more.
export function pruneTo(keep) {
  if (view.labs.every((lab) => lab.active <= keep)) return;
  view.moment = null;
  for (const lab of view.labs) {
    const before = [...lab.state];
    lab.prune(keep);
    const pruned = lab.state.flatMap((state, x) => (state === before[x] ? [] : [x]));
    for (const x of pruned) {
      lab.state[x] = 'on';
      setHead(lab, x, 'pruned');
    }
    lab.measure();
  }
  const {steps} = view.labs[0];
  Object.assign(view, {ablation: null, pruning: {keep, step: steps}});
  if (steps >= view.until) view.until = steps + 150;
  writeState();
  view.draw();
}

/// As many heads as the task has questions, or one less than there are.
export function suggestedKeep() {
  const active = Math.max(...view.labs.map((lab) => lab.active));
  const need = currentTask().relations.length;
  return active > need ? need : Math.max(1, active - 1);
}

/// Adds the nets that have trained to the table of what was trained so far.
function keepRecord() {
  for (const lab of view.labs) {
    if (lab.steps === 0) continue;
    view.trained.push({task: lab.task.key, config: lab.options.config, seed: lab.options.seed,
      steps: lab.steps, active: lab.active, accuracy: lab.now.accuracy, owners: [...lab.owners],
      names: lab.task.relations.map(({name}) => name)});
  }
}
