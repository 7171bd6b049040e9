// The parts of the views of a page, made of and needs no document, under node:
//   node views_test.mjs [FOLDER]
// the address and its state, colours and their contrasts, pictures as SVG, tables as CSV. Prints a
// line for each problem; the exit status is 1 if there is any. Writes its pictures into FOLDER, where
// page_views_test.cc compares them with golden files.
import fs from 'node:fs';
import * as draw from '../../src/app/report/page/draw/draw.js';
import * as charts from '../../src/app/report/page/draw/charts.js';
import * as plots from '../../src/app/report/page/draw/plot.js';
import * as address from '../../src/app/report/page/state/address.js';
import {randomEdges} from '../../src/app/report/page/engine/edges.js';
import {pca} from '../../src/app/report/page/engine/numbers.js';
import {truthOf} from '../../src/app/report/page/engine/page_data.js';
import {recorder} from './page_document.mjs';

const page = {...draw, ...charts, ...plots, ...address};
const read = (name) => fs.readFileSync(new URL(`../../src/app/report/page/${name}`, import.meta.url), 'utf8');
const problems = [];
const expect = (truth, what) => {
  if (!truth) problems.push(what);
};

// ---- a generator of numbers, the same each time
let seed = 1;
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 4294967296;
};
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];

const values = {
  view: () => pick(['head', 'bench', 'learn']),
  ex: () => pick(['typical', 'worst', below(512)]),
  h: () => `${below(12)}.${below(16)}`,
  q: () => below(1024),
  rel: () => pick(['same', 'ä & b=c#%', '', '\u202e']),
  gates: () =>
    Object.fromEntries(
      Array.from({length: below(5)}, () => [`${below(3)}.${below(9)}`, pick([0, 0.5, 0.05])]),
    ),
  tokens: () => Array.from({length: below(4)}, () => below(99)),
  hide: () => pick(['truth', 'random', '3.4']),
  step: () => below(9999),
  lesson: () => pick(['numbers', 'glossary']),
  world: () => pick(['five-tokens', 'cat-sleeps', 'run']),
  lab: () => Object.fromEntries(Array.from({length: below(4)}, () => [pick(['step', 'g0', 'H', 'seed']), pick([0, -1, 2.5, 65536])])),
  win: () => pick(['0-63,64-127', '1-2,3-4']),
};
for (let i = 0; i < 10000; ++i) {
  const state = page.defaultState();
  for (const key of Object.keys(values)) if (random() < 0.4) state[key] = values[key]();
  if (random() < 0.2) state.unknown = ['later=1', 'x'];
  const {state: back, notices} = page.parseHash(page.formatHash(state));
  expect(
    notices.length === 0 && page.formatHash(back) === page.formatHash(state),
    `round trip of ${page.formatHash(state)}: ${notices}`,
  );
  for (const key of Object.keys(values))
    expect(
      JSON.stringify(back[key]) === JSON.stringify(state[key]) || key === 'gates' || key === 'lab',
      `${key} of ${page.formatHash(state)}`,
    );
}
for (let i = 0; i < 10000; ++i) {
  const garbage = Array.from({length: below(40)}, () =>
    pick([...'#&=%,.:0123456789abxqhgatesviw<>\u0000é\ud800']),
  ).join('');
  const {state} = page.parseHash(garbage);
  expect(/^[a-z]{1,20}$/.test(state.view), `view after ${garbage}`);
}
expect(page.formatHash(page.defaultState()) === '', 'the default state is an empty address');
expect(page.parseHash('#hide=nothing&h=0.2').state.h === '0.2', 'a bad value leaves the others alone');
expect(page.parseHash('#hide=nothing').notices.length === 1, 'a bad value is named');

// ---- colours of style.css: text 4.5, marks 3 (WCAG 1.4.3, 1.4.11), in light and in dark
const palettes = [{}, {}];
for (const [, role, light, dark] of read('style.css').matchAll(
  /--(\w+): light-dark\((#\w{6}), (#\w{6})\)/g,
)) {
  palettes[0][role] = light;
  palettes[1][role] = dark;
}
palettes.forEach((palette, dark) => {
  const check = (role, ground, least) => {
    const [x, y] = [role, ground].map((name) => page.luminance(palette[name])).sort((a, b) => b - a);
    const contrast = (x + 0.05) / (y + 0.05);
    expect(contrast >= least, `${role} on ${ground}, ${dark ? 'dark' : 'light'}: ${contrast}`);
  };
  for (const role of ['ink', 'muted', 'accent', 'good', 'bad'])
    for (const ground of ['paper', 'panel']) check(role, ground, 4.5);
  for (const role of ['t0', 't1', 't2', 't3', 't4']) check(role, 'paper', 4.5);
  for (const role of ['q0', 'q1', 'q2', 'q3', 'q4', 'none', 'edge', 'low', 'high', 's0', 's1', 's2', 's3', 's4', 's5', 's6'])
    check(role, 'paper', 3);
  const scale = page.scaleColors(palette, 'weight');
  expect(scale[0] === palette.paper, 'zero is the paper');
  const light = scale.map(page.luminance);
  for (let i = 1; i < 256; ++i)
    expect((light[i] - light[i - 1]) * (dark ? 1 : -1) >= -0.004, `the scale runs one way at ${i}`);
});

// ---- pictures
const hostile = [
  '</script>', '<img onerror=x>', '\u202eabc', '\u0000\u0007', '👩‍👩', '\u2028', '"&\'', '\ud800', '',
];
const about = {name: 'n', title: 'A <title> & "more"', sentence: hostile.join(' ')}, say = () => '';
const pictures = [
  page.matrix({
    rowNames: hostile, colNames: hostile, width: 600, about, say, rowBar: () => 0.5,
    values: Float32Array.from({length: 81}, (_, i) => (i % 7 ? i / 81 : NaN)),
  }),
  page.matrix({rowNames: [], colNames: [], values: new Float32Array(0), width: 300, about, say}),
  page.plot({
    about, width: 600, x: {label: 'x'}, y: {label: 'y', log: true}, lines: [{x: 1, name: '<b>'}],
    series: [{name: hostile[0], points: [[1, 0.1, 0.05, 0.2], [2, 0.01]]}, {name: 'b', points: []}],
  }),
  page.plot({about, width: 300, series: [], x: {label: 'x'}, y: {label: 'y'}}),
  page.bars({
    about, width: 500, unit: 'nats', tickName: 'chance',
    rows: [{name: hostile[1], value: -1, low: -2, high: 0, tick: 0.5}, {name: 'none', value: NaN}],
  }),
];

// ---- names of columns are at one height, their numbers above them
const wide = page.matrix({
  rowNames: ['a'], colNames: Array.from({length: 40}, (_, i) => 'abc'[i % 3]), numbers: true,
  values: new Float32Array(40), width: 700, about, say: () => '',
});
const named = wide.items.filter((item) => /^[abc]$/.test(item.text) && item.anchor === 'middle');
expect(named.length === 40 && new Set(named.map((item) => item.y)).size === 1, 'one height');
expect(wide.items.some((item) => item.text === '39') === false, 'numbers do not touch');

// ---- a vector as a picture: 3 n^2 numbers in colours, others in greys; from -1, dark, to 1, bright
const patch = page.swatch(Float32Array.from({length: 27}, (_, i) => [1, -1, 0][i % 3]), 10, 20, 30);
expect(patch.length === 9 && patch.every((one) => one.fill === 'rgb(255,0,128)'), 'nine colours');
expect(patch[5].x === 30 && patch[5].y === 30 && patch[5].w === 10, 'cells row by row');
const greys = page.swatch([-2, 0, 2, -1], 0, 0, 9).map((one) => one.fill);
expect(greys.join(' ') === 'rgb(0,0,0) rgb(128,128,128) rgb(255,255,255) rgb(0,0,0)', `greys, not ${greys}`);
const seen = page.matrix({
  rowNames: ['a'], colNames: ['b', 'c'], values: new Float32Array(2), width: 300, about,
  vectors: {rows: [new Float32Array(27)], cols: [new Float32Array(27), new Float32Array(27)]},
  say: () => '',
});
expect(seen.items.filter((one) => one.fill === 'rgb(128,128,128)').length === 27, 'of all three');

// ---- the number of a bar overlaps no tick; small weights of long inputs are shaded by root
const beside = page.bars({
  about, width: 500, unit: 'mass', low: 0, high: 1, tickName: 'chance',
  rows: [{name: 'a', value: 0.001, tick: 0.2}, {name: 'b', value: 1, tick: 0.97}],
});
const ticks = beside.items.filter((item) => item.type === 'line' && item.thick === 2);
const ends = beside.items.filter((item) => item.text === '0.001' || item.text === '1');
expect(ends.length === 2 && ticks.length === 2, 'two bars');
expect(ends.every(({x}) => ticks.every(({points: [[at]]}) => x > at + 4)), 'a number beside a tick');
const long = new Float32Array(1024);
[long[0], long[1023], long[1022]] = [1, 0.25, 0.01];
const {root, top} = page.shaded({values: long, rows: 32, cols: 32});
expect(root && top === 0.25, `shaded ${root} up to ${top}`);
const five = page.plot({
  about, width: 600, series: [{name: 'a', points: [[0, 1], [100, 2]]}], x: {label: 'x'},
  y: {label: 'y'}, lines: [1, 2, 3, 4, 5].map((x) => ({x, name: `role at ${x}`})),
});
const names = five.items.filter((item) => /role at/.test(item.text));
expect(new Set(names.map(({y}) => y)).size === 5, 'a name stands above the lines that it reaches');

// ---- the axes of a plot, its intervals and its marks, at places computed here
const near = (a, b) => Math.abs(a - b) < 1e-6;
/// The numbers of the y axis, {value: y}, which stand to the left of its frame.
const numbersOfY = (picture) => Object.fromEntries(picture.items
  .filter((one) => one.type === 'text' && one.anchor === 'end' && one.x === 49)
  .map(({text, y}) => [text.replace('−', '-'), y]));
const axis = (y, points = [[0, 1]], more = {}) => page.plot(
  {about, width: 400, x: {label: 'x', low: 0, high: 10}, y, series: [{name: '', points}], ...more});
const decades = axis({label: 'y', log: true, low: 0.05, high: 20});
const byNumber = numbersOfY(decades);
expect(Object.keys(byNumber).sort((a, b) => a - b).join() === '0.05,0.1,0.2,0.5,1,2,5,10,20',
  `1, 2, 5 and powers of ten: ${Object.keys(byNumber)}`);
expect(near(byNumber['0.1'] - byNumber['1'], byNumber['1'] - byNumber['10']), 'decades are as long');
expect(near((byNumber['1'] - byNumber['2']) / (byNumber['1'] - byNumber['10']), Math.log10(2)), 'by logarithms');
const crowded = Object.keys(numbersOfY(axis({label: 'y', log: true, low: 1e-9, high: 1})));
expect(crowded.length === 10 && crowded.every((text) => !/^[25]/.test(text)), `only powers: ${crowded}`);
const plain = numbersOfY(axis({label: 'y', low: -1, high: 1}));
expect(near(plain['0'], (plain['-1'] + plain['1']) / 2), 'a plain axis is even');
const zeros = (low) => axis({label: 'y', low, high: 1}).items.filter((one) => one.stroke === 'edge').length;
expect(zeros(-1) === 1 && zeros(0) === 0, 'a line at 0 where both signs are');
expect(Object.keys(numbersOfY(axis({label: 'y', low: 0, high: 9, ticks: [3, 7]}))).join() === '3,7', 'own ticks');
const marked = axis({label: 'y', low: 0, high: 10}, [[2, 5, 4, 7], [8, 1, -3, 2], [9, 6]]);
const toY = (v) => numbersOfY(marked)['0'] - v * (numbersOfY(marked)['0'] - numbersOfY(marked)['10']) / 10;
const intervals = marked.items.filter((one) => one.type === 'line' && one.thick === 1.5);
const whole = intervals.find(({points}) => points.length === 2);
expect(near(whole.points[0][1], toY(4)) && near(whole.points[1][1], toY(7)), 'an interval from 4 to 7');
expect(near(whole.points[0][0], whole.points[1][0]), 'an interval is upright');
expect(intervals.length === 3, `two intervals, one goes on below the frame: ${intervals.length}`);
const arrow = intervals.find(({points}) => points.length === 3);
expect(near(arrow.points[1][1], toY(0)) && arrow.points[0][1] < toY(0), 'with an arrow at the frame');
const dots = marked.items.filter((one) => one.type === 'dot');
expect(dots.length === 3 && near(dots[2].y, toY(6)), 'a point without an interval has its dot');
expect(near((dots[2].x - dots[1].x) * 6, dots[1].x - dots[0].x), 'dots stand at their x');
expect(marked.marks.text(0, 0).includes('(4 to 7)') && !marked.marks.text(0, 2).includes('to'), 'intervals are said');
const [mx, my] = marked.marks.box(0, 1);
expect(marked.marks.find(mx + 5, my + 5).join() === '0,1', 'the nearest mark is found');
expect(marked.marks.find(mx + 45, my - 60) === null, 'a place far from all marks finds none');
const two = page.plot({about, width: 400, x: {label: 'x', low: 0, high: 10}, y: {label: 'y', low: 0, high: 9},
  series: ['a', 'b'].map((name) => ({name, points: [[5, 4, 3, 5]], line: false}))});
const stems = two.items.filter((one) => one.type === 'line' && one.thick === 1.5).map(({points}) => points[0][0]);
expect(near(stems[1] - stems[0], 4), `intervals of two series stand side by side: ${stems}`);
const some = page.bars({about, width: 400, unit: 'nats', low: 0, high: 4, tickName: 'chance',
  rows: [{name: 'a', value: 1, low: 0.5, high: 2}, {name: 'b', value: 3}, {name: 'c', value: NaN, tick: 2}]});
expect(some.table().head.join() === ',nats,low,high,chance', 'one row has an interval');
expect(JSON.stringify(some.table().rows) === '[["a",1,0.5,2,""],["b",3,"","",""],["c","","","",2]]', 'the others are blank');
const stretch = some.items.filter((one) => one.type === 'line' && one.thick === 1.5);
const boxes = some.items.filter((one) => one.type === 'rect');
expect(stretch.length === 1 && boxes.length === 2, 'one interval, two bars');
expect(near(boxes[1].w, 3 * boxes[0].w), 'bars are as long as their values');
const [[from], [to]] = stretch[0].points;
expect(near(to - from, 1.5 * boxes[0].w) && near(from - boxes[0].x, 0.5 * boxes[0].w), 'an interval from .5 to 2');
expect(some.marks.text(0).includes('(0.5 to 2)') && !some.marks.text(1).includes('('), 'only where there is one');
expect(some.marks.find(200, 6 + 22).join() === '1,0' && some.marks.find(200, 0) === null, 'rows from above');

/// The first place where a text is not well-formed XML, or null.
function illFormed(text) {
  const stack = [];
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text) || !text.isWellFormed?.() === true)
    return 'characters';
  for (const [whole, close, name, attributes, empty] of text.matchAll(
    /<(\/?)([A-Za-z]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|<|&(?!(?:amp|lt|gt|quot);)/g,
  )) {
    if (!name) return whole;
    if (close ? stack.pop() !== name : false) return whole;
    if (!close && !empty) stack.push(name);
    if (/NaN|Infinity|undefined/.test(attributes)) return whole;
  }
  return stack.length ? stack.join() : null;
}
for (const picture of pictures) {
  const text = page.svg(picture, palettes[0], 'command: headlab <x>');
  expect(illFormed(text) === null, `SVG of ${picture.name}: ${illFormed(text)}`);
  expect(/<metadata>command: headlab &lt;x&gt;/.test(text), 'an SVG says how it came about');
  expect(Array.isArray(picture.table().rows), 'a picture has a table');
  for (let r = 0; r < picture.marks.rows; ++r)
    for (let c = 0; c < picture.marks.cols(r); ++c)
      expect(picture.marks.box(r, c).every(Number.isFinite), 'a mark has a place');
}
expect(illFormed('<a><b></a>') !== null && illFormed('<a>&x</a>') !== null, 'the check of SVG can fail');
const cell = pictures[0].marks.box(7, 4);
expect(JSON.stringify(pictures[0].marks.find(cell[0] + 1, cell[1] + 1)) === '[7,4]', 'a place finds its cell');
const [hostileMatrix, emptyMatrix, plot, emptyPlot, bars] = pictures;
const drawn = {
  matrix_of_hostile_names: hostileMatrix, matrix_empty: emptyMatrix, plot, plot_empty: emptyPlot, bars,
  matrix_of_40_columns: wide, matrix_of_vectors: seen, bars_with_ticks: beside, plot_with_five_marks: five,
};
const [, , folder] = process.argv;
if (folder) {
  for (const [name, picture] of Object.entries(drawn))
    fs.writeFileSync(`${folder}/${name}.svg`, page.svg(picture, palettes[0], ''));
}

// ---- what is drawn on a canvas: the calls that it gets, item by item
function painted(item) {
  const context = recorder();
  page.paint(context, {width: 9, height: 9, items: [item]}, {paper: '#fff', s0: '#123456'});
  return context.calls.map((call) => JSON.stringify(call));
}
const drawnOf = (item) => painted(item).filter((call) => !/=|setLineDash|fillRect/.test(call)).join(' ');
const dot = (shape, more) => ({type: 'dot', shape, x: 10, y: 20, r: 4, fill: 's0', ...more});
expect(drawnOf(dot('circle')) === `["beginPath"] ["arc",10,20,4,0,${2 * Math.PI}] ["fill"]`, 'a disc');
expect(drawnOf(dot('square')) === '["beginPath"] ["moveTo",6,16] ["lineTo",14,16] ["lineTo",14,24] ' +
  '["lineTo",6,24] ["closePath"] ["fill"]', 'a square is closed and filled');
expect(drawnOf(dot('cross', {fill: null, stroke: 's0'})) === '["beginPath"] ["moveTo",6,16] ' +
  '["lineTo",14,24] ["moveTo",14,16] ["lineTo",6,24] ["closePath"] ["stroke"]', 'a cross is two lines');
for (const [shape, corners] of [['diamond', 4], ['triangle', 3]])
  expect(drawnOf(dot(shape)).split('To"').length - 1 === corners, `corners of a ${shape}`);
const line = {type: 'line', points: [[1, 2], [3, 4]], stroke: 's0', thick: 3, dash: [1, 2], alpha: 0.5};
expect(drawnOf(line) === '["beginPath"] ["moveTo",1,2] ["lineTo",3,4] ["stroke"]', 'a line stays open');
for (const call of ['["setLineDash",[1,2]]', '["lineWidth =",3]', '["globalAlpha =",0.5]',
  '["strokeStyle =","#123456"]'])
  expect(painted(line).includes(call), `a line is told ${call}`);
expect(painted(line).slice(-2).join() === '["globalAlpha =",1],["setLineDash",[]]', 'the next begins plain');
expect(drawnOf({type: 'text', text: 'a', x: 1, y: 2, fill: 's0', turn: 90}) ===
  `["save"] ["translate",1,2] ["rotate",${Math.PI / 2}] ["fillText","a",0,0] ["restore"]`, 'a text');
for (const [anchor, align] of [['middle', 'center'], ['end', 'right'], [undefined, 'left']])
  expect(painted({type: 'text', text: 'a', x: 1, y: 2, anchor}).includes(`["textAlign =","${align}"]`), align);

// ---- tokens that are typed: the truth of `relations`, the first position included
const typed = {
  name: 'relations', spec: 'relations:length=4,vocab=8,classes=2', targets: 4,
  relations: ['back1', 'back3', 'same', 'next'].map((name) => ({name, kind: 'self'})),
};
const truth = truthOf(typed, [4, 1, 2, 7]);
const keysOf = (r) => [0, 1, 2, 3].map((t) => Array.from(truth.truth(r, t)).join('+')).join();
for (const [r, keys] of [',0,1,2', ',,,0', ',,0,1', '1,2,3,'].entries())
  expect(keysOf(r) === keys, `keys of ${typed.relations[r].name}: ${keysOf(r)}, not ${keys}`);
const targets = Array.from(truth.targets).join();
expect(targets === '-1,-1,-1,1,4,-1,-1,2,1,-1,4,7,2,4,1,-1', `right answers of typed tokens: ${targets}`);
expect(truthOf({...typed, name: 'text'}, [1, 2]) === null, 'other tasks have rules that a page lacks');

// ---- random edges: as many as a relation has, none of them an edge of any relation
const asks = {attentionLayers: [{kind: 'self', window: 0}], task: {
  causal: true, length: 8, relations: [{name: 'a', kind: 'self'}, {name: 'b', kind: 'self'}]}};
const given = [{5: [0, 1], 7: [2, 3, 4], 2: [0, 1]}, {5: [2], 7: [0], 1: [0]}];
const asked = {index: 3, tokens: new Int32Array(8), length: 8, truth: (r, t) => given[r][t] || []};
const drawnEdges = new Set();
for (let one = 0; one < 20; ++one) {
  const flags = randomEdges(asks, asked, 0, 0, one);
  const row = (t) => [0, 1, 2, 3, 4, 5, 6, 7].filter((s) => flags[t * 8 + s]);
  expect(row(5).length === 2 && row(5).every((s) => s > 2 && s <= 5), `two edges at 5: ${row(5)}`);
  expect(row(7).length === 3 && row(7).every((s) => s === 1 || s > 4), `three edges at 7: ${row(7)}`);
  expect(row(2).join() === '2', `no more than there are: ${row(2)}`);
  expect([0, 1, 3, 4, 6].every((t) => !row(t).length), 'none where nothing is asked');
  drawnEdges.add(row(5).join());
}
expect(drawnEdges.size === 3, `all pairs of three come about: ${[...drawnEdges].join(' ')}`);

// ---- the axes of points on a line, and of some next to it
const {axes, share} = pca(Float64Array.of(3, 4, -3, -4, -0.4, 0.3, 0.4, -0.3), 4, 2);
const found = [...axes[0], ...axes[1], ...share].map((number) => number.toFixed(4)).join();
expect(found === '0.6000,0.8000,0.8000,-0.6000,0.9901,0.0099', `axes of points: ${found}`);

// ---- tables and files
const quoted = page.csv({head: ['a', 'b,c'], rows: [['=1+1', 2], ['say "x"', -1.5], ['-1', '@']]});
expect(quoted === 'a,"b,c"\r\n=1+1,2\r\n"say ""x""",-1.5\r\n-1,@\r\n', 'CSV quotes, and leaves words');
const dense = new Float32Array(100);
dense[57] = 1;
expect(Math.max(...page.pooled(dense, 10, 10, 4).values) === 1, 'no bright cell vanishes');
expect(page.ticks(0, 1).length === 6, 'ticks are round');
expect(page.digits(0.00045372) === '0.0004537' && page.digits(NaN) === '–', 'four digits');

// ---- weights: never a power of ten
for (const [weight, words, places] of [[6.67e-15, '<\u00a00.001'], [0.00099, '<\u00a00.001'],
  [0, '0'], [0.0012, '0.0012'], [0.876, '0.88'], [1, '1'], [6.67e-15, '<\u00a00.0001', 4],
  [0.00099, '0.00099', 4]]) {
  const said = charts.weightText(weight, places);
  expect(said === words, `a weight of ${weight}: ${said}`);
}

for (const problem of problems.slice(0, 20)) console.log(problem);
process.exit(problems.length ? 1 : 0);
