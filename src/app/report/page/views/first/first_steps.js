// The strip at the foot of the first screen: up to six steps, each of which changes what the screen
// shows: heads, training step, drawer. A step is a row {name, title, set, because}; one whose heads
// or weights do not exist is left out. Read next: first.js.
import {forwardPass} from '../../engine/pass.js';
import {idOfPair} from '../../engine/reports.js';
import {button, el} from '../../draw/ui.js';
import {
  ablatedGates, app, go, headsOf, isLive, isSlow, memo, onlyHeads, run, task, timeSteps,
} from '../../state/state.js';
import {bestPoints, costOf, isExact, rolesOfHead} from '../../parts/heads.js';
import {listed} from '../../parts/task_words.js';
import {ownersOfQuestions, pairOfHeads, spoken} from '../../parts/questions.js';
import {countsAt, openingQuestionOf, startState, telling} from './first_state.js';

const sameQuestion = (x, y) => {
  const mine = rolesOfHead(x).map((d) => d.name);
  return rolesOfHead(y).some((d) => mine.includes(d.name));
};

/// Whether another head, of no question of its own, attends to the same keys.
const hasLookAlike = (x) => headsOf().some((y) => y.at !== x.at && sameQuestion(x, y) &&
  !ownersOfQuestions().some((owner) => owner.at === y.at));

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
  const owners = ownersOfQuestions();
  const tried = owners.length ? owners : headsOf();
  return {heads: [...tried].sort((a, b) => cost(b) - cost(a)).slice(0, 1)};
}

/// A head that is not an owner: one that attends to the same keys as `x`, or any other.
function spareHead(x) {
  const owners = ownersOfQuestions();
  const spare = headsOf().filter((y) => y.at !== x.at && !owners.some((o) => o.at === y.at));
  const cost = (y) => costOf([y]) ?? 0;
  const cheap = [...spare].sort((a, b) => cost(a) - cost(b));
  return cheap.find((y) => sameQuestion(x, y)) || cheap[0] || null;
}

/// The smallest kept set that holds a head for each key that a query needs, else the owners.
function keptHeads() {
  const owners = ownersOfQuestions();
  if (owners.length > 1) return {heads: owners.map((x) => x.at), owners: true};
  const wanted = run().task.needed ?? Math.ceil(headsOf().length / 2);
  const best = bestPoints().find((p) => p.kept === wanted && p.heads.length);
  return best ? {heads: best.heads.map(idOfPair), owners: false} : null;
}

/// "Keep the 4 owners", else "Keep the best 4", or where heads were removed one by one "Keep the 4
/// removed last"; of one head "Keep the best head" or "Keep the head removed last".
function keptTitle({heads, owners}) {
  if (owners) return `Keep the ${heads.length} owners`;
  const count = heads.length === 1 ? 'head' : heads.length;
  return isExact() ? `Keep the best ${count}` : `Keep the ${count} removed last`;
}

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
  return question?.owner === x.at ? `Ablate the owner of ${spoken(question.name)}`
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
  const shared = rolesOfHead(x).find((d) => rolesOfHead(y).some((other) => other.name === d.name));
  const about = shared ? `Heads ${x.at} and ${y.at} both attend to the keys of “${
    spoken(shared.name)}”. ` : `Losing ${x.at} and ${y.at} costs more than the sum of both. `;
  return [
    {name: 'one-of-pair', title: 'Ablate one of a pair', because: about, h: x.at,
      set: {gates: ablatedGates([x])}},
    {name: 'pair', title: 'Ablate both of the pair', because: about, h: x.at,
      set: {gates: ablatedGates([x, y])}},
  ];
}

function keptWordsOf(names) {
  if (names.length === 1) return `Only head ${names[0]} is on. `;
  return names.length > 6 ? `${names.length} heads are on. ` : `Only ${listed(names)} are on. `;
}

/// The steps of this run, in their order; each changes something else.
export function stepRows() {
  const pair = pairOfHeads();
  if (!headsOf().length || !isLive()) return [];
  const first = headsOfFirstStep(pair);
  const [x] = first.heads;
  const spare = headsOf().length > 1 ? spareHead(x) : null;
  const kept = keptHeads();
  const early = earlyStep();
  const rows = [
    firstRow(first),
    spare && {name: 'spare', h: spare.at, set: {gates: ablatedGates([spare])},
      title: sameQuestion(x, spare) ? 'Ablate a look-alike' : `Ablate head ${spare.at}`,
      because: sameQuestion(x, spare) ? `Head ${spare.at} attends to the same keys. ` : ''},
    ...pairSteps(pair),
    kept && kept.heads.length < headsOf().length && {name: 'keep', h: kept.heads[0],
      title: keptTitle(kept),
      because: keptWordsOf(kept.heads), set: {gates: onlyHeads(kept.heads)}},
    early != null && {name: 'earlier', title: `Go back to training step ${early}`, h: x.at,
      because: '', set: {step: early}},
  ];
  const shown = rows.filter(Boolean);
  const same = (a, b) => JSON.stringify(a.set) === JSON.stringify(b.set);
  return shown.filter((row, i) => shown.findIndex((one) => same(one, row)) === i);
}

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
