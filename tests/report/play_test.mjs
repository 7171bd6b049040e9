// The trainer of the playground under node:
//   node --expose-gc play_test.mjs FOLDER PAGE.html      a page of relations, induction, sort ...
// FOLDER holds the modules of the trainer. Gradients of every kind of part against central
// differences; what training finds on the sequences of the page; its speed. Prints a line for each
// problem.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {pageTexts} from './page_of.mjs';

const [folder, pagePath] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.join(folder, name)));
const {Net} = await load('play/train/net.js');
const {Sequences} = await load('play/train/sequences.js');
const {Trainer} = await load('play/train/trainer.js');
const {Generator, keyOfSeed} = await load('play/train/random.js');
const {activations, attentionFunctions, norms, positionKinds} = await load('engine/kinds.js');
const problems = [];
const expect = (truth, what) => truth || problems.push(what);

const SIZES = {vocab: 5, length: 5, targets: 2, outputs: 4, causal: true};
const CONFIG = {layers: 2, heads: 2, d_model: 6, d_head: 4, d_ff: 0, norm: 'layer',
  activation: 'gelu', positions: 'learned', attention_function: 'softmax'};

// ---- the tasks of the page ----------------------------------------------------------------------

const facts = JSON.parse(pageTexts(fs.readFileSync(pagePath, 'utf8')).get('facts'));
const ownerLift = facts.owner_lift;
const tasks = facts.tasks.map((one) => new Sequences(one));
const [relations, , sort] = tasks;
const trainerOf = (seed, heads, task = relations) => new Trainer(task, {
  config: {...CONFIG, layers: 1, heads, d_model: 48, d_head: 8}, batch: 32, seed, lr: 0.02,
  warmup: 30, steps: 500, ownerLift,
});
function train(trainer, steps) {
  for (let i = 0; i < steps; ++i) {
    trainer.step();
    if (trainer.steps % 8 === 0) trainer.measure();
  }
  trainer.measure();
}

// ---- speed and memory, so low that a busy machine reaches them ----------------------------------

const timed = trainerOf(0, 4);
for (let i = 0; i < 100; ++i) timed.step();
const start = process.cpuUsage();
const windows = [];  // bytes allocated in a step of each window; the compiler allocates in some
for (let w = 0; w < 4; ++w) {
  globalThis.gc();
  const heap = process.memoryUsage().heapUsed;
  for (let i = 0; i < 250; ++i) timed.step();
  windows.push((process.memoryUsage().heapUsed - heap) / 250);
}
const {user, system} = process.cpuUsage(start);
const [, bytes] = windows.sort((one, other) => one - other);
const rate = 1000 / ((user + system) / 1e6);
expect(rate >= 30, `${rate} steps in a second of CPU time`);
expect(bytes < 4000, `${bytes} bytes allocated in a step`);

// ---- gradients of all parameters, in double ---------------------------------------------------


/// A net with random parameters throughout, on a random batch: some targets are not asked, one
/// sequence is short, one head is half on.
function randomNet(config, sizes) {
  const net = new Net(sizes, config, {batch: 3, seed: 5});
  const random = new Generator(keyOfSeed(9));
  const {values} = net.parameters;
  for (let i = 0; i < values.length; ++i) values[i] += 0.2 * random.normal();
  for (let i = 0; i < net.tokens.length; ++i) net.tokens[i] = random.below(sizes.vocab);
  for (let i = 0; i < net.targets.length; ++i) net.targets[i] = random.below(sizes.outputs + 1) - 1;
  net.lengths.set([sizes.length, sizes.length - 2, sizes.length]);
  const asked = sizes.length * sizes.targets;
  net.targets.fill(-1, 2 * asked - 2 * sizes.targets, 2 * asked);
  net.blocks[0].attention.gates[1] = 0.5;
  return net;
}

/// The largest relative error of a gradient, and the name of its parameter.
function worstGradient(net) {
  const {values, grads, views} = net.parameters;
  const lossAt = (i, value) => {
    values[i] = value;
    net.forward();
    net.score();
    return net.loss;
  };
  lossAt(0, values[0]);
  net.backward();
  const found = grads.slice();
  const nameAt = [...views].flatMap(([name, {value}]) => Array(value.length).fill(name));
  let worst = {error: 0, name: ''};
  for (let i = 0; i < values.length; ++i) {
    const [value, h] = [values[i], 1e-5];
    const slope = (lossAt(i, value + h) - lossAt(i, value - h)) / (2 * h);
    lossAt(i, value);
    const size = Math.max(1e-3, Math.abs(slope) + Math.abs(found[i]));
    const error = Math.abs(slope - found[i]) / size;
    if (!(error <= worst.error)) worst = {error, name: nameAt[i]};
  }
  return worst;
}

function expectGradients(config, sizes = {}) {
  const all = {...CONFIG, ...config};
  const {error, name} = worstGradient(randomNet(all, {...SIZES, ...sizes}));
  // The page's gelu_erf is a series whose slope is right to 1e-5 alone.
  const most = all.d_ff > 0 && all.activation === 'gelu_erf' ? 1e-4 : 1e-6;
  expect(error < most, `gradient of ${name}, ${JSON.stringify({...config, ...sizes})}: relative ` +
    `error ${error}`);
}

/// Every kind of positions with every attention function; the norms take turns.
let turn = 0;
for (const positions of Object.keys(positionKinds)) {
  for (const attention of Object.keys(attentionFunctions)) {
    const norm = Object.keys(norms)[turn++ % Object.keys(norms).length];
    expectGradients({norm, positions, attention_function: attention});
  }
}
for (const activation of Object.keys(activations)) expectGradients({activation, d_ff: 6});
expectGradients({}, {causal: false});
expectGradients({positions: 'alibi', attention_function: 'sigmoid', d_ff: 6}, {causal: false});

/// Lines hold each token, each target and each key.
for (const task of tasks) {
  const [{header}, ...lines] = task.lines(task.train).trim().split('\n').map((one) =>
    JSON.parse(one));
  expect(lines.length === task.train.size && header.vocabulary.length === task.sizes.vocab,
    `${task.name}: ${lines.length} lines`);
  const count = (values) => values.reduce((sum, value) => sum + (value >= 0), 0);
  const keys = lines.flatMap(({truth}) => Object.values(truth).flatMap(Object.values)).length;
  const targets = lines.flatMap((line) => line.targets.flat()).filter((x) => x !== null).length;
  expect(keys === task.train.keys.reduce((sum, row) => sum + count(row), 0), `${task.name}: keys`);
  expect(targets === count(task.train.targets), `${task.name}: targets`);
}

for (let seed = 0; seed < 4; ++seed) {
  const trainer = trainerOf(seed, 4);
  train(trainer, 500);
  expect(trainer.isDivided, `seed ${seed}: the owners are ${trainer.owners}`);
  expect(trainer.now.accuracy > 0.99, `seed ${seed}: accuracy ${trainer.now.accuracy}`);
  const {accuracy} = trainer.now;
  trainer.set(trainer.owners[seed % 3], 'ablated');  // of a question that no other one answers
  trainer.measure();
  expect(trainer.now.accuracy < accuracy - 0.1,
    `seed ${seed}: without an owner ${trainer.now.accuracy} of ${accuracy} is right`);
}

const pruned = trainerOf(0, 8);
train(pruned, 500);
pruned.prune(4);
expect(pruned.active === 4, `${pruned.active} heads are left`);
train(pruned, 150);
expect(pruned.now.accuracy > 0.99, `pruned to 4: accuracy ${pruned.now.accuracy}`);

/// Looking back changes no weight, and a long history stays short.
const weights = pruned.net.parameters.values.slice();
pruned.recall(3);
expect(pruned.seen.step === 24, `the fourth measurement is of step ${pruned.seen.step}`);
pruned.recall(null);
expect(pruned.net.parameters.values.every((value, i) => value === weights[i]),
  'looking back changed the weights');
const long = trainerOf(1, 1, sort);
for (let i = 0; i < 250; ++i) {
  long.steps = 8 * i;
  long.measure();
}
expect(long.history.length <= 200 && long.history[0].step === 0 &&
  long.history.at(-1).step === 8 * 249, `${long.history.length} moments are kept`);


for (const problem of problems) console.log(problem);
if (process.env.SHOW) console.log(`${rate.toFixed(0)} steps/s, ${bytes.toFixed(0)} bytes a step`);
process.exit(problems.length ? 1 : 0);
