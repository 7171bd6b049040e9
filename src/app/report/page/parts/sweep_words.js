// The groups and families of a sweep. What is concluded about them is decided by the program:
// sweep.json has the sentences. Read next: sweep.js.
import {digits} from '../draw/charts.js';
import {app} from '../state/state.js';

/// The heads of a layer; NaN where layers differ.
export const headCount = (group) => Number(group.model.heads);

export const sweepOf = () => app.page.facts.sweep;
/// The comparisons of one head with several: none if the sweep has no such groups.
const comparisonsOf = () => sweepOf().comparisons ?? [];
const groupNamed = (name) => sweepOf().groups.findIndex((group) => group.name === name);

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

/// The group of a family with the lowest mean loss.
function lowestOf(family) {
  const mean = ({loss}) => loss?.mean ?? Infinity;
  return groupsOf(family).reduce((a, b) => (mean(b) < mean(a) ? b : a));
}

/// The comparisons of other settings, such as layers or norm. They are about all groups, so they
/// are shown where no family has a comparison of numbers of heads.
const settingsOf = () => (comparisonsOf().length ? [] : sweepOf().settings ?? []);

/// Without a comparison of numbers of heads: the conclusions about other settings, or else the
/// group with the lowest loss.
function lowestWords(family) {
  const groups = groupsOf(family);
  const verdicts = settingsOf().map((c) => c.verdict);
  if (verdicts.length) return verdicts.join(' ');
  if (groups.length === 1) return `One group of ${seedWords(groups[0].seeds.length)}.`;
  return `${groups.length} groups; ${lowestOf(family).name} has the lowest mean loss.`;
}

/// The family that a sentence is about, if there are several.
const familyWords = (family) => (familiesOf().length > 1 ? `${family}: ` : '');

export function conclusionOfSweep(family) {
  const c = comparisonOf(family);
  return familyWords(family) + (c ? c.verdict : lowestWords(family));
}

export const reasonOfSweep = (family) =>
  comparisonOf(family)?.reason ?? settingsOf().map((c) => c.reason).join(' ');

/// The group of a family with which it opens: the one that is enough, else the best.
export function openingGroup(family = familiesOf()[0]) {
  const c = comparisonOf(family);
  return groupNamed(c ? c.enough ?? c.best : lowestOf(family).name);
}
