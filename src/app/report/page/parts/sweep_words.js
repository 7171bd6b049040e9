// The sentences of a sweep as rows {name, when, text}; the first row whose condition holds is
// shown. Conditions and texts read the facts of one comparison, so that a test can compute the same
// facts from sweep.json. Read next: sweep.js.
import {digits} from '../draw/charts.js';
import {app} from '../state/state.js';

/// The heads of a layer; NaN where layers differ.
export const headCount = (group) => Number(group.model.heads);

export const sweepOf = () => app.page.facts.sweep;
/// The comparisons of one head with several: none if the sweep has no such groups.
const comparisonsOf = () => sweepOf().comparisons ?? [];
const groupNamed = (name) => sweepOf().groups.findIndex((group) => group.name === name);
const headsNamed = (name) => headCount(sweepOf().groups[groupNamed(name)]);

const numberOfHeads = (n) => (n === 1 ? '1 head' : `${n} heads`);
const seedWords = (n) => (n === 1 ? '1 seed' : `${n} seeds`);

/// A mean with its interval, all to three digits: rounding never takes the mean out of it.
export function spread(v) {
  if (v?.mean == null) return '–';
  const interval = v.low == null ? '' : ` (${digits(v.low, 3)} to ${digits(v.high, 3)})`;
  return digits(v.mean, 3) + interval;
}

/// The family of a group: of groups that differ in heads alone. A sweep without two such groups is
/// one family, ''.
export function familyOfGroup({family = ''}) {
  const all = sweepOf().groups.map((group) => group.family ?? '');
  return all.some((name, i) => all.indexOf(name) < i) ? family : '';
}
export const familiesOf = () => [...new Set(sweepOf().groups.map(familyOfGroup))];
const groupsOf = (family) => sweepOf().groups.filter((group) => familyOfGroup(group) === family);
const comparisonOf = (family) => comparisonsOf().find((c) => c.family === family);

/// The number of groups of the sweep that are compared with the best of their family: those with
/// fewer heads. Their p values are corrected together.
function testCount() {
  const tests = comparisonsOf().map(({best, family}) =>
    groupsOf(family).filter((group) => headCount(group) < headsNamed(best)).length);
  return Math.max(1, tests.reduce((sum, n) => sum + n, 0));
}

/// All that the sentences about one comparison depend on.
function factsOfComparison(c) {
  const tried = groupsOf(c.family).map(headCount).filter(Number.isFinite);
  const tests = testCount();
  return {
    one: headsNamed(c.one), best: headsNamed(c.best), most: Math.max(...tried),
    enough: c.enough == null ? null : headsNamed(c.enough), several: c.several_win,
    seeds: c.loss.seeds, ratio: c.loss.ratio, p: c.loss.p_holm, tests,
    least: Math.min(1, tests * 2 ** (1 - c.loss.seeds)), gain: c.accuracy_gain,
    equal: c.equal_parameters,
  };
}

/// The conclusion. `least` is the smallest p that so many seeds can reach after correction.
const CONCLUSIONS = [
  {name: 'one-best', when: (f) => f.best === f.one, text: () => 'One head has the lowest loss.'},
  {name: 'enough-one', when: (f) => f.enough === f.one, text: () => 'One head is enough.'},
  {name: 'enough-fewer', when: (f) => f.enough != null && f.enough !== f.best,
    text: (f) => `${numberOfHeads(f.enough)} are enough.`},
  {name: 'falls-on', when: (f) => f.enough != null && f.best === f.most,
    text: (f) => `Loss falls up to ${numberOfHeads(f.best)}, the most that were tried.`},
  {name: 'falls-until', when: (f) => f.enough != null,
    text: (f) => `Loss falls until ${numberOfHeads(f.best)} and no further.`},
  {name: 'several', when: (f) => f.several,
    text: () => 'Several heads beat one; how many are enough is not decided.'},
  {name: 'too-few', when: (f) => f.least >= 0.05,
    text: (f) => `${seedWords(f.seeds)} ${f.seeds === 1 ? 'is' : 'are'} too few to decide how ` +
      'many heads are enough.'},
  {name: 'undecided', when: () => true,
    text: (f) => `How many heads are enough is not decided by ${seedWords(f.seeds)}.`},
];

/// The two ends of the ratio; below six seeds they are those of single seeds.
function endsWords({ratio, seeds}) {
  if (ratio.low == null || seeds < 2) return '';
  const ends = `${digits(ratio.low, 3)} to ${digits(ratio.high, 3)}`;
  return seeds < 6 ? ` (single seeds: ${ends})` : ` (95% interval ${ends})`;
}

const isNearlyOne = (ratio) => Math.abs(ratio.mean - 1) < 0.005;

function ratioWords(f) {
  const size = isNearlyOne(f.ratio) ? 'less than 1% above' : `${digits(f.ratio.mean, 3)} times`;
  return `With ${numberOfHeads(f.one)} the mean loss is ${size} that with ` +
    `${numberOfHeads(f.best)}${isNearlyOne(f.ratio) ? '' : endsWords(f)}`;
}
const overSeeds = (f) => `, over ${seedWords(f.seeds)}.`;

/// The numbers that support the conclusion.
const REASONS = [
  {name: 'no-ratio', when: (f) => f.best === f.one,
    text: (f) => `No group with more heads has a lower mean loss over ${seedWords(f.seeds)}.`},
  {name: 'as-accurate', when: (f) => f.enough != null && f.enough !== f.best,
    text: (f) => `Their accuracy is within 0.005 of that of ${numberOfHeads(f.best)}, which have ` +
      `the lowest loss. ${ratioWords(f)}${overSeeds(f)}`},
  {name: 'least-p', when: (f) => f.least >= 0.05,
    text: (f) => `${ratioWords(f)}, but p cannot fall below ${digits(f.least, 3)} with ` +
      `${seedWords(f.seeds)}${f.tests > 1 ? ` and ${f.tests} comparisons` : ''}.`},
  {name: 'ratio', when: () => true,
    text: (f) => `${ratioWords(f)}${overSeeds(f)} p = ${digits(f.p, 3)} after correction.`},
];

const rowText = (rows, c) => {
  const facts = factsOfComparison(c);
  return rows.find(({when}) => when(facts)).text(facts);
};
const parametersWords = (c) => (c.equal_parameters ? '' : ' The numbers of parameters differ.');

/// The group of a family with the lowest mean loss.
function lowestOf(family) {
  const mean = ({loss}) => loss?.mean ?? Infinity;
  return groupsOf(family).reduce((a, b) => (mean(b) < mean(a) ? b : a));
}

/// Without a comparison of numbers of heads: the group with the lowest loss.
function lowestWords(family) {
  const groups = groupsOf(family);
  if (groups.length === 1) return `One group of ${seedWords(groups[0].seeds.length)}.`;
  return `${groups.length} groups; ${lowestOf(family).name} has the lowest mean loss.`;
}

/// The family that a sentence is about, if there are several.
const familyWords = (family) => (familiesOf().length > 1 ? `${family}: ` : '');

export function conclusionOfSweep(family) {
  const c = comparisonOf(family);
  return familyWords(family) + (c ? rowText(CONCLUSIONS, c) : lowestWords(family));
}

export function reasonOfSweep(family) {
  const c = comparisonOf(family);
  return c ? rowText(REASONS, c) + parametersWords(c) : '';
}

/// The group of a family with which it opens: the one that is enough, else the best.
export function openingGroup(family = familiesOf()[0]) {
  const c = comparisonOf(family);
  return groupNamed(c ? c.enough ?? c.best : lowestOf(family).name);
}
