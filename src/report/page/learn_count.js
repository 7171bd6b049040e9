// Lesson 5: how many parameters attention has, what that depends on, and what published models chose.

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
      `d_k ${made.dk}, d_v ${made.dv}, ${made.kv} block${made.kv > 1 ? 's' : ''} of keys and values`,
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

function modelsPicture(width) {
  const rows = modelRows();
  const r = (x) => 2 + Math.sqrt(x.d_head) / 2.2;
  return plot({
    width, height: 340, names: false,
    series: rows.map((x) => ({
      name: x.name, points: [[x.d_model, x.heads]], line: false, r: r(x), hollow: true,
      color: x.own ? 's1' : x.kv_heads < x.heads ? 's2' : 's0',
      shape: x.own ? 'diamond' : x.kv_heads < x.heads ? 'square' : 'circle',
    })),
    x: {label: 'd_model (log)', log: true}, y: {label: 'heads (log)', log: true},
    about: {
      name: 'published', title: 'Published models',
      sentence:
        'Larger marks have wider heads; squares share keys between heads. Most heads are 64 or 128 wide, whatever d is: a habit, not a law.',
    },
    say: (i) =>
      `${rows[i].name}: d ${rows[i].d_model}, ${rows[i].heads} heads of width ${rows[i].d_head}, ${grouped(modelCount(rows[i]))} parameters a layer`,
  });
}

LESSONS[4] = {
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
            `headlab cost --d-model ${countNow().d} --heads ${countNow().H}${countNow().kv > 0 ? ` --kv-heads ${countNow().kv}` : ''}`,
        ),
      ),
      figure(modelsPicture, {id: 'published', most: 640, again: 'headlab cost --published'}),
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
