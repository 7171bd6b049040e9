// The controls that several views share: run, head, example, truth, training step, and what differs
// from the run as it is.

const CONTROLS = {
  run: () =>
    app.page.runs.length > 1 &&
    choice('pick-run', 'Run', app.page.runs.map((r, i) => [i + 1, r.name]),
      (v) => go({run: Number(v), h: null, gates: {}, step: null}), {'data-key': 'run'},
    ),
  h: () =>
    headsOf(run()).length > 0 &&
    choice('pick-head', 'Head', headsOf(run()).map((x) => [x.at, headName(x)]), (v) => go({h: v})),
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
    headsOf(run()).length > 0 &&
    task().facts.relations.length > 0 &&
    choice('pick-relation', 'Truth',
      [['', 'hidden'], ...task().facts.relations.map((r) => [r.name, r.name])],
      (v) => go({rel: v}),
    ),
  step: () => run().steps?.length > 0 && isLive() && stepControl(),
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
  const deciles =
    order.length > 20
      ? Array.from({length: 9}, (_, d) => [
          decile(d + 1), `${decile(d + 1)} · decile ${d + 1} of the loss`,
        ])
      : [];
  const taken = new Set(deciles.map(([i]) => i));
  const first = Array.from({length: Math.min(order.length, 16)}, (_, i) => [i, String(i)]).filter(
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
  const slider = el('input', {
    type: 'range', id: 'pick-step', min: 0, max: steps.length - 1, step: 1,
    'aria-label': 'training step', oninput: (event) => go({step: steps[event.target.value]}),
  });
  const words = el('output', {for: 'pick-step'});
  live(() => {
    const step = app.state.step ?? steps[steps.length - 1];
    slider.value = steps.findIndex((s) => s >= step);
    slider.setAttribute('aria-valuetext', `step ${step}`);
    words.textContent = String(step);
  });
  return el('label', null, 'Step ', slider, words);
}

function buildControls(uses) {
  const bar = document.getElementById('controls');
  if (!app.page.runs.length) return bar.replaceChildren();
  bar.replaceChildren(
    ...(uses.length || app.view.name !== 'learn' ? ['run'] : [])
      .concat(uses)
      .filter((key, i, all) => all.indexOf(key) === i)
      .map((key) => CONTROLS[key]())
      .filter(Boolean),
  );
  bar.append(
    dynamic('span', {id: 'edited'}, () => {
      const off = Object.entries(app.state.gates).map(([at, v]) =>
        v === 0 ? `${at} off` : `${at} at ${v}`,
      );
      const parts = [
        ...off,
        ...(app.state.hide ? [`${app.state.hide} edges hidden`] : []),
        ...(Object.keys(app.state.edit).length ? ['tokens edited'] : []),
        ...(app.state.step != null ? [`step ${app.state.step}`] : []),
      ];
      return parts.length
        ? [
            el('b', null, `Changed: ${parts.join(', ')}`),
            button('Undo all', () => go({gates: {}, hide: null, edit: {}, step: null}), {
              id: 'undo',
            }),
          ]
        : [];
    }),
  );
  live(() => {
    setValues({
      'pick-run': app.state.run, 'pick-head': chosen()?.at,
      'pick-relation': uses.includes('rel') ? task().facts.relations[relation()]?.name : '',
    });
    const list = document.getElementById('pick-example');
    if (list) {
      list.replaceChildren(
        ...exampleOptions().map(([value, words]) => el('option', {value}, words)),
      );
      list.value = String(app.state.ex);
    }
  });
}
