// Where tokens lie: the residual stream before and after each block on its two widest axes, and the
// queries and keys of one head in one plane, which shows why its pattern is what it is.

function scatter(width, {sets, about, share, arrows}) {
  const points = sets.flatMap((s) => s.points);
  const all = (i) => points.map((p) => p[i]);
  const pad = (values) => {
    const [a, b] = extent(values);
    return [a - (b - a || 1) * 0.06, b + (b - a || 1) * 0.06];
  };
  const [[x0, x1], [y0, y1]] = [pad(all(0)), pad(all(1))];
  const picture = plot({
    about, names: false, width, height: Math.min(420, width * 0.75),
    series: sets.map((s) => ({...s, line: false, r: 4})),
    x: {label: `first axis, ${digits(100 * share[0], 3)} % of the variance`, low: x0, high: x1},
    y: {label: `second, ${digits(100 * share[1], 3)} %`, low: y0, high: y1},
    say: (r, c) =>
      `${sets[r].name}: ${sets[r].words[c]} at (${digits(sets[r].points[c][0], 3)}, ${digits(sets[r].points[c][1], 3)})`,
  });
  const middle = (r, c) => {
    const [x, y, w, h] = picture.marks.box(r, c);
    return [x + w / 2, y + h / 2];
  };
  if (arrows)
    sets[0].points.forEach((_, i) =>
      picture.items.push(line([middle(0, i), middle(1, i)], {stroke: 'edge', alpha: 0.7})),
    );
  sets.forEach(
    (s, r) =>
      s.points.length <= 64 &&
      s.words.forEach((words, i) => {
        const [x, y] = middle(r, i);
        if (!arrows || r)
          picture.items.push(small(x + 6, y - 7, shortened(words, 60, 11, true), {mono: true}));
      }),
  );
  return picture;
}

function together(sets, n, width, offset = 0, stride = width) {
  const points = new Float32Array(sets.length * n * width);
  sets.forEach((values, s) => {
    for (let t = 0; t < n; ++t)
      for (let d = 0; d < width; ++d)
        points[(s * n + t) * width + d] = values[t * stride + offset + d];
  });
  const found = core.pca(points, sets.length * n, width);
  return {share: found.share, sets: sets.map((_, s) => projectedPoints(found, s * n, n))};
}

/// The points from the first on, as core.pca projects them: [[x, y]].
const projectedPoints = ({projected}, first, n) =>
  range(n, (i) => Array.from(projected.subarray(2 * (first + i), 2 * (first + i + 1))));

/// Two sets that together() made, with a line from each token to itself.
const beforeAfter = (width, {share: of, sets}, words, about) =>
  scatter(width, {
    share: of, arrows: true, about,
    sets: sets.map((points, i) => ({
      name: i ? 'after' : 'before', points, words, shape: i ? 'circle' : 'square', hollow: !i,
      color: i ? 's0' : 's1',
    })),
  });

/// Every module's layer is one block of the residual stream; the encoder's come first.
function streamPicture(width, block) {
  const pass = trace();
  if (
    !pass?.residual?.[block + 1] ||
    (run().config.encoder_layers > 0 && block === run().config.encoder_layers)
  )
    return null;
  const [before, after] = [pass.residual[block], pass.residual[block + 1]];
  const words =
    before.length === after.length && streamTokens(before.length / run().config.d_model);
  if (!words) return null;
  const made = together([before, after], words.length, run().config.d_model);
  return beforeAfter(width, made, words, {
    name: `space-${block}`, title: `Block ${block}: before and after`,
    sentence: `Each token of example ${exampleIndex()} before (hollow) and after (filled) the block; a line joins the two.`,
  });
}

function streamTokens(n) {
  const shown = example();
  const named = (tokens, length) =>
    tokenTexts(tokens)
      .slice(0, length || n)
      .map((w, i) => `${i} ${w}`);
  if (shown.tokens.length === n) return named(shown.tokens, shown.length);
  return shown.source?.length === n ? named(shown.source, shown.sourceLength) : null;
}

function planePicture(width) {
  const head = chosen();
  const pass = trace();
  const module = head && pass?.modules?.[head.m];
  if (!module?.q) return note('Queries and keys need the weights, which are not in this page.');
  const {queries, keys} = sides(head.m);
  const {dHead, kvHead, kvBlocks, heads} = run().modules[head.m];
  // the columns of one block of several, of the first n rows
  const cut = (values, n, block, blocks) =>
    range(n).flatMap((t) => [...values.subarray((t * blocks + block) * dHead).subarray(0, dHead)]);
  const points = [
    ...cut(module.q, queries.length, head.place, heads.length),
    ...cut(module.k, keys.length, kvHead[head.place], kvBlocks.length),
  ];
  const found = core.pca(points, queries.length + keys.length, dHead);
  return scatter(width, {
    share: found.share,
    sets: [
      {
        name: 'query', points: projectedPoints(found, 0, queries.length), words: queries.map((w, i) => `q${i} ${w}`),
        shape: 'triangle', color: 's1',
      },
      {
        name: 'key', points: projectedPoints(found, queries.length, keys.length),
        words: keys.map((w, i) => `k${i} ${w}`), shape: 'circle', color: 's0',
      },
    ],
    about: {
      name: `plane-${head.at}`, title: `Queries and keys of head ${head.at}`,
      sentence: `Triangles are queries, dots keys, in one plane of the ${dHead} dimensions: a query looks at keys that lie its way.`,
    },
  });
}

VIEWS.push({
  name: 'space', title: 'Space', uses: ['h', 'ex', 'step'],
  available: (page) => page.runs.length > 0,
  build(main) {
    if (!isLive())
      return main.append(
        note(
          'Representations need the weights, which this page does not hold, or may not use because its check failed.',
        ),
      );
    if (!trace()) return main.append(noPattern());
    const blocks = Math.max(0, (trace().residual?.length || 1) - 1);
    const again = () => app.page.facts.command;
    main.append(
      el('p', null,
        'Two axes of many: the shares say how much of the variance they show. Near here may be far there.',
      ),
      el('div', {class: 'columns'},
        range(Math.min(blocks, 6), (i) =>
          figure((width) => streamPicture(width, i), {id: `space-${i}`, most: 560, again}),
        ),
        headsOf().length
          ? figure(planePicture, {id: 'plane', most: 560, again})
          : note('There are no heads, so there are no queries and keys.'),
      ),
    );
  },
});
