// From x to y: the picture of all stages of a layer of attention; and at its end W_O, which mixes
// heads, with a gate for each. Read next: lesson_machine.js.
import {range} from '../engine/numbers.js';
import {bars} from '../draw/charts.js';
import {dynamic, el, figure, tableOf} from '../draw/ui.js';
import {run} from '../state/state.js';
import {
  besideEachOther, changeWhenAblated, headsOfWorld, identity, l2, minus, times,
} from '../engine/worked_example.js';
import {
  controlRow, fixed, headNames, isRunWorld, lab, labChoice, labSlider, lessonWorld, queryChoice,
  queryOf, worldName,
} from './learn.js';
import {machineNodes} from './lesson_machine.js';

const explainCommand = () =>
  isRunWorld() ? `headlab explain attention ${run().name}` : `headlab explain ${worldName()}`;

const deskGates = (world) => range(world.heads, (h) => lab(`g${h}`, 1));
const deskMixer = (world) =>
  isRunWorld() || lab('mix') ? world.W_O : identity(world.v[0].length);

/// z of all heads through their gates and W_O, [T][d], and without them.
function deskOutput(world) {
  const heads = headsOfWorld(world);
  const gates = deskGates(world);
  const W_O = deskMixer(world);
  const faded = heads.map((head, h) => ({z: head.z.map((row) => row.map((v) => v * gates[h]))}));
  return {
    heads, now: times(besideEachOther(faded), W_O), whole: times(besideEachOther(heads), W_O),
  };
}

function deskPicture(width, world) {
  const {now, whole} = deskOutput(world);
  const t = queryOf(world);
  return bars({
    width: Math.min(width, 560), unit: 'output', tickName: 'all gates at 1',
    low: Math.min(0, ...whole.flat(), ...now.flat()),
    high: Math.max(...whole.flat(), ...now.flat()),
    rows: now[t].slice(0, 16).map((v, i) => ({name: `y${i}`, value: v, tick: whole[t][i]})),
    about: {
      name: 'desk', title: `Output of ${world.tokens[t]}`,
      sentence: (now[t].length > 16 ? `The first 16 of ${now[t].length} numbers. ` : '') +
        `Over all tokens the output changed by ${fixed(l2(minus(whole, now)))} (L2).`,
    },
  });
}

function deskNodes(world) {
  const changes = () => {
    const {heads, now, whole} = deskOutput(world);
    return tableOf('Change of the output of all tokens by gates', ['', 'L2 of the change'], [
      ['now', fixed(l2(minus(whole, now)))],
      ...headNames(world).map((name, h) => [
        `head ${name} off`, fixed(changeWhenAblated(heads, h, deskMixer(world)))])]);
  };
  return [
    controlRow(queryChoice(world),
      !isRunWorld() && labChoice('mix', 'W_O', [[0, 'the identity'], [1, 'mixes']]),
      ...headNames(world).map((name, h) =>
        labSlider(`g${h}`, `Head ${name}`, {words: (v) => fixed(v, 2)}))),
    figure((width) => deskPicture(width, world), {id: 'desk', most: 560, again: explainCommand}),
    dynamic('div', {id: 'desk-change'}, changes)];
}

export const vectorsLesson = {
  worlds: ['five-tokens', 'run', 'cat-sleeps'], uses: ['h', 'ex'],
  build(main) {
    const world = lessonWorld();
    main.append(...machineNodes(explainCommand), el('h3', null, 'The mixing desk'),
      ...deskNodes(world));
  },
};
