// Attention of one query, line by line: a function for each attention function of the program's
// table. The lessons show these lines exactly, without the calls of `see`, which record what is
// known after a line; lines about `slope` are shown if scores fall with the distance.
// lessons_test.mjs compares them with the model of the page. Read next: lesson_numbers.js.

/// Attention of one query over the keys that it sees, by softmax; `t` is its own index among them.
// prettier-ignore
export function attend(q, K, V, root = Math.sqrt(q.length), see = () => {}, slope = 0, t = 0) {
  const row = [];
  const z = new Array(V[0].length).fill(0);
  let largest = -Infinity;
  let sum = 0;
  for (let s = 0; s < K.length; ++s) {
    let dot = 0;
    for (let i = 0; i < q.length; ++i) {
      dot += q[i] * K[s][i];
      see('dot += q[i] * K[s][i];', {s, i, 'q[i]': q[i], 'K[s][i]': K[s][i], dot});
    }
    row[s] = dot / root;
    see('row[s] = dot / root;', {s, dot, root, 'row[s]': row[s]});
    row[s] -= slope * Math.abs(t - s);
    see('row[s] -= slope * Math.abs(t - s);', {s, slope, 'row[s]': row[s]});
    largest = Math.max(largest, row[s]);
    see('largest = Math.max(largest, row[s]);', {s, largest});
  }
  for (let s = 0; s < K.length; ++s) {
    row[s] = Math.exp(row[s] - largest);
    see('row[s] = Math.exp(row[s] - largest);', {s, largest, 'row[s]': row[s]});
    sum += row[s];
    see('sum += row[s];', {s, sum});
  }
  for (let s = 0; s < K.length; ++s) {
    row[s] /= sum;
    see('row[s] /= sum;', {s, sum, 'row[s]': row[s]});
    for (let i = 0; i < z.length; ++i) {
      z[i] += row[s] * V[s][i];
      see('z[i] += row[s] * V[s][i];', {s, i, 'row[s]': row[s], 'V[s][i]': V[s][i], 'z[i]': z[i]});
    }
  }
  return {row, z};
}

/// The same by softmax_one: a score of 0 that belongs to no key takes part in the sum.
// prettier-ignore
function attendOrNot(q, K, V, root = Math.sqrt(q.length), see = () => {}, slope = 0, t = 0) {
  const row = [];
  const z = new Array(V[0].length).fill(0);
  let largest = 0;
  for (let s = 0; s < K.length; ++s) {
    let dot = 0;
    for (let i = 0; i < q.length; ++i) {
      dot += q[i] * K[s][i];
      see('dot += q[i] * K[s][i];', {s, i, 'q[i]': q[i], 'K[s][i]': K[s][i], dot});
    }
    row[s] = dot / root;
    see('row[s] = dot / root;', {s, dot, root, 'row[s]': row[s]});
    row[s] -= slope * Math.abs(t - s);
    see('row[s] -= slope * Math.abs(t - s);', {s, slope, 'row[s]': row[s]});
    largest = Math.max(largest, row[s]);
    see('largest = Math.max(largest, row[s]);', {s, largest});
  }
  let sum = Math.exp(-largest);
  see('let sum = Math.exp(-largest);', {largest, sum});
  for (let s = 0; s < K.length; ++s) {
    row[s] = Math.exp(row[s] - largest);
    see('row[s] = Math.exp(row[s] - largest);', {s, largest, 'row[s]': row[s]});
    sum += row[s];
    see('sum += row[s];', {s, sum});
  }
  for (let s = 0; s < K.length; ++s) {
    row[s] /= sum;
    see('row[s] /= sum;', {s, sum, 'row[s]': row[s]});
    for (let i = 0; i < z.length; ++i) {
      z[i] += row[s] * V[s][i];
      see('z[i] += row[s] * V[s][i];', {s, i, 'row[s]': row[s], 'V[s][i]': V[s][i], 'z[i]': z[i]});
    }
  }
  return {row, z};
}

/// The same by sigmoid: the weight of a key depends on no other key.
// prettier-ignore
function attendToEach(q, K, V, root = Math.sqrt(q.length), see = () => {}, slope = 0, t = 0) {
  const row = [];
  const z = new Array(V[0].length).fill(0);
  for (let s = 0; s < K.length; ++s) {
    let dot = 0;
    for (let i = 0; i < q.length; ++i) {
      dot += q[i] * K[s][i];
      see('dot += q[i] * K[s][i];', {s, i, 'q[i]': q[i], 'K[s][i]': K[s][i], dot});
    }
    row[s] = dot / root;
    see('row[s] = dot / root;', {s, dot, root, 'row[s]': row[s]});
    row[s] -= slope * Math.abs(t - s);
    see('row[s] -= slope * Math.abs(t - s);', {s, slope, 'row[s]': row[s]});
    row[s] = 1 / (1 + K.length * Math.exp(-row[s]));
    see('row[s] = 1 / (1 + K.length * Math.exp(-row[s]));', {s, 'row[s]': row[s]});
    for (let i = 0; i < z.length; ++i) {
      z[i] += row[s] * V[s][i];
      see('z[i] += row[s] * V[s][i];', {s, i, 'row[s]': row[s], 'V[s][i]': V[s][i], 'z[i]': z[i]});
    }
  }
  return {row, z};
}

const ATTEND = {softmax: attend, softmax_one: attendOrNot, sigmoid: attendToEach};

/// The line that turns a score into a weight, by attention function.
export const weightLine = (name) =>
  (name === 'sigmoid' ? 'row[s] = 1 / (1 + K.length * Math.exp(-row[s]));' : 'row[s] /= sum;');

/// The lines of an attention function as they run, without the recording: [{text, at}]; `at` is
/// the line as see() receives it, or null. Without a slope its lines, which change nothing, are
/// left out.
export function attendLines(name = 'softmax', slope = 0) {
  let depth = 0;  // the page holds its script without indentation
  const lines = String(ATTEND[name]).split('\n').map((line) => line.trim());
  return lines.flatMap((line, i) => {
    if (line.startsWith('see(')) return [];
    if (!slope && line.startsWith('row[s] -= slope')) return [];
    const at = /^see\('(.*)', \{/.exec(lines[i + 1])?.[1];
    if (line.startsWith('}')) --depth;
    const shown = line.replace(', see = () => {}', '');
    const text = '  '.repeat(depth) + (slope ? shown : shown.replace(', slope = 0, t = 0', ''));
    if (line.endsWith('{')) ++depth;
    return [{text, at: at ?? null}];
  });
}

/// Every line that ran, in order: [{at, values}]; `options` is {root, name, slope, t}. A query that
/// sees no key has no weights: no line runs.
export function attendTrace(q, K, V, {root, name = 'softmax', slope = 0, t = 0} = {}) {
  if (K.length === 0) return {row: [], z: [], steps: []};
  const steps = [];
  const see = (at, values) => (slope || !at.includes('slope')) && steps.push({at, values});
  const made = ATTEND[name](q, K, V, root, see, slope, t);
  return {...made, steps};
}
