// The loss of the first screen on a log scale that never changes: a bar for all answers, one for
// each target, and the trained model with all heads as a ghost. Read next: first_lanes.js.
import {digits, textWidth} from '../../draw/charts.js';
import {el, svgNode} from '../../draw/ui.js';
import {run, task} from '../../state/state.js';
import {countsNow} from '../../parts/counts.js';
import {questions, spoken} from '../../parts/questions.js';

const HIGHEST = 1.2;   // power of ten

/// The power of ten at the left end: below every loss of the trained model.
function lowestPower() {
  const {loss, targets = []} = run().facts.evaluation;
  const least = Math.min(loss, ...targets.map((one) => one.loss).filter((one) => one > 0));
  return Math.min(-4.5, Math.log10(Math.max(least, 1e-9)) - 0.2);
}

/// Returns the position of a loss on the scale, from 0 to `width`.
function lossPlace(loss, width) {
  const lowest = lowestPower();
  const share = (Math.log10(Math.max(loss, 1e-9)) - lowest) / (HIGHEST - lowest);
  return Math.max(0, Math.min(1, share)) * width;
}

/// A bar that keeps its node, so that it grows instead of being replaced.
const lossBar = (y, height, look) => svgNode('rect', {class: `bar ${look}`, x: 0, y, height});

/// The lines and numbers of the powers of ten.
const axisOf = (width) => [-4, -3, -2, -1, 0, 1].flatMap((power) => {
  const x = lossPlace(10 ** power, width);
  const anchor = power === 1 ? 'end' : 'middle';
  return [
    svgNode('line', {class: 'grid-line', x1: x, x2: x, y1: 2, y2: 76}),
    svgNode('text', {x, y: 88, 'text-anchor': anchor}, String(10 ** power)),
  ];
});

/// The name of the loss of guessing, to the right of its line if there is room.
function guessText(guess, width) {
  const words = `guessing: ${digits(Math.log(task().outputs), 2)}`;
  const isRoom = guess + 4 + textWidth(words, 11) <= width;
  return svgNode('text', {class: 'guess-text', x: guess + (isRoom ? 4 : -4), y: 17,
    'text-anchor': isRoom ? 'start' : 'end'}, words);
}

/// Places the name of a bar to the right of its end, or before it if there is no room.
function placeName(name, end, width) {
  const isRoom = end + 4 + textWidth(name.textContent, 11) <= width;
  name.setAttribute('x', (isRoom ? end + 4 : end - 4).toFixed(1));
  name.setAttribute('text-anchor', isRoom ? 'start' : 'end');
}

function lossPicture() {
  const node = svgNode('svg', {role: 'img', class: 'loss-svg', height: 92});
  let bars = [];
  let names = [];
  let width = 0;
  const build = (w) => {
    const {outputs} = task();
    const guess = lossPlace(Math.log(outputs), w);
    bars = [lossBar(4, 18, 'whole'), ...task().target_names.slice(0, 5)
      .map((name, k) => lossBar(26 + 10 * k, 8,
        `c${questions().find((one) => one.slot === k)?.color ?? 'none'}`))];
    const isNamed = task().target_names.length > 1;
    names = task().target_names.slice(0, 5).map((name, k) => svgNode('text',
      {class: 'bar-name guess-text', y: 33.5 + 10 * k}, isNamed ? spoken(name) : ''));
    const before = run().facts.evaluation;
    const ghost = lossPlace(before.loss, w);
    node.setAttribute('width', String(w));
    node.replaceChildren(
      svgNode('rect', {class: 'track', x: 0, y: 4, width: w, height: 18}), ...axisOf(w),
      ...bars, ...names, svgNode('rect', {class: 'ghost', x: 0, y: 4, width: ghost, height: 18}),
      ...(before.targets || []).slice(0, 5).map(({loss}, k) => svgNode('line', {class: 'was',
        x1: lossPlace(loss, w), x2: lossPlace(loss, w), y1: 25 + 10 * k, y2: 35 + 10 * k})),
      svgNode('line', {class: 'guess', x1: guess, x2: guess, y1: 0, y2: 76}),
      guessText(guess, w));
  };
  const update = (w) => {
    if (w !== width) build(w);
    width = w;
    const result = countsNow().loss == null ? run().facts.evaluation : countsNow();
    const losses = [result.loss, ...(result.targets || []).map((t) => t.loss)];
    bars.forEach((bar, i) => bar.setAttribute('width', lossPlace(losses[i] ?? 1e-9, w).toFixed(1)));
    names.forEach((name, i) => placeName(name, lossPlace(losses[i + 1] ?? 1e-9, w), w));
    node.setAttribute('aria-label', `Loss ${digits(result.loss, 3)} on a log scale; with all ` +
      `heads after training ${digits(run().facts.evaluation.loss, 3)}`);
  };
  return {node, update};
}

export function lossRow() {
  const picture = lossPicture();
  const now = el('b', {class: 'loss-now', id: 'loss-now'});
  const node = el('div', {class: 'loss-row'},
    el('div', {class: 'lane-name'}, el('b', {class: 'question'}, 'Loss'),
      el('span', {class: 'lane-heads'}, `${task().set('held_out').size} examples,`, el('br'),
        'log scale; dashed: before')),
    el('div', {class: 'loss-frame'}, picture.node), now);
  const update = () => {
    const before = run().facts.evaluation.loss;
    const {loss, done} = countsNow().loss == null ? run().facts.evaluation : countsNow();
    picture.update(Math.max(120, picture.node.parentNode?.clientWidth || 496));
    now.textContent = digits(loss, 2);
    now.className = `loss-now${loss > 20 * before ? ' low' : ''}`;
    node.classList.toggle('waiting', done === false);
  };
  return {node, update};
}
