// Lesson 8: what a picture suggests, and what is so: gold, chance, p, and the loss without the
// head.
// And controls in which nobody does anything, though somebody is always first: heads drawn at
// random,
// and models that were trained where there is nothing to find.
import {drive} from './core_pass.js';
import {at2, evaluateSteps, idOf} from './core_losses.js';
import {bars, digits} from './charts.js';
import {button, choice, dynamic, el, figure, note, refresh, tableOf} from './ui.js';
import {
  app, chosen, gateArray, go, headsOf, isLive, lacking, relation, run, scoresOf, task,
} from './state.js';
import {chosenPicture} from './pattern.js';
import {controlExperiment} from './worlds.js';
import {controlRow, fixed, isRunWorld, lab, labChoice, setLab} from './learn.js';

const silenceCost = {key: '', cost: null};

/// The rise of the loss with one head at 0, over the held-out examples; null while it is measured.
function costOfSilence(head) {
  const record = run().reports.ablation?.heads.find((x) => idOf(x) === head.at);
  if (record && run().facts.evaluation) return record.loss - run().facts.evaluation.loss;
  const key = `${app.state.run} ${head.at}`;
  if (silenceCost.key === key) return silenceCost.cost;
  Object.assign(silenceCost, {key, cost: null});
  ++app.busy;
  const loss = (gates) => drive(evaluateSteps(run(), {gates}));
  loss(null)
    .then(async (whole) => {
      const without = await loss(gateArray({[head.at]: 0}));
      if (silenceCost.key === key) silenceCost.cost = without.loss - whole.loss;
    })
    .finally(() => {
      --app.busy;
      refresh();
    });
  return null;
}

/// The guess beside the scores: [relation, mass, chance, lift, p, verdict] of the chosen head.
function truthTable(head) {
  const rows = scoresOf(head).filter(({score}) => score.mass != null);
  if (!rows.length)
    return lacking('heads.json', 'Scores are') || note('This task has no truth for this head.');
  const best = rows.reduce((a, b) => (b.score.lift > a.score.lift ? b : a));
  const guess = lab('guess', -1);
  const cost = isLive() ? costOfSilence(head) : NaN;
  const verdict = best.owns ? best.name : 'nothing of these';
  const nothing = guess >= task().relations.length;
  const right = nothing ? !best.owns : best.owns && guess === best.i;
  return [
    tableOf(`Head ${head.at} against the truth`,
      ['relation', 'mass', 'chance', 'lift', 'p', ''],
      rows.map(({name, score: s, owns}) => [
        name, ...[s.mass, s.null, s.lift, s.p].map((v) => fixed(v, 3)),
        owns ? '★ owns it' : name === best.name ? 'best of this head' : '',
      ]),
    ),
    el('p', {id: 'truth-verdict'},
      el('b', null, `Head ${head.at} does ${verdict}. `),
      guess < 0
        ? 'You did not guess. '
        : right
          ? 'Your guess is right. '
          : 'Your guess is not borne out. ',
      cost === null
        ? 'Its silence is being measured …'
        : Number.isFinite(cost)
          ? `Silent, it costs ${digits(cost)} nats.`
          : '',
    ),
  ];
}

/// Trained controls: [{task, accuracy, scores: heads.json}].
const trainedControls = () => app.page.facts.sweep?.controls?.tasks || [];
export const controlNow = () =>
  trainedControls()[lab('control', trainedControls().length ? 0 : -1)];

const taskOfControl = () => controlNow().task.split(':')[0];

/// Each relation of a control with its first head: [{name, at, mass, null, lift, p, owner}].
export const firstHeads = ({scores}) =>
  scores.relations.map(({name, best, owner}) => ({
    ...best, name, at: idOf(best), owner: owner ? at2(owner) : 'nobody',
  }));

function trainedControlPicture(width, control) {
  const first = firstHeads(control);
  const words = ({name, at, lift, p, owner}) =>
    `On ${name} head ${at} is first, with a lift of ${fixed(lift, 3)} (p = ${fixed(p, 3)}); ` +
      `${owner} owns it.`;
  return bars({
    width: Math.min(width, 560), unit: 'lift', tickName: 'an owner has at least .3, and p < .01',
    low: -0.5, high: 0.5,
    rows: first.flatMap(({name, at}) =>
      control.scores.heads.map((h) => ({
        name: `${idOf(h)} ${name}`, value: h.scores[name].lift, tick: 0.3, strong: at === idOf(h),
      })),
    ),
    about: {
      name: 'control',
      title: `A model trained on ${taskOfControl()} (accuracy ${fixed(control.accuracy, 2)})`,
      sentence: first.map(words).join(' '),
    },
  });
}

function trainedControlTable() {
  const control = controlNow();
  if (!control) return [];
  return tableOf(`The first head of each relation in ${taskOfControl()}, on held-out examples`,
    ['relation', 'first', 'mass', 'chance', 'lift', 'p', 'owner'],
    firstHeads(control).map(({name, at, mass, null: chance, lift, p, owner}) => [
      name, at, ...[mass, chance, lift, p].map((v) => fixed(v, 3)), owner,
    ]),
  );
}

function controlPicture(width) {
  if (controlNow()) return trainedControlPicture(width, controlNow());
  const made = controlExperiment(lab('seed', 1));
  const sorted = [...made.others].sort((a, b) => a - b);
  const line = sorted[Math.floor(0.99 * (sorted.length - 1))];
  return bars({
    width: Math.min(width, 560), unit: 'lift', tickName: '99 % of shuffled truths stay below',
    low: Math.min(0, ...made.lifts), high: Math.max(0.2, ...made.lifts, line),
    rows: made.lifts.map((v, h) => ({
      name: `head ${h + 1}`, value: v, tick: line, strong: h === made.head,
    })),
    about: {
      name: 'control', title: 'Eight heads that attend at random',
      sentence: `Head ${made.head + 1} is first with a lift of ${fixed(made.best, 3)}; the best ` +
        `of eight does as well on ${fixed(100 * made.p, 0)} % of shuffled truths (p = ` +
        `${fixed(made.p, 3)}): ${made.p < 0.01 ? 'a false alarm, one in a hundred is' : 'nobody ' +
        'does it'}.`,
    },
  });
}

/// Heads by number alone: a name would give the answer away.
const headToGuess = () =>
  choice('guess-head', 'Head', headsOf().map((x) => [x.at, x.at]),
    (v) => go({h: v, lab: {...app.state.lab, open: 0, guess: -1}}), () => chosen()?.at,
  );

export const trueLesson = {
  worlds: ['run'],
  build(main) {
    if (isRunWorld()) {
      const names = task().relations.map((r, i) => [i, r.name]);
      main.append(
        el('div', {class: 'columns'},
          figure((width) => chosenPicture(width, {rel: lab('open') ? relation() : -1}), {
            id: 'true-pattern', most: 480,
            again: () => `headlab heads ${run().name} --pattern ${chosen()?.at}`,
          }),
          el('div', null,
            controlRow(headToGuess(),
              labChoice('guess', 'This head does',
                [[-1, '…'], ...names, [names.length, 'nothing of these']], -1,
              ),
              button('Show the truth', () => setLab({open: 1}), {id: 'show-truth'}),
            ),
            dynamic('div', {id: 'truth'}, () =>
              lab('open') && chosen() ? truthTable(chosen()) : [],
            ),
          ),
        ),
      );
    }
    const trained = trainedControls();
    main.append(
      controlRow(
        trained.length > 0 &&
          labChoice('control', 'Control', [
            ...trained.map(({task: name}, i) => [i, `trained on ${name.split(':')[0]}`]),
            [-1, 'heads drawn at random'],
          ]),
        button('Draw eight others', () => setLab({control: -1, seed: lab('seed', 1) + 1}), {
          id: 'control-again',
        }),
      ),
      figure(controlPicture, {
        id: 'control', most: 560,
        again: () => (controlNow() ? app.page.facts.sweep.controls.command : ''),
      }),
      dynamic('div', {id: 'control-table'}, trainedControlTable),
    );
  },
};
