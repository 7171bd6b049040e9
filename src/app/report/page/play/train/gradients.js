// Gradients of the kinds of norms, attention functions and feed-forward networks, by the names that
// they have in engine/kinds.js, which has the formulas.
import {normalBelow, sigmoid} from '../../engine/kinds.js';

/// Adds to dx the gradient of row x[at ...] of a norm without gain and bias, from the gradient dy
/// of its C outputs y = (x - mean) scale. Layer norm: dx = scale (dy - mean(dy) - y mean(dy y));
/// the root mean square alone leaves out mean(dy); without any norm dx = dy.
export function normGradient({centres, divides}, C, {x, dx, dy, at, mean, scale}) {
  let level = 0;
  let along = 0;
  for (let i = 0; i < C; ++i) {
    level += dy[i];
    along += dy[i] * (x[at + i] - mean) * scale;
  }
  level = centres ? level / C : 0;
  along = divides ? along / C : 0;
  for (let i = 0; i < C; ++i) {
    const y = (x[at + i] - mean) * scale;
    dx[at + i] += scale * (dy[i] - level - y * along);
  }
}

/// With s = (1 + tanh(u)) / 2, gelu is x s, and ds/dx = 2 s (1 - s) du/dx.
function geluSlope(x) {
  if (x < -8) return 0;
  const u = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
  const s = 1 / (1 + Math.exp(-2 * u));
  return s + 2 * x * s * (1 - s) * Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * x * x);
}

const siluSlope = (x) => sigmoid(x) * (1 + x * (1 - sigmoid(x)));
const normalAt = (x) => Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);

/// The slope of the function `f` of each feed-forward network.
export const activationSlopes = {
  gelu: geluSlope,
  relu: (x) => (x > 0 ? 1 : 0),
  swiglu: siluSlope,
  geglu: geluSlope,
  gelu_erf: (x) => normalBelow(x) + x * normalAt(x),
};

/// Gradient of the scores of a row from `grads`, that of its weights, which it replaces: w_s (g_s -
/// sum of w g). The same for softmax_one, whose score of 0 belongs to no key.
function softmaxGradient(row, from, to, grads) {
  let mean = 0;
  for (let s = from; s < to; ++s) mean += row[s] * grads[s - from];
  for (let s = from; s < to; ++s) grads[s - from] = row[s] * (grads[s - from] - mean);
}

/// Likewise: w_s (1 - w_s) g_s.
function sigmoidGradient(row, from, to, grads) {
  for (let s = from; s < to; ++s) grads[s - from] *= row[s] * (1 - row[s]);
}

/// Whether the rows of each attention function sum to 1, and its gradient, in place.
export const attentionGradients = {
  softmax: {normalises: true, gradient: softmaxGradient},
  softmax_composed: {normalises: true, gradient: softmaxGradient},
  sigmoid: {normalises: false, gradient: sigmoidGradient},
  softmax_one: {normalises: false, gradient: softmaxGradient},
};
