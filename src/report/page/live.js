// Tokens to edit, answers to read, pairs of heads, and a guess at the heads that suffice.
import {keptNames, rankOfSet, subsetLoss, subsetNames, subsetsOf} from './core_losses.js';
import {range} from './draw.js';
import {digits} from './charts.js';
import {
  aside, button, choice, code, dynamic, el, figure, live, note, quoted, say, tableOf, visible,
} from './ui.js';
import {
  app, chosen, example, gateArray, go, headsOf, isLive, onlyGate, ownedBy, relation, run, task,
  trace,
} from './state.js';
import {moduleName} from './heads.js';
import {chosenPicture, lockShown, patternCommand} from './pattern.js';
import {
  hidesCells, lossNodes, measure, measured, onMeasured, oracleHint, relationBars, showMeasured,
} from './measure.js';

/// The tokens of the example; a choice of the vocabulary replaces the one that was picked.
function tokenEditor() {
  let picked = null;
  const list = el('select',
    {
      id: 'edit-token', 'aria-label': 'new token',
      onchange: (event) =>
        picked !== null && go({edit: {...app.state.edit, [picked]: Number(event.target.value)}}),
    },
    task().tokens.slice(0, 500).map((words, v) => el('option', {value: v}, visible(words))),
  );
  const places = (list, first, most) =>
    Array.from(list || [])
      .slice(0, Math.min(most, 128))
      .map((v, at) => [v, first + at]);
  const tokens = dynamic('div', {class: 'tokens', id: 'tokens'}, () =>
    [
      ...places(example().source, example().tokens.length, example().sourceLength),
      ...places(example().tokens, 0, example().length),
    ].map(([v, i]) =>
      button(visible(task().tokens[v] ?? String(v)),
        () => {
          picked = i;
          list.value = String(v);
          list.focus();
          say(`Position ${i}: choose another token.`);
        },
        {
          id: `token-${i}`, class: app.state.edit[i] !== undefined ? 'edited' : null,
          'aria-label': `position ${i}: ${visible(task().tokens[v] ?? '')}`,
        },
      ),
    ),
  );
  return el('div', null, el('h3', null, 'Tokens'),
    aside('Pick a token, then another in its place. ',
      dynamic('span', null, () =>
        Object.keys(app.state.edit).length && !example().gold(0, 0) && task().relations.length
          ? 'The truth of an edited example is not known for this task, so none is drawn.'
          : '',
      ),
    ),
    tokens, list, ' ', button('As it was', () => go({edit: {}})),
  );
}

/// The logits of the k-th question at a position, [vocab].
export function logitsAt(pass, t, k) {
  const {vocab, target_names: names} = task();
  return pass.logits.subarray((t * names.length + k) * vocab, (t * names.length + k + 1) * vocab);
}

/// The locked position of the example, else its last.
export const positionShown = () =>
  Math.min(app.state.q[0] ?? example().length - 1, example().length - 1);

/// What the model answers at one position: each question, the right token, and what it thinks.
export function answers() {
  const pass = trace();
  if (!pass?.logits) return [];
  const {vocab, target_names: names, tokens} = task();
  const [shown, t] = [example(), positionShown()];
  if (t < 0) return [];
  const rows = names.map((name, k) => {
    const logits = logitsAt(pass, t, k);
    const likeliest = range(vocab).sort((a, b) => logits[b] - logits[a]);
    const top = logits[likeliest[0]];
    const total = logits.reduce((sum, v) => sum + Math.exp(v - top), 0);
    const share = (v) => (Math.exp(logits[v] - top) / total).toFixed(3);
    const right = shown.targets ? shown.targets[t * names.length + k] : -1;
    return [
      name, right < 0 ? '–' : quoted(tokens[right]),
      likeliest[0] === right ? '✓' : right < 0 ? '' : '✗',
      likeliest.slice(0, 3).map((v) => `${quoted(tokens[v])} ${share(v)}`).join('  '),
    ];
  });
  return tableOf(
    `Answers at position ${t}${app.state.q.length ? '' : ' (the last; lock a query in the ' +
      'pattern to choose)'}`,
    ['question', 'right', '', 'the model says (probability)'], rows,
  );
}

/// Two heads off: is the loss more than the sum of what each costs?
function pairNode() {
  const off = Object.keys(app.state.gates);
  if (off.length !== 2 || off.some((at) => app.state.gates[at] !== 0))
    return aside(
      'Switch exactly two heads off to see whether they cost more together than each alone.',
    );
  const silent = (gates) => subsetLoss(run(), gateArray(gates));
  const [a, b, both, none] = [
    silent({[off[0]]: 0}), silent({[off[1]]: 0}), measured.result?.loss, silent({}),
  ];
  if ([a, b, both, none].some((v) => v == null) || app.state.repl !== 'zero')
    return aside('Pairs: ', code(`headlab ablate ${run().name} --pairs`));
  const sum = a + b - 2 * none;
  return tableOf(`Heads ${off.join(' and ')}`, ['silenced', 'rise of the loss'], [
    [off[0], a - none], [off[1], b - none], ['sum of the two', sum],
    ['both at once', both - none], ['beyond the sum', both - none - sum],
  ]);
}

/// Ranks the reader's set of heads among all sets of its size, when asked.
function guessNode() {
  const subsets = subsetsOf(run());
  if (!subsets) return aside('Which heads suffice? ', oracleHint());
  const kept = subsetNames(subsets).map((at) => (app.state.gates[at] ?? 1) > 0);
  if (kept.every(Boolean)) return [];
  const size = kept.filter(Boolean).length;
  const mine = kept.reduce((bits, on, i) => bits + (on ? 2 ** i : 0), 0);
  const {rank, of, loss, best, bits} = rankOfSet(subsets, mine);
  const names = (set) => keptNames(subsets, set).join(' ') || 'none';
  return el('details', {id: 'guess'},
    el('summary', null,
      `Guess first: which ${size} heads suffice? Switch the others off, then open this.`,
    ),
    el('p', null,
      `Your ${size} heads (${names(mine)}) are number ${rank} of ${of} sets of that size: loss ` +
        `${digits(loss)}. The best is ${names(bits)}: ${digits(best)}. Your regret: ` +
        `${digits(loss - best)} nats.`,
    ),
  );
}
// The model, running in the page: a gate for each head, edges hidden, tokens changed. Its losses
// are
// over the same held-out examples as `ablate`, first a few, then all in slices, and stand beside
// what the program itself found for the same set of heads.

/// A fader for each head, layer by layer.
export function faders() {
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

export const liveView = {
  name: 'live', place: 'Experiment', title: 'Live model', short: 'Live',
  uses: ['h', 'ex', 'rel', 'step'],
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
    const result = el('div', {id: 'live-result', 'aria-live': 'off'});
    const pair = el('div');
    const results = () => {
      result.replaceChildren(...[lossNodes()].flat());
      pair.replaceChildren(pairNode());
    };
    const hides = [['', 'none'], ['gold', 'on the truth drawn'], ['random', 'as many random ones']];
    const byQuestion = figure((width) => relationBars(width), {
      id: 'by-question',
      again: () => `headlab ablate ${run().name} --kind ${app.state.repl}`,
    });
    onMeasured(results, app.figures.at(-1).draw);
    main.append(
      el('p', null,
        'This is the trained model itself. Move a gate: all heads after it, and every answer, ' +
          'are computed again.',
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
              'There is one layer: no head reads what another writes, so gates change answers, ' +
                'not patterns.',
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
};
