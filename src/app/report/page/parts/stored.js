// Facts about a head on a page of stored patterns: known patterns, focus, and the most similar
// head, all from the scores of the program. They take the places of facts that need a model:
// ablation, training and pruning. Read next: head_card.js, head.js.
import {bars, digits, weightText} from '../draw/charts.js';
import {el, link, svgNode} from '../draw/ui.js';
import {app, go, run} from '../state/state.js';
import {formatHash} from '../state/address.js';
import {idOfPair, recordOf} from '../engine/reports.js';

const storedRecord = (x) => recordOf(run().reports.heads?.heads, x);

/// The known patterns with the attention of a head on them, the largest first: [name, share].
const knownOf = (x) => Object.entries(storedRecord(x)?.patterns || {})
    .filter(([, share]) => share != null).sort((a, b) => b[1] - a[1]);

/// A small picture of three rows at most: a name, a bar from 0 to 1, its number as text.
export const smallBars = (rows, words = weightText) =>
  svgNode('svg', {viewBox: '0 0 240 66', 'aria-hidden': 'true'},
    rows.map(([name, share, look = 'fill'], i) => [
      svgNode('text', {x: 86, y: 12 + 20 * i, 'text-anchor': 'end'}, name),
      svgNode('rect', {class: 'track', x: 92, y: 1 + 20 * i, width: 104, height: 14}),
      svgNode('rect', {class: look, x: 92, y: 1 + 20 * i, height: 14,
        width: Math.max(0.5, 104 * Math.min(1, share))}),
      svgNode('text', {x: 202, y: 12 + 20 * i, class: 'ink'}, words(share)),
    ]));

function knownWords(x) {
  const [best] = knownOf(x);
  if (!best) return [el('b', null, 'None:'), ' no query can attend to a known pattern.'];
  const {like} = storedRecord(x);
  const share = weightText(best[1]);
  if (!like) return [el('b', null, 'None:'), ` at most ${share} of its attention is on one, ` +
    `“${best[0]}”.`];
  return [el('b', null, `“${like}”:`), ` it has ${share} of the attention where a query can ` +
    'choose.'];
}

function focusWords(x) {
  const {entropy, focus} = storedRecord(x);
  return [el('b', null, digits(focus, 2)), ` on a scale from 0 (uniform) to 1 (a single key). ` +
    `The entropy is ${digits(entropy, 2)} nats.`];
}

function alikeWords(x) {
  const {nearest, nearest_distance: distance} = storedRecord(x);
  if (!nearest) return [el('b', null, 'None:'), ' there is no other head.'];
  const place = {view: 'head', h: x.at, b: idOfPair(nearest)};
  const to = link(`Head ${idOfPair(nearest)}`, () => go(place),
    {id: 'most-alike', href: formatHash({...app.state, ...place})});
  return [to, `, at a distance of ${digits(distance, 2)}: 0 is the same pattern, 0.83 patterns ` +
    'that share no key.'];
}

/// The columns of the drawer in place of those that need a model: [title, words, picture].
export const STORED_COLUMNS = [
  ['Known pattern', knownWords, (x) => smallBars(knownOf(x).slice(0, 3))],
  ['Focus', focusWords, (x) => smallBars([['focus', storedRecord(x).focus],
    ['largest', storedRecord(x).confidence]])],
  ['Most similar head', alikeWords, () => null],
];

/// The attention of a head on all known patterns.
export function knownBars(width, x) {
  const rows = knownOf(x);
  return bars({
    width: Math.min(width, 560), unit: 'attention on the keys of the pattern', low: 0, high: 1,
    number: weightText,
    rows: rows.map(([name, value]) => ({name, value})),
    about: {
      name: `known-${x.at}`, title: 'Known patterns',
      sentence: 'The mean attention on the keys of each pattern, over queries that can attend to ' +
        'other keys as well.',
    },
    say: (r) => `${rows[r][0]}: ${weightText(rows[r][1], 3)}`,
  });
}
