// The loss of what is switched on, over the held-out examples, next to what the program found.
import {range} from '../engine/numbers.js';
import {idOfPair, idOf, subsetLoss} from '../engine/reports.js';
import {bars, digits} from '../draw/charts.js';
import {code, el, explained, figure, figures, live, note, quoted, say} from '../draw/ui.js';
import {
  app, chosen, example, gateArray, headsOf, hiddenKind, relation, run, task, trace,
} from '../state/state.js';
import {countsInPassing, countsUnder, onCounted} from './counts.js';
import {spoken} from './questions.js';

/// The losses of what is switched on (`now`), and those with everything on (`whole`), which are
/// asked for first, so that they are measured last.
export function measuredNow() {
  const whole = countsUnder({gates: null});
  const {repl} = app.state;
  const replacement = repl === 'zero' ? undefined : repl;
  return {whole, now: countsInPassing({gates: gateArray(), replacement, hide: hiddenKind()})};
}

/// The dial next to the losses by question. It keeps its height and, until the next result is
/// there, shows the last one faded: nothing below moves under the pointer.
export function dial(options) {
  let shown = {now: {counted: 0}};
  let said = null;
  const result = el('div', {id: 'live-result'});
  const panel = el('div', {class: 'columns dial'}, result,
    figure((width) => relationBars(width, shown), {id: 'by-question', ...options}));
  const {draw} = figures.at(-1);
  const show = () => {
    const losses = measuredNow();
    const {now} = losses;
    panel.classList.toggle('waiting', !now.counted);
    if (!now.counted && result.hasChildNodes()) return;
    shown = losses;
    result.replaceChildren(...lossNodes(losses));
    draw();
    if (!now.done || said === now) return;
    said = now;
    say(`Loss ${digits(now.loss)} nats, ${digits(100 * now.accuracy)} % right, over ` +
      `${now.of} held-out examples.`);
  };
  live(show);
  onCounted(() => panel.isConnected && show());
  return panel;
}

/// The program's result for masked edges: the rise on the relation's own targets.
function programOfEdges({now, whole}) {
  const {truth_edges: edges} = run().reports;
  const rel = relation();
  const {name} = task().relations[rel] || {};
  const test = edges?.examples === task().set('held_out').size && edges.relations
    .find((r) => r.name === name)
    ?.tests.find((t) => t.heads.length === 1 && idOfPair(t.heads[0]) === chosen().at);
  if (app.state.hide !== 'truth' || gateArray() || test?.truth?.change == null || !whole.done)
    return null;
  const ours = now.relations[rel].loss - whole.relations[rel].loss;
  const what = `rise on ${spoken(name)}`;
  return {ours, theirs: test.truth.change, from: 'truth_edges.json', what};
}

/// The program's result for the present gates and edges: {ours, theirs, from, what}, or null.
function programSays(losses) {
  const {state} = app;
  const {curve, ablation} = run().reports;
  const size = task().set('held_out').size;
  const off = Object.keys(state.gates);
  const found = (theirs, from) => ({ours: losses.now.loss, theirs, from});
  if (state.step != null) return null;
  if (state.hide) return programOfEdges(losses);
  const known = (state.repl === 'zero' || !off.length) && curve?.subsets?.examples === size
    ? subsetLoss(run(), gateArray()) : null;
  if (known != null) return found(known, 'curve.json');
  if (!off.length)
    return run().facts.evaluation ? found(run().facts.evaluation.loss, 'headlab eval') : null;
  const single = off.length === 1 && state.gates[off[0]] === 0 && ablation?.kind === state.repl &&
    ablation.examples === size;
  const record = single && ablation.heads.find((h) => idOf(h) === off[0]);
  return record ? found(record.loss, 'ablation.json') : null;
}

/// One number of the dial: its name, the number, and what it says, each in its place.
const reading = (name, id, value, ...words) =>
  el('div', null, name, el('div', {class: 'big', id}, value),
    el('div', {class: 'small muted'}, ...words));

/// The same number as the program found it, if it has such a number.
function agreement(losses) {
  const program = programSays(losses);
  if (!program) return reading('The program', 'program-loss', '–', oracleHint());
  const {theirs, ours, what, from} = program;
  const same = Math.abs(theirs - ours) <= 1e-5 + 1e-4 * Math.abs(theirs);
  let mark = {look: '', words: 'waiting'};
  if (losses.now.done && same) mark = {look: 'badge', words: '✓ the same'};
  if (losses.now.done && !same)
    mark = {look: 'badge bad', words: `✗ not the same: here ${digits(ours)}`};
  const name = what ? `The program: ${what}` : 'The program';
  return reading(name, 'program-loss', digits(theirs),
    el('span', {class: mark.look, id: 'agrees'}, `${mark.words} (${from})`));
}

/// Describes the difference of a loss from that of all heads on; "" for 0 and null.
function riseWords(rise) {
  if (!rise) return 'nats per target';
  return `${rise > 0 ? '+' : ''}${digits(rise)} nats against all heads on`;
}

function lossNodes(losses) {
  const {now, whole} = losses;
  const {counted, of, done} = now;
  if (!counted) return [el('p', null, 'Measuring …')];
  const rise = whole.done ? now.loss - whole.loss : null;
  return [
    el('div', {class: 'pair'},
      reading('Loss', 'live-loss', digits(now.loss), explained(riseWords(rise))),
      reading('Right', 'live-accuracy', `${digits(100 * now.accuracy)} %`,
        `of ${now.count} answers`),
      agreement(losses),
    ),
    el('p', {class: 'muted small'}, done ? `over all ${of} held-out examples`
      : `over ${counted} of ${of} held-out examples so far`),
  ];
}

export function oracleHint() {
  if (app.state.repl === 'zero' && !run().reports.curve?.subsets && headsOf().length <= 12)
    return ['All sets of heads: ', code(`headlab curve ${run().name}`)];
  return '';
}

/// Each target of the task by itself, and, where relations are no targets, the answers at which a
/// relation has a right key: [{name, loss, accuracy, count}].
const partsOf = ({targets = [], relations = [], count}) => [
  ...targets.map((t) => ({...t, name: spoken(t.name)})),
  ...relations.filter((r) => r.count < count && !targets.some((t) => t.name === r.name))
    .map((r) => ({...r, name: `where ${spoken(r.name)} has a key`})),
];

function relationBars(width, {now, whole}) {
  if (!now.counted) return note('Measuring …');
  const parts = partsOf(now);
  const before = whole.done && partsOf(whole);
  const worst = parts.reduce((a, b) => (a && a.loss >= b.loss ? a : b), null);
  return bars({
    width: Math.min(width, 560), unit: 'loss (nats)', tickName: before ? 'all heads on' : undefined,
    rows: parts.map((p, i) => ({name: p.name, value: p.loss, tick: before?.[i]?.loss})),
    about: {
      name: 'live-by-relation', title: 'Loss for each question',
      sentence: worst ? `Worst: ${worst.name}, ${digits(worst.loss, 3)} nats, ` +
        `${digits(100 * worst.accuracy, 3)} % right.` : '',
    },
    say: (r) => `${parts[r].name}: loss ${digits(parts[r].loss)}, ` +
      `${digits(100 * parts[r].accuracy)} % right, ${parts[r].count} answers`,
  });
}

// ---- one example -----------------------------------------------------------------------------

/// The logits of the k-th question at a position, [outputs].
export function logitsAt(pass, t, k) {
  const {outputs, target_names: names} = task();
  const row = t * names.length + k;
  return pass.logits.subarray(row * outputs, (row + 1) * outputs);
}

/// The model's answers at a position: [{name, said, right, ok, likeliest: [[token, share]]}];
/// right is null where nothing is asked.
export function answersAt(t) {
  const pass = trace();
  if (!pass?.logits || t >= example().length) return [];
  const {outputs, target_names: names, answers} = task();
  return names.map((name, k) => {
    const logits = logitsAt(pass, t, k);
    const order = range(outputs).sort((a, b) => logits[b] - logits[a]);
    const total = logits.reduce((sum, v) => sum + Math.exp(v - logits[order[0]]), 0);
    const right = example().targets ? example().targets[t * names.length + k] : -1;
    const share = (v) => Math.exp(logits[v] - logits[order[0]]) / total;
    return {
      name, said: quoted(answers[order[0]]), right: right < 0 ? null : quoted(answers[right]),
      ok: order[0] === right,
      likeliest: order.slice(0, 3).map((v) => [quoted(answers[v]), share(v)]),
    };
  });
}
