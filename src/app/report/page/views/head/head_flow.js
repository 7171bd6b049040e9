// From tokens to the answer: how attention of one query flows from tokens to the heads of a layer,
// and what each head then adds to the logit of the answer.
import {range} from '../../engine/numbers.js';
import {headWrites} from '../../engine/why.js';
import {digits, label, line, shortened, tableNumber} from '../../draw/charts.js';
import {note, quoted} from '../../draw/ui.js';
import {headsOf, relation, task, trace} from '../../state/state.js';
import {logitsAt} from '../../parts/measure.js';
import {spoken} from '../../parts/questions.js';
import {lockedCell, patternOf, rowOf, tokensOf} from '../../parts/pattern.js';

/// The answer that the locked query gives, and what each head of an attention layer has to do with
/// it: {name, answer, flows: [{y, weights, adds}]}; `adds` is to the logit of the answer, above the
/// mean of all logits. null if other parts lie between.
function flowsOf(x, t) {
  const {target_names: names, relations, outputs, answers} = task();
  const k = Math.max(0, names.indexOf(relations[relation()]?.name));
  const logits = logitsAt(trace(), t, k);
  const said = logits.indexOf(Math.max(...logits));
  const flows = headsOf().filter((y) => y.m === x.m).map((y) => {
    const {logits: all} = headWrites(trace(), y.m, y.place, t);
    const added = all?.subarray(k * outputs, (k + 1) * outputs);
    const adds = added && added[said] - added.reduce((a, b) => a + b) / outputs;
    return {y, weights: rowOf(patternOf(trace(), y.m, y.place), t), adds};
  });
  return flows.some(({adds}) => adds == null) ? null
    : {name: spoken(names[k]), answer: quoted(answers[said]), flows};
}

/// Lines as thick as attention from tokens to heads, and as what heads add from there to the
/// answer. If there are more than 32 tokens, only the thickest lines are drawn.
function flowItems(width, {name, answer, flows}, {keys, at, chosenHead}) {
  const from = 64;
  const to = width - 110;
  const middle = (from + to) / 2;
  const most = Math.max(...flows.map(({adds}) => Math.abs(adds)), 1e-9);
  const size = ({weights, adds}, s) => (weights[s] * Math.abs(adds)) / most;
  const thickest = (s) => Math.max(...flows.map((flow) => size(flow, s)));
  const shown = range(keys.length).sort((a, b) => thickest(b) - thickest(a)).slice(0, 32)
    .sort((a, b) => a - b);
  const ribbon = (a, b, thick, {adds}) =>
    line([a, b], {stroke: adds < 0 ? 's1' : 's0', alpha: 0.6, thick: Math.max(thick, 0.3)});
  const end = [to, at(0, 1)];
  const drawn = flows.flatMap((flow, i) => {
    const here = at(i, flows.length);
    return [
      ...shown.flatMap((s, j) => (size(flow, s) < 0.01 ? []
        : ribbon([from, at(j, shown.length)], [middle - 18, here], 14 * size(flow, s), flow))),
      ribbon([middle + 18, here], end, (14 * Math.abs(flow.adds)) / most, flow),
      label(middle, here, flow.y.at, {anchor: 'middle', bold: flow.y.at === chosenHead.at}),
    ];
  });
  return [
    ...drawn, label(to + 8, end[1], `${name}: ${answer}`),
    ...shown.map((s, j) => label(from - 6, at(j, shown.length),
      `${s} ${shortened(keys[s], 40, 12)}`, {anchor: 'end', mono: true})),
  ];
}

/// Tokens, heads and the answer of the locked query.
export function flowPicture(width, x) {
  const [t] = lockedCell(x);
  const {queries, keys} = tokensOf(x.m);
  const made = trace().exact && flowsOf(x, t);
  if (!made) return note('This page cannot compute what each head adds to an answer.');
  const {name, answer, flows} = made;
  const height = 26 * Math.max(Math.min(keys.length, 32), flows.length) + 12;
  const at = (i, n) => (height * (i + 0.5)) / n;
  const most = ({weights}) => keys[weights.indexOf(Math.max(...weights))];
  const rows = flows.map((flow) => [flow.y.at, tableNumber(flow.adds), most(flow)]);
  return {
    name: `flow-${t}`, title: `How query ${t} ${quoted(queries[t])} produces ${answer} (${name})`,
    sentence: 'Lines from tokens to heads show attention. Lines from heads to the answer show ' +
      'what each head adds to its logit, with the last norm held fixed: blue raises it, orange ' +
      'lowers it.' +
      (keys.length > 32 ? ' Only the 32 tokens with the thickest lines are shown.' : ''),
    width, height, items: flowItems(width, made, {keys, at, chosenHead: x}),
    table: () => ({head: ['head', 'adds to the logit', 'looks most at'], rows}),
    marks: {
      rows: flows.length, cols: () => 1,
      text: (r) => `head ${rows[r][0]} adds ${digits(flows[r].adds, 3)} to the logit of ${answer}`,
      box: (r) => [(width - 46) / 2 - 18, at(r, flows.length) - 10, 36, 20],
      find: (_, y) => [Math.min(Math.floor((y * flows.length) / height), flows.length - 1), 0],
    },
  };
}
