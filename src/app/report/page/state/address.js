// The state of the page as one flat object, and its form in the address: everything after '#'.
// A link restores the view; `v` counts versions of this grammar.
//
//     hash = "#" pair *("&" pair)    keys sorted; only what differs from the default is written
//     pair = key "=" value           percent-encoded; unknown pairs are kept, at the end
//
// A bad value falls back to its key's default, alone, and is named in `notices`.

const text = (pattern) => ({parse: (s) => (pattern.test(s) ? s : undefined), format: (v) => v});
export const oneOf = (...names) => text(new RegExp(`^(${names.join('|')})$`));
export const count = {parse: (s) => (/^\d{1,7}$/.test(s) ? Number(s) : undefined), format: String};
export const counts = {
  parse(s) {
    if (s === '') return [];
    return /^\d{1,5}(,\d{1,5})*$/.test(s) ? s.split(',').map(Number) : undefined;
  },
  format: (v) => v.join(','),
};
export const head = text(/^\d{1,3}\.\d{1,4}$/);
/// Numbers by name, `name:number,name:number`, where each pair matches the pattern; those that are
/// `usual` are left out.
export const numbers = (pattern, order, usual) => ({
  parse(s) {
    const pairs = s.split(',');
    if (!pairs.every((pair) => pattern.test(pair))) return undefined;
    const found = pairs.map((pair) => pair.split(':')).map(([key, v]) => [key, Number(v)]);
    return Object.fromEntries(found.filter(([, v]) => v !== usual));
  },
  format: (values) => Object.keys(values).sort(order).map((key) => `${key}:${values[key]}`)
      .join(','),
});

function byPlace(a, b) {
  const p = a.split('.').map(Number);
  const q = b.split('.').map(Number);
  return p[0] - q[0] || p[1] - q[1];
}

export const gates = numbers(/^\d{1,3}\.\d{1,4}:(0|1|0?\.\d{1,4})$/, byPlace, 1);
/// Positions of a lesson's controls: `step:3,sharp:2.5`.
const labels = numbers(/^[a-zA-Z]\w{0,11}:-?\d{1,7}(\.\d{1,4})?$/);

/// Every key: how it is read and written, and what it is when the address does not say. A default
/// of null means that the view chooses.
const STATE_KEYS = {
  v: [count, 1], view: [text(/^[a-z]{1,20}$/), null], run: [count, 1],
  ex: [{parse: (s) => (/^(typical|worst)$/.test(s) ? s : count.parse(s)), format: String},
    'typical'],
  h: [head, null], b: [text(/^(\d{1,3}\.\d{1,4}|start|parent)$/), null],
  q: [count, null], k: [count, null],
  rel: [text(/^[^\u0000-\u001f]{0,80}$/), null],
  win: [text(/^\d{1,5}-\d{1,5},\d{1,5}-\d{1,5}$/), null], tab: [text(/^[a-z]{1,20}$/), 'row'],
  gates: [gates, {}], repl: [oneOf('zero', 'mean', 'resample'), 'zero'],
  hide: [text(/^(truth|random|\d{1,5}\.\d{1,5})$/), null],
  tokens: [counts, []], step: [count, null], method: [text(/^[a-z_0-9]{1,40}$/), null],
  kept: [count, null], scene: [count, 0], file: [text(/^[a-z_]{1,40}$/), null],
  group: [count, null], lesson: [text(/^[a-z]{1,20}$/), 'vectors'],
  world: [oneOf('five-tokens', 'cat-sleeps', 'run'), null],
  lab: [labels, {}], theme: [oneOf('auto', 'light', 'dark'), 'auto'],
  keys: [oneOf('on', 'off'), 'on'],
};

export function defaultState(keys = STATE_KEYS) {
  const state = {unknown: []};
  for (const [key, [, value]] of Object.entries(keys))
    state[key] = typeof value === 'object' ? structuredClone(value) : value;
  return state;
}

function decoded(s) {
  try {
    return decodeURIComponent(s);
  } catch {
    return undefined;
  }
}

/// Reads an address: {state, notices}. It never fails. `keys` are those of the page, in the form of
/// STATE_KEYS.
export function parseHash(hash, keys = STATE_KEYS) {
  const state = defaultState(keys);
  const notices = [];
  for (const pair of String(hash).replace(/^#/, '').split('&')) {
    if (!pair) continue;
    const cut = pair.indexOf('=');
    const key = cut < 0 ? pair : pair.slice(0, cut);
    if (!Object.hasOwn(keys, key)) {
      state.unknown.push(pair);
      continue;
    }
    const value = decoded(pair.slice(cut + 1));
    const parsed = cut < 0 || value === undefined ? undefined : keys[key][0].parse(value);
    if (parsed === undefined)
      notices.push(`The address says ${pair.slice(0, 60)}, which is not a value of ${key}; the ` +
        'default is shown.');
    else state[key] = parsed;
  }
  return {state, notices};
}

/// Writes a state: '' for the default one.
export function formatHash(state, keys = STATE_KEYS) {
  const pairs = [];
  for (const key of Object.keys(keys).sort()) {
    const [kind, initial] = keys[key];
    if (state[key] == null) continue;
    const value = kind.format(state[key]);
    if (initial != null && value === kind.format(initial)) continue;
    pairs.push(`${key}=${encodeURIComponent(value).replace(/%2C/g, ',').replace(/%3A/g, ':')}`);
  }
  pairs.push(...state.unknown);
  return pairs.length ? '#' + pairs.join('&') : '';
}
