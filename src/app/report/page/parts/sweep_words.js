// The groups and families of a sweep. The program decides what is concluded about them
// (src/app/report/page_sweep.cc). The view of the sweep and lessons show it. Read next: sweep.js.
import {digits} from '../draw/charts.js';
import {programPlot} from '../draw/plot.js';
import {app} from '../state/state.js';

/// The heads of a layer; NaN where layers differ.
export const headCount = (group) => Number(group.model.heads);

/// A mean with its interval, all to three digits: rounding never takes the mean out of it.
export function spread(v) {
  if (v?.mean == null) return '–';
  const interval = v.low == null ? '' : ` (${digits(v.low, 3)} to ${digits(v.high, 3)})`;
  return digits(v.mean, 3) + interval;
}

export const sweepOf = () => app.page.facts.sweep;
/// Groups that differ in heads alone, by index, or all: [{name, groups, opening: the group that is
/// shown first, conclusion, reason, figure or null}].
export const familiesOf = () => sweepOf().families;

export const groupNow = () =>
  Math.min(app.state.group ?? familiesOf()[0].opening, sweepOf().groups.length - 1);
export const familyNow = () => familiesOf().find(({groups}) => groups.includes(groupNow()));

/// The loss of a family against heads, as the program draws it, and the numbers that support the
/// conclusion.
export function lossByHeadsPicture(width) {
  const {figure: drawn, reason} = familyNow();
  const sentence = reason || `${sweepOf().groups.length} groups of runs.`;
  return drawn && programPlot({...drawn, sentence}, width, {name: 'loss-by-heads'});
}
