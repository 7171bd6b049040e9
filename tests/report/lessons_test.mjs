// The lessons' computations, under node, on the worlds that the program embeds in a page:
//   node lessons_test.mjs TEXTBOOK.html EXPECTED.json
// Every number that the articles print and that is right comes out to its last digit; EXPECTED holds
// what the program computes of the same worlds (lab/heads/lessons/lessons.h). Prints a line for each problem.
import fs from 'node:fs';
import {entropyOfRow, jsDistance, randomFrom, shuffled} from '../../src/app/report/page/engine/numbers.js';
import {keptNames, rankOfSet} from '../../src/app/report/page/engine/reports.js';
import {SOLUTIONS, answersMatch, numbersIn} from '../../src/app/report/page/lessons/lesson_exercises.js';
import {cellWords} from '../../src/app/report/page/lessons/lesson_cell.js';
import {attendLines, attendTrace} from '../../src/app/report/page/engine/attend.js';
import * as learn from '../../src/app/report/page/engine/worked_example.js';

const [bookPath, expectedPath] = process.argv.slice(2);
const html = fs.readFileSync(bookPath, 'utf8');
const facts = JSON.parse(/<script type="application\/json" id="facts">([^<]*)</.exec(html)[1]);
const {worlds} = facts.lessons;
const expected = JSON.parse(fs.readFileSync(expectedPath, 'utf8'));
const problems = [];
const expect = (truth, what) => truth || problems.push(what);
const same = (what, ours, wanted, places) =>
  ours.flat(3).concat(new Array(Math.max(0, wanted.length - ours.flat(3).length)).fill(NaN))
    .forEach((v, i) => expect(Math.abs(v - wanted[i]) <= 0.5 * 10 ** -places + 1e-9, `${what}, number ${i}: ${v}, not ${wanted[i]}`));

// ---- the five tokens
const five = worlds.find((world) => world.name === 'five-tokens');
const two = learn.headsOfWorld(five);
same('weights of head 1', two[0].weights, [
  .1237, .2509, .2509, .1237, .2509, .3664, .0891, .3664, .0891, .0891, .1811, .1811, .3673, .0893, .1811,
  .2, .2, .2, .2, .2, .1237, .2509, .2509, .1237, .2509], 4);
same('weights of head 2', two[1].weights, [
  .1337, .2711, .1337, .2711, .1904, .2711, .1337, .1337, .2711, .1904, .1337, .2711, .1337, .2711, .1904,
  .1811, .1811, .0893, .3673, .1811, .2711, .1337, .1337, .2711, .1904], 4);
same('output', learn.besideEachOther(two), [
  .2491, .3763, .2289, .3663, .4109, .1336, .2289, .3663, .2717, .2717, .2289, .3663, .3, .3, .1799, .4579,
  .2491, .3763, .2289, .3663], 4);
same('dots of head 1', two[0].dots, [0, 1, 1, 0, 1, 2, 0, 2, 0, 0, 1, 1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1], 2);
same('dots of head 2', two[1].dots, [
  0, 1, 0, 1, .5, 1, 0, 0, 1, .5, 0, 1, 0, 1, .5, 1, 1, 0, 2, 1, 1, 0, 0, 1, .5], 2);
same('scaled scores of head 1', two[0].scores, [
  0, .7071, .7071, 0, .7071, 1.4142, 0, 1.4142, 0, 0, .7071, .7071, 1.4142, 0, .7071, 0, 0, 0, 0, 0,
  0, .7071, .7071, 0, .7071], 4);
same('scaled scores of head 2', two[1].scores, [
  0, .7071, 0, .7071, .3536, .7071, 0, 0, .7071, .3536, 0, .7071, 0, .7071, .3536, .7071, .7071, 0, 1.4142, .7071,
  .7071, 0, 0, .7071, .3536], 4);
const [wide] = learn.headsOfWorld(five, 1);
same('one head, The', wide.weights[0], [.1095, .2976, .1805, .1805, .2318], 4);
same('one head, cat', [wide.weights[1][0], wide.weights[1][1], wide.weights[1][2]], [.4026, .0898, .2442], 4);
expect(learn.headsOfWorld(five, 4).flatMap((head) => head.weights).filter(learn.isUniform).length === 9, '9 of 20 rows are even');
same('ablation', [0, 1].map((h) => learn.changeWhenAblated(two, h)), [.96, .9941], 4);
same('ablation behind an orthogonal W_O', [0, 1].map((h) => learn.changeWhenAblated(two, h, five.W_O)), [.96, .9941], 4);

// ---- sets of heads by the bits of a number
const four = {heads: [[0, 0], [0, 1], [1, 0], [1, 1]]};
const kept = [1, 2, 3, 6, 13].map((bits) => keptNames(four, bits).join(' ')).join(', ');
expect(kept === '0.0, 0.1, 0.0 0.1, 0.1 1.0, 0.0 1.0 1.1', `kept heads: ${kept}`);

// ---- "Cat sleeps"
const cat = learn.headsOfWorld(worlds.find((world) => world.name === 'cat-sleeps'));
same('Cat sleeps, scores', cat[0].dots, [5, 0, 0, 0], 9);
same('Cat sleeps, scaled', [cat[0].scores[0][0]], [3.5], 1);
same('Cat sleeps, head 1', cat[0].weights, [.97, .03, .5, .5], 2);
same('Cat sleeps, output 1', cat[0].z, [.97, 1.94, .5, 1], 2);
same('Cat sleeps, output 2', cat[1].z, [.5, 1, .97, 1.94], 2);
expect(Math.abs(cat[1].z[0][0]) > 0.4, 'head 2 does not write 0 for Cat, as its article says');

// ---- counting
const total = (sizes) => learn.attentionSizes(sizes).total;
for (const H of [1, 2, 4, 8, 16]) expect(total({d: 512, H}) === 1050624, `1,050,624 with ${H} heads`);
expect(learn.attentionSizes({d: 512, H: 8}).matrices.every((x) => x.count === 262656), '262,656 each');
expect(total({d: 512, H: 8, bias: false}) === 4 * 512 * 512, '4 d^2');
expect(total({d: 768, H: 12}) === 2362368, '12 heads of width 64');
const odd = learn.attentionSizes({d: 512, H: 7});
expect(odd.dk === 73 && /PyTorch/.test(odd.note) && /511 of 512/.test(odd.note), '512 / 7 is said');
expect(odd.total === 3 * (512 * 511 + 511) + 511 * 512 + 512, '512 / 7 is counted');
for (const bad of [{d: 4, H: 8}, {d: 0, H: 1}, {d: 1e9, H: 1}, {d: 64, H: 2000}, {d: 8.5, H: 1}, {d: NaN, H: 1}])
  expect(learn.attentionSizes(bad).error, `refuses ${JSON.stringify(bad)}`);

// ---- the lines that are shown are the lines that run
const lines = attendLines();
expect(lines.filter((line) => line.at).length === 7 && !lines.some((line) => /see/.test(line.text)), 'seven lines are recorded');
expect(lines.length <= 25 && lines.every((line) => !line.at || line.text.trim() === line.at), 'each says itself');
const shown = new Function(`${lines.map((line) => line.text).join('\n')}; return attend;`)();
const traced = attendTrace(two[0].q[2], two[0].k, two[0].v);
same('without the root', [attendTrace(two[0].q[2], two[0].k, two[0].v, {root: 1}).row], shown(two[0].q[2], two[0].k, two[0].v, 1).row, 12);
same('what is shown computes the same', [shown(two[0].q[2], two[0].k, two[0].v).row], traced.row, 12);
expect(traced.steps.length === 5 * 2 + 10 + 10 + 5 + 5 * 2, 'every turn is recorded');
for (const name of ['softmax', 'softmax_one', 'sigmoid'])
  expect(attendTrace(two[0].q[2], [], [], {name}).steps.length === 0, `no line of ${name} runs without a key`);
const seen = learn.headsOfWorld({...five, visible: [1, 2, 3, 4, 5]})[0].weights;
expect(seen[0][0] === 1 && seen.every((row, t) => row.every((v, s) => s <= t || v === 0)), 'a query sees what it may');

// ---- the products of a cell and its bias are those that add up to it
const cell = {
  h: 0, r: 0, c: 1, names: ['0.0'], switches: {root: true, name: 'softmax'},
  stages: {one: {D: 2, Dv: 2, q: [[1, 3]], k: [[2, 0], [4, 5]], dots: [[2, 19]], slope: 0.5}, all: [[1, 10]]},
  world: {tokens: ['a'], keys: ['a', 'b'], x: [[1, 2]], inputs: [[1, 2]], W_O: [[1, 2], [3, 4]],
    b_O: [100, 200], W_Q: [[1, 3], [0, 4]], b_Q: [5, 7]},
};
const sumIn = (id, more) => cellWords({...cell, id, ...more}).table.rows.find(([name]) => name === 'sum')[3];
const rowIn = (id, name) => cellWords({...cell, id}).table.rows.find(([one]) => one === name)?.[3];
expect(Number(sumIn('y')) === 1 * 2 + 10 * 4 + 200 && Number(rowIn('y', 'bias')) === 200, `y with b_O: ${sumIn('y')}`);
expect(Number(sumIn('y', {world: {...cell.world, b_O: null}})) === 42, 'y without a bias');
expect(Number(sumIn('q')) === 1 * 3 + 2 * 4 + 7 && Number(rowIn('q', 'bias')) === 7, `q with b_Q: ${sumIn('q')}`);
expect(Number(sumIn('scores')) === 1 * 4 + 3 * 5, `a score: ${sumIn('scores')}`);
expect(Math.abs(Number(rowIn('scores', '/ √2')) - 19 / Math.SQRT2) < 1e-2, 'divided by the root');
expect(Number(rowIn('scores', 'distance').replace('−', '-')) === -0.5, 'less what the distance costs');

// ---- patterns, control, exercises
const classes = [0, 1, 2, 3, 0, 1, 2, 3, 2, 1];
const known = facts.lessons.patterns;
const quiz = learn.patternsOf(known, classes, true).map(({name}) => name);
expect(quiz.join() === 'previous,first,local,same,induction,uniform', `the quiz asks for what causal heads do, not ${quiz}`);
for (const pattern of learn.patternsOf(known, classes, true)) {
  const {name} = pattern;
  for (let seed = 1; seed <= 100; ++seed) {
    const causal = seed % 2 === 1;
    const weights = learn.simulated(pattern, classes, {random: randomFrom(seed), causal});
    const like = learn.likeOf(learn.distancesFromKnown(known, weights, classes, causal));
    expect(like === name, `${name}, seed ${seed}, is known by its distances, not as "${like}"`);
    weights.forEach((row) => same(`${name} sums to 1`, [row.reduce((a, b) => a + b, 0)], [1], 9));
  }
}
let alarms = 0;
for (let seed = 1; seed <= 100; ++seed) alarms += Number(learn.controlExperiment(seed).p < 0.01);
expect(alarms <= 5, `in the control nobody does it: ${alarms} alarms in 100`);
same('entropy', [entropyOfRow([0.5, 0, 0.25, 0.25])], [1.5 * Math.LN2], 12);
same('entropy of a row that sums to 2', [entropyOfRow([1, 0, 0.5, 0.5])], [1.5 * Math.LN2], 12);
same('distance of two rows of equal shares', [jsDistance([0.5, 0.5], [1, 1])], [0], 12);
same('row of sat', SOLUTIONS.rowOfSat(five), [.1811, .1811, .3673, .0893, .1811], 4);
same('even rows', SOLUTIONS.evenRows(five), [9], 9);
same('same columns', SOLUTIONS.sameColumns(five), [0], 9);
same('mixed', SOLUTIONS.mixedRow(five), [.6103, -.1323, .0151, .0051], 4);
for (const answer of ['.1811 .1811 .3673 .0893 .1811', '0.18, 0.181 0.37 0.09 0.2'])
  expect(answersMatch(answer, SOLUTIONS.rowOfSat(five)), `${answer} is accepted`);
for (const answer of ['.1811 .1811 .3674 .0893 .1811', '.18 .18 .36 .09 .18', '.18 .18 .37 .09'])
  expect(!answersMatch(answer, SOLUTIONS.rowOfSat(five)), `${answer} is refused`);
expect(numbersIn('−0.5, 2,362,368; .96 and 1e-3').join() === '-0.5,2362368,0.96,0.001', 'numbers are read as they are written');
const subsets = {heads: [[0, 0], [0, 1], [0, 2]], losses: [9, 5, 5, 2, 4, 1.5, 2.5, 1]};
expect(shuffled([1, 2, 3, 4], () => 0).join() === '2,3,4,1', 'the same things in another order');
expect(JSON.stringify(rankOfSet(subsets, 3)) === '{"rank":2,"of":3,"loss":2,"best":1.5,"bits":5}', 'a set has its rank');

// ---- the program computes the same
for (const {name, heads, steps, ablated, diversity} of expected.worlds) {
  const ours = learn.headsOfWorld(worlds.find((world) => world.name === name), heads);
  ours.forEach((head, h) => {
    for (const [mine, theirs] of [['dots', 'scores'], ['scores', 'scaled'], ['weights', 'weights'], ['z', 'output']])
      same(`${name} in ${heads}, head ${h}, ${theirs}`, head[mine], steps[h][theirs].flat(), 12);
    same(`${name} in ${heads}, ablation`, [learn.changeWhenAblated(ours, h)], [ablated[h]], 12);
  });
  same(`${name} in ${heads}, diversity`, [learn.diversityOf(ours.map((head) => head.weights))], [diversity], 9);
}
for (const {name, tokens, causal, weights} of expected.known) {
  const {ideal} = learn.distancesFromKnown(known, weights, tokens, causal).find((x) => x.name === name) ?? {ideal: weights.map((row) => row.map(() => 0))};
  same(`known pattern ${name}`, ideal, weights.flat(), 12);
}

for (const problem of problems.slice(0, 20)) console.log(problem);
process.exit(problems.length ? 1 : 0);
