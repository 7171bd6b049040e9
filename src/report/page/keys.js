// The keys and what they do.

const KEYS = [
  ['1–9', 'views, in their order'],
  ['Tab', 'regions; arrows, Home, End, Page keys move inside a picture or the grid'],
  ['Enter', 'open a head, or lock a query'],
  ['Shift+Enter', 'add the query to the sum'],
  ['Esc', 'unlock, or back to the overview'],
  ['x', 'switch this head off or on'],
  ['X', 'only this head, or all'],
  ['a', 'all heads on'],
  ['g', 'truth on or off'],
  ['n', 'chance level on or off'],
  ['c', 'compare this head'],
  ['[ ]', 'example'],
  [', .', 'training step, heads kept, or lesson'],
  ['t', 'table of the first picture'],
  ['s', 'save the first picture as SVG'],
  ['l', 'copy a link to this'],
  ['d', 'light, dark, as the system'],
  ['+ − 0', 'zoom a pattern; or two fingers, or the wheel with Ctrl'],
  ['?', 'this list'],
];

const ACTIONS = {
  x: () => toggleGate(chosen()),
  X: () => onlyGate(chosen()),
  a: () => go({gates: {}, hide: null}),
  g: () => go({rel: app.state.rel === '' ? null : ''}),
  n: () => go({null: app.state.null === 'on' ? 'off' : 'on'}),
  c: () => usable('compare') && go({view: 'compare', a: chosen()?.at || null}),
  '[': () => exampleCount() && stepExample(-1),
  ']': () => exampleCount() && stepExample(1),
  ',': () => stepTime(-1),
  '.': () => stepTime(1),
  t: () => document.querySelector('#view figure .table-button')?.click(),
  s: () => app.figures[0]?.picture && save(app.figures[0].picture, 'svg', ''),
  l: () => copyLink(),
  d: () => cycleTheme(),
  '?': () => byId('keys-dialog').showModal(),
  Escape: () => (app.state.q.length ? go({q: [], k: null}) : go({view: VIEWS.find(isShown).name})),
};

function toggleGate(head) {
  if (!head || !isLive()) return;
  const gates = {...app.state.gates};
  if (gates[head.at] === undefined) gates[head.at] = 0;
  else delete gates[head.at];
  go({gates});
  say(`Head ${head.at} is ${gates[head.at] === 0 ? 'off' : 'on'}.`);
}

function onlyGate(head) {
  if (!head || !isLive()) return;
  const others = headsOf().filter((x) => x.at !== head.at);
  const already = others.every((x) => app.state.gates[x.at] === 0);
  go({gates: already ? {} : silenced(others)});
}

/// Gates of 0 for these heads.
const silenced = (heads) => Object.fromEntries(heads.map((x) => [x.at, 0]));

function stepTime(by) {
  if (app.view.stepBy) return app.view.stepBy(by);
  if (!app.page.runs.length) return undefined;
  const {steps} = run();
  if (!steps.length || !isLive()) return undefined;
  const at = app.state.step == null ? steps.length - 1 : steps.indexOf(app.state.step);
  return go({step: steps[Math.max(0, Math.min(at + by, steps.length - 1))]});
}

function cycleTheme() {
  go({theme: {auto: 'light', light: 'dark', dark: 'auto'}[app.state.theme]});
  say(`Colours: ${app.state.theme === 'auto' ? 'as the system' : app.state.theme}.`);
}

async function copyLink() {
  writeAddress(false);
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link to exactly this is in the clipboard.');
  } catch {
    say(
      `The address bar holds the link: ${formatHash(app.state) || 'nothing differs from the default'}`,
    );
  }
}

function onKey(event) {
  const typing = event.target.closest?.('input:not([type="checkbox"]), select, textarea, dialog');
  if (typing || event.ctrlKey || event.altKey || event.metaKey || app.state.keys === 'off') return;
  const views = VIEWS.filter(isShown);
  if (!app.page.runs.length && !/^[1-9,.tsld?]$/.test(event.key)) return;
  const action = /^[1-9]$/.test(event.key)
    ? views[event.key - 1] && (() => go({view: views[event.key - 1].name}))
    : ACTIONS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}
