// All heads of stored patterns at one query: a column for each layer, in it a line from the query
// to each key for each head, as strong as its weight. Read next: first.js.
import {range} from '../../engine/numbers.js';
import {SERIES} from '../../draw/draw.js';
import {label, line, shortened, tableNumber, weightText} from '../../draw/charts.js';
import {figure, quoted} from '../../draw/ui.js';
import {headsOf, run, trace} from '../../state/state.js';
import {patternOf, rowOf, tokensOf} from '../../parts/pattern.js';
import {queryNow} from '../../parts/questions.js';

const MOST_KEYS = 24;  // of a layer; of more, those with the largest weights
const TALL = 20;
const WIDE = 190;  // of a column at least

/// The heads of a layer with their weights at the query.
const headsOfLayer = (layer) => headsOf().filter((x) => x.m === layer.index).map((x, i) => {
  const weights = rowOf(patternOf(trace(), x.m, x.place), queryNow());
  return {x, color: SERIES[i % SERIES.length], weights};
});

/// The keys of a layer that are drawn, in the order of the tokens.
function keysShown(heads, count) {
  const largest = (s) => Math.max(...heads.map(({weights}) => weights[s]));
  return range(count).sort((a, b) => largest(b) - largest(a)).slice(0, MOST_KEYS)
    .sort((a, b) => a - b);
}

/// A layer: its heads by name and colour, its keys to the left, the query to the right, the lines.
function layerItems(layer, left, wide, height) {
  const {queries, keys} = tokensOf(layer.index);
  const heads = headsOfLayer(layer);
  const shown = keysShown(heads, keys.length);
  const from = left + wide - 62;
  const to = left + 66;
  const row = (i) => 44 + TALL * (i + 0.5);
  const middle = (44 + height) / 2;
  const names = heads.map(({x, color}, i) =>
    label(left + 4 + 34 * i, 30, x.at, {size: 11, bold: true, fill: color}));
  const lines = heads.flatMap(({color, weights}) => shown.map((s, i) =>
    line([[from, middle], [to, row(i)]],
      {stroke: color, alpha: Math.max(0.02, weights[s]), thick: 0.5 + 4 * weights[s]})));
  return [
    label(left + 4, 12, `Layer ${layer.index}`, {bold: true}), ...names, ...lines,
    label(from + 6, middle, shortened(queries[queryNow()], 54, 12), {mono: true, bold: true}),
    ...shown.map((s, i) => label(to - 6, row(i), shortened(keys[s], 58, 12),
      {anchor: 'end', mono: true})),
  ];
}

function allHeadsPicture(width) {
  if (!trace()) return null;
  const layers = run().attentionLayers.filter((layer) => layer.heads.length);
  const wide = Math.max(WIDE, width / layers.length);
  const most = Math.max(...layers.map((layer) => tokensOf(layer.index).keys.length));
  const height = 50 + TALL * Math.min(MOST_KEYS, most);
  const rows = layers.flatMap((layer) => headsOfLayer(layer).map(({x, weights}) =>
    ({x, weights: Array.from(weights), keys: tokensOf(layer.index).keys})));
  const largest = ({weights}) => weights.indexOf(Math.max(...weights));
  const words = (row) => [row.x.at, `${largest(row)} ${row.keys[largest(row)]}`,
    tableNumber(row.weights[largest(row)])];
  const query = quoted(tokensOf(layers[0].index).queries[queryNow()]);
  return {
    name: `all-heads-${queryNow()}`, title: `All heads at ${query}`, width: wide * layers.length,
    height, items: layers.flatMap((layer, i) => layerItems(layer, i * wide, wide, height)),
    sentence: 'A column for each layer, a colour for each of its heads: lines go from the query ' +
      `to the keys, as strong as the weight.${most > MOST_KEYS
        ? ` The ${MOST_KEYS} keys with the largest weights are shown.` : ''}`,
    table: () => ({head: ['head', 'largest weight on', 'weight'], rows: rows.map(words)}),
    marks: {
      rows: rows.length, cols: () => 1,
      text: (r) => `head ${words(rows[r])[0]}: ${weightText(Math.max(...rows[r].weights), 4)} on ` +
        words(rows[r])[1],
      box: (r) => {
        const layer = layers.findIndex(({index}) => index === rows[r].x.m);
        const inLayer = rows.filter(({x}) => x.m === rows[r].x.m).indexOf(rows[r]);
        return [layer * wide + 2 + 34 * inLayer, 22, 32, 16];
      },
      find: () => null,
    },
  };
}

export const allHeadsFigure = () => figure(allHeadsPicture, {id: 'all-heads'});
