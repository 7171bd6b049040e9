// One bench for experiments with the model itself: a gate for each head with what it costs now,
// sets of heads, edges to hide, tokens to type, and the loss next to what the program found.
import {idOfPair, keptNames, rankOfSet, subsetNames, subsetsOf} from '../../engine/reports.js';
import {digits} from '../../draw/charts.js';
import {
  aside, button, choice, code, dynamic, el, figure, live, note, say, sliderOf, tableOf, visible,
} from '../../draw/ui.js';
import {
  app, chosen, example, go, headsOf, hidesCells, isLive, noModel, onlyGate, onlyHeads, prunedRuns,
  relation, run, task, trace,
} from '../../state/state.js';
import {costOf, lossWithout, pairCost, signed} from '../../parts/heads.js';
import {
  chosenPicture, lockShown, lockedCell, patternCommand, typableTokens,
} from '../../parts/pattern.js';
import {answersAt, dial, logitsAt, oracleHint} from '../../parts/measure.js';
import {curvePicture, methodNow, methodsOf} from '../../parts/curve.js';
import {roleOfHead, spoken} from '../../parts/questions.js';

// ---- gates -----------------------------------------------------------------------------------

/// The cost of switching a head off at the present gates of the others, and whether it is much
/// larger than with all others on.
function costNow(x) {
  const alone = costOf([x]);
  const rest = headsOf().filter((y) => app.state.gates[y.at] === 0 && y.at !== x.at);
  const on = lossWithout(rest);
  const off = lossWithout([...rest, x]);
  if (on == null || off == null || app.state.repl !== 'zero') return {cost: alone, more: false};
  return {cost: off - on, more: off - on > 0.01 + 2 * Math.max(0, alone)};
}

function gateOf(x) {
  const {at} = x;
  const {question, mark, color} = roleOfHead(x);
  const set = (v) => {
    const gates = {...app.state.gates, [at]: v};
    if (v === 1) delete gates[at];
    go({gates, h: at, kept: null});
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
  const chip = el('span', {class: 'chip'});
  live(() => {
    const v = app.state.gates[at] ?? 1;
    box.checked = v > 0;
    slider.value = v;
    out.textContent = String(v);
    const {cost, more} = costNow(x);
    chip.textContent = cost == null ? '' : signed(cost);
    chip.classList.toggle('more', more);
  });
  return el('div', {class: 'gate'}, el('label', null, box, ` ${at}`), slider, out, chip,
    el('span', {class: `small c${color}`}, question ? `${mark} ${spoken(question.name)}` : ''));
}

const faders = () => el('div', null,
    run().attentionLayers.filter((layer) => layer.heads.length).map((layer) =>
      el('fieldset', {class: 'gates'},
        el('legend', {class: 'small muted'}, layer.title),
        headsOf().filter((x) => x.m === layer.index).map((x) => gateOf(x)))),
  );

// ---- sets ------------------------------------------------------------------------------------

const pointNow = () => {
  const kept = app.state.kept ?? headsOf().length;
  return methodNow().points.reduce((best, p) =>
    (Math.abs(p.kept - kept) < Math.abs(best.kept - kept) ? p : best));
};

/// Leaves on what a method keeps of a size.
function keep(changes) {
  go(changes);
  const {heads, kept} = pointNow();
  if (heads?.length || !kept) go({gates: onlyHeads((heads || []).map(idOfPair)), repl: 'zero'});
}

function setNodes() {
  const only = (r) => onlyHeads(headsOf(r).map((x) => x.at));
  const sizes = methodsOf().length ? methodNow().points.map((p) => p.kept) : [];
  return el('div', {class: 'controls'},
    button('All on', () => go({gates: {}, hide: null, kept: null}), {id: 'all-on'}),
    button('Only this head', () => onlyGate(chosen()), {id: 'only'}),
    prunedRuns().map((r) =>
      button(`The ${headsOf(r).length} of ${r.name}`, () => go({gates: only(r)}))),
    sizes.length > 0 && [
      choice('method', 'Keep heads by', methodsOf().map(({method}) => [method, method]),
        (v) => keep({method: v}), () => methodNow().method),
      sliderOf('kept', 'how many', {
        min: Math.min(...sizes), max: Math.max(...sizes), step: 1, 'aria-label': 'heads kept',
        value: () => pointNow().kept, act: (kept) => keep({kept}),
      }),
    ],
  );
}

/// Ranks the reader's set of heads among all sets of its size, when asked.
function guessNode() {
  const subsets = subsetsOf(run());
  if (!subsets) return aside('Which heads suffice? ', oracleHint());
  const kept = subsetNames(subsets).map((at) => (app.state.gates[at] ?? 1) > 0);
  const size = kept.filter(Boolean).length;
  if (size === kept.length) return [];
  const mine = kept.reduce((bits, on, i) => bits + (on ? 2 ** i : 0), 0);
  const {rank, of, loss, best, bits} = rankOfSet(subsets, mine);
  const names = (set) => keptNames(subsets, set).join(' ') || 'none';
  return el('details', {id: 'guess'},
    el('summary', null, `Are these the best ${size} heads? Guess, then open this.`),
    el('p', null, `These ${size} (${names(mine)}) rank ${rank} of ${of} sets of that size: ` +
      `loss ${digits(loss)}. The best is ${names(bits)}: ${digits(best)}.`),
  );
}

/// Two heads off: is the loss more than the sum of what each costs?
function pairNode() {
  const off = headsOf().filter((x) => app.state.gates[x.at] === 0);
  if (off.length !== 2 || Object.keys(app.state.gates).length !== 2) return [];
  const {one, other, both, beyond} = pairCost(...off);
  if (both == null || app.state.repl !== 'zero')
    return aside('Pairs: ', code(`headlab ablate ${run().name} --pairs`));
  return tableOf(`Without ${off[0].at} and ${off[1].at}`, ['off', 'rise of the loss'], [
    [off[0].at, one], [off[1].at, other], ['the sum of the two', one + other],
    ['both at once', both], ['excess over the sum', beyond],
  ]);
}

// ---- tokens ----------------------------------------------------------------------------------

/// A token drawn at random from the softmax of its logits.
function drawnToken(logits) {
  const largest = Math.max(...logits);
  const weights = Array.from(logits, (v) => Math.exp(v - largest));
  let left = Math.random() * weights.reduce((a, b) => a + b, 0);
  for (let token = 0; token < weights.length; ++token) {
    left -= weights[token];
    if (left <= 0) return token;
  }
  return 0;
}

function tokenField() {
  if (example().vectors) return note('The model reads vectors: there are no tokens to type.');
  const {tokens, target_names: names} = task();
  const single = tokens.filter((words) => [...words].length > 1).length < 3;  // one for unknown
  const known = new Map(tokens.flatMap((words, v) => [[visible(words), v], [words, v]]));
  const join = () => typableTokens().map((v) => visible(tokens[v])).join(single ? '' : ' ');
  const field = el('input', {
    id: 'typed', type: 'text', autocomplete: 'off', spellcheck: 'false',
    oninput: () => {
      const words = single ? [...field.value] : field.value.trim().split(/\s+/).filter(Boolean);
      const ids = words.map((one) => known.get(one)).filter((v) => v !== undefined);
      if (ids.length < words.length) say('Words that are not tokens of this task are ignored.');
      if (ids.length) go({tokens: ids});
    },
  });
  live(() => {
    if (document.activeElement !== field) field.value = join();
  });
  const next = () => {
    if (!trace()?.logits) return;
    const token = drawnToken(logitsAt(trace(), example().length - 1, 0));
    const before = typableTokens();
    go({tokens: [...before.slice(before.length >= task().length ? 1 : 0), token]});
    field.value = join();
  };
  return el('div', {class: 'controls'},
    el('label', {class: 'wide'}, example().source ? 'Source ' : 'Tokens ', field),
    names[0] === 'next' && names.length === 1 && !example().source &&
      button('Continue ▸', next, {id: 'continue'}),
    button('Reset', () => go({tokens: []}), {id: 'as-it-was'}),
    dynamic('span', {class: 'small muted'}, () =>
      app.state.tokens.length && task().relations.length && !example().truth(0, 0)
        ? 'The right answers to typed tokens are not known for this task.' : ''),
  );
}

/// The model's answers at one position: each question, the right token, the likeliest tokens.
function answers() {
  const t = Math.min(app.state.q ?? example().length - 1, example().length - 1);
  const mark = (ok) => (ok ? '✓' : '✗');
  const rows = answersAt(t).map(({name, right, ok, likeliest}) => [
    spoken(name), right ?? '–', right === null ? '' : mark(ok),
    likeliest.map(([words, share]) => `${words} ${share.toFixed(3)}`).join('  '),
  ]);
  if (!rows.length) return [];
  return tableOf(`Answers at position ${t}${app.state.q == null ? ', the last' : ''}`,
    ['question', 'right', '', 'the model says (probability)'], rows);
}

// ---- edges -----------------------------------------------------------------------------------

function edgeNodes() {
  const hides = [['', 'nothing'], ['truth', 'the right keys'], ['random', 'as many other keys']];
  return el('div', {class: 'controls'},
    choice('repl', 'Replace an ablated head by',
      [['zero', 'zero'], ['mean', 'its mean'], ['resample', 'another example’s output']],
      (v) => go({repl: v}), () => app.state.repl),
    choice('hide', 'Hide', hides, (v) => go({hide: v || null}),
      () => (hidesCells() ? '' : app.state.hide ?? '')),
    dynamic('span', null, () => chosen() && `from head ${chosen().at}`),
    button('Hide the locked cell', () => chosen() && trace() &&
      go({hide: lockedCell(chosen()).join('.')}), {id: 'hide-locked'}),
    dynamic('span', {class: 'small muted'}, () =>
      hidesCells() ? 'A masked cell changes only the example shown, not the loss above.' : ''),
  );
}

export const benchView = {
  name: 'bench', place: 'Experiment', title: 'Bench', uses: ['h', 'ex', 'rel', 'step'],
  available: (page) => page.runs.length > 0 && !page.facts.stored,
  stepBy: (by) => methodsOf().length && isLive() && keep({kept: Math.max(0, pointNow().kept + by)}),
  build(main) {
    if (!isLive()) return main.append(noModel());
    const heads = headsOf().length > 0;
    main.append(
      el('p', null, `${task().question} This is the trained model: move a gate, hide an edge, ` +
        `${example().vectors ? '' : 'type tokens, '}and everything after it is computed again.`),
      dial({again: () => `headlab ablate ${run().name} --kind ${app.state.repl}`}),
      el('div', {class: 'columns'},
        el('div', null,
          heads && [el('h3', null, 'Heads, each with the current cost of ablating it'), faders(),
            setNodes(), edgeNodes(), dynamic('div', null, guessNode),
            dynamic('div', {id: 'two-off'}, pairNode)],
          heads && methodsOf().length > 0 && figure(curvePicture, {
            id: 'curve', most: 620, again: run().reports.curve.command,
            choose: (r, c) => keep({kept: methodNow().points[c]?.kept ?? 0}),
          }),
        ),
        el('div', null, el('h3', null, 'One example'), tokenField(),
          dynamic('div', {id: 'answers'}, answers),
          figure((width) => chosenPicture(width, {rel: relation()}), {
            id: 'live-pattern', most: 480, choose: lockShown, again: patternCommand,
          }),
        ),
      ),
    );
  },
};
