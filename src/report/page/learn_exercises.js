// Lesson 9: exercises. An exercise is {ask, fields: [words], solve() -> numbers, digits, hint, more};
// answers are computed when they are checked, never stored. Those that need a trained model say so.

const exerciseWorld = () => lessonFacts().worlds.find((one) => one.name === 'five-tokens');

/// What the exercises ask for, from the same functions as the lessons.
const SOLUTIONS = {
  rowOfSat: (world) => headsOfWorld(world)[0].weights[2],
  evenRows: (world) => [
    headsOfWorld(world, 4)
      .flatMap((head) => head.weights)
      .filter(isUniform).length,
  ],
  sameColumns(world) {
    const twice = (M) => M.map((row) => [...row.slice(0, 2), ...row.slice(0, 2)]);
    const heads = headsOfWorld({...world, q: twice(world.q), k: twice(world.k), v: twice(world.v)});
    return [diversityOf(heads.map((head) => head.weights))];
  },
  mixedRow: (world) => times([besideEachOther(headsOfWorld(world))[0]], world.W_O)[0],
  silence: (world) => [0, 1].map((h) => lossOfSilence(headsOfWorld(world), h)),
  parameters: () => [attentionSizes({d: 768, H: 12}).total],
  diversity: (random) =>
    [[2, 4], [4, 8]].map((pair) => {
      const [a, b] = pair.map((H) =>
        diversityOf(random.counts.find((x) => x.heads === H).patterns),
      );
      return b - a;
    }),
};

/// All sets of heads of a run with their losses, or null: {heads: [[m, born]], losses[bits of kept]}.
const subsetsOf = (r) => r?.reports.curve?.subsets || null;
const bitsWithout = (count, off) => off.reduce((bits, i) => bits - 2 ** i, 2 ** count - 1);

/// Silence of heads i and j: {one, other, both, beyond} in nats above all heads.
function pairCost({heads, losses}, i, j) {
  const loss = (off) =>
    losses[bitsWithout(heads.length, off)] - losses[bitsWithout(heads.length, [])];
  const [one, other, both] = [loss([i]), loss([j]), loss([i, j])];
  return {one, other, both, beyond: both - one - other};
}

/// The pair that costs most beyond the sum of its two: {i, j, beyond}.
function backupPair(subsets) {
  let best = {beyond: -Infinity};
  subsets.heads.forEach((_, i) =>
    subsets.heads.forEach((__, j) => {
      const {beyond} = i < j ? pairCost(subsets, i, j) : {beyond: -Infinity};
      if (beyond > best.beyond) best = {i, j, beyond};
    }),
  );
  return best;
}

/// Where a set of kept heads stands among all of its size: {rank, of, loss, best, bits}.
function rankOfSet({losses}, kept) {
  const size = (bits) => bits.toString(2).replace(/0/g, '').length;
  const same = losses
    .map((loss, bits) => ({loss, bits}))
    .filter((x) => size(x.bits) === size(kept))
    .sort((a, b) => a.loss - b.loss);
  return {
    rank: same.findIndex((x) => x.bits === kept) + 1, of: same.length, loss: losses[kept],
    best: same[0].loss, bits: same[0].bits,
  };
}

/// Numbers in a text, whatever parts them; a comma between three digits groups, before a space parts.
function numbersIn(words) {
  const plain = words.replace(/[−–]/g, '-').replace(/(\d),(?=\d{3}\b)/g, '$1');
  return (plain.match(/-?(\d+\.?\d*|\.\d+)(e-?\d+)?/gi) || []).map(Number);
}

/// Whether the numbers are the wanted ones, to half a unit of the last digit.
const answersMatch = (given, wanted, places) =>
  given.length === wanted.length &&
  given.every((v, i) => Math.abs(v - wanted[i]) <= 0.5001 * 10 ** -places);
