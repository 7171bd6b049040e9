// The stages of attention as matrices, from x to y, with switches: another mask, no division by the
// square root, another attention function, another number of heads. A stage is {id, name, rows,
// rowNames, colNames, kind}; a masked score is -Infinity. No document is needed.
// Read next: lesson_cell.js, how each cell is computed; lesson_machine.js, the picture.
import {range} from './numbers.js';
import {attentionFunctions} from './kinds.js';
import {besideEachOther, headOfWorld, times} from './worked_example.js';

/// The attention functions that can be chosen, those of the program's table.
export const FUNCTIONS = Object.keys(attentionFunctions)
  .filter((name) => name !== 'softmax_composed');

/// The numbers of heads into which the columns of a world can be split.
export function splitsOf(world) {
  const divides = (H) => world.q[0].length % H === 0 && world.v[0].length % H === 0;
  const few = range(16, (i) => i + 1).filter(divides);
  return [...new Set([...few, world.heads])].sort((a, b) => a - b);
}

/// The outputs of all heads next to each other, and what the layer adds to the stream.
function outputStages(world, switches) {
  const heads = range(switches.heads, (h) => headOfWorld(world, h, switches));
  const all = besideEachOther(heads);
  const bias = world.b_O || world.W_O[0].map(() => 0);
  const y = times(all, world.W_O).map((row) => row.map((value, c) => value + bias[c]));
  return {all, y};
}

/// The stages of head h in their order, from left to right.
export function stagesOf(world, h, switches) {
  const {tokens: T, keys: S} = world;
  const one = headOfWorld(world, h, switches);
  const {all, y} = outputStages(world, switches);
  const numbered = (rows) => rows[0].map((_, i) => String(i));
  const stage = (id, name, rows, rowNames, more) =>
    ({id, name, rows, rowNames, colNames: numbered(rows), kind: 'sign', ...more});
  const pairs = {colNames: S, isPairs: true};
  const below = switches.root ? ` / √${one.D}` : '';
  return {one, all, y, list: [
    world.x && stage('x', 'x', world.x, T, {}),
    stage('q', world.W_Q ? 'q = x W_Q' : 'q', one.q, T, {}),
    stage('k', world.W_K ? 'k = x W_K' : 'k', one.k, S, {}),
    stage('v', world.W_V ? 'v = x W_V' : 'v', one.v, S, {}),
    stage('scores', `scores = q kᵀ${below}`, one.scores, T, pairs),
    stage('masked', 'mask', one.masked, T, pairs),
    stage('weights', switches.name, one.weights, T, {...pairs, kind: 'weight'}),
    stage('z', 'z = weights v', one.z, T, {}),
    stage('all', 'z of all heads', all, T, {}),
    stage('y', 'y = z W_O', y, T, {}),
  ].filter(Boolean)};
}
