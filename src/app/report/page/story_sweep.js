// The number of heads that a task needs, from a sweep: the loss against the number of heads, and a
// table of the groups of runs.
import {digits} from './charts.js';
import {code, el, figure, note, sliderOf, tableOf} from './ui.js';
import {app, go, headsOf, run} from './state.js';
import {programPlot} from './findings.js';

/// The heads of a layer; NaN where layers differ.
export const headCount = (group) => Number(group.model.heads);

/// A mean with its interval.
function spread(v) {
  if (v?.mean == null) return '–';
  const interval = v.low == null ? '' : ` (${digits(v.low, 2)} to ${digits(v.high, 2)})`;
  return digits(v.mean, 3) + interval;
}

function comparisonSentence({one, best, verdict, loss}) {
  if (one === best) return `${verdict}.`;
  return `The loss of ${one} is ${spread(loss.ratio)} times that of ${best}: ${verdict}.`;
}

/// The loss against heads, as the program draws it, and what the comparison says.
export function kneePicture(width) {
  const {figure: drawn, groups, comparisons: [c] = []} = app.page.facts.sweep;
  const sentence = c ? comparisonSentence(c) : `${groups.length} groups of runs.`;
  return drawn && programPlot({...drawn, sentence}, width, {name: 'knee'});
}

export function sweepNodes() {
  const {sweep} = app.page.facts;
  const rows = sweep.groups.map((g) => [
    g.name, g.parameters, spread(g.loss), spread(g.accuracy), spread(g.specialization),
    g.losses.map((v) => (v == null ? 'failed' : digits(v, 3))).join('  '),
  ]);
  return [
    figure(kneePicture, {id: 'knee', most: 860, again: sweep.command}),
    tableOf('Mean (95 % interval) over seeds',
      ['group', 'parameters', 'loss', 'right', 'relations with a head of their own', 'each seed'],
      rows,
    ),
    sweep.missing?.length > 0 && note(
      `Not finished: ${sweep.missing.map((m) => m.name || m).join(', ')}. `, code(sweep.command),
      ' goes on where it stopped.',
    ),
    app.page.runs.length > 1 && el('p', null, sliderOf('sweep-run', 'Heads', {
      min: 1, max: app.page.runs.length, step: 1, 'aria-label': 'number of heads',
      value: () => app.state.run, words: () => `${headsOf().length} (${run().name})`,
      act: (number) => go({run: number, h: null, gates: {}, step: null}),
    })),
  ].filter(Boolean);
}
