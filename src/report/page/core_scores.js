// How well heads fit relations, how far they are from one another, and the axes along which points
// vary most.

// The queries of a relation, as src/heads/queries.cc draws them up: even examples choose (split
// 0), odd ones judge (split 1).
function questionOf(run, set, relation, count) {
  const {task} = run, {kind, positional} = task.relations[relation];
  const module = run.modules.findIndex((entry) => entry.kind === kind);
  const question = {kind, positional, queries: [], splits: [0, 1].map(() =>
    ({all: 0, disjoint: 0, uniform: 0, offset: 0}))};
  for (let i = 0; i < count && module >= 0; ++i) {
    const example = set.example(i), [Q] = sizesOf(run, module, example);
    for (let t = 0; t < Q; ++t) {
      const keys = example.gold(relation, t), visible = core.visible(run, module, example, t);
      if (keys.length === 0 || visible < 1) continue;
      const shared = task.relations.some((other, r) => r !== relation && other.kind === kind &&
        example.gold(r, t).some((key) => keys.includes(key)));
      question.queries.push({i, t, keys, visible, disjoint: !shared});
    }
  }
  fillSplits(question);
  return question;
}

function bestOffset(question) {
  const hits = new Map();
  for (const {i, t, keys, disjoint} of question.queries)
    for (const key of keys)
      hits.set(key - t, (hits.get(key - t) || 0) + (disjoint && i % 2 === 0 ? 1 : 0));
  let best = 0, most = 0;
  for (const offset of [...hits.keys()].sort((a, b) => a - b)) {
    const count = hits.get(offset);
    if (count > most || (count === most && Math.abs(offset) < Math.abs(best)))
      [best, most] = [offset, count];
  }
  return best;
}

function fillSplits(question) {
  const offset = bestOffset(question);
  for (const {i, t, keys, visible, disjoint} of question.queries) {
    const split = question.splits[i % 2];
    ++split.all;
    if (!disjoint) continue;
    ++split.disjoint;
    split.uniform += keys.length / visible;
    split.offset += keys.includes(t + offset) ? 1 : 0;
  }
  for (const split of question.splits) split.uniform /= Math.max(1, split.disjoint);
}

const massOn = (row, at, keys) => keys.reduce((sum, key) => sum + row[at + key], 0);

class HeadSums {
  constructor(run, m) {
    const {kind} = run.modules[m], {length: T, source_length: S} = run.task;
    this.keys = kind === 'self' ? T : S;
    const queries = kind === 'encoder' ? S : T;
    this.pattern = new Float64Array(queries * this.keys);  // of split A
    this.rows = new Float64Array(queries);
    this.answers = run.task.relations.map(() => ({mass: 0, all: 0, top1: 0}));
  }
  addAverage(pattern, queries) {
    for (let t = 0; t < queries; ++t) {
      ++this.rows[t];
      for (let s = 0; s < this.keys; ++s)
        this.pattern[t * this.keys + s] += pattern[t * this.keys + s];
    }
  }
  addAnswer(relation, query, pattern) {
    const at = query.t * this.keys, sums = this.answers[relation];
    const mass = massOn(pattern, at, query.keys);
    sums.all += mass;
    if (!query.disjoint) return;
    let best = 0;
    for (let s = 1; s < query.visible; ++s) if (pattern[at + s] > pattern[at + best]) best = s;
    sums.mass += mass;
    sums.top1 += query.keys.includes(best) ? 1 : 0;
  }
  // What the average pattern of split A reaches on split B.
  positionNull(question) {
    let sum = 0;
    for (const {i, t, keys, disjoint} of question.queries)
      if (disjoint && i % 2 === 1 && this.rows[t] > 0)
        sum += massOn(this.pattern, t * this.keys, keys) / this.rows[t];
    return sum / Math.max(1, question.splits[1].disjoint);
  }
  score(relation, question) {
    const {disjoint, all, uniform, offset} = question.splits[1], sums = this.answers[relation];
    const share = (part, whole) => whole > 0 ? part / whole : 0;
    const chance = question.positional ? uniform
      : Math.max(uniform, share(offset, disjoint), this.positionNull(question));
    const mass = share(sums.mass, disjoint);
    return {queries: disjoint, mass, mass_all: share(sums.all, all),
      top1: share(sums.top1, disjoint), null: chance,
      lift: chance < 1 && disjoint > 0 ? (mass - chance) / (1 - chance) : NaN, p: null};
  }
}

// Every head against every relation, by the definitions of score_heads (heads/scores.h), with any
// gates: [relation][module][place], reported on the odd examples.
core.scoresSteps = function* (run, options = {}) {
  const model = options.model || run.model, set = run.task.set('scored');
  const count = Math.min(options.count || set.size, set.size), {relations} = run.task;
  const questions = relations.map((relation, r) => questionOf(run, set, r, count));
  const heads = run.modules.map((module) => module.heads.map(() => new HeadSums(run, module.index)));
  const next = relations.map(() => 0);
  for (let i = 0; i < count; ++i) {
    const trace = yield* core.forwardSteps(model, set.example(i), {gates: options.gates});
    const asked = questions.map(({queries}, r) => {
      const from = next[r];
      while (next[r] < queries.length && queries[next[r]].i === i) ++next[r];
      return queries.slice(from, next[r]);
    });
    heads.forEach((places, m) => places.forEach((sums, place) => {
      const pattern = trace.pattern(m, place), {kind} = run.modules[m];
      const queries = kind === 'encoder' ? trace.example.sourceLength : trace.example.length;
      if (i % 2 === 0) sums.addAverage(pattern, queries);
      asked.forEach((list, r) => {
        if (questions[r].kind === kind && i % 2 === 1)
          for (const query of list) sums.addAnswer(r, query, pattern);
      });
    }));
    yield {done: i + 1, of: count};
  }
  return questions.map((question, r) => heads.map((places, m) => places.map((sums) =>
    run.modules[m].kind === question.kind ? sums.score(r, question) : null)));
};

// What heads.json says of a head and a relation; null if it says nothing.
core.reportScore = function (run, relation, m, place) {
  const {heads} = run.reports, name = typeof relation === 'string' ? relation
    : run.task.relations[relation].name;
  const born = run.modules[m].heads[place];
  const head = heads && heads.heads.find((entry) => entry.layer === m && entry.head === born);
  return head && head.scores[name] ? head.scores[name] : null;
};

// The head that owns a relation, by heads.json; or null.
core.owner = function (run, relation) {
  const {heads} = run.reports, name = typeof relation === 'string' ? relation
    : run.task.relations[relation].name;
  const row = heads && heads.relations.find((entry) => entry.name === name);
  if (!row || !row.owner) return null;
  const [m, born] = row.owner;
  return {m, place: run.modules[m].placeOf(born), born};
};

core.entropy = function (row, n = row.length) {
  let sum = 0;
  for (let s = 0; s < n; ++s) sum -= row[s] > 0 ? row[s] * Math.log(row[s]) : 0;
  return sum;
};

// The square root of the Jensen-Shannon divergence of two rows of n weights, in nats.
core.jsDistance = function (a, b, n = a.length) {
  let divergence = 0;
  for (let s = 0; s < n; ++s) {
    const middle = (a[s] + b[s]) / 2;
    divergence += (a[s] > 0 ? a[s] * Math.log(a[s] / middle) : 0) / 2 +
      (b[s] > 0 ? b[s] * Math.log(b[s] / middle) : 0) / 2;
  }
  return Math.sqrt(Math.max(0, divergence));
};

core.headsOf = (run) => run.modules.flatMap((module) =>
  module.heads.map((born, place) => ({m: module.index, place, born, kind: module.kind})));

// Mean distances between the heads of two runs of one task on the same examples, [a][b]; NaN for
// heads of different kinds.
core.distancesSteps = function* (runA, runB, {examples = 16, modelA, modelB} = {}) {
  const a = core.headsOf(runA), b = core.headsOf(runB), set = runA.task.set('scored');
  const sums = a.map(() => new Float64Array(b.length)), count = Math.min(examples, set.size);
  let rows = 0;
  for (let i = 0; i < count; ++i) {
    const example = set.example(i);
    const left = yield* core.forwardSteps(modelA || runA.model, example);
    const right = yield* core.forwardSteps(modelB || runB.model, example);
    for (const [x, one] of a.entries()) {
      const p = left.pattern(one.m, one.place), [Q, S] = sizesOf(runA, one.m, example);
      const counted = one.kind === 'encoder' ? example.sourceLength : Math.min(Q, example.length);
      for (const [y, other] of b.entries()) {
        if (one.kind !== other.kind) sums[x][y] = NaN;
        const q = one.kind === other.kind ? right.pattern(other.m, other.place) : p;
        let sum = 0;
        for (let t = 0; t < counted; ++t)
          sum += core.jsDistance(p.subarray(t * S, t * S + S), q.subarray(t * S, t * S + S));
        sums[x][y] += sum / Math.max(1, counted);
      }
      yield {done: i, of: count};
    }
    ++rows;
  }
  return sums.map((row) => Array.from(row, (sum) => sum / Math.max(1, rows)));
};

// One-to-one assignment with the smallest sum of costs (Hungarian method): for each row its
// column, or -1. Costs that are not finite are never chosen if it can be helped.
core.assign = function (costs) {
  const rows = costs.length, columns = rows ? costs[0].length : 0, n = Math.max(rows, columns);
  const cost = (i, j) => i < rows && j < columns
    ? (Number.isFinite(costs[i][j]) ? costs[i][j] : 1e6) : 0;
  const u = new Float64Array(n + 1), v = new Float64Array(n + 1), owner = new Int32Array(n + 1);
  const way = new Int32Array(n + 1);
  for (let i = 1; i <= n; ++i) {
    const least = new Float64Array(n + 1).fill(Infinity), used = new Uint8Array(n + 1);
    let j = 0;
    owner[0] = i;
    do {
      used[j] = 1;
      let delta = Infinity, next = 0;
      for (let k = 1; k <= n; ++k) {
        if (used[k]) continue;
        const reduced = cost(owner[j] - 1, k - 1) - u[owner[j]] - v[k];
        if (reduced < least[k]) [least[k], way[k]] = [reduced, j];
        if (least[k] < delta) [delta, next] = [least[k], k];
      }
      for (let k = 0; k <= n; ++k) {
        if (used[k]) { u[owner[k]] += delta; v[k] -= delta; } else { least[k] -= delta; }
      }
      j = next;
    } while (owner[j] !== 0);
    for (; j !== 0; j = way[j]) owner[j] = owner[way[j]];
  }
  const chosen = new Array(rows).fill(-1);
  for (let k = 1; k <= columns; ++k) if (owner[k] <= rows && owner[k] > 0) chosen[owner[k] - 1] = k - 1;
  return chosen;
};

// The two axes along which points [n * d] vary most, by power iteration; the largest loading of
// each axis is positive, so that the picture is the same each time.
core.pca = function (points, n, d) {
  const mean = new Float64Array(d), scatter = new Float64Array(d * d);
  for (let i = 0; i < n * d; ++i) mean[i % d] += points[i] / n;
  for (let i = 0; i < n; ++i)
    for (let a = 0; a < d; ++a)
      for (let b = 0; b < d; ++b)
        scatter[a * d + b] += (points[i * d + a] - mean[a]) * (points[i * d + b] - mean[b]) / n;
  let whole = 0;
  for (let a = 0; a < d; ++a) whole += scatter[a * d + a];
  const axes = [], share = [];
  for (let axis = 0; axis < 2; ++axis) {
    let x = Float64Array.from({length: d}, (_, a) => 1 + a % 7 / 7 + (axis && a % 2)), size = 0;
    for (let turn = 0; turn < 300; ++turn) {
      const y = new Float64Array(d);
      for (let a = 0; a < d; ++a) for (let b = 0; b < d; ++b) y[a] += scatter[a * d + b] * x[b];
      size = Math.sqrt(y.reduce((sum, value) => sum + value * value, 0));
      x = y.map((value) => size > 0 ? value / size : 0);
    }
    const largest = x.reduce((best, value) => Math.abs(value) > Math.abs(best) + 1e-9 ? value : best, 0);
    if (largest < 0) x = x.map((value) => -value);
    for (let a = 0; a < d; ++a) for (let b = 0; b < d; ++b) scatter[a * d + b] -= size * x[a] * x[b];
    axes.push(x);
    share.push(whole > 0 ? size / whole : 0);
  }
  const projected = new Float64Array(2 * n);
  for (let i = 0; i < n; ++i)
    for (let axis = 0; axis < 2; ++axis)
      for (let a = 0; a < d; ++a) projected[2 * i + axis] += (points[i * d + a] - mean[a]) * axes[axis][a];
  return {mean, axes, share, projected};
};
