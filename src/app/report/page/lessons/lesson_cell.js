// How one cell of a stage is computed: its products as a table, and the line of attend() that
// computes it, in the listing of all its lines. Read next: lesson_machine.js.
import {weightLine} from '../engine/attend.js';
import {button, el} from '../draw/ui.js';
import {fixed} from './learn.js';

const MOST_TERMS = 8;  // products of a sum that are listed; the others are added up

/// The largest terms of a sum, then the others together, and the sum.
function termRows(terms, bias) {
  const sorted = terms.map((term, i) => ({...term, i}))
    .sort((a, b) => Math.abs(b.a * b.b) - Math.abs(a.a * a.b));
  const shown = sorted.slice(0, MOST_TERMS).sort((a, b) => a.i - b.i);
  const rest = sorted.slice(MOST_TERMS);
  const products = (list) => list.reduce((sum, {a, b}) => sum + a * b, 0);
  return [
    ...shown.map(({name, a, b}) => [name, fixed(a), fixed(b), fixed(a * b)]),
    ...(rest.length ? [[`${rest.length} others`, '', '', fixed(products(rest))]] : []),
    ...(bias == null ? [] : [['bias', '', '', fixed(bias)]]),
    ['sum', '', '', fixed(products(terms) + (bias ?? 0))],
  ];
}

const sumOf = (head, terms, bias) => ({head, rows: termRows(terms, bias)});

/// A column of q, k or v: the product of x with a column of all heads' matrix.
function projected(letter, {world, h, r, c, stages}) {
  const [W, b] = [world[`W_${letter}`], world[`b_${letter}`]];
  if (!W) return {words: 'The worked example begins with these numbers.'};
  const x = letter === 'Q' ? world.x : world.inputs;
  const wide = letter === 'V' ? stages.one.Dv : stages.one.D;
  const column = h * wide + c;
  const turned = world.isRotated && letter !== 'V'
    ? ' Then each pair of columns is rotated by an angle that the position decides.' : '';
  return {
    words: `Row ${r} of x times column ${column} of W_${letter}. Every column reads all of x.${
      turned}`,
    table: sumOf(['column of x', 'x', `W_${letter}`, 'product'],
      x[r].map((a, i) => ({name: String(i), a, b: W[i][column]})), b ? b[column] : null),
  };
}

function scoreCell({world, r, c, stages, switches}) {
  const {one} = stages;
  const table = sumOf(['column', 'q', 'k', 'product'],
    one.q[r].map((a, i) => ({name: String(i), a, b: one.k[c][i]})));
  const root = switches.root ? Math.sqrt(one.D) : 1;
  if (switches.root)
    table.rows.push([`/ √${one.D}`, '', '', fixed(one.dots[r][c] / root)]);
  if (one.slope)
    table.rows.push(['distance', '', '', fixed(-one.slope * Math.abs(r - c))]);
  return {
    words: `The dot product of the query of “${world.tokens[r]}” and the key of “${
      world.keys[c]}”.`,
    table, line: 'row[s] = dot / root;',
  };
}

function maskedCell({world, r, c, stages}) {
  const hidden = stages.one.masked[r][c] === -Infinity;
  return {words: hidden
    ? `The query of “${world.tokens[r]}” must not see this key: its score becomes −∞, and its ` +
      'weight 0.'
    : 'This query may see this key: the score stays as it is.'};
}

const WEIGHT_WORDS = {
  softmax: 'e to the score, divided by the sum of these over all keys that the query sees: the ' +
    'weights of a query sum to 1.',
  softmax_one: 'e to the score, divided by 1 plus the sum of these over all keys: a query may ' +
    'attend to nothing.',
  sigmoid: '1 / (1 + n e to the minus score) for n keys that the query sees: each key by itself, ' +
    'so that the weights need not sum to 1.',
};

function weightCell({world, r, c, stages, switches}) {
  const {masked, weights} = stages.one;
  const isSum = switches.name !== 'sigmoid';
  const largest = Math.max(...masked[r], switches.name === 'softmax_one' ? 0 : -Infinity);
  const seen = masked[r].map((score, s) => ({score, s})).filter(({score}) => score > -Infinity);
  return {
    words: WEIGHT_WORDS[switches.name], line: weightLine(switches.name),
    table: {
      head: ['key', 'score', isSum ? 'e^(score − largest)' : 'e^(−score)', 'weight'],
      rows: seen.map(({score, s}) => [`${s === c ? '▸ ' : ''}${s} ${world.keys[s]}`, fixed(score),
        fixed(Math.exp(isSum ? score - largest : -score)), fixed(weights[r][s])]),
    },
  };
}

const outputCell = ({world, r, c, stages}) => ({
  words: `The values of all keys in column ${c}, each times its weight.`,
  line: 'z[i] += row[s] * V[s][i];',
  table: sumOf(['key', 'weight', 'v', 'product'], stages.one.weights[r].map((a, s) =>
    ({name: `${s} ${world.keys[s]}`, a, b: stages.one.v[s][c]}))),
});

const CELLS = {
  x: ({r}) => ({words: `Input of the layer at token ${r}: the residual stream after its norm.`}),
  q: (at) => projected('Q', at), k: (at) => projected('K', at), v: (at) => projected('V', at),
  scores: scoreCell, masked: maskedCell, weights: weightCell, z: outputCell,
  all: ({c, stages, names}) => ({words: `Column ${c} is column ${c % stages.one.Dv} of z of head ${
    names[Math.floor(c / stages.one.Dv)]}: no number here depends on two heads.`}),
  y: ({world, r, c, stages}) => ({
    words: `Row ${r} of all heads times column ${c} of W_O, which mixes the heads.`,
    table: sumOf(['column', 'z', 'W_O', 'product'],
      stages.all[r].map((a, i) => ({name: String(i), a, b: world.W_O[i][c]})),
      world.b_O ? world.b_O[c] : null),
  }),
};

/// How a cell is computed: {words, table: {head, rows}, line: of attend()}. `at` is {id, r, c, h,
/// world, stages, switches, names}.
export const cellWords = (at) => CELLS[at.id](at);

/// The lines of attend() with the line `now` marked; `act` is called with a line that is chosen.
export const listing = (lines, now, act) =>
  el('ol', {class: 'listing', 'aria-label': 'The lines of attend'}, lines.map(({text, at}, i) =>
    el('li', at && at === now ? {class: 'now', 'aria-current': 'step'} : null,
      at && act ? button(text, () => act(at), {class: 'line', id: `line-${i}`})
        : el('span', {class: 'line'}, text))));

/// The cells from which a cell is computed: [{id, r, c}]; without r a whole column, without c a
/// whole row.
export function cellSources({id, r, c, h, stages}) {
  const {Dv} = stages.one;
  return {
    x: [], q: [{id: 'x', r}], k: [{id: 'x', r}], v: [{id: 'x', r}],
    scores: [{id: 'q', r}, {id: 'k', r: c}], masked: [{id: 'scores', r, c}],
    weights: [{id: 'masked', r}], z: [{id: 'weights', r}, {id: 'v', c}],
    all: Math.floor(c / Dv) === h ? [{id: 'z', r, c: c % Dv}] : [], y: [{id: 'all', r}],
  }[id];
}
