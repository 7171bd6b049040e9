// The optimizer: AdamW with a clipped gradient and the learning rate of a step, as the program has
// them (src/core/train/optimizer.cc and config.cc).

const BETA1 = 0.9;
const BETA2 = 0.999;
const EPSILON = 1e-8;
const DECAY = 0.01;
const CLIP = 1;

/// The factor by which a gradient of this norm is clipped.
function clipFactor(grads) {
  let squares = 0;
  for (let i = 0; i < grads.length; ++i) squares += grads[i] * grads[i];
  const norm = Math.sqrt(squares);
  return norm > CLIP ? CLIP / (norm + 1e-6) : 1;
}

/// Step number `step`, 1 for the first: w -= rate decay w of matrices, then w -= rate m / (sqrt(v)
/// + epsilon) with the moments m and v corrected for their beginning at 0.
export function adamwStep({values, grads, mean, square, count, decayed}, step, rate) {
  const scale = clipFactor(grads);
  const meanScale = rate / (1 - BETA1 ** step);
  const squareScale = 1 / Math.sqrt(1 - BETA2 ** step);
  for (let i = 0; i < count; ++i) {
    const grad = scale * grads[i];
    mean[i] += (1 - BETA1) * (grad - mean[i]);
    square[i] += (1 - BETA2) * (grad * grad - square[i]);
    const decay = i < decayed ? rate * DECAY * values[i] : 0;
    values[i] -= meanScale * mean[i] / (Math.sqrt(square[i]) * squareScale + EPSILON) + decay;
  }
}

/// The learning rate of a step, 0 for the first: it rises over `warmup` steps, then falls along a
/// cosine to a tenth at the end of the plan, and stays there.
export function rateOfStep(step, {lr, steps, warmup}) {
  if (step < warmup) return lr * (step + 1) / warmup;
  const done = Math.min(1, (step - warmup) / Math.max(1, steps - 1 - warmup));
  return lr * (0.1 + 0.9 * 0.5 * (1 + Math.cos(Math.PI * done)));
}
