// Which heads find the keys of a relation at the step that is shown: at the end of training by the
// verdict of the program; else measured here on some examples, or taken from the scores that were
// tracked. Read next: questions.js.
import {keysSeen} from '../engine/model.js';
import {range} from '../engine/numbers.js';
import {forwardPass} from '../engine/pass.js';
import {idOfPair} from '../engine/reports.js';
import {
  app, exampleCount, headsOf, isLive, run, scoresOf, task,
} from '../state/state.js';

/// Several heads share a relation, if nothing was tested, if the best head of each query gets so
/// much more of its weight than the best head of all; each has at least kPart.
const kShared = 0.15;
const kPart = 0.35;

/// Heads of a relation: {main: the owner, or the heads that share it, others: heads
/// that attend to its keys too, kind: owner, split, shared, none, untested or unknown, untested: by
/// the program {because, advice}, source: program, page or tracked, by: of each head its mass,
/// baseline and lift}.
export const noHeads = (kind, source) => ({main: [], others: [], kind, source, by: new Map()});

// ---- by the program --------------------------------------------------------------------------

function byProgram({name}, r) {
  const {divisions = []} = run().reports.heads;
  const by = new Map();
  const roles = {owner: [], shares: [], also: []};
  for (const x of headsOf()) {
    const found = scoresOf(x).find((one) => one.i === r);
    if (!found || !(found.score.queries > 0)) continue;
    const {mass, baseline, lift, role} = found.score;
    by.set(x.at, {mass, baseline, lift});
    roles[role]?.push(x.at);
  }
  const division = divisions.find((d) => d.relation === name);
  const source = 'program';
  const sharing = (division?.heads || []).map(idOfPair).filter((at) => roles.shares.includes(at));
  if (sharing.length > 1)
    return {main: sharing, others: roles.also, kind: division.by ? 'split' : 'shared', source, by,
      division};
  const untested = run().facts.untested[name];
  const kind = untested ? 'untested' : 'none';
  const main = [...roles.owner, ...sharing];
  return {main, others: roles.also, kind: main.length ? 'owner' : kind, source, by, untested};
}

// ---- measured here ---------------------------------------------------------------------------

/// The number of examples, 48 at most, on which so many passes take some tenths of a second.
export function examplesInTime(passes) {
  const {length, source_length: S} = task();
  const products = run().facts.parameters * (length + S) * passes;
  return Math.min(exampleCount(), 48, Math.floor(2e8 / products));
}

/// Adds the weights of all heads on the keys of a query to the sums of a relation.
function addQuery(sums, pass, heads, {t, keys}) {
  const {from, to} = keysSeen(run(), heads[0].m, pass.example, t);
  const baseline = Math.min(1, keys.length / Math.max(1, to - from));
  let most = 0;
  for (const x of heads) {
    const columns = pass.attentionLayers[x.m].keys;
    const weights = pass.pattern(x.m, x.place);
    const mass = keys.reduce((sum, s) => sum + weights[t * columns + s], 0);
    const before = sums.by.get(x.at) || {mass: 0, baseline: 0};
    sums.by.set(x.at, {mass: before.mass + mass, baseline: before.baseline + baseline});
    most = Math.max(most, mass);
  }
  sums.queries += 1;
  sums.most += most;
}

/// The heads with the lift of an owner; the first by `key`, mass or lift, is in its place.
function rolesByLift(by, key, source) {
  const able = [...by.keys()].filter((at) => by.get(at).lift >= app.page.facts.owner.lift)
    .sort((a, b) => by.get(b)[key] - by.get(a)[key]);
  const kind = able.length ? 'owner' : 'none';
  return {main: able.slice(0, 1), others: able.slice(1), kind, source, by};
}

/// The means over queries, and the roles that follow from them.
function rolesOfSums({by: sums, queries, most}) {
  if (!queries) return noHeads('none', 'page');
  const by = new Map([...sums].map(([at, {mass, baseline}]) => {
    const [m, c] = [mass / queries, baseline / queries];
    return [at, {mass: m, baseline: c, lift: (m - c) / Math.max(1e-6, 1 - c)}];
  }));
  const found = rolesByLift(by, 'mass', 'page');
  const able = [...found.main, ...found.others];
  const parts = able.filter((at) => by.get(at).mass >= kPart);
  const isShared = parts.length > 1 && most / queries - by.get(able[0]).mass >= kShared;
  if (!isShared) return found;
  return {...found, main: parts, others: able.filter((at) => !parts.includes(at)), kind: 'shared'};
}

/// The attention on the keys of each relation, summed over the queries of the first n examples:
/// [{by: of each head {mass, baseline}, queries, most: the mass of the best head of each query}].
export function attentionOnKeys(model, n, gates = null) {
  const {relations} = task();
  const sums = relations.map(() => ({by: new Map(), queries: 0, most: 0}));
  const layers = run().attentionLayers;
  const heads = relations.map(({kind}) => headsOf().filter((x) => layers[x.m].kind === kind));
  for (const i of range(n)) {
    const pass = forwardPass(model, task().set('scored').example(i), {gates});
    relations.forEach(({kind}, r) => {
      if (!heads[r].length) return;
      const {length, sourceLength} = pass.example;
      for (const t of range(kind === 'encoder' ? sourceLength : length)) {
        const keys = Array.from(pass.example.truth(r, t) || []);
        if (keys.length) addQuery(sums[r], pass, heads[r], {t, keys});
      }
    });
  }
  return sums;
}

function measuredRoles(step) {
  const n = examplesInTime(1);
  if (n < 4) return task().relations.map(() => noHeads('unknown', 'page'));
  const model = step == null ? run().model : run().modelAt(step);
  return attentionOnKeys(model, n).map((one) => ({...rolesOfSums(one), examples: n}));
}

// ---- tracked ---------------------------------------------------------------------------------

/// The roles by the scores that were tracked at the last step until the one that is shown.
function trackedRoles(step) {
  const {steps, heads, relations} = run().facts.history;
  const at = Math.max(0, steps.filter((s) => s <= step).length - 1);
  return task().relations.map(({name}) => {
    const known = relations[name];
    if (!known) return noHeads('unknown', 'tracked');
    const by = new Map(heads.map((pair, h) => [idOfPair(pair),
      {mass: known.mass[h][at], baseline: null, lift: known.lift[h][at]}]));
    return rolesByLift(by, 'lift', 'tracked');
  });
}

function foundRoles(step) {
  if (step == null && run().reports.heads) return task().relations.map(byProgram);
  if (isLive() && (step == null || run().steps.length)) return measuredRoles(step);
  if (step != null && run().facts.history) return trackedRoles(step);
  return task().relations.map(() => noHeads('unknown', 'page'));
}

const foundAt = new Map();

/// The roles of each relation at a step; null: at the end of training.
export function rolesAt(step) {
  const key = `${app.state.run} ${step} ${isLive()}`;
  if (!foundAt.has(key)) foundAt.set(key, foundRoles(step));
  return foundAt.get(key);
}
