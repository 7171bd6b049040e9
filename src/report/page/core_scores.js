// What heads.json says of heads, how far their patterns are from one another, and the axes along
// which points vary most.

// What heads.json says of a head and a relation; null if it says nothing.
core.reportScore = function (run, relation, m, place) {
  const born = run.modules[m].heads[place];
  const head = run.reports.heads?.heads.find((entry) => entry.layer === m && entry.head === born);
  return head?.scores[run.task.relations[relation].name] || null;
};

// The head that owns a relation, by heads.json; or null.
core.owner = function (run, relation) {
  const {name} = run.task.relations[relation];
  const row = run.reports.heads?.relations.find((entry) => entry.name === name);
  if (!row?.owner) return null;
  const [m, born] = row.owner;
  return {m, place: run.modules[m].placeOf(born), born};
};

core.entropy = (row) => row.reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0);

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
