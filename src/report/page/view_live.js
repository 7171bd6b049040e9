// The model, running in the page: a gate for each head, edges hidden, tokens changed. Its losses are
// over the same held-out examples as `ablate`, first a few, then all in slices, and stand beside
// what the program itself found for the same set of heads.

/// A fader for each head, layer by layer.
function faders() {
  return el('div', null,
    run()
      .modules.filter((module) => module.heads.length)
      .map((module) =>
        el('fieldset', {class: 'gates'}, el('legend', {class: 'small muted'}, moduleName(module)),
          module.heads.map((born) => {
            const at = `${module.index}.${born}`;
            const set = (v) => {
              const gates = {...app.state.gates};
              if (v === 1) delete gates[at];
              else gates[at] = v;
              go({gates, h: at});
            };
            const box = el('input', {
              type: 'checkbox', id: `gate-${at}`, 'data-head': at,
              onchange: (event) => set(event.target.checked ? 1 : 0),
            });
            const slider = el('input', {
              type: 'range', min: 0, max: 1, step: 0.05, id: `fader-${at}`,
              'aria-label': `gate of head ${at}`,
              oninput: (event) => set(Number(event.target.value)),
            });
            const out = el('output', {for: `fader-${at}`});
            live(() => {
              const v = app.state.gates[at] ?? 1;
              box.checked = v > 0;
              slider.value = v;
              out.textContent = String(v);
            });
            return el('div', {class: 'gate'},
              el('label', null, box, ` ${at}`), slider, out,
              el('span', {class: 'muted small'},
                ownedBy({m: module.index, place: module.placeOf(born)}).join(', '),
              ),
            );
          }),
        ),
      ),
  );
}

VIEWS.push({
  name: 'live', title: 'Live model', short: 'Live', uses: ['h', 'ex', 'rel', 'step'],
  available: (page) => page.runs.length > 0,
  build(main) {
    if (!isLive())
      return main.append(
        note(
          run().model
            ? 'The live model is off, because this page failed its own check.'
            : 'This page holds no weights. ',
          code(app.page.facts.command), run().model ? '' : ' with a larger budget embeds them.',
        ),
      );
    measureListeners = [];
    const result = el('div', {id: 'live-result', 'aria-live': 'off'});
    const pair = el('div');
    measureListeners.push(() => {
      result.replaceChildren(...[lossNodes()].flat());
      pair.replaceChildren(pairNode());
    });
    const hides = [['', 'none'], ['gold', 'on the truth drawn'], ['random', 'as many random ones']];
    const byQuestion = figure((width) => relationBars(width), {
      id: 'by-question',
      again: () => `headlab ablate ${run().name} --kind ${app.state.repl}`,
    });
    measureListeners.push(app.figures.at(-1).draw);
    main.append(
      el('p', null,
        'This is the trained model itself. Move a gate: all heads after it, and every answer, are computed again.',
      ),
      result,
      el('div', {class: 'columns'},
        el('div', null, faders(),
          headsOf().length > 0 &&
            el('div', {class: 'controls'},
              button('All on', () => go({gates: {}, hide: null}), {id: 'all-on'}),
              button('Only this head', () => onlyGate(chosen()), {id: 'only'}),
              choice('repl', 'In place of a silent head',
                [['zero', 'zero'], ['mean', 'its mean'], ['resample', 'another example’s output']],
                (v) => go({repl: v}), () => app.state.repl,
              ),
              choice('hide', 'Hide edges of the chosen head', hides, (v) => go({hide: v || null}),
                () => (hidesCells() ? '' : app.state.hide),
              ),
              button('Hide the locked cells',
                () =>
                  app.state.k == null
                    ? say('Lock a cell of the pattern first.')
                    : go({hide: app.state.q.map((q) => `${q}.${app.state.k}`).join(',')}),
                {id: 'hide-locked'},
              ),
              dynamic('span', {class: 'small muted'}, () =>
                hidesCells() ? 'Hidden cells act on the example shown, not on the loss above.' : '',
              ),
            ),
          byQuestion,
          headsOf().length > 0 && [pair, dynamic('div', null, guessNode)],
        ),
        el('div', null,
          figure((width) => chosenPicture(width, {rel: relation()}), {
            id: 'live-pattern', most: 480, choose: lockShown, again: patternCommand(),
          }),
          run().modules.length === 1 &&
            el('p', {class: 'small muted'},
              'There is one layer: no head reads what another writes, so gates change answers, not patterns.',
            ),
          dynamic('div', {id: 'answers'}, answers), tokenEditor(),
        ),
      ),
    );
    live(() => {
      measure();
      showMeasured();
    });
  },
});
