// Tokens to edit, answers to read, pairs of heads, and a guess at the heads that suffice.

/// The tokens of the example; a choice of the vocabulary replaces the one that was picked.
function tokenEditor() {
  let picked = null;
  const list = el('select',
    {
      id: 'edit-token', 'aria-label': 'new token',
      onchange: (event) =>
        picked !== null && go({edit: {...app.state.edit, [picked]: Number(event.target.value)}}),
    },
    task()
      .facts.tokens.slice(0, 500)
      .map((words, v) => el('option', {value: v}, visible(words))),
  );
  const places = (list, first, most) =>
    Array.from(list || [])
      .slice(0, Math.min(most, 128))
      .map((v, at) => [v, first + at]);
  const tokens = dynamic('div', {class: 'tokens', id: 'tokens'}, () =>
    [
      ...places(example().source, example().tokens.length, example().sourceLength),
      ...places(example().tokens, 0, example().length),
    ].map(([v, i]) =>
      button(visible(task().facts.tokens[v] ?? String(v)),
        () => {
          picked = i;
          list.value = String(v);
          list.focus();
          say(`Position ${i}: choose another token.`);
        },
        {
          id: `token-${i}`, class: app.state.edit[i] !== undefined ? 'edited' : null,
          'aria-label': `position ${i}: ${visible(task().facts.tokens[v] ?? '')}`,
        },
      ),
    ),
  );
  return el('div', null, el('h3', null, 'Tokens'),
    el('p', {class: 'small muted'}, 'Pick a token, then another in its place. ',
      dynamic('span', null, () =>
        Object.keys(app.state.edit).length && !example().gold(0, 0) && task().facts.relations.length
          ? 'The truth of an edited example is not known for this task, so none is drawn.'
          : '',
      ),
    ),
    tokens, list, ' ', button('As it was', () => go({edit: {}})),
  );
}

/// What the model answers at one position: each question, the right token, and what it thinks.
function answers() {
  const pass = trace();
  if (!pass?.logits) return [];
  const {vocab, target_names: names, tokens} = task().facts;
  const shown = example();
  const t = Math.min(app.state.q[0] ?? shown.length - 1, shown.length - 1);
  if (t < 0) return [];
  const rows = names.map((name, k) => {
    const logits = Array.from(
      pass.logits.subarray((t * names.length + k) * vocab, (t * names.length + k + 1) * vocab),
    );
    const top = Math.max(...logits);
    const total = logits.reduce((sum, v) => sum + Math.exp(v - top), 0);
    const order = logits
      .map((v, i) => [v, i])
      .sort((a, b) => b[0] - a[0])
      .slice(0, 3);
    const right = shown.targets ? shown.targets[t * names.length + k] : -1;
    return [
      name, right < 0 ? '–' : quoted(tokens[right]),
      order[0][1] === right ? '✓' : right < 0 ? '' : '✗',
      order
        .map(([v, i]) => `${quoted(tokens[i])} ${(Math.exp(v - top) / total).toFixed(3)}`)
        .join('  '),
    ];
  });
  return tableOf(
    {head: ['question', 'right', '', 'the model says (probability)'], rows},
    `Answers at position ${t}${app.state.q.length ? '' : ' (the last; lock a query in the pattern to choose)'}`,
  );
}

/// Two heads off: is the loss more than the sum of what each costs?
function pairNode() {
  const off = Object.keys(app.state.gates).filter((at) => app.state.gates[at] === 0);
  if (off.length !== 2 || Object.keys(app.state.gates).length !== 2)
    return el('p', {class: 'small muted'},
      'Switch exactly two heads off to see whether they cost more together than each alone.',
    );
  const one = (at) => core.subsetLoss(run(), gateArray({[at]: 0}));
  const [a, b, both, none] = [
    one(off[0]), one(off[1]), measured.result?.loss,
    core.subsetLoss(run(), run().modules.map((x) => new Float32Array(x.heads.length).fill(1))),
  ];
  if ([a, b, both, none].some((v) => v == null) || app.state.repl !== 'zero')
    return el('p', {class: 'small muted'}, 'Pairs: ', code(`headlab ablate ${run().name} --pairs`));
  const sum = a + b - 2 * none;
  return tableOf(
    {
      head: ['silenced', 'rise of the loss'],
      rows: [
        [off[0], a - none], [off[1], b - none], ['sum of the two', sum],
        ['both at once', both - none], ['beyond the sum', both - none - sum],
      ],
    },
    `Heads ${off.join(' and ')}`,
  );
}

/// Ranks the reader's set of heads among all sets of its size, when asked.
function guessNode() {
  const subsets = run().reports.curve?.subsets;
  if (!subsets) return el('p', {class: 'small muted'}, 'Which heads suffice? ', oracleHint());
  const kept = subsets.heads.map(([m, born]) => (app.state.gates[`${m}.${born}`] ?? 1) > 0);
  const size = kept.filter(Boolean).length;
  const mine = kept.reduce((bits, on, i) => bits + (on ? 2 ** i : 0), 0);
  const same = subsets.losses
    .map((loss, i) => [loss, i])
    .filter(([, i]) => i.toString(2).replace(/0/g, '').length === size)
    .sort((a, b) => a[0] - b[0]);
  const names = (bits) =>
    subsets.heads
      .filter((_, i) => Math.floor(bits / 2 ** i) % 2)
      .map((h) => h.join('.'))
      .join(' ') || 'none';
  const rank = same.findIndex(([, i]) => i === mine) + 1;
  return el('details', {id: 'guess'},
    el('summary', null,
      `Guess first: which ${size} heads suffice? Switch the others off, then open this.`,
    ),
    el('p', null,
      `Your ${size} heads (${names(mine)}) are number ${rank} of ${same.length} sets of that size: loss ${digits(subsets.losses[mine])}. The best is ${names(same[0][1])}: ${digits(same[0][0])}. Your regret: ${digits(subsets.losses[mine] - same[0][0])} nats.`,
    ),
  );
}
