// The strip at the foot of the first screen: up to six steps, each of which changes what the screen
// shows: heads, training step. A step is a row {name, title, set, h, because}; which rows there are
// depends on the situation: heads that share a question, a head that reads what an earlier one
// wrote, look-alikes, pairs. Read next: first.js.
import {forwardPass} from '../../engine/pass.js';
import {idOfPair} from '../../engine/reports.js';
import {weightText} from '../../draw/charts.js';
import {button, el} from '../../draw/ui.js';
import {
  ablatedGates, app, gateArray, go, headsOf, isLive, isSlow, memo, onlyHeads, run, task, timeSteps,
} from '../../state/state.js';
import {bestPoints, costOf, isExact} from '../../parts/heads.js';
import {isUntrained} from '../../parts/head_words.js';
import {attentionOnKeys} from '../../parts/roles.js';
import {listed} from '../../parts/task_words.js';
import {
  ownersOfQuestions, pairOfHeads, questions, roleOfHead, spoken,
} from '../../parts/questions.js';
import {countsAt, openingQuestionOf, startState, telling} from './first_state.js';

const headNamedAt = (at) => headsOf().find((x) => x.at === at);

/// The question whose keys both heads attend to after training; undefined if there is none.
const commonQuestion = (x, y) => questions(null).find(({main, others}) =>
  [x, y].every(({at}) => main.includes(at) || others.includes(at)));

/// Whether another head, that answers no question, attends to the same keys.
const hasLookAlike = (x) => headsOf().some((y) => y.at !== x.at && commonQuestion(x, y) &&
  !ownersOfQuestions(null).some((owner) => owner.at === y.at));

/// The heads whose absence is shown first: {name: of their question if there are several, heads}.
/// One head that breaks an answer of the example, an owner if possible; else several that break one
/// together; without such an example the costliest owner or head.
function headsOfFirstStep(pair) {
  const found = telling();
  const breakers = found?.breakers ?? [];
  const others = breakers.filter((x) => x.at !== pair?.x.at && x.at !== pair?.y.at);
  if (breakers.length) return {heads: [others.find(hasLookAlike) || others[0] || breakers[0]]};
  if (found?.group) return found.group;
  const cost = (x) => costOf([x]) ?? -1;
  const owners = ownersOfQuestions(null);
  const tried = owners.length ? owners : headsOf();
  return {heads: [...tried].sort((a, b) => cost(b) - cost(a)).slice(0, 1)};
}

/// A head that answers no question: one that attends to the same keys as `x`, or any other.
function spareHead(x) {
  const owners = ownersOfQuestions(null);
  const spare = headsOf().filter((y) => y.at !== x.at && !owners.some((o) => o.at === y.at));
  const cost = (y) => costOf([y]) ?? 0;
  const cheap = [...spare].sort((a, b) => cost(a) - cost(b));
  return cheap.find((y) => commonQuestion(x, y)) || cheap[0] || null;
}

/// The smallest kept set that holds a head for each key that a query needs, else the heads that
/// answer questions.
function keptHeads() {
  const owners = ownersOfQuestions(null);
  if (owners.length > 1) return {heads: owners.map((x) => x.at), owners: true};
  const wanted = run().task.needed ?? Math.ceil(headsOf().length / 2);
  const best = bestPoints().find((p) => p.kept === wanted && p.heads.length);
  return best ? {heads: best.heads.map(idOfPair), owners: false} : null;
}

/// "Keep only 0.0 and 0.1", else "Keep the best 4", or of heads that were removed one by one "Keep
/// the 4 removed last".
function keptTitle({heads, owners}) {
  if (owners && heads.length < 4) return `Keep only ${listed(heads)}`;
  if (owners) return `Keep the ${heads.length} that answer a question`;
  const count = heads.length === 1 ? 'head' : heads.length;
  return isExact() ? `Keep the best ${count}` : `Keep the ${count} removed last`;
}

/// The mean attention of a head on the right keys of a question.
const meanOnKeys = (sums, {r}, {at}) =>
  (sums[r].queries ? sums[r].by.get(at).mass / sums[r].queries : 0);

/// A head without which heads of a later layer lose half of their attention on the right keys:
/// {x, question: of the later ones, heads: their names, before, after}; null if there is none.
export const feeder = memo(() => `${app.state.run} ${isLive()}`, () => {
  if (!isLive() || isSlow() || run().attentionLayers.length < 2) return null;
  const n = Math.min(8, task().set('scored').size);
  const whole = attentionOnKeys(run().model, n);
  for (const x of ownersOfQuestions(null)) {
    const without = attentionOnKeys(run().model, n, gateArray(ablatedGates([x])));
    for (const question of questions(null)) {
      const later = [...question.main, ...question.others].map(headNamedAt)
        .filter((y) => y.m > x.m);
      if (!later.length || question.main.includes(x.at) || question.r < 0) continue;
      const before = meanOnKeys(whole, question, later[0]);
      const after = meanOnKeys(without, question, later[0]);
      if (after < before / 2) return {x, question, heads: later.map((y) => y.at), before, after};
    }
  }
  return null;
});

/// The last kept step at which an answer of the opening example is wrong; null if there is none.
const earlyStep = memo(() => `${app.state.run} ${isLive()}`, () => {
  const found = telling();
  if (!run().steps.length || !found || isSlow()) return null;
  const shown = task().set('scored').example(found.index);
  const isWrong = (step) => {
    const {asked, right} = countsAt(forwardPass(run().modelAt(step), shown), found.q);
    return right < asked;
  };
  return timeSteps().slice(0, -1).findLast(isWrong) ?? null;
});

function ablateTitle(x) {
  const question = openingQuestionOf(x);
  const role = question?.role.source === 'program' ? 'owner' : 'head';
  return question?.owner === x.at ? `Ablate ${x.at}, the ${role} of ${spoken(question.name)}`
    : `Ablate head ${x.at}`;
}

/// The first step: one head, or several if none breaks an answer alone.
function firstRow({name, heads}) {
  const [x] = heads;
  const row = {name: 'owner', because: '', h: x.at, set: {gates: ablatedGates(heads)}};
  if (heads.length === 1) return {...row, title: ablateTitle(x)};
  return {...row, title: name ? `Ablate all heads of ${spoken(name)}` : 'Ablate all heads',
    because: 'No answer breaks without a single one of them. '};
}

function pairSteps(pair) {
  if (!pair) return [];
  const {x, y} = pair;
  const shared = commonQuestion(x, y);
  const about = shared ? `Heads ${x.at} and ${y.at} both attend to the keys of “${
    spoken(shared.name)}”. ` : `Losing ${x.at} and ${y.at} costs more than the sum of both. `;
  return [
    {name: 'one-of-pair', title: `Ablate ${x.at}, one of a pair`, because: about, h: x.at,
      set: {gates: ablatedGates([x])}},
    {name: 'pair', title: `Ablate both, ${x.at} and ${y.at}`, because: about, h: x.at,
      set: {gates: ablatedGates([x, y])}},
  ];
}

/// Heads that share a question: one, the other, all of them.
function sharedSteps({name, main, role}) {
  const heads = main.map(headNamedAt);
  const [x, y] = [...heads].reverse();
  const part = role.kind === 'split';
  const all = heads.length > 2 ? 'Ablate all that share' : 'Ablate both';
  return [
    {name: 'one-that-shares', title: `Ablate ${x.at}, one of ${main.length} that share`, h: x.at,
      because: part ? `Its part of “${spoken(name)}” breaks. ` : '',
      set: {gates: ablatedGates([x])}},
    {name: 'other-that-shares', title: heads.length > 2 ? `Ablate another, ${y.at}`
      : `Ablate the other half, ${y.at}`, h: y.at, set: {gates: ablatedGates([y])},
      because: part ? 'Now the other part breaks. ' : ''},
    {name: 'all-that-share', title: all, h: x.at, because: '', set: {gates: ablatedGates(heads)}},
  ];
}

/// A head that a later one reads.
function feederStep({x, question, heads, before, after}) {
  const [are, they] = heads.length > 1 ? ['are', 'they read'] : ['is', 'it reads'];
  const own = roleOfHead(x, null).question;
  return {name: 'feeder', h: x.at, set: {gates: ablatedGates([x])},
    title: `Ablate ${x.at} (${spoken(own.name)}): ${spoken(question.name)} breaks too`,
    because: `${listed(heads)} ${are} still on, but ${they} what ${x.at} wrote, one layer ` +
      `earlier: ${weightText(after)} of the attention is right, ${weightText(before)} before. `};
}

function keptWordsOf(names) {
  if (names.length === 1) return `Only head ${names[0]} is on. `;
  return names.length > 6 ? `${names.length} heads are on. ` : `Only ${listed(names)} are on. `;
}

/// The steps about single heads: the first, one that attends to the same keys, a pair.
function headSteps() {
  const pair = pairOfHeads();
  const first = headsOfFirstStep(pair);
  const [x] = first.heads;
  const spare = headsOf().length > 1 ? spareHead(x) : null;
  const isAlike = spare && commonQuestion(x, spare);
  const fed = feeder();
  return [
    fed ? feederStep(fed) : firstRow(first),
    spare && {name: 'spare', h: spare.at, set: {gates: ablatedGates([spare])},
      title: isAlike ? `Ablate a look-alike, ${spare.at}` : `Ablate head ${spare.at}`,
      because: isAlike ? `Head ${spare.at} attends to the same keys. ` : ''},
    ...pairSteps(pair),
  ];
}

const allStep = () => ({name: 'all', title: 'Ablate all heads', h: headsOf()[0].at, because: '',
  set: {gates: ablatedGates(headsOf())}});

/// The steps of this run, in their order; each changes something else.
export const stepRows = memo(() => `${app.state.run} ${isLive()} ${isUntrained()}`, () => {
  if (!headsOf().length || !isLive()) return [];
  if (isUntrained()) return [allStep()];
  const shared = questions(null).find(({main}) => main.length > 1);
  const begin = shared ? sharedSteps(shared) : headSteps();
  const kept = keptHeads();
  const early = earlyStep();
  const rows = [
    ...begin,
    kept && kept.heads.length < headsOf().length && {name: 'keep', h: kept.heads[0],
      title: keptTitle(kept),
      because: keptWordsOf(kept.heads), set: {gates: onlyHeads(kept.heads)}},
    early != null && {name: 'earlier', title: `Go back to training step ${early}`,
      h: begin[0].h, because: '', set: {step: early}},
  ].filter(Boolean);
  if (rows.length < 6) rows.splice(early == null ? rows.length : rows.length - 1, 0, allStep());
  const same = (a, b) => JSON.stringify(a.set) === JSON.stringify(b.set);
  return rows.filter((row, i) => rows.findIndex((one) => same(one, row)) === i);
});

/// Moves to a step by its number; 0 is the start.
export function toStep(number) {
  const row = stepRows()[number - 1];
  go({...startState(), ...(row ? {...row.set, h: row.h, scene: number} : {})});
}

export const stepRow = () => stepRows()[app.state.scene - 1] || null;

/// The strip: {node, update}.
export function stepStrip() {
  const rows = stepRows();
  if (!rows.length) return {node: el('div', {class: 'steps', hidden: true}), update() {}};
  const by = (change) => () => toStep(app.state.scene + change);
  const back = button('◂', by(-1), {'aria-label': 'Previous step', id: 'step-back'});
  const next = button('▸', by(1), {'aria-label': 'Next step', id: 'step-next'});
  const all = rows.map(({title}, i) => button('', () => toStep(i + 1), {
    class: 'step', id: `step-${i + 1}`, 'aria-label': `Step ${i + 1}: ${title}`, title}));
  all.forEach((node, i) => node.replaceChildren(el('i', null, String(i + 1)),
    el('span', null, rows[i].title)));
  const node = el('div', {class: 'steps', role: 'group', 'aria-label': 'Steps'}, back, all, next);
  node.style.gridTemplateColumns = `2.5rem repeat(${rows.length}, 1fr) 2.5rem`;
  const update = () => {
    const {scene} = app.state;
    all.forEach((one, i) => {
      if (i + 1 === scene) one.setAttribute('aria-current', 'step');
      else one.removeAttribute('aria-current');
    });
    back.disabled = scene < 1;
    next.disabled = scene >= rows.length;
  };
  return {node, update};
}
