// The page as a whole: its state in the address, the view that shows it, and how it starts.

let written = '';
let timer = 0;

/// Changes the state. A change of view, run or head is a step that Back takes back; anything else
/// replaces the address, at most four times a second.
function go(changes) {
  const before = app.state;
  if (changes.view && !usable(changes.view)) return;
  app.state = {...before, ...changes};
  const step = ['view', 'run', 'h', 'a', 'b', 'page'].some((key) => app.state[key] !== before[key]);
  if (step) writeAddress(true);
  else if (!timer) timer = setTimeout(() => writeAddress(false), 250);
  const moved = app.state.view !== before.view;
  show(moved || ['run', 'page', 'world'].some((key) => app.state[key] !== before[key]));
  if (!moved) return;
  window.scrollTo(0, 0);
  if (document.activeElement === document.body) byId('view-title').focus();
}

function writeAddress(push) {
  clearTimeout(timer);
  timer = 0;
  const hash = formatHash(app.state);
  if (hash === written) return;
  written = hash;
  try {
    // a sandboxed frame may forbid it; the page works without
    history[push ? 'pushState' : 'replaceState'](
      null, '', hash || location.pathname + location.search,
    );
  } catch {/* nothing is lost but the address */}
}

function readAddress() {
  const {state, notices} = parseHash(location.hash);
  // the lessons begin with the largest of their models
  if (app.page.facts.textbook && !/\brun=/.test(location.hash))
    state.run = Math.max(1, app.page.runs.length);
  written = location.hash;
  if (!usable(state.view)) {
    if (state.view !== defaultState().view) notices.push(`This page has no view ${state.view}.`);
    state.view = VIEWS.find(isShown)?.name;
  }
  for (const key of ['h', 'a', 'b'])
    if (state[key] && app.page.runs.length && !core.headOf(app.page.runs[0], state[key])) {
      notices.push(`There is no head ${state[key]} in this run.`);
      state[key] = null;
    }
  app.state = state;
  byId('notices').replaceChildren(...notices.map((words) => note(words)));
  show(true);
}

const usable = (name) => VIEWS.some((view) => view.name === name && isShown(view));

/// The kept step nearest to a step; null where it is the last, or none is kept.
function nearestStep(step) {
  const steps = app.page.runs.length ? run().steps : [];
  if (step == null || !steps.length) return null;
  const near = steps.reduce(
    (best, s) => (Math.abs(s - step) < Math.abs(best - step) ? s : best),
    steps[0],
  );
  return near === steps.at(-1) ? null : near;
}

function show(rebuild) {
  const {state} = app;
  state.step = nearestStep(state.step);
  const root = document.documentElement;
  if (root.dataset.theme !== state.theme) palettes = {};
  root.dataset.theme = state.theme;
  root.classList.toggle('embed', state.embed === '1');
  if (rebuild) build();
  else refresh();
  byId('address').textContent = formatHash(state) || '#';
  judge();
  for (const link of document.querySelectorAll('#views a')) {
    link.href = formatHash({...state, view: link.dataset.view}) || '#';
    if (link.dataset.view === state.view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function build() {
  const view = VIEWS.find((v) => v.name === app.state.view);
  const main = byId('view');
  refreshers = [];
  app.figures = [];
  app.view = view;
  buildControls(view.uses || []);
  main.replaceChildren(el('h2', {id: 'view-title', tabindex: -1}, view.title));
  view.build(main);
  app.figures.forEach((f) => f.draw());
  document.title = `${view.title} · ${app.page.facts.title} · headlab`;
}

// ---- start ---------------------------------------------------------------------------------

/// Compares the page's model with the logits and patterns that the program embedded, and says so.
async function checkModel() {
  const badge = byId('check');
  const withModel = app.page.runs.filter((r) => r.model);
  badge.hidden = !app.page.runs.length;
  if (!withModel.length)
    badge.textContent = 'This page holds no weights: patterns are as the program stored them.';
  for (const r of withModel) {
    const result = await core.drive(core.selfCheckSteps(r));
    if (app.check === null || !result.ok) app.check = result;
    badge.textContent = `${result.ok ? '✓' : '✗'} ${result.sentence}`;
    badge.classList.toggle('bad', !result.ok);
    if (!result.ok) break;
  }
  judge();
}

/// Shows the banner, and takes everything live away, if the check failed or a block of numbers that
/// was decoded since is damaged.
function judge() {
  const {damaged} = app.page.blocks;
  const banner = byId('banner');
  if (!banner.hidden || (app.check?.ok !== false && !damaged.size)) return;
  banner.hidden = false;
  banner.textContent =
    app.check?.ok === false
      ? app.check.sentence
      : `Numbers in this page are damaged (${[...damaged].join(', ')}), so everything live is off.`;
  app.check = {...app.check, ok: false};
  show(true);
}

function header() {
  const {facts} = app.page;
  byId('run').textContent = facts.title;
  byId('page-command').replaceChildren('again: ', code(facts.command));
  byId('views').replaceChildren(
    ...VIEWS.filter(isShown).map((v) =>
      link(v.short || v.title, () => go({view: v.name}), {
        'data-view': v.name, id: `view-${v.name}`,
      }),
    ),
  );
  const on = (id, act) => byId(id).addEventListener('click', act);
  on('skip', (event) => {
    event.preventDefault();
    byId('view-title').focus();
  });
  on('link', copyLink);
  on('theme', cycleTheme);
  on('keys', ACTIONS['?']);
  on('keys-close', () => byId('keys-dialog').close());
  byId('keys-off')
    .addEventListener('change', (event) => go({keys: event.target.checked ? 'off' : 'on'}));
  byId('keys-list')
    .replaceChildren(tableOf('Keys', ['key', 'does'], KEYS));
}

async function start() {
  app.page = core.fromDocument(document);
  byId('static').hidden = true;
  for (const id of ['app', 'tools']) byId(id).hidden = false;
  header();
  readAddress();
  document.addEventListener('keydown', onKey);
  window.addEventListener('popstate', readAddress);
  window.addEventListener('hashchange', () => location.hash !== written && readAddress());
  window.addEventListener('resize', () => app.figures.forEach((f) => f.draw()));
  for (const media of ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print'])
    matchMedia(media).addEventListener('change', () => {
      palettes = {};
      show(false);
    });
  await checkModel();
  refresh();
  app.ready = true;
}
