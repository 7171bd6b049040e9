// The curves of a training: loss, right answers, and for each question the lift of its best head,
// with a star where it found its owner. Pointing at the curve of owners, or its arrow keys, shows
// everything as it was at that step.
import {line, small} from '../draw/charts.js';
import {paint} from '../draw/draw.js';
import {byId, el, palette, sizeCanvas} from '../draw/ui.js';
import {facts, knobs, stopTraining, view} from './play_state.js';
import {nameOfHead, nameOfQuestion, roleOfQuestion, shareOf} from './play_words.js';

const LEFT = 36;
const RIGHT = 8;
const TOP = 8;
const BELOW = 16;
const SMALL_TALL = 104;
const NAME_STEP = 12;

/// The places of steps and values on a chart.
function scalesOf({width, height, end, least, most}) {
  const bottom = height - BELOW;
  const clamped = (y) => Math.min(most, Math.max(least, y));
  return {
    bottom, X: (x) => LEFT + (width - RIGHT - LEFT) * x / end,
    Y: (y) => bottom - (bottom - TOP) * (clamped(y) - least) / (most - least),
  };
}

/// A chart as items for paint(). `lines`: {points: [[step, value]], color, name}; `stars`: {x, y,
/// color, name}; `ticks`: [value, words]; `level`: a dashed line; `mark`: a step that is looked at.
function historyPicture(chart) {
  const {width, height, end, lines, ticks, stars = [], level, mark} = chart;
  const scales = scalesOf(chart);
  const {X, Y, bottom} = scales;
  const right = width - RIGHT;
  const across = (y, more) => line([[LEFT, Y(y)], [right, Y(y)]], more);
  const last = ({points}) => points.at(-1);
  return {
    width, height,
    items: [
      ...ticks.flatMap(([y, words]) => [across(y, {stroke: 'rule'}),
        small(LEFT - 4, Y(y), words, {anchor: 'end'})]),
      small(LEFT, height - 6, 'step 0'), small(right, height - 6, String(end), {anchor: 'end'}),
      ...(level === undefined ? [] : [across(level, {stroke: 'muted', dash: [2, 3]})]),
      ...lines.flatMap((one) => [
        line(one.points.map(([x, y]) => [X(x), Y(y)]), {stroke: one.color, thick: 2}),
        {type: 'dot', shape: 'circle', r: 3, fill: one.color, x: X(last(one)[0]),
          y: Y(last(one)[1])},
      ]),
      ...namesOfLines(lines, scales, width),
      ...(mark == null ? [] : [line([[X(mark), TOP], [X(mark), bottom]])]),
      ...stars.flatMap(({x, y, color, name}) => [
        small(X(x), Y(y), '★', {anchor: 'middle', size: 15, fill: color}),
        small(X(x), Y(y) < 20 ? Y(y) + 14 : Y(y) - 13, name,
          {anchor: 'middle', bold: true, fill: color}),
      ]),
    ],
  };
}

/// Names next to the ends of lines, pushed apart.
function namesOfLines(lines, {X, Y, bottom}, width) {
  const ends = lines.filter(({name}) => name).map(({points, color, name}) =>
    ({x: X(points.at(-1)[0]), y: Y(points.at(-1)[1]), color, name}));
  let lowest = -Infinity;
  return ends.sort((a, b) => a.y - b.y).map(({x, y, color, name}) => {
    lowest = Math.max(y, lowest + NAME_STEP);
    const isAtEnd = x + 20 + 6.6 * name.length > width;
    const at = isAtEnd ? width - RIGHT : x + 8;
    const down = isAtEnd ? Math.min(bottom - 4, lowest + 14) : lowest;
    return small(at, down, name, {anchor: isAtEnd ? 'end' : 'start', bold: true, fill: color});
  });
}

function drawCurve(canvas, chart) {
  const width = canvas.parentNode.clientWidth || 150;
  const picture = historyPicture({...chart, width});
  sizeCanvas(canvas, picture);
  paint(canvas.getContext('2d'), picture, palette());
}

const endOf = (lab) => Math.max(knobs.steps, lab.steps);
const markOfMoment = () => (view.moment === null ? null : view.labs[0].seen.step);

/// The small charts of loss and right answers, of one net or two.
export function drawSmallCurves() {
  const [first] = view.labs;
  const linesOf = (value) => view.labs.map((lab, i) => ({
    color: ['ink', 'accent'][i], points: lab.history.map((moment) => [moment.step, value(moment)]),
  }));
  const both = (words) => view.labs.map(({seen}) => words(seen)).join(' / ');
  const common = {height: SMALL_TALL, end: endOf(first), mark: markOfMoment()};
  drawCurve(byId('loss-chart'), {...common, least: -3, most: 0.7,
    ticks: [[0, '1'], [-1, '0.1'], [-2, '0.01'], [-3, '0.001']],
    lines: linesOf(({loss}) => Math.log10(loss))});
  drawCurve(byId('right-chart'), {...common, least: 0, most: 1,
    ticks: [[0, '0'], [0.5, '50%'], [1, '100%']], lines: linesOf(({accuracy}) => accuracy)});
  const loss = both((seen) => seen.loss.toPrecision(2));
  const right = both((seen) => shareOf(seen.accuracy));
  byId('loss').textContent = loss;
  byId('right').textContent = right;
  byId('loss-chart').setAttribute('aria-label', `Held-out loss ${loss}`);
  byId('right-chart').setAttribute('aria-label', `${right} right`);
}

/// Everything shows the moment with this number in the history; null: now.
function lookAt(moment) {
  const last = view.labs[0].history.length - 1;
  const chosen = moment === null || moment >= last ? null : Math.max(0, moment);
  if (chosen === view.moment) return;
  view.moment = chosen;
  view.draw();
}

function lookFrom(lab, canvas, event) {
  if (view.isRunning && event.type === 'pointermove') return;
  if (view.isRunning) stopTraining();
  const share = (event.offsetX - LEFT) / (canvas.clientWidth - LEFT - RIGHT);
  const step = share * endOf(lab);
  const distance = (i) => Math.abs(lab.history[i].step - step);
  lookAt(lab.history.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0));
}

function lookByKey(lab, event) {
  const by = {ArrowLeft: -1, ArrowRight: 1, PageUp: -8, PageDown: 8}[event.key];
  if (!by) return;
  event.preventDefault();
  if (view.isRunning) stopTraining();
  lookAt((view.moment ?? lab.history.length - 1) + by);
}

/// The curve of a net's owners: {node, draw}.
export function curveOfOwners(lab) {
  const canvas = el('canvas', {
    role: 'slider', tabindex: 0, 'aria-label': 'Look back at a step', 'aria-valuemin': 0,
    onpointerdown: (event) => lookFrom(lab, canvas, event),
    onpointermove: (event) => lookFrom(lab, canvas, event),
    onpointerleave: () => lookAt(null), onblur: () => lookAt(null),
    onkeydown: (event) => lookByKey(lab, event),
  });
  const caption = el('figcaption', null, 'Lift of each question’s best head: attention on the ' +
    'answer, from the baseline (0) to all (1). ★: it became the owner. Point here to look back.');
  const node = el('figure', {class: 'owner-curve'}, caption, el('div', null, canvas));
  return {node, draw: () => drawOwners(lab, canvas, node)};
}

function drawOwners(lab, canvas, node) {
  const maps = node.previousElementSibling;
  const isBeside = node.offsetLeft > maps.offsetLeft + 40;
  const room = maps.offsetHeight - node.firstChild.offsetHeight;
  const under = view.labs.length > 1 ? 150 : 122;
  drawCurve(canvas, {
    height: isBeside ? Math.max(120, room) : under, end: endOf(lab), least: -0.1, most: 1,
    level: facts.owner_lift, ticks: [[0, '0'], [1, '1']], mark: markOfMoment(),
    lines: lab.task.relations.map((_, i) => ({
      color: roleOfQuestion(i), name: lab.steps > 0 && nameOfQuestion(i),
      points: lab.history.map(({step, lifts}) => [step, lifts[i]]),
    })),
    stars: lab.owners.flatMap((owner, i) => (owner === null ? [] : [starOf(lab, owner, i)])),
  });
  const owners = lab.seen.owners.map((owner, i) =>
    `${nameOfQuestion(i)} ${owner === null ? 'no owner' : nameOfHead(lab, owner)}`);
  canvas.setAttribute('aria-valuemax', lab.steps);
  canvas.setAttribute('aria-valuenow', lab.seen.step);
  canvas.setAttribute('aria-valuetext', `step ${lab.seen.step}: ${owners.join(', ')}`);
}

/// Where a head first owned a question that it owns now.
function starOf(lab, owner, i) {
  const {step} = lab.events.find(({relation, head}) => relation === i && head === owner);
  const {lifts} = lab.history.find((moment) => moment.step >= step) ?? lab.now;
  return {x: step, y: lifts[i], color: roleOfQuestion(i), name: nameOfHead(lab, owner)};
}
