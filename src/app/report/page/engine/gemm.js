// Products of matrices: one kernel for the model that the page reads (single precision) and for the
// one that the playground trains (double). A page does only one of both: a function that meets both
// kinds of array is slow in every engine. A matrix is a view of an array, with any strides, so that
// no product needs a transposed copy.

/// A row-major matrix of the first rows * cols numbers of an array.
export const matrixOf = (values, rows, cols) => ({values, rows, cols, down: cols, across: 1});
/// The transpose, of the same numbers.
export const transposed = ({values, rows, cols, down, across}) =>
  ({values, rows: cols, cols: rows, down: across, across: down});

/// One entry of A B, from `sum` on.
function entry(A, B, i, j, sum) {
  const a = A.values;
  const b = B.values;
  for (let k = 0; k < A.cols; ++k)
    sum += a[i * A.down + k * A.across] * b[k * B.down + j * B.across];
  return sum;
}

/// C = A B, or C += A B if `add`, for the first `rows` rows; C is row-major. Two rows and four
/// columns at once are 8 products for 6 reads. Sums run over k in order, in double.
export function gemm(A, B, C, add = false, rows = C.rows) {
  const c = C.values;
  const cols = C.cols;
  for (let i = 0; i + 1 < rows; i += 2) tiles(A, B, C, i, add);
  const whole = rows - rows % 2;
  for (let i = whole; i < rows; ++i)
    for (let j = 0; j < cols; ++j)
      c[i * cols + j] = entry(A, B, i, j, add ? c[i * cols + j] : 0);
}

/// Rows i and i + 1 of C.
// prettier-ignore
function tiles(A, B, C, i, add) {
  const {values: a, down: aDown, across: aAcross, cols: K} = A;
  const {values: b, down: bDown, across: bAcross} = B;
  const {values: c, cols: N} = C;
  const first = i * N;
  const second = first + N;
  let j = 0;
  for (; j + 3 < N; j += 4) {
    let s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0;
    if (add) {
      s0 = c[first + j]; s1 = c[first + j + 1]; s2 = c[first + j + 2]; s3 = c[first + j + 3];
      t0 = c[second + j]; t1 = c[second + j + 1]; t2 = c[second + j + 2]; t3 = c[second + j + 3];
    }
    for (let k = 0, at = i * aDown, from = j * bAcross; k < K; ++k, at += aAcross, from += bDown) {
      const x = a[at], y = a[at + aDown];
      const p = b[from], q = b[from + bAcross];
      const r = b[from + 2 * bAcross], s = b[from + 3 * bAcross];
      s0 += x * p; s1 += x * q; s2 += x * r; s3 += x * s;
      t0 += y * p; t1 += y * q; t2 += y * r; t3 += y * s;
    }
    c[first + j] = s0; c[first + j + 1] = s1; c[first + j + 2] = s2; c[first + j + 3] = s3;
    c[second + j] = t0; c[second + j + 1] = t1; c[second + j + 2] = t2; c[second + j + 3] = t3;
  }
  for (; j < N; ++j) {
    c[first + j] = entry(A, B, i, j, add ? c[first + j] : 0);
    c[second + j] = entry(A, B, i + 1, j, add ? c[second + j] : 0);
  }
}
