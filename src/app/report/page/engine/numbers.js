// Functions of plain numbers: ranges, random numbers from a seed, permutations, entropy and
// distance of rows of weights, and principal axes of points.

/// [make(0), ..., make(n - 1)].
export const range = (n, make = (i) => i) => Array.from({length: n}, (_, i) => make(i));

/// Numbers from 0 to 1 from a seed: mulberry32.
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = state + 0x6d2b79f5 >>> 0;
    let mixed = Math.imul(state ^ state >>> 15, state | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return ((mixed ^ mixed >>> 14) >>> 0) / 4294967296;
  };
}

/// The same things in another order.
export function shuffled(things, random) {
  const all = [...things];
  for (let i = all.length - 1; i > 0; --i) {
    const j = Math.floor(random() * (i + 1));
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all;
}

/// The first n numbers of a row as shares of their sum: weights of attention functions that do not
/// normalise rows have another sum than 1. A row of zeros remains.
export function sharesOf(row, n = row.length) {
  const first = Array.from(row).slice(0, n);
  const sum = first.reduce((a, b) => a + b, 0);
  return first.map((weight) => weight / (sum || 1));
}

export const entropyOfRow = (row) =>
  sharesOf(row).reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0);

/// The square root of the Jensen-Shannon divergence of two rows of n weights, in nats.
export function jsDistance(rowA, rowB, n = rowA.length) {
  const [a, b] = [sharesOf(rowA, n), sharesOf(rowB, n)];
  let divergence = 0;
  for (let s = 0; s < n; ++s) {
    const middle = (a[s] + b[s]) / 2;
    divergence += (a[s] > 0 ? a[s] * Math.log(a[s] / middle) : 0) / 2 +
      (b[s] > 0 ? b[s] * Math.log(b[s] / middle) : 0) / 2;
  }
  return Math.sqrt(Math.max(0, divergence));
}

/// The two axes along which points [n * d] vary most, by power iteration; the largest loading of
/// each axis is positive, so that the picture is the same each time.
export function pca(points, n, d) {
  const mean = new Float64Array(d);
  const scatter = new Float64Array(d * d);
  for (let i = 0; i < n * d; ++i) mean[i % d] += points[i] / n;
  for (let i = 0; i < n; ++i)
    for (let a = 0; a < d; ++a)
      for (let b = 0; b < d; ++b)
        scatter[a * d + b] += (points[i * d + a] - mean[a]) * (points[i * d + b] - mean[b]) / n;
  let whole = 0;
  for (let a = 0; a < d; ++a) whole += scatter[a * d + a];
  const axes = [];
  const share = [];
  for (let axis = 0; axis < 2; ++axis) {
    let x = Float64Array.from({length: d}, (_, a) => 1 + a % 7 / 7 + (axis && a % 2));
    let size = 0;
    for (let turn = 0; turn < 300; ++turn) {
      const y = new Float64Array(d);
      for (let a = 0; a < d; ++a) for (let b = 0; b < d; ++b) y[a] += scatter[a * d + b] * x[b];
      size = Math.sqrt(y.reduce((sum, value) => sum + value * value, 0));
      x = y.map((value) => size > 0 ? value / size : 0);
    }
    const largest = x.reduce((best, v) => Math.abs(v) > Math.abs(best) + 1e-9 ? v : best, 0);
    if (largest < 0) x = x.map((value) => -value);
    for (let a = 0; a < d; ++a)
      for (let b = 0; b < d; ++b) scatter[a * d + b] -= size * x[a] * x[b];
    axes.push(x);
    share.push(whole > 0 ? size / whole : 0);
  }
  const projected = new Float64Array(2 * n);
  for (let i = 0; i < n; ++i)
    for (let axis = 0; axis < 2; ++axis)
      for (let a = 0; a < d; ++a)
        projected[2 * i + axis] += (points[i * d + a] - mean[a]) * axes[axis][a];
  return {mean, axes, share, projected};
}
