// Lesson 5: how many parameters attention has, what that depends on, and what published models
// chose.
import {forwardPass} from './core_pass.js';
import {range} from './draw.js';
import {digits, plot, rect, small, tableNumber, textWidth} from './charts.js';
import {button, dynamic, el, figure, live, note, tableOf} from './ui.js';
import {
  app, example, exampleIndex, go, headsOf, isLive, memo, ownedBy, run, task, where,
} from './state.js';
import {patternOf} from './pattern.js';
import {headCount} from './training.js';
import {
  attentionSizes, diversityOf, entropyOf, focusOf, headsOfWorld, isUniform,
} from './worlds.js';
import {
  controlRow, fixed, headNames, isRunWorld, lab, labChoice, lessonFacts, lessonWorld, setLab,
  weightsPicture,
} from './learn.js';
import {explainCommand} from './lesson_vectors.js';

const COUNT_FIELDS = [
  ['d', 'd', 512, 1, 65536, 'width of a token'], ['H', 'H', 8, 1, 1024, 'heads'],
  ['dk', 'd_k', 0, 0, 65536, 'width of queries and keys; 0: floor(d / H)'],
  ['dv', 'd_v', 0, 0, 65536, 'width of values; 0: floor(d / H)'],
  ['kv', 'kv_heads', 0, 0, 1024, 'blocks of keys and values; 0: one for each head'],
];
const countNow = () => ({
  ...Object.fromEntries(COUNT_FIELDS.map(([key, , initial]) => [key, lab(key, initial)])),
  bias: lab('bias', 1) === 1,
});
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

function countField([key, name, initial, min, max, what]) {
  const input = el('input', {
    type: 'number', id: `count-${key}`, min, max, step: 1, class: 'short', title: what,
    'aria-label': `${name}: ${what}`,
    oninput: (event) =>
      setLab({[key]: event.target.value === '' ? -1 : Number(event.target.value)}),
  });
  live(() => {
    if (document.activeElement !== input) input.value = lab(key, initial);
  });
  return el('label', null, `${name} `, input);
}

function countTable() {
  const now = countNow();
  const made = attentionSizes(now);
  if (made.error) return note(made.error);
  return [
    made.note && note(made.note),
    el('p', null, el('span', {class: 'big', id: 'count-total'}, grouped(made.total)),
      ' parameters in one layer of attention',
    ),
    tableOf(
      `d_k ${made.dk}, d_v ${made.dv}, ${made.kv} block${made.kv > 1 ? 's' : ''} of keys and ` +
        `values`,
      ['matrix', 'shape', now.bias ? 'entries + biases' : 'entries'],
      made.matrices.map((x) => [x.name, `[${x.rows}, ${x.cols}]`, grouped(x.count)]),
    ),
    tableOf(`What changes with H at d = ${now.d} (d_k = floor(d / H))`,
      ['H', 'd_k', 'parameters', 'weights for 1024 tokens', 'kept per token while generating'],
      [1, 2, 4, 8, 16, 32]
        .map((H) => ({H, ...attentionSizes({d: now.d, H, bias: now.bias})}))
        .filter((x) => !x.error)
        .map(({H, dk, total, cache}) => [
          String(H), String(dk), grouped(total), grouped(H * 1024 * 1024), grouped(cache),
        ]),
    ),
  ];
}

const modelRows = () =>
  [
    ...lessonFacts().models,
    ...(app.page.runs.length
      ? [
          {
            name: `this run: ${run().name}`, d_model: run().config.d_model,
            heads: run().modules[0]?.born || 0, kv_heads: run().modules[0]?.kvBlocks.length || 0,
            d_head: run().modules[0]?.dHead || 0, source: 'its configuration', own: true,
          },
        ]
      : []),
  ].filter((x) => x.heads > 0);
const modelCount = (x) =>
  attentionSizes({
    d: x.d_model, H: x.heads, dk: x.d_head, dv: x.d_head, kv: x.kv_heads, bias: false,
  }).total;

export const countLesson = {
  build(main) {
    const bias = el('input', {
      type: 'checkbox', id: 'count-bias',
      onchange: (event) => setLab({bias: Number(event.target.checked)}),
    });
    live(() => {
      bias.checked = lab('bias', 1) === 1;
    });
    main.append(
      controlRow(...COUNT_FIELDS.map(countField), el('label', null, bias, ' biases')),
      controlRow(
        ...[[512, 8], [768, 12], [512, 7], [4, 8]].map(([d, H]) =>
          button(`${d} / ${H}`, () => setLab({d, H, dk: 0, dv: 0, kv: 0, bias: 1}), {
            id: `count-${d}-${H}`,
          }),
        ),
      ),
      dynamic('div', {id: 'count'}, countTable),
      el('p', {class: 'again'}, 'again: ',
        dynamic('code', null,
          () =>
            `headlab cost --d-model ${countNow().d} --heads ` +
              `${countNow().H}${countNow().kv > 0 ? ` --kv-heads ${countNow().kv}` : ''}`,
        ),
      ),
      tableOf('Attention of published models, without biases',
        ['model', 'd', 'heads', 'kv_heads', 'd_k', 'parameters a layer', 'source'],
        modelRows().map((x) => [
          x.name, ...[x.d_model, x.heads, x.kv_heads, x.d_head].map(String),
          grouped(modelCount(x)), x.source,
        ]),
      ),
    );
  },
};
// Lesson 7: the same width in 1, 2 or 4 heads; focus and diversity of heads with random weights, as
// an
// article prints them, and of the trained models of this page.

const splitNow = (world) => {
  const H = lab('heads', world.heads);
  return {H, heads: headsOfWorld(world, H)};
};

function splitTable(world) {
  const {H, heads} = splitNow(world);
  const n = world.keys.length;
  const uniform = heads.map((head) => head.weights.filter(isUniform).length);
  const all = uniform.reduce((a, b) => a + b, 0);
  return [
    el('p', {id: 'uniform-rows'},
      `d_k = ${heads[0].q[0].length}. ${all} of ${H * world.tokens.length} rows are ` +
        `uniform${all ? ', because their query is 0' : ''}; diversity ` +
        `${fixed(diversityOf(heads.map((head) => head.weights)))}.`,
    ),
    tableOf(`Entropy of uniform attention over ${n} keys: ln ${n} = ${fixed(Math.log(n), 3)}`,
      ['head', 'entropy', 'focus', 'uniform rows'],
      heads.map(({weights}, h) => [
        headNames(world, H)[h], ...entropyCells(weights), String(uniform[h]),
      ]),
    ),
  ];
}

/// A pattern's entropy and focus.
const entropyCells = (weights) => [
  fixed(entropyOf(weights), 3), `${fixed(100 * focusOf(weights), 1)} %`,
];

/// How diverse the heads of a run are, by heads.json.
function diversityOfRun({reports}) {
  const rows = reports.heads?.distances || [];
  const all = rows.flatMap((row, i) => row.slice(i + 1)).filter((v) => v != null);
  return {heads: rows.length, mean: all.reduce((a, b) => a + b, 0) / (all.length || 1), seeds: []};
}

/// How diverse trained heads are: of a sweep by the number of heads, with every seed and the
/// interval
/// over seeds; else of each run of the page.
export function trainedDiversity() {
  const groups = (app.page.facts.sweep?.groups || []).filter(
    (g) => g.diversity?.mean != null && headCount(g) >= 0,
  );
  return groups.length
    ? groups.map((g) => ({
        heads: headCount(g), mean: g.diversity.mean, half: g.diversity.half_width,
        seeds: g.diversities,
      }))
    : app.page.runs.map(diversityOfRun).filter((x) => x.heads);
}

function diversityWords(trained) {
  if (!trained.length) return '';
  const values = trained
    .filter((x) => x.heads > 1)
    .map((x) => `${x.heads}: ${fixed(x.mean, 3)}${x.half != null ? ` ± ${fixed(x.half, 3)}` : ''}`);
  const over = trained[0].seeds.length
    ? `95 % intervals over ${trained[0].seeds.length} seeds, Student’s t; crosses: single seeds`
    : 'one model each, so there is no interval: a sweep has several seeds';
  const most = trained.reduce((a, b) => (b.mean > a.mean ? b : a));
  return ` Trained: ${values.join(', ')} (${over}); largest with ${most.heads}.`;
}

export const randomWorld = (name) => lessonFacts().random.find((one) => one.name === name);

function diversityPicture(width) {
  const random = randomWorld('diversity').counts.map((x) => [x.heads, diversityOf(x.patterns)]);
  const trained = trainedDiversity();
  return plot({
    width, height: 300,
    series: [
      {name: 'random weights', points: random, color: 's5', shape: 'cross', dash: [2, 3]},
      {
        name: 'trained', line: trained.some((x) => x.seeds.length), color: 's1', shape: 'diamond',
        r: 5,
        points: trained.map(({heads, mean, half}) =>
          half == null ? [heads, mean] : [heads, mean, mean - half, mean + half],
        ),
      },
      {
        name: 'single seeds', line: false, color: 's1', shape: 'cross', r: 3,
        points: trained.flatMap((x) => x.seeds.map((v) => [x.heads, v])),
      },
    ].filter((s) => s.points.length),
    x: {label: 'heads', names: [...new Set([1, 2, 4, 8, ...trained.map((x) => x.heads)])]},
    y: {label: 'mean JS distance', low: 0, high: 0.84},
    about: {
      name: 'diversity', title: 'Diversity against the number of heads',
      sentence: `Random weights: ${random.map(([h, v]) => `${h}: ${fixed(v)}`).join(', ')}. It ` +
        `does not grow from 2 to 8.${diversityWords(trained)}`,
    },
  });
}

function entropyTable() {
  const {counts, tokens} = randomWorld('entropy');
  return tableOf(
    `Four heads with random weights on “${tokens.join(' ')}”; uniform attention has ln ` +
      `${tokens.length} = ${fixed(Math.log(tokens.length), 3)}`,
    ['head', 'entropy', 'focus'],
    counts[0].patterns.map((p, h) => [String(h + 1), ...entropyCells(p)]),
  );
}

/// The trained models of the task shown, from few heads to many.
const familyOf = () =>
  app.page.runs
    .map((r) => ({r, heads: headsOf(r)}))
    .filter(
      ({r, heads: {length}}) =>
        isLive(r) && r.task === task() && r.modules.length === run().modules.length &&
        length > 0 && length <= 16,
    )
    .sort((a, b) => a.heads.length - b.heads.length);

export const familyPatterns = memo(where, () =>
  familyOf().map(({r, heads}) => {
    const pass = forwardPass(r.model, example(), {});
    const maps = heads.map((x) => ({...x, ...patternOf(pass, x.m, x.place), owns: ownedBy(x, r)}));
    return {r, maps};
  }),
);

/// All heads of all models on one input: a row for each model.
function familyPicture(width) {
  const family = familyPatterns();
  const most = Math.max(...family.map(({maps}) => maps.length));
  const relations = task().relations.length;
  const [left, gap, foot] = [76, 6, 30];
  const side = Math.min(104, (width - left) / most - gap);
  const box = (i, h) => [left + h * (side + gap), 4 + i * (side + foot), side, side];
  const marked = (owns, room) => {
    const words = owns.join(' ') || '–';
    return textWidth(words, 11) > room ? '★'.repeat(owns.length) : words;
  };
  const items = family.flatMap(({r, maps}, i) => [
    small(0, box(i, 0)[1] + 8, `${maps.length} head${maps.length > 1 ? 's' : ''}`, {
      bold: true, fill: 'ink',
    }),
    small(0, box(i, 0)[1] + 24, `loss ${digits(r.facts.evaluation.loss, 2)}`),
    ...maps.flatMap((map, h) => {
      const [x, y, w] = box(i, h);
      return [
        {type: 'map', x, y, w, h: w, kind: 'weight', top: 1, ...map},
        rect(x, y, w, w, {stroke: 'edge'}),
        small(x, y + w + 9, marked(map.owns, w + gap), {
          bold: map.owns.length > 0, fill: map.owns.length ? 'ink' : 'muted',
        }),
      ];
    }),
  ]);
  const owned = ({maps}) => new Set(maps.flatMap((map) => map.owns)).size;
  const ownedHere = ({owns}) => owns.join(' ') || 'nothing';
  return {
    name: 'family',
    title: `${family.length} trained models on example ${exampleIndex()}`,
    sentence: `Below a head: what it owns (★: no room). Relations that are owned, of ` +
      `${relations}: ${family.map((x) => `${owned(x)} with ${x.maps.length}`).join(', ')} ` +
      `heads. Choose one to see its model.`,
    width, height: 4 + family.length * (side + foot), items,
    table: () => ({
      head: ['heads', 'loss', 'head', 'owns'],
      rows: family.flatMap(({r, maps}) =>
        maps.map((map) => [
          maps.length, tableNumber(r.facts.evaluation.loss), map.at, ownedHere(map),
        ]),
      ),
    }),
    marks: {
      rows: family.length, cols: (i) => family[i].maps.length, box,
      find(x, y) {
        const [i, h] = [Math.floor((y - 4) / (side + foot)), Math.floor((x - left) / (side + gap))];
        return i >= 0 && h >= 0 && family[i]?.maps[h] ? [i, h] : null;
      },
      text: (i, h) =>
        `${family[i].maps.length} heads, head ${family[i].maps[h].at}: owns ` +
          `${ownedHere(family[i].maps[h])}`,
    },
  };
}

export const howManyLesson = {
  get always() {
    return familyOf().length > 1 ? ['ex'] : null;
  },
  worlds: ['five-tokens', 'cat-sleeps', 'run'],
  build(main) {
    const world = lessonWorld();
    const choices = isRunWorld() ? [world.heads] : [1, 2, 4];
    main.append(
      controlRow(labChoice('heads', 'Heads', choices.map((H) => [H, String(H)]), world.heads)),
      dynamic('div', {id: 'split'}, () => splitTable(world)),
      el('div', {class: 'columns three', id: 'split-heads'},
        range(Math.max(...choices), (h) =>
          figure(
            (width) => {
              const {H, heads} = splitNow(world);
              return h < H
                ? weightsPicture(width, world, heads[h].weights, {
                    name: `split-${h}`, title: `Head ${headNames(world, H)[h]}`,
                  })
                : null;
            },
            {id: `split-${h}`, most: isRunWorld() ? 280 : 380, again: explainCommand},
          ),
        ),
      ),
      el('div', {class: 'columns'}, el('div', {id: 'entropy'}, entropyTable()),
        figure(diversityPicture, {id: 'diversity', most: 600}),
      ),
    );
    if (familyOf().length > 1)
      main.append(
        figure(familyPicture, {
          id: 'family', most: 960, again: app.page.facts.sweep?.command,
          choose(i, h) {
            const {r, maps} = familyPatterns()[i];
            const number = app.page.runs.indexOf(r) + 1;
            go({world: 'run', run: number, h: maps[h].at, ex: exampleIndex(), lab: {}});
          },
        }),
      );
  },
};
