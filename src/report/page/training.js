// Training: the loss, the lift of each relation's head, the steps at which roles were born; and,
// with
// kept weights, every other view at any of those steps.
import {at2} from './core_losses.js';
import {SERIES, SHAPES, range} from './draw.js';
import {digits, plot} from './charts.js';
import {button, byId, code, dynamic, el, figure, note, say, sliderOf, tableOf} from './ui.js';
import {app, chosen, go, headsOf, isLive, lacking, ownedBy, relation, run} from './state.js';
import {headGrid, verdict} from './heads.js';
import {chosenPicture, patternCommand} from './pattern.js';

function lossPicture(width) {
  const {metrics, snapshots} = run().facts;
  if (!metrics?.step?.length)
    return (
      lacking('metrics.jsonl', 'Losses over training are') ||
      note('No losses were written while this run was trained.')
    );
  const zip = (values) =>
    metrics.step.map((s, i) => [s, values[i]]).filter((p) => p[1] != null && p[1] > 0);
  const series = [
    {name: 'held out', points: zip(metrics.loss), shape: 'circle', thick: 2.5},
    {name: 'training', points: zip(metrics.train_loss || []), dots: false},
    {
      name: 'kept weights',
      points: (snapshots?.steps || []).map((s, i) => [s, snapshots.held_out[i]]),
      line: false, shape: 'square', hollow: true, r: 4,
    },
  ];
  return plot({
    width, height: 260, series: series.filter((s) => s.points.length), x: {label: 'step'},
    y: {label: 'loss (nats, log)', log: true}, lines: stepLines(),
    about: {
      name: 'training-loss', title: 'Loss',
      sentence: `From ${digits(metrics.loss[0])} at step ${metrics.step[0]} to ` +
        `${digits(metrics.loss.at(-1))} at step ${metrics.step.at(-1)}.`,
    },
  });
}

export const births = () =>
  Object.entries(run().facts.history?.relations || {})
    .filter(([, r]) => r.born != null)
    .map(([name, r]) => ({name, ...r}))
    .sort((a, b) => a.born - b.born);
const stepLines = () =>
  app.state.step != null ? [{x: app.state.step, name: `step ${app.state.step}`, strong: true}] : [];

function liftPicture(width) {
  const {history} = run().facts;
  if (!history) return lacking('heads.jsonl', 'Scores over training are') || '';
  const index = (best) => history.heads.findIndex((x) => at2(x) === at2(best));
  const series = Object.entries(history.relations)
    .filter(([, r]) => r.best)
    .map(([name, r]) => ({
      name: `${name} (${at2(r.best)})`,
      points: history.steps
        .map((s, i) => [s, r.lift[index(r.best)]?.[i]])
        .filter((p) => p[1] != null),
      r: 2.2,
    }));
  return plot({
    width, height: 300, series, x: {label: 'step'},
    y: {
      label: 'lift', high: 1,
      low: Math.min(0, ...series.flatMap((s) => s.points.map((p) => p[1]))),
    },
    lines: [...births().map((b) => ({x: b.born, name: `${b.name} ${b.born}`})), ...stepLines()],
    about: {
      name: 'births', title: 'When each role was born',
      sentence: `${births().map((b) => `${b.name}: step ${b.born} (head ` +
        `${at2(b.best)})`).join('; ') || 'No role was born'}. Born: the lift first reaches half ` +
        `of its last value.`,
    },
  });
}

/// When the chosen head began with what it does best, whether it owns that or not.
function birthOfHead() {
  const {history} = run().facts,
    at = history?.heads.findIndex((x) => at2(x) === chosen()?.at);
  if (!history || at < 0) return [];
  const rows = Object.entries(history.relations).map(([name, r]) => ({name, lift: r.lift[at]}));
  const last = ({lift}) => lift.at(-1) ?? -1;
  const best = rows.reduce((a, b) => (last(b) > last(a) ? b : a));
  if (!(last(best) >= 0.3)) return `Head ${chosen().at} has a lift below .3 on every relation: ` +
    `nothing was born in it.`;
  const from = best.lift.findIndex((v) => v >= last(best) / 2);
  return `Head ${chosen().at} is best on ${best.name}: born at step ${history.steps[from]}, ` +
    `lift ${digits(last(best), 2)} at the end${ownedBy(chosen()).includes(best.name) ? '' : ', ' +
    'no owner'}.`;
}

let playing = 0;

/// One kept step each half second; stops at births and at the end.
function play(node) {
  clearInterval(playing);
  const set = (on) => {
    node.setAttribute('aria-pressed', String(on));
    node.textContent = on ? 'Pause' : 'Play';
  };
  if (node.getAttribute('aria-pressed') === 'true') return set(false);
  set(true);
  const {steps} = run();
  if (app.state.step == null) go({step: steps[0]});
  playing = setInterval(() => {
    const at = steps.indexOf(app.state.step);
    const stop = at < 0 || at + 1 >= steps.length || !node.isConnected;
    const crossed = !stop && births().find((b) => b.born > steps[at] && b.born <= steps[at + 1]);
    if (!stop) go({step: steps[at + 1]});
    if (crossed) say(`${crossed.name} is born: step ${crossed.born}, head ${at2(crossed.best)}.`);
    if (stop || crossed) {
      clearInterval(playing);
      set(false);
    }
  }, 500);
  return undefined;
}

export const timeView = {
  name: 'time', place: 'Story', title: 'Training', uses: ['h', 'ex', 'rel', 'step'],
  available: (page) => page.runs.length > 0,
  build(main) {
    const kept = run().steps.length > 0 && isLive();
    const pick = (r, c, event) => {
      const {marks, table} = app.figures.find((f) => f.canvas === event.target).picture;
      const before = range(r, marks.cols).reduce((a, b) => a + b, 0); // points of the series above
      if (kept) go({step: table().rows[before + c][1]});
    };
    main.append(
      births().length
        ? el('ul', {id: 'birth-list'},
            births().map((b) =>
              el('li', null,
                `${b.name} was born at step ${b.born}, in head ${at2(b.best)}. `,
                kept && button('See it', () => go({step: b.born, h: at2(b.best), rel: b.name})),
              ),
            ),
          )
        : '',
      dynamic('p', {id: 'birth-of-head'}, birthOfHead),
    );
    main.append(
      figure(lossPicture, {
        id: 'loss', most: 860,
        again: () => `headlab train --config ${run().name}/config.json --out COPY`,
        choose: pick,
      }),
      figure(liftPicture, {
        id: 'births', most: 860, again: () => `headlab heads ${run().name} --over-training`,
        choose: pick,
      }),
    );
    if (!kept)
      return main.append(lacking('snapshots.safetensors', 'Weights of earlier steps are') || '');
    return main.append(
      button('Play', (event) => play(event.target), {'aria-pressed': 'false', id: 'play'}),
      dynamic('p', {id: 'time-loss'}, () => {
        const i = run().facts.snapshots.steps.indexOf(app.state.step);
        return i < 0
          ? 'The last step is shown.'
          : `Step ${app.state.step}: the program found a loss of ` +
            `${digits(run().facts.snapshots.held_out[i])} over ` +
            `${run().facts.snapshots.examples} held-out examples.`;
      }),
      headGrid(),
      figure(
        (width) =>
          chosenPicture(width, {
            rel: relation(),
            title: `Head ${chosen()?.at} at ${app.state.step == null ? 'the last step' : `step ` +
              `${app.state.step}`}`,
          }),
        {
          id: 'time-pattern', most: 480,
          again: () => (app.state.step == null ? patternCommand()() : ''),
        },
      ),
    );
  },
};
// A sweep: the knee with every seed as a dot, a table of all groups, and a slider over the number
// of
// heads that shows the trained models on one input.

const sweepGroups = () => app.page.facts.sweep.groups;
/// The heads of a layer; NaN where layers differ.
export const headCount = (group) => Number(group.model.heads);
const spread = (v) =>
  v?.mean == null
    ? '–'
    : `${digits(v.mean, 3)}${v.half_width != null ? ` ± ${digits(v.half_width, 2)}` : ''}`;

export function kneePicture(width) {
  const groups = sweepGroups()
    .filter((g) => headCount(g) >= 0)
    .sort((a, b) => headCount(a) - headCount(b));
  const tasks = [...new Set(groups.map((g) => g.task))];
  const positive = (v) => Math.max(v, 1e-9);
  const series = tasks.flatMap((name, i) => {
    const mine = groups.filter((g) => g.task === name);
    const means = mine.map((g) => {
      const {mean, half_width: half} = g.loss;
      if (half == null) return [headCount(g), positive(mean)];
      const low = Math.max(mean - half, Math.min(...g.losses) / 2);
      return [headCount(g), positive(mean), positive(low), mean + half];
    });
    const seeds = mine.flatMap((g) =>
      g.losses.filter((v) => v != null).map((v) => [headCount(g), positive(v)]),
    );
    const color = SERIES[i % 7];
    return [
      {
        name: tasks.length > 1 ? name.split(':')[0] : 'mean', points: means, color,
        shape: SHAPES[i % 4],
      },
      {
        name: 'single seeds', points: seeds, line: false, hollow: true, r: 4, color,
        shape: 'circle',
      },
    ];
  });
  const comparison = app.page.facts.sweep.comparisons?.[0];
  return plot({
    width, height: 360, series,
    x: {label: 'heads', names: [...new Set(groups.map(headCount))]},
    y: {label: 'loss (nats, log)', log: true},
    about: {
      name: 'knee', title: 'Loss against the number of heads',
      sentence: comparison
        ? `${comparison.enough} is enough: ${comparison.one} loses ` +
          `${spread(comparison.loss_gain)} nats against ` +
          `${comparison.best}.${comparison.equal_parameters ? ' The numbers of parameters are ' +
          'equal.' : ''}`
        : `${groups.length} groups of runs; lines are 95 % intervals, dots single seeds.`,
    },
  });
}

export const sweepView = {
  name: 'sweep', place: 'Story', title: 'Sweep', uses: ['ex'],
  available: (page) => Boolean(page.facts.sweep),
  build(main) {
    const {sweep} = app.page.facts;
    const rows = sweepGroups().map((g) => [
      g.name, g.parameters, spread(g.loss), spread(g.accuracy), spread(g.specialization),
      g.losses.map((v) => (v == null ? 'failed' : digits(v, 3))).join('  '),
    ]);
    main.append(
      figure(kneePicture, {id: 'knee', most: 860, again: sweep.command}),
      tableOf('Mean ± 95 % interval over seeds',
        ['group', 'parameters', 'loss', 'accuracy', 'own a head', 'each seed'], rows,
      ),
    );
    if (sweep.missing?.length)
      main.append(
        note(
          `Not finished: ${sweep.missing.map((m) => m.name || m).join(', ')}. `,
          code(sweep.command), ' goes on where it stopped.',
        ),
      );
    if (!app.page.runs.length) return;
    const slider = sliderOf('sweep-run', 'Heads', {
      min: 1, max: app.page.runs.length, step: 1, 'aria-label': 'number of heads',
      value: () => app.state.run, words: () => `${headsOf().length} (${run().name})`,
      act(number) {
        go({run: number, h: null});
        byId('sweep-run').focus();
      },
    });
    main.append(
      el('h3', null, 'The trained models on one input'), el('p', null, slider),
      verdict(run()), headGrid(),
    );
  },
};
