// Heads as points, by any two of their scores: a head that stands apart in one picture may be
// ordinary in another.

const plainScores = () => sortings().filter(([, value]) => value);

/// The ends of an axis with room for labels.
function padded(values) {
  if (!values.length) return {};
  const [a, b] = extent(values);
  return {low: a - 0.08 * (b - a), high: b + 0.12 * (b - a)};
}

/// The score of an axis: the address's, else lift across and the cost of silence up.
function axisScore(key) {
  const scores = plainScores();
  const find = (wanted) => scores.find(([name]) => name === wanted);
  return (
    find(app.state[key]) ||
    (key === 'sy' && find('loss without it')) ||
    scores[key === 'sx' ? 0 : scores.length - 1]
  );
}

function scatterOfHeads(width) {
  const [[xName, x], [yName, y]] = [axisScore('sx'), axisScore('sy')];
  const heads = headsOf().filter((head) => [x(head), y(head)].every(Number.isFinite));
  const owners = heads.map((head) => ownedBy(head));
  const picture = plot({
    width, height: 340, names: false,
    series: heads.map((head, i) => ({
      name: head.at, points: [[x(head), y(head)]], line: false, r: 5,
      shape: owners[i].length ? 'square' : 'circle', hollow: !owners[i].length,
      color: owners[i].length ? 's1' : 's0',
    })),
    x: {label: xName, ...padded(heads.map(x))}, y: {label: yName, ...padded(heads.map(y))},
    about: {
      name: 'heads-scatter', title: 'Heads by two scores',
      sentence: `${heads.length} of ${headsOf().length} heads have both; filled squares own a relation.`,
    },
    say: (i) =>
      `Head ${headName(heads[i])}: ${xName} ${digits(x(heads[i]))}, ${yName} ${digits(y(heads[i]))}; Enter opens it`,
  });
  heads.slice(0, 64).forEach((head, i) => {
    const [bx, by] = picture.marks.box(i, 0);
    picture.items.push(small(bx + 13, by + 1, head.at, {mono: true}));
  });
  return {...picture, heads};
}

/// The picture with its two lists; nothing where heads have fewer than two scores.
function headsScatter() {
  if (plainScores().length < 2 || !headsOf().length) return [];
  const axis = (key, name) =>
    choice(`axis-${key}`, name, plainScores().map(([score]) => [score, score]),
      (v) => go({[key]: v}), () => axisScore(key)[0],
    );
  return [
    el('div', {class: 'controls'}, axis('sx', 'Across'), axis('sy', 'Up')),
    figure(scatterOfHeads, {
      id: 'heads-scatter', most: 640, again: () => `headlab heads ${run().name} --all`,
      choose: (i) => go({view: 'head', h: scatterOfHeads(640).heads[i].at}),
    }),
  ];
}
