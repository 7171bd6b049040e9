// The loss of a sweep against the number of heads, of the family that is looked at. The view of the
// sweep and a lesson show it. Read next: sweep_words.js.
import {programPlot} from '../draw/plot.js';
import {app} from '../state/state.js';
import {familiesOf, familyOfGroup, openingGroup, reasonOfSweep, sweepOf} from './sweep_words.js';

export const groupNow = () =>
  Math.min(app.state.group ?? openingGroup(), sweepOf().groups.length - 1);

export const familyNow = () => familyOfGroup(sweepOf().groups[groupNow()]);
export const isOfFamily = (group) => familyOfGroup(group) === familyNow();
/// The figures of families by name, if there are several; null if there is one figure at most.
export const figuresOfFamilies = () => (familiesOf().length > 1 ? sweepOf().figures : null);

/// The loss of a family against heads, as the program draws it, and the numbers that support the
/// conclusion.
export function lossByHeadsPicture(width) {
  const {figure: whole, groups} = sweepOf();
  const figures = figuresOfFamilies();
  const drawn = figures ? figures[familyNow()] : whole;
  const sentence = reasonOfSweep(familyNow()) || `${groups.length} groups of runs.`;
  return drawn && programPlot({...drawn, sentence}, width, {name: 'loss-by-heads'});
}
