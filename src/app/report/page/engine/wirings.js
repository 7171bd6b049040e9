// The wirings of a block, as src/core/model/block.cc has them: how norms, attention and the
// feed-forward network of a block are joined, from the stream x that enters it to the one that
// leaves it. Attention and feed-forward add to the stream that they are given last.

const preNorm = function* (pass, block, x, memory) {
  x = yield* pass.attention(block.attn, pass.norm(x, block, 'ln1.'), null, x);
  if (block.cross >= 0) {
    x = yield* pass.attention(block.cross, pass.norm(x, block, 'ln_cross.'), memory, x);
  }
  return pass.hasNetwork ? pass.feedForward(pass.norm(x, block, 'ln2.'), block, x) : x;
};

const postNorm = function* (pass, block, x, memory) {
  x = pass.norm(yield* pass.attention(block.attn, x, null, x), block, 'ln1.');
  if (block.cross >= 0) {
    x = pass.norm(yield* pass.attention(block.cross, x, memory, x), block, 'ln_cross.');
  }
  return pass.hasNetwork ? pass.norm(pass.feedForward(x, block, x), block, 'ln2.') : x;
};

const parallel = function* (pass, block, x) {
  const h = pass.norm(x, block, 'ln1.');
  x = yield* pass.attention(block.attn, h, null, x);
  return pass.hasNetwork ? pass.feedForward(h, block, x) : x;
};

/// `isSum`: the stream is the sum of what sublayers write, they read it through norms, and a last
/// norm follows it.
export const blockWirings = {
  pre: {isSum: true, run: preNorm},
  post: {isSum: false, run: postNorm},
  parallel: {isSum: true, run: parallel},
};

/// Whether a model's stream is such a sum; not known of a wiring that is not here.
export const isSumStream = (config) => Boolean(blockWirings[config.norm_place]?.isSum);
