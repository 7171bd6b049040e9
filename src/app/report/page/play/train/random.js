// Random numbers of the program, so that a seed here is the same seed in `headlab train`. A key
// names a stream: numbers and texts are folded in, and Philox4x32-10 turns a key and a counter into
// 128 bits. A key is four words; a fold reads the first two. Source: headlab/core/base/random.h.

const product = new Uint32Array(2);  // of two words: the low one and the high one
/// Multiplies word `at` of an array by a constant. Words stay in arrays, where none is allocated.
function multiplyWord(constant, words, at) {
  const word = words[at];
  const a0 = constant & 0xffff;
  const a1 = constant >>> 16;
  const b0 = word & 0xffff;
  const b1 = word >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const carry = ((middle & 0xffff) + a0 * b1) / 65536 | 0;
  product[0] = Math.imul(constant, word);
  product[1] = a1 * b1 + Math.floor(middle / 65536) + carry;
}

/// Writes the four words that belong to a key and a counter of three words to `out`; the last word
/// of the counter says what the words are for.
function philox(key, counter, purpose, out) {
  let k0 = key[0];
  let k1 = key[1];
  for (let i = 0; i < 3; ++i) out[i] = counter[i];
  out[3] = purpose;
  for (let round = 0; round < 10; ++round) {
    multiplyWord(0xD2511F53, out, 0);
    const low = product[0];
    const high = product[1];
    multiplyWord(0xCD9E8D57, out, 2);
    out[0] = product[1] ^ out[1] ^ k0;
    out[2] = high ^ out[3] ^ k1;
    out[1] = product[0];
    out[3] = low;
    k0 = (k0 + 0x9E3779B9) >>> 0;
    k1 = (k1 + 0xBB67AE85) >>> 0;
  }
  return out;
}

const fourWords = () => new Uint32Array(4);

export const keyOfSeed = (seed) => Uint32Array.of(seed, 0, 0, 0);

const counterOfFold = fourWords();
/// The key of the sub-stream of a whole number; `out` may be an older key.
export function foldNumber(key, number, out = fourWords()) {
  counterOfFold[0] = number;
  counterOfFold[1] = 0;
  counterOfFold[2] = 0;
  return philox(key, counterOfFold, 0x40000000, out);
}

/// The counters of a text: eight letters at a time, the first in the highest byte.
function countersOf(text) {
  const counters = [];
  for (let at = 0; at === 0 || at < text.length; at += 8) {
    const letters = [...text.slice(at, at + 8)].map((letter) => letter.charCodeAt(0));
    const packed = letters.reduce((sum, letter) => sum << 8n | BigInt(letter), 0n);
    counters.push(Uint32Array.of(Number(packed & 0xffffffffn), Number(packed >> 32n),
      text.length));
  }
  return counters;
}

const foldedTexts = new Map();  // counters by text
/// The key of the sub-stream of a text.
export function foldText(key, text) {
  if (!foldedTexts.has(text)) foldedTexts.set(text, countersOf(text));
  for (const counter of foldedTexts.get(text))
    key = philox(key, counter, 0x80000000, fourWords());
  return key;
}

/// Numbers of one stream, one after the other.
export class Generator {
  constructor(key) {
    this.drawn = fourWords();
    this.counter = fourWords();
    this.restart(key);
  }
  restart(key) {
    this.key = key;
    this.counter.fill(0);
    this.left = 0;
    return this;
  }
  bits() {
    if (this.left === 0) {
      philox(this.key, this.counter, 0, this.drawn);
      ++this.counter[0];
      this.left = 4;
    }
    return this.drawn[4 - this.left--];
  }
  /// A number in [0, 1) with 53 random bits.
  uniform() {
    const low = this.bits();
    return (this.bits() * 0x200000 + (low >>> 11)) * 2 ** -53;
  }
  /// A whole number below n, each as probable as the others.
  below(n) {
    const mask = n === 1 ? 0 : 0xffffffff >>> Math.clz32(n - 1);
    for (;;) {
      const draw = (this.bits() & mask) >>> 0;
      if (draw < n) return draw;
    }
  }
  /// Box and Muller.
  normal() {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }
}
