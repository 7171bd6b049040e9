// The controls that several views share: run, head, example, truth, training step, and what differs
// from the run as it is.

const CONTROLS = {
  run: () =>
    app.page.runs.length > 1 &&
    choice('pick-run', 'Run', app.page.runs.map((r, i) => [i + 1, r.name]),
      (v) => go({run: Number(v), h: null, gates: {}, step: null}), () => app.state.run,
    ),
  h: () =>
    headsOf().length > 0 &&
    choice('pick-head', 'Head', headsOf().map((x) => [x.at, headName(x)]), (v) => go({h: v}),
      () => chosen()?.at,
    ),
  ex: () =>
    exampleCount() > 0 &&
    el('span', null,
      choice('pick-example', 'Example', exampleOptions(), (v) =>
        go({ex: /^\d/.test(v) ? Number(v) : v, edit: {}}),
      ),
      button('◀', () => stepExample(-1), {'aria-label': 'previous example', id: 'example-back'}),
      button('▶', () => stepExample(1), {'aria-label': 'next example', id: 'example-next'}),
    ),
  rel: () =>
    headsOf().length > 0 &&
    task().relations.length > 0 &&
    choice('pick-relation', 'Truth',
      [['', 'hidden'], ...task().relations.map((r) => [r.name, r.name])],
      (v) => go({rel: v}), () => task().relations[relation()]?.name,
    ),
  step: () => run().steps.length > 0 && isLive() && stepControl(),
};

function headName(x) {
  const [{kind}, owned] = [run().modules[x.m], ownedBy(x)];
  return (
    x.at + (kind !== 'self' ? ` ${kind}` : '') + (owned.length ? ` ★ ${owned.join(', ')}` : '')
  );
}

function exampleOptions() {
  const order = ranked();
  const decile = (d) => order[Math.round((d / 10) * (order.length - 1))];
  const named = [['typical', 'typical (median loss)'], ['worst', 'worst (highest loss)']];
  const deciles = range(order.length > 20 ? 9 : 0, (d) => [
    decile(d + 1), `${decile(d + 1)} · decile ${d + 1} of the loss`,
  ]);
  const taken = new Set(deciles.map(([i]) => i));
  const first = range(Math.min(order.length, 16), (i) => [i, String(i)]).filter(
    ([i]) => !taken.has(i),
  );
  const here = exampleIndex();
  if (!taken.has(here) && here >= first.length) first.push([here, String(here)]);
  return [...named, ...deciles, ...first];
}

function stepExample(by) {
  const n = exampleCount();
  go({ex: (exampleIndex() + by + n) % n, edit: {}});
}

function stepControl() {
  const {steps} = run();
  return sliderOf('pick-step', 'Step', {
    min: 0, max: steps.length - 1, step: 1, 'aria-label': 'training step',
    value: () => steps.indexOf(app.state.step ?? steps.at(-1)), words: (i) => String(steps[i]),
    act: (i) => go({step: steps[i]}),
  });
}

function buildControls(uses) {
  const bar = byId('controls');
  if (!app.page.runs.length) return bar.replaceChildren();
  const keys = new Set([...(uses.length || app.view.name !== 'learn' ? ['run'] : []), ...uses]);
  bar.replaceChildren(
    ...[...keys].map((key) => CONTROLS[key]()).filter(Boolean),
    dynamic('span', {id: 'edited'}, () => {
      const {gates, hide, edit, step} = app.state;
      const parts = [
        ...Object.entries(gates).map(([at, v]) => (v === 0 ? `${at} off` : `${at} at ${v}`)),
        hide && `${hide} edges hidden`,
        Object.keys(edit).length > 0 && 'tokens edited',
        step != null && `step ${step}`,
      ].filter(Boolean);
      if (!parts.length) return [];
      const undo = () => go({gates: {}, hide: null, edit: {}, step: null});
      return [
        el('b', null, `Changed: ${parts.join(', ')}`), button('Undo all', undo, {id: 'undo'}),
      ];
    }),
  );
  live(() => {
    const list = byId('pick-example');
    if (!list) return;
    list.replaceChildren(...exampleOptions().map(([value, words]) => el('option', {value}, words)));
    list.value = String(app.state.ex);
  });
}
