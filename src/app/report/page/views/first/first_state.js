// The state of the first screen: the example that opens it, its answers, and how many of them break
// without the heads that are ablated. If the task has several targets, the answers are those at the
// query; if it has one, those of the whole example. Read next: first_words.js.
import {range} from '../../engine/numbers.js';
import {forwardPass} from '../../engine/pass.js';
import {lossesOf} from '../../engine/losses.js';
import {remember} from '../../draw/draw.js';
import {
  UNCHANGED, ablatedGates, app, baseTrace, example, exampleCount, exampleIndex, gateArray, headsOf,
  isLive, memo, run, task, trace,
} from '../../state/state.js';
import {costOf} from '../../parts/heads.js';
import {
  ownersOfQuestions, pairOfHeads, queryNow, questions, roleOfHead,
} from '../../parts/questions.js';
import {examplesInTime} from '../../parts/roles.js';

export const severalTargets = () => task().target_names.length > 1;

/// The heads whose absence is tried: owners, or the costliest heads if there are none.
function suspects() {
  const owners = ownersOfQuestions(null);
  if (owners.length) return owners.slice(0, 6);
  return [...headsOf()].sort((a, b) => (costOf([b]) ?? 0) - (costOf([a]) ?? 0)).slice(0, 3);
}

/// The answers of a pass, by position: how many are right, and how many are wrong but right in
/// `base`.
function answersOf(pass, base) {
  const K = task().target_names.length;
  const {right} = remember(pass, 'answers', () => lossesOf(pass));
  const before = base && remember(base, 'answers', () => lossesOf(base)).right;
  const {targets} = pass.example;
  return range(pass.example.length, (t) => {
    const slots = range(K, (k) => t * K + k).filter((row) => targets?.[row] >= 0);
    return {
      asked: slots.length, right: slots.filter((row) => right[row]).length,
      broken: before ? slots.filter((row) => before[row] && !right[row]).length : 0,
    };
  });
}

/// Counts the different keys that the relations ask for at a query: arcs to one key look alike.
const distinctKeys = (shown, t) => new Set(task().relations.flatMap((_, r) =>
  Array.from(shown.truth(r, t) || []))).size;

/// Whether a question asks for a key at a query of an example.
const asksAt = (shown, {r}, t) => r >= 0 && (shown.truth(r, t) || []).length > 0;

/// Whether one of the heads owns a question that asks for a key at a query.
const isAsked = (shown, t, heads) => questions(null).some((one) =>
  heads.some((x) => one.main.includes(x.at)) && asksAt(shown, one, t));

/// For each relation the tokens that are its keys in some example: a hasty reader takes the nearest
/// of them for the key.
const keyTokens = memo(() => `${app.state.run} ${isLive()}`, () => {
  const found = task().relations.map(() => new Set());
  for (const index of range(exampleCount())) {
    const shown = task().set('scored').example(index);
    found.forEach((tokens, r) => range(shown.length).forEach((t) => {
      for (const s of shown.truth(r, t) || []) tokens.add(shown.tokens[s]);
    }));
  }
  return found;
});

/// The number of relations of a query for which a token that could be the key is nearer than it.
const distractions = (shown, t) => task().relations.filter(({kind}, r) => {
  const keys = Array.from(shown.truth(r, t) || []);
  if (kind !== 'self' || !keys.length) return false;
  const nearest = Math.max(...keys);
  return Array.from(shown.tokens.slice(nearest + 1, t + 1))
    .some((token) => keyTokens()[r].has(token));
}).length;

/// The query of one example that shows most, with the sets of heads without which an answer breaks:
/// those that own a question asked there, if there are any.
function tellingQuery(index, sets, pair) {
  const shown = task().set('scored').example(index);
  const base = forwardPass(run().model, shown);
  const whole = answersOf(base, null);
  const answersWithout = (off) =>
    answersOf(forwardPass(run().model, shown, {gates: gateArray(ablatedGates(off)), base}), base);
  const without = sets.map(({heads}) => answersWithout(heads));
  const both = pair && answersWithout([pair.x, pair.y]);
  const valued = whole.map(({asked, right}, t) => {
    const breaking = sets.filter((_, i) => without[i][t].broken > 0);
    const asking = breaking.filter(({heads}) => isAsked(shown, t, heads));
    const single = sets.filter((_, i) => without[i][t].broken === 1).length;
    const isPairNeeded = both?.[t].broken > 0;
    const isQuestionAsked = asking.length > 0;
    const late = (t + 1) / whole.length / 2;  // of equal queries the last one
    const value = 4 * asked * Number(right === asked) + 2 * single + breaking.length +
      3 * Number(isPairNeeded) + 3 * Number(isQuestionAsked) + distinctKeys(shown, t) +
      2 * distractions(shown, t) + late;
    return {index, q: t, breaking: isQuestionAsked ? asking : breaking, value};
  });
  return valued.filter(({breaking}) => breaking.length)
    .reduce((a, b) => (a && a.value >= b.value ? a : b), null);
}

/// The query that shows most of all examples that are tried; null if no set breaks any answer.
function mostTelling(sets) {
  const pair = pairOfHeads();
  return range(examplesInTime(sets.length + 1)).map((index) => tellingQuery(index, sets, pair))
    .filter(Boolean).reduce((a, b) => (a && a.value >= b.value ? a : b), null);
}

/// The heads that are tried together if none breaks an answer alone: those of one question, then
/// all: [{name: of the question or null, heads}].
function groupsOfHeads() {
  const inLane = ({main, others}) =>
    headsOf().filter((x) => main.includes(x.at) || others.includes(x.at));
  const ofQuestions = questions(null).map((one) => ({name: one.name, heads: inLane(one)}))
    .filter(({heads}) => heads.length > 1);
  return headsOf().length > 1 ? [...ofQuestions, {name: null, heads: headsOf()}] : ofQuestions;
}

/// The example and the query that open the screen: {index, q, breakers: the heads without which an
/// answer breaks there, group: if there is none, the heads that break one together}; null if the
/// page cannot run the model, or if no head breaks any answer.
export const telling = memo(() => `${app.state.run} ${isLive()}`, () => {
  const heads = suspects();
  if (!isLive() || !heads.length) return null;
  const single = mostTelling(heads.map((x) => ({heads: [x]})));
  if (single) return {...single, breakers: single.breaking.map(({heads: [x]}) => x), group: null};
  const found = mostTelling(groupsOfHeads());
  return found && {...found, breakers: [], group: found.breaking[0]};
});

/// The question that a head answers, if possible one that the opening query asks; else the one
/// whose keys it attends to.
export function openingQuestionOf(x) {
  const found = telling();
  const shown = found && task().set('scored').example(found.index);
  const owned = questions(null).filter(({main}) => main.includes(x.at));
  return owned.find((one) => shown && asksAt(shown, one, found.q)) || roleOfHead(x, null).question;
}

/// Moves to the telling example, unless the reader chose another one.
export function openTelling() {
  const {state} = app;
  if (state.ex !== 'typical' || state.tokens.length) return;
  const found = telling();
  state.ex = found?.index ?? exampleIndex();
  state.q ??= found?.q ?? null;
}

/// The counts of answers of a pass: those at the query if there are several targets, else all.
export function countsAt(pass, query, base = null) {
  const rows = answersOf(pass, base);
  const shown = severalTargets() ? [rows[query]].filter(Boolean) : rows;
  const sum = (key) => shown.reduce((total, row) => total + row[key], 0);
  return {asked: sum('asked'), right: sum('right'), broken: sum('broken')};
}

/// The counts of answers shown: {asked, right, broken, known}; null without a model.
export function answerCounts() {
  if (!trace()?.logits) return null;
  if (!example().targets) return {asked: 0, right: 0, broken: 0, known: false};
  return {...countsAt(trace(), queryNow(), baseTrace()), known: true};
}

/// The positions with a wrong answer, and those where it is wrong because of what is ablated.
export function faultyPositions() {
  const isJudged = trace()?.logits && example().targets;
  const rows = isJudged ? answersOf(trace(), baseTrace()) : [];
  const positions = (isFaulty) => new Set(range(rows.length).filter((t) => isFaulty(rows[t])));
  return {wrong: positions(({right, asked}) => right < asked),
    broken: positions(({broken}) => broken > 0)};
}

/// The state in which the screen opens.
export const startState = () => {
  const found = telling();
  const place = found ? {ex: found.index, q: found.q} : {};
  return {...UNCHANGED, repl: 'zero', k: null, picked: false, ...place};
};
