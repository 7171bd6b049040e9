// Lesson 4: faders on heads, and W_O as the desk that mixes them; on a run, the logits that move.

const deskGates = (world) => range(world.heads, (h) => lab(`g${h}`, 1));
const deskMixer = (world) => (lab('mix') ? world.W_O : identity(world.v[0].length));

/// z of all heads through their faders and W_O, [T][d], and without them.
function deskOutput(world) {
  const [heads, gates, W_O] = [headsOfWorld(world), deskGates(world), deskMixer(world)];
  const faded = heads.map((head, h) => ({z: head.z.map((row) => row.map((v) => v * gates[h]))}));
  return {
    heads, now: times(besideEachOther(faded), W_O), whole: times(besideEachOther(heads), W_O),
  };
}

function deskPicture(width, world) {
  const {now, whole} = deskOutput(world);
  const t = queryOf(world);
  return bars({
    width: Math.min(width, 560), unit: 'output', tickName: 'all faders at 1',
    low: Math.min(0, ...whole.flat(), ...now.flat()),
    high: Math.max(...whole.flat(), ...now.flat()),
    rows: now[t].map((v, i) => ({name: `y${i}`, value: v, tick: whole[t][i]})),
    about: {
      name: 'desk', title: `Output of ${world.tokens[t]}`,
      sentence: `Over all tokens the output changed by ${fixed(l2(minus(whole, now)))} (L2).`,
    },
  });
}

function deskOfWorld(main, world) {
  main.append(
    controlRow(queryChoice(world),
      labChoice('mix', 'W_O', [[0, 'the identity'], [1, 'mixes (orthogonal)']]),
      ...headNames(world).map((name, h) =>
        labSlider(`g${h}`, `Head ${name}`, {words: (v) => fixed(v, 2)}),
      ),
    ),
    figure((width) => deskPicture(width, world), {
      id: 'desk', most: 560, again: explainCommand,
    }),
    dynamic('div', {id: 'desk-change'}, () => {
      const {heads, now, whole} = deskOutput(world);
      return tableOf('What faders take from the output of all tokens', ['', 'L2 of the change'], [
        ['now', fixed(l2(minus(whole, now)))],
        ...headNames(world).map((name, h) => [
          `head ${name} silent`, fixed(lossOfSilence(heads, h, deskMixer(world))),
        ]),
      ]);
    }),
  );
}

/// The logits of one answer at the query that is shown: the highest, now and with all faders at 1.
function logitsPicture(width) {
  const [now, base] = [trace(), baseTrace()];
  if (!now?.logits || !base?.logits) return noPattern();
  const {target_names: names, tokens} = task();
  const [t, k] = [positionShown(), Math.min(lab('target'), names.length - 1)];
  const [mine, before] = [logitsAt(now, t, k), logitsAt(base, t, k)];
  const right = example().targets ? example().targets[t * names.length + k] : -1;
  const order = [...before.keys()].sort((a, b) => before[b] - before[a]).slice(0, 8);
  if (right >= 0 && !order.includes(right)) order.push(right);
  return bars({
    width: Math.min(width, 560), unit: 'logit', tickName: 'all faders at 1',
    rows: order.map((v) => ({
      name: `${v === right ? '✓ ' : ''}${visible(tokens[v] ?? String(v))}`,
      value: mine[v], tick: before[v], strong: v === right,
    })),
    about: {
      name: 'logits', title: `Logits of ${names[k]} at position ${t}`,
      sentence:
        right >= 0
          ? `The right answer is ${quoted(tokens[right])}: ${digits(mine[right])} now, ${digits(before[right])} with all faders at 1.`
          : 'There is no right answer here.',
    },
  });
}

LESSONS[3] = {
  worlds: ['five-tokens', 'cat-sleeps', 'run'], uses: ['ex'],
  build(main) {
    if (!isRunWorld()) return deskOfWorld(main, lessonWorld());
    const positions = range(example().length, (t) => [t, String(t)]);
    const position = choice('lab-query', 'Position', positions, (v) => go({q: [Number(v)]}),
      positionShown,
    );
    main.append(
      el('div', {class: 'columns'},
        el('div', null, faders(),
          controlRow(button('All at 1', () => go({gates: {}}), {id: 'all-on'})),
        ),
        el('div', null,
          controlRow(position,
            labChoice('target', 'Question', task().target_names.map((name, k) => [k, name])),
          ),
          figure(logitsPicture, {
            id: 'logits', most: 560, again: () => `headlab ablate ${run().name}`,
          }),
        ),
      ),
    );
  },
};
