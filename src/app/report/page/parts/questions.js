// The questions of a run: what its task asks, one lane of the first screen for each relation, and
// the heads that find the keys of a relation at the step that is shown. A question has the colour
// of its place; the second of several heads that share it has a colour of its own.
// Read next: roles.js, head_words.js.
import {busiestQuery, tokensOf} from './pattern.js';
import {
  app, chosen, example, go, headsOf, isLive, isStored, memo, run, task, toggledGates,
} from '../state/state.js';
import {costOf, partnerOf} from './heads.js';
import {noHeads, rolesAt} from './roles.js';
import {spokenName} from './task_words.js';

/// The most lanes that fit on the first screen.
const MOST_LANES = 5;

export const spoken = (name) => spokenName(name, task());

/// The target that a relation answers; -1 if there are several and none has its name. Stored
/// patterns answer nothing: their one target is the lane of the chosen head.
function slotOf(name) {
  if (isStored()) return -1;
  const {target_names: targets} = task();
  const slot = targets.indexOf(name);
  return slot < 0 && targets.length === 1 ? 0 : slot;
}

/// Name for a token: a letter if every token is one character.
export const unitOf = () => (task().tokens.every((token) => [...token].length === 1)
  ? 'letter' : 'token');

/// The lanes, without the heads of a step: {name, r: the relation or -1, kind: of attention, slot:
/// the target or -1, color}. If there are too many, those with an owner after training come first.
const lanes = memo(() => String(app.state.run), () => {
  const {relations, target_names: targets} = task();
  const asked = relations.map(({name, kind}, r) => ({name, r, kind, slot: slotOf(name)}));
  const covered = new Set(asked.map((one) => one.slot));
  const kind = isStored() ? run().attentionLayers[0].kind : 'self';
  const rest = targets.map((name, slot) => ({name, r: -1, kind, slot}))
    .filter(({slot}) => !covered.has(slot));
  const all = [...asked, ...rest];
  const owned = new Set((run().reports.heads?.relations || [])
    .filter((one) => one.owner).map((one) => one.name));
  const ranked = all.length <= MOST_LANES ? all
    : [...all].sort((a, b) => owned.has(b.name) - owned.has(a.name));
  return ranked.slice(0, MOST_LANES).map((one, color) => ({...one, color}));
});

/// The lanes with their heads: also {main: the owner, or the heads that share the question, owner:
/// the one head of main or null, others: heads that attend to its keys too, role: by rolesAt}.
export const questions = (step = app.state.step) => lanes().map((lane) => {
  const role = lane.r < 0 ? noHeads('no-truth', '') : rolesAt(step)[lane.r];
  const {main, others} = role;
  return {...lane, role, main, others, owner: main.length === 1 ? main[0] : null};
});

/// The colour of the i-th head of a question: its own, then those that no lane has.
function colorOfMain({color}, i) {
  const free = [1, 2, 3, 4, 0].filter((c) => !lanes().some((lane) => lane.color === c));
  return i === 0 ? color : free[(i - 1) % Math.max(1, free.length)] ?? color;
}

/// The role of a head: {question, isMain, isShared, mark, color}; the question is null without one.
/// "●" is the owner or the first that shares, "■" the others that share, "○" a head that attends to
/// the keys too.
export function roleOfHead(x, step = app.state.step) {
  const of = questions(step).find((one) => one.main.includes(x?.at));
  if (of) {
    const i = of.main.indexOf(x.at);
    return {question: of, isMain: true, isShared: of.main.length > 1, mark: i ? '■' : '●',
      color: colorOfMain(of, i)};
  }
  const also = questions(step).find((one) => one.others.includes(x?.at));
  if (also)
    return {question: also, isMain: false, isShared: false, mark: '○', color: also.color};
  return {question: null, isMain: false, isShared: false, mark: '', color: 'none'};
}

/// The question that a head answers, or one whose keys it attends to; or null.
export const questionOf = (x) => roleOfHead(x).question;

/// The heads that answer a question at a step, alone or with others; null: after training.
export const ownersOfQuestions = (step = app.state.step) =>
  headsOf().filter((x) => questions(step).some((one) => one.main.includes(x.at)));

/// The name of a head with its role: "0.1 ● 1 back"; of cross and encoder layers with their kind.
export function headName(x) {
  const {kind} = run().attentionLayers[x.m];
  const {question, mark} = roleOfHead(x);
  return x.at + (kind !== 'self' ? ` ${kind}` : '') +
    (question ? ` ${mark} ${spoken(question.name)}` : '');
}

/// The two heads of the pair that costs most beyond the cost of each alone, a redundant pair if
/// there is one; the head that costs less comes first.
export function pairOfHeads() {
  const owners = ownersOfQuestions(null);
  const found = (owners.length ? owners : headsOf()).map((x) => ({x, partner: partnerOf(x)}))
    .filter(({partner}) => partner);
  const value = ({partner}) => partner.beyond + (partner.redundant ? 1000 : 0);
  const best = found.reduce((a, b) => (a && value(a) >= value(b) ? a : b), null);
  if (!best) return null;
  const [x, y] = [best.x, best.partner.x].sort((a, b) => (costOf([a]) ?? 0) - (costOf([b]) ?? 0));
  return {x, y};
}

// ---- at the query ----------------------------------------------------------------------------

/// The attention layer whose tokens are the example: the first of the decoder or of the model.
const mainLayer = () => run().attentionLayers.findIndex(({kind}) => kind === 'self');
export const exampleTokens = () => tokensOf(Math.max(0, mainLayer())).queries;
export const queryNow = () => Math.min(app.state.q ?? busiestQuery(), exampleTokens().length - 1);

/// The query of a question: in the encoder it is a token of the source.
export function queryOfQuestion({kind}) {
  if (kind !== 'encoder') return queryNow();
  return Math.min(queryNow(), (example().sourceLength || 1) - 1);
}

/// The ground-truth keys of a question at its query; empty if nothing is asked or nothing is known.
export const keysOf = (one, query = queryOfQuestion(one)) =>
  Array.from((one.r >= 0 && example().truth(one.r, query)) || []);

/// The heads that are drawn in a lane: those that answer it and those that attend to the same keys;
/// without any the chosen head.
export function headsInLane(one) {
  const names = [...one.main, ...one.others];
  if (!names.length) {
    const x = chosen();
    return x && run().attentionLayers[x.m].kind === one.kind ? [x] : [];
  }
  return headsOf().filter((x) => names.includes(x.at));
}

// ---- acts ------------------------------------------------------------------------------------

export const isAblated = (x) => app.state.gates[x.at] === 0;

/// Selects a head: what is off stays off.
export const selectHead = (x) => go({h: x.at, scene: 0, picked: true});

export function ablate(x) {
  if (!isLive()) return selectHead(x);
  return go({gates: toggledGates(x), h: x.at, scene: 0, hide: null, picked: true});
}

