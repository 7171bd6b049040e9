// The sequences of a task with their ground truth, unpacked from the text in which the program
// embeds them (src/app/report/playground.cc), and written again as the lines of JSON that its task
// `file` reads.

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_';
const valueOf = new Map([...DIGITS].map((digit, i) => [digit, i]));

/// The number that begins at `at`, of so many digits; -1 for dots.
function unpackedNumber(text, at, digits) {
  let value = 0;
  for (let i = 0; i < digits; ++i) {
    if (text[at + i] === '.') return -1;
    value = 64 * value + valueOf.get(text[at + i]);
  }
  return value;
}

export class Sequences {
  /// `facts` as the program wrote them: name, spec, vocabulary, answers, length, causal, digits,
  /// relations, targets, train, held_out.
  constructor(facts) {
    Object.assign(this, facts);
    this.facts = facts;
    this.answers ??= this.vocabulary;
    this.sizes = {vocab: this.vocabulary.length, length: this.length, causal: this.causal,
      targets: this.targets.length, outputs: this.answers.length};
    this.train = this.unpack(facts.train);
    this.held = this.unpack(facts.held_out);
    this.judge(this.held);
  }
  /// {size, tokens, lengths, targets [size, T, K], keys: for each relation [size, T]}.
  unpack(text) {
    const {length: T, digits} = this;
    const inRow = this.relations.filter(({fixed}) => fixed === null).length;
    const written = this.targets.filter(({from}) => from === null).length;
    const wide = T * (digits * (1 + written) + inRow);
    const size = text.length / wide;
    const data = {
      size, tokens: new Int32Array(size * T), lengths: new Int32Array(size),
      targets: new Int32Array(size * T * this.targets.length),
      keys: this.relations.map(() => new Int32Array(size * T)),
    };
    for (let b = 0; b < size; ++b) this.unpackOne(text, b * wide, data, b);
    return data;
  }
  unpackOne(text, at, data, b) {
    const {length: T, digits} = this;
    const first = b * T;
    for (let t = 0; t < T; ++t) {
      const token = unpackedNumber(text, at + t * digits, digits);
      data.tokens[first + t] = Math.max(0, token);
      if (token >= 0) data.lengths[b] = t + 1;
    }
    at += T * digits;
    this.relations.forEach(({fixed}, i) => {
      const keys = fixed ?? text.slice(at, at + T);
      for (let t = 0; t < T; ++t) data.keys[i][first + t] = this.keyAt(keys, t, data.lengths[b]);
      if (fixed === null) at += T;
    });
    const K = this.targets.length;
    this.targets.forEach(({from}, e) => {
      for (let t = 0; t < T; ++t) {
        const key = from === null ? -1 : data.keys[from][first + t];
        const answer = key < 0 ? -1 : data.tokens[first + key];
        data.targets[(first + t) * K + e] =
          from === null ? unpackedNumber(text, at + t * digits, digits) : answer;
      }
      if (from === null) at += T * digits;
    });
  }
  keyAt(keys, t, length) {
    return t < length ? unpackedNumber(keys, t, 1) : -1;
  }
  /// Which queries count for a relation: those whose key belongs to no other one. Chance is what
  /// uniform attention finds or, if the position alone does not decide the key, the best fixed
  /// distance, as in the program's scores.
  judge(data) {
    const {length: T} = this;
    data.counts = data.keys.map((keys, i) => Array.from(keys, (key, r) => key >= 0 &&
      data.keys.every((other, j) => j === i || other[r] !== key)));
    this.baseline = data.keys.map((keys, i) => {
      let n = 0;
      let uniform = 0;
      const distances = new Map();
      keys.forEach((key, r) => {
        if (!data.counts[i][r]) return;
        ++n;
        uniform += 1 / (this.causal ? r % T + 1 : data.lengths[Math.floor(r / T)]);
        const distance = r % T - key;
        distances.set(distance, (distances.get(distance) ?? 0) + 1);
      });
      const fixed = this.relations[i].positional ? 0 : Math.max(0, ...distances.values());
      return n ? Math.max(uniform, fixed) / n : 1;
    });
  }
  /// Lines for the task `file`: a header, then a line for each sequence of a part.
  lines(data) {
    const header = {
      architecture: this.causal ? 'decoder' : 'encoder', vocabulary: this.vocabulary,
      length: this.length, targets: this.targets.map(({name}) => name),
      relations: this.relations.map(({name, description, positional, kind}) =>
        ({name, description, positional, kind})),
      ...(this.answers !== this.vocabulary && {answers: this.answers}),
    };
    const all = Array.from({length: data.size}, (_, b) => this.line(data, b));
    return `${[{header}, ...all].map((one) => JSON.stringify(one)).join('\n')}\n`;
  }
  line(data, b) {
    const {length: T, vocabulary, answers} = this;
    const K = this.targets.length;
    const places = Array.from({length: data.lengths[b]}, (_, t) => b * T + t);
    const targets = places.map((r) => Array.from(data.targets.slice(r * K, r * K + K),
      (target) => (target < 0 ? null : answers[target])));
    const truth = this.relations.map(({name}, i) => [name, Object.fromEntries(places
      .map((r) => [r - b * T, [data.keys[i][r]]]).filter(([, [key]]) => key >= 0))]);
    return {
      tokens: places.map((r) => vocabulary[data.tokens[r]]),
      targets: K === 1 ? targets.map(([only]) => only) : targets,
      truth: Object.fromEntries(truth.filter(([, queries]) => Object.keys(queries).length)),
    };
  }
}
