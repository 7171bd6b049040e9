// The questions of a run: what its task asks, one lane of the first screen for each relation, and
// the heads that attend to the keys of a relation. A question has the colour of its place.
// Read next: first_lanes.js.
import {idOfPair, ownerOf} from '../engine/reports.js';
import {app, headsOf, isStored, memo, run, task} from '../state/state.js';
import {costOf, partnerOf, rolesOfHead} from './heads.js';
import {questionOfTask, spokenName} from './task_words.js';

/// The most lanes that fit on the first screen.
const MOST_LANES = 5;

/// The name of a relation of this run's task.
export const spoken = (name) => spokenName(name, task());
/// The question of this run's task.
export const questionSentence = () => questionOfTask(task());

/// The target that a relation answers; -1 if there are several and none has its name. Stored
/// patterns answer nothing: their one target is the lane of the chosen head.
function slotOf(name) {
  if (isStored()) return -1;
  const {target_names: targets} = task();
  const slot = targets.indexOf(name);
  return slot < 0 && targets.length === 1 ? 0 : slot;
}

function headsOfQuestion(r) {
  if (r < 0) return {owner: null, others: []};
  const {name} = task().relations[r];
  const found = ownerOf(run(), r);
  const owner = found && found.place >= 0 ? idOfPair([found.m, found.original]) : null;
  const does = (x) => x.at !== owner && rolesOfHead(x).some((d) => d.name === name);
  return {owner, others: headsOf().filter(does).map((x) => x.at)};
}

/// The lanes of the first screen: {name, r: the relation or -1, kind, slot: the target or -1,
/// color, owner, others}. If there are too many, those with an owner come first.
export const questions = memo(() => String(app.state.run), () => {
  const {relations, target_names: targets} = task();
  const named = relations.map(({name, kind}, r) => ({name, r, kind, slot: slotOf(name)}));
  const covered = new Set(named.map((one) => one.slot));
  const kind = isStored() ? run().attentionLayers[0].kind : 'self';
  const rest = targets.map((name, slot) => ({name, r: -1, kind, slot}))
    .filter(({slot}) => !covered.has(slot));
  const all = [...named, ...rest].map((one) => ({...one, ...headsOfQuestion(one.r)}));
  const ranked = all.length <= MOST_LANES ? all
    : [...all].sort((a, b) => Boolean(b.owner) - Boolean(a.owner));
  return ranked.slice(0, MOST_LANES).map((one, color) => ({...one, color}));
});

/// The question that a head owns, or, if it owns none, one whose keys it attends to; or null.
export function questionOf(x) {
  const owned = questions().find((one) => one.owner === x.at);
  return owned || questions().find((one) => one.others.includes(x.at)) || null;
}

/// The heads that own a question, each once.
export const ownersOfQuestions = () =>
  headsOf().filter((x) => questions().some((one) => one.owner === x.at));

/// The two heads of the pair that costs most beyond the cost of each alone, a redundant pair if
/// there is one; the head that costs less comes first.
export function pairOfHeads() {
  const owners = ownersOfQuestions();
  const found = (owners.length ? owners : headsOf()).map((x) => ({x, partner: partnerOf(x)}))
    .filter(({partner}) => partner);
  const value = ({partner}) => partner.beyond + (partner.conclusion === 'redundant' ? 1000 : 0);
  const best = found.reduce((a, b) => (a && value(a) >= value(b) ? a : b), null);
  if (!best) return null;
  const [x, y] = [best.x, best.partner.x].sort((a, b) => (costOf([a]) ?? 0) - (costOf([b]) ?? 0));
  return {x, y};
}
