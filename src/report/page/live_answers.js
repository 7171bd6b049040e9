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
    task().tokens.slice(0, 500).map((words, v) => el('option', {value: v}, visible(words))),
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
      button(visible(task().tokens[v] ?? String(v)),
        () => {
          picked = i;
          list.value = String(v);
          list.focus();
          say(`Position ${i}: choose another token.`);
        },
        {
          id: `token-${i}`, class: app.state.edit[i] !== undefined ? 'edited' : null,
          'aria-label': `position ${i}: ${visible(task().tokens[v] ?? '')}`,
        },
      ),
    ),
  );
  return el('div', null, el('h3', null, 'Tokens'),
    aside('Pick a token, then another in its place. ',
      dynamic('span', null, () =>
        Object.keys(app.state.edit).length && !example().gold(0, 0) && task().relations.length
          ? 'The truth of an edited example is not known for this task, so none is drawn.'
          : '',
      ),
    ),
    tokens, list, ' ', button('As it was', () => go({edit: {}})),
  );
}

/// The logits of the k-th question at a position, [vocab].
function logitsAt(pass, t, k) {
  const {vocab, target_names: names} = task();
  return pass.logits.subarray((t * names.length + k) * vocab, (t * names.length + k + 1) * vocab);
}

/// The locked position of the example, else its last.
const positionShown = () => Math.min(app.state.q[0] ?? example().length - 1, example().length - 1);

/// What the model answers at one position: each question, the right token, and what it thinks.
function answers() {
  const pass = trace();
  if (!pass?.logits) return [];
  const {vocab, target_names: names, tokens} = task();
  const [shown, t] = [example(), positionShown()];
  if (t < 0) return [];
  const rows = names.map((name, k) => {
    const logits = logitsAt(pass, t, k);
    const likeliest = range(vocab).sort((a, b) => logits[b] - logits[a]);
    const top = logits[likeliest[0]];
    const total = logits.reduce((sum, v) => sum + Math.exp(v - top), 0);
    const share = (v) => (Math.exp(logits[v] - top) / total).toFixed(3);
    const right = shown.targets ? shown.targets[t * names.length + k] : -1;
    return [
      name, right < 0 ? '–' : quoted(tokens[right]),
      likeliest[0] === right ? '✓' : right < 0 ? '' : '✗',
      likeliest.slice(0, 3).map((v) => `${quoted(tokens[v])} ${share(v)}`).join('  '),
    ];
  });
  return tableOf(
    `Answers at position ${t}${app.state.q.length ? '' : ' (the last; lock a query in the pattern to choose)'}`,
    ['question', 'right', '', 'the model says (probability)'], rows,
  );
}

/// Two heads off: is the loss more than the sum of what each costs?
function pairNode() {
  const off = Object.keys(app.state.gates);
  if (off.length !== 2 || off.some((at) => app.state.gates[at] !== 0))
    return aside(
      'Switch exactly two heads off to see whether they cost more together than each alone.',
    );
  const silent = (gates) => core.subsetLoss(run(), gateArray(gates));
  const [a, b, both, none] = [
    silent({[off[0]]: 0}), silent({[off[1]]: 0}), measured.result?.loss, silent({}),
  ];
  if ([a, b, both, none].some((v) => v == null) || app.state.repl !== 'zero')
    return aside('Pairs: ', code(`headlab ablate ${run().name} --pairs`));
  const sum = a + b - 2 * none;
  return tableOf(`Heads ${off.join(' and ')}`, ['silenced', 'rise of the loss'], [
    [off[0], a - none], [off[1], b - none], ['sum of the two', sum],
    ['both at once', both - none], ['beyond the sum', both - none - sum],
  ]);
}

/// Ranks the reader's set of heads among all sets of its size, when asked.
function guessNode() {
  const subsets = subsetsOf(run());
  if (!subsets) return aside('Which heads suffice? ', oracleHint());
  const kept = subsetNames(subsets).map((at) => (app.state.gates[at] ?? 1) > 0);
  const size = kept.filter(Boolean).length;
  const mine = kept.reduce((bits, on, i) => bits + (on ? 2 ** i : 0), 0);
  const {rank, of, loss, best, bits} = rankOfSet(subsets, mine);
  const names = (set) => keptNames(subsets, set).join(' ') || 'none';
  return el('details', {id: 'guess'},
    el('summary', null,
      `Guess first: which ${size} heads suffice? Switch the others off, then open this.`,
    ),
    el('p', null,
      `Your ${size} heads (${names(mine)}) are number ${rank} of ${of} sets of that size: loss ${digits(loss)}. The best is ${names(bits)}: ${digits(best)}. Your regret: ${digits(loss - best)} nats.`,
    ),
  );
}
