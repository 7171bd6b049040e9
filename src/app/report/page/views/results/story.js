// The story of a run, which opens first: what is asked, drawn on one example; what came out, in one
// sentence; the heads over training; how many are enough, with the rule of each answer. A button
// shows the point in six scenes. Read next: heads.js; experiment.js.
import {idOfPair, isUntested} from '../../engine/reports.js';
import {digits} from '../../draw/charts.js';
import {
  button, choice, code, dynamic, el, explained, figure, link, live, note, say, tableOf,
} from '../../draw/ui.js';
import {formatHash} from '../../state/address.js';
import {
  ablatedGates, app, chosen, example, go, headsOf, isLive, isStored, lacking, mapStep,
  nearestStep, noPattern, onlyHeads, prunedRuns, run, stepSlider, task, timeSteps, trace, where,
} from '../../state/state.js';
import {
  bestPoints, costOf, emergences, emergenceStepOf, finetuning, headGrid, partnerOf, percent,
  roleOf, rolesOfHead, sharedBy, sortings,
} from '../../parts/heads.js';
import {listed} from '../../parts/task_words.js';
import {busiestQuery, sentencePicture} from '../../parts/pattern.js';
import {answersAt, askedAt, dial, measure, measured, showMeasured} from '../../parts/measure.js';
import {curvePicture} from '../../parts/curve.js';
import {divisionPicture} from '../../parts/divisions.js';
import {programPlot} from '../../draw/plot.js';

// ---- what is asked ---------------------------------------------------------------------------

const queryShown = () => Math.min(app.state.q ?? busiestQuery(), example().length - 1);

/// The question of the task: the answers at every token, and the relations that help.
function question() {
  const {target_names: names, relations, architecture} = task();
  const targetWords = (name) => {
    const meaning = relations.find((r) => r.name === name)?.description;
    if (meaning) return `${meaning} (${name})`;
    return name === 'next' ? 'the next token' : `the ${name}`;
  };
  const asked = names.map(targetWords);
  const place = `At every position${architecture === 'encoder_decoder' ? ' of the answer' : ''}`;
  const others = relations.filter((r) => !names.includes(r.name)).slice(0, 4);
  return `${place} the model must name ${listed(asked)}.` + (!others.length ? ''
    : ` Heads are scored by their attention to ${listed(others.map((r) => r.description))}.`);
}

/// The question at a token, and the model's answer. Without weights there are no answers, and
/// of typed tokens the page may not know the truth: both are said, not taken for "nothing asked".
function answered(t) {
  const answers = answersAt(t);
  const known = answers.filter((a) => a.right !== null);
  const asked = askedAt(t);
  if (asked === null && answers.length) {
    const said = answers.map((a) => `${a.name} ${a.said}`).join(', ');
    return `The model answers: ${said}. The page does not know the right answer for typed tokens.`;
  }
  if (!asked?.length) return 'The model has no question to answer at this token.';
  if (!answers.length) {
    const right = asked.map((a) => `${a.name} ${a.right}`).join(', ');
    return `Right: ${right}. The model's answer is not shown: the model does not run in ` +
      'this page.';
  }
  const mark = (a) => (a.ok ? '✓' : `✗ (right: ${a.right})`);
  const said = known.map((a) => `${a.name} ${a.said} ${mark(a)}`).join(', ');
  const ok = known.filter((a) => a.ok).length;
  return `The model answers: ${said}. ${ok} of ${known.length} are right.`;
}

function askedNodes() {
  if (!trace()) return [noPattern()];
  const scene = () => app.state.scene > 1;
  let looked = null;
  const here = () => (looked?.at === where() ? looked.t : queryShown());  // of this example
  const words = dynamic('p', {id: 'answered'}, () => answered(here()));
  const point = (_, t) => {
    looked = {t, at: where()};
    words.textContent = answered(t);
    shown.draw();
  };
  const picture = figure(
    (width) => sentencePicture(width, {t: here(), head: scene() ? chosen() : null}),
    {id: 'asked', point, choose: (_, t) => go({q: t})},
  );
  const shown = app.figures.at(-1);
  return [el('p', {id: 'question'}, question()), picture, words];
}

// ---- what happened ---------------------------------------------------------------------------

/// The conclusion of the program; what it speaks of is a link away.
export function conclusion(r) {
  const pieces = r.facts.conclusion.filter(({view}) => view !== 'prune');
  return el('p', {class: 'conclusion', id: 'conclusion-live'},
    pieces.map(({text: words, head: h, relation: rel}) => {
      const place = {view: 'head', h, rel: rel || null};
      return h ? link(words, () => go(place), {href: formatHash({...app.state, ...place})})
        : explained(words);
    }),
  );
}

/// The heads of the scenes. `main`: of the heads that own a relation, the one whose cost grows most
/// if another head is off too; without owners, the costliest head. `second`: the head that is
/// switched off next.
function featuredHeads() {
  const cost = (x) => costOf([x]) ?? -1;
  const costliest = [...headsOf()].sort((a, b) => cost(b) - cost(a));
  const owners = headsOf().filter((x) => rolesOfHead(x).some((d) => d.owns));
  const beyond = (x) => (partnerOf(x)?.beyond ?? -1) / (0.01 + Math.abs(cost(x)));
  const main = [...owners].sort((a, b) => beyond(b) - beyond(a))[0] || costliest[0];
  const second = partnerOf(main)?.x || costliest.find((x) => x.at !== main.at);
  const points = bestPoints();
  const wanted = task().needed ?? Math.ceil(headsOf().length / 2);
  const best = points.find((p) => p.kept === wanted && p.heads.length);
  return {main, second, best, owners};
}

/// A sentence on the measured loss, and one on the question of the main head's role.
function outcome({loss, relations}, role) {
  const mine = relations.find((r) => r.name === role);
  return `The loss is ${digits(loss, 3)}.` +
    (mine ? ` ${role} is right in ${percent(mine.accuracy)} of the cases.` : '');
}

/// A sentence on the role of the main head, or one that says that no head has a role, which is the
/// right result for a control task only.
function findingOf(main, owners) {
  const {relations, control} = task();
  if (control && !owners.length)
    return 'No head finds its keys better than chance. This is the expected result, because the ' +
      'task is a control: there is nothing to find.';
  const scored = Boolean(run().reports.heads);
  const hasRole = rolesOfHead(main).length > 0 || sharedBy(main).length > 0;
  if (owners.length || !relations.length || !scored || hasRole)
    return `Head ${main.at} ${roleOf(main)}. The row below the tokens shows its attention.`;
  if (relations.every((_, r) => isUntested(run(), r)))
    return 'No head can be tested: every sequence has the same keys. The row below the tokens ' +
      `shows the attention of ${main.at}.`;
  return 'No head is the owner of a relation: none attends to its keys far more than chance ' +
    `would. The row below the tokens shows the attention of ${main.at}.`;
}

/// A sentence on the second head if it has the role of the main one.
function partnerWords(second, role, {shared, same}) {
  if (!same) return '';
  return shared ? ` ${second.at} has part of the same role.` : ` ${second.at} has the same role.`;
}

/// A sentence on the step before a head's emergence, which is null if there is none.
function earlyWords(early) {
  if (early == null) return '';
  if (run().steps.length) return ` These are the weights before that, at step ${early}.`;
  return ` The heads below are shown before that, at step ${early}.`;
}

/// The scenes: what each changes, and what it says of what is then measured.
function scenes() {
  const {main, second, best, owners} = featuredHeads();
  const start = {gates: {}, hide: null, step: null, h: main.at, repl: 'zero'};
  const emerged = emergenceStepOf(main);
  const role = rolesOfHead(main)[0]?.name;
  const same = second && rolesOfHead(second).some((d) => d.name === role);
  const shared = sharedBy(main).includes(role);
  const kept = best?.heads.map(idOfPair);
  const early = timeSteps().filter((s) => s < emerged).at(-1) ?? null;
  const finds = findingOf(main, owners);
  return [
    {set: start, say: (now) => `${question()} It is right in ${percent(now.accuracy)}.`},
    {set: start, say: () => finds},
    {
      set: {...start, gates: ablatedGates([main])},
      say: (now) => `${main.at} is off. ${outcome(now, role)}` +
        partnerWords(second, role, {shared, same}),
    },
    second && {
      set: {...start, gates: ablatedGates([main, second])},
      say: (now) => `${second.at} is off as well. ${outcome(now, role)}`,
    },
    best && {
      set: {...start, gates: onlyHeads(kept)},
      say: (now) => `Only ${listed(kept)} are on. ${outcome(now)} It is ` +
        `right in ${percent(now.accuracy)}.`,
    },
    emerged != null && {
      set: {...start, step: early},
      say: () => `The role of ${main.at} emerged at step ${emerged} of the training.` +
        earlyWords(early),
    },
  ].filter(Boolean);
}

/// The words of a scene: its sentence, if the measurement is there and is of its gates.
function sceneWords({set, say: sentence}) {
  if (measured.waiting) return '…';
  const moved = String(Object.keys(set.gates)) !== String(Object.keys(app.state.gates));
  return moved ? 'You changed the gates. “Next” or “Back” continues the tour.'
    : sentence(measured.result);
}

function sceneNodes() {
  const all = scenes();
  const n = Math.min(app.state.scene, all.length);
  const to = (scene) => go({...(all[scene - 1]?.set || {gates: {}, step: null}), scene});
  const {main} = featuredHeads();
  if (!n)
    return [
      button(all.length > 2 ? `Ablate ${main.at} and watch ▸` : 'Watch ▸', () => to(1),
        {id: 'scene-start'}),
    ];
  const words = el('p', {class: 'conclusion', id: 'scene-words'});
  const tell = () => {
    words.replaceChildren(...explained(sceneWords(all[n - 1])));
  };
  return [
    el('div', {class: 'controls'}, el('span', {class: 'muted'}, `${n} of ${all.length}`),
      n > 1 && button('◂ Back', () => to(n - 1), {id: 'scene-back'}),
      n < all.length && button('Next ▸', () => to(n + 1), {id: 'scene-next'}),
      button('End', () => to(0), {id: 'scene-end'}),
    ),
    words, dial({}, tell),
  ];
}

/// The scenes, made again when another begins; what they measure follows.
function scenePanel() {
  const panel = el('section', {id: 'scenes', 'aria-label': 'Scenes'});
  let last = null;
  live(() => {
    if (app.state.scene) measure();
    if (last !== app.state.scene) panel.replaceChildren(...sceneNodes());
    last = app.state.scene;
    if (last) queueMicrotask(showMeasured);
  });
  return panel;
}

// ---- the heads over training -----------------------------------------------------------------

/// A figure of the program over training, with a line at the step that is looked at: its i-th plot.
function overTraining(name, again, i = 0) {
  let picture = null;
  return figure((width) => {
    const {[name]: drawn} = run().facts.figures;
    const {step} = app.state;
    if (!(drawn?.plots[i].series[0]?.points.length > 1)) return null;
    const lines = step == null ? [] : [{x: step, name: `step ${step}`, strong: true}];
    picture = programPlot(drawn, width, {name, lines, i});
    return picture;
  }, {id: i > 0 ? `${name}-${i}` : name, most: 620, again,
    choose: (r, c) => timeSteps().length > 1 &&
      go({step: nearestStep(picture.marks.point(r, c)[0])})});
}

/// The plots of a figure of the program; one of nothing if there is no figure.
const plotsOf = (name) => run().facts.figures[name]?.plots ?? [null];

let playing = 0;

/// One step each half second; stops at emergences and at the end.
function play(node) {
  clearInterval(playing);
  const set = (on) => {
    node.setAttribute('aria-pressed', String(on));
    node.textContent = on ? 'Pause' : 'Play';
  };
  if (node.getAttribute('aria-pressed') === 'true') return set(false);
  set(true);
  const steps = timeSteps();
  if (app.state.step == null) go({step: steps[0]});
  playing = setInterval(() => {
    const at = steps.indexOf(app.state.step);
    const stop = at < 0 || at + 1 >= steps.length || !node.isConnected;
    const crossed = !stop && emergences()
      .find((one) => one.emergenceStep > steps[at] && one.emergenceStep <= steps[at + 1]);
    if (!stop) go({step: steps[at + 1]});
    if (crossed)
      say(`${crossed.name} emerges: step ${crossed.emergenceStep}, head ${crossed.best}.`);
    if (!stop && !crossed) return;
    clearInterval(playing);
    set(false);
  }, 500);
  return undefined;
}

function headsNodes() {
  const steps = timeSteps();
  const time = steps.length > 1 && [
    button('Play', (event) => play(event.target), {'aria-pressed': 'false', id: 'play'}),
    stepSlider(),
  ];
  const stepNote = () => {
    const {step} = app.state;
    if (step == null) return '';
    if (run().steps.length && isLive())
      return `Maps and bars are from step ${step}; everything else is from the last step.`;
    const maps = mapStep() == null ? '' : `, maps are mean patterns after step ${mapStep()}`;
    return `The bars are of step ${step}${maps}, all else is of the last: this page holds no ` +
      'weights of that step.';
  };
  return [
    el('div', {class: 'controls'}, time,
      choice('sort', 'Sort by', sortings().map(([name]) => [name, name]), (v) => go({sort: v}),
        () => app.state.sort),
    ),
    dynamic('p', {class: 'small muted', id: 'other-step'}, stepNote),
    headGrid(),
    ...(run().reports.heads?.divisions || []).filter((d) => d.by && d.classes?.length)
      .map((d) => figure((width) => divisionPicture(d, width), {
        id: `division-${d.relation}`, most: 640, again: `headlab heads ${run().name} --svg FILE`,
      })),
    el('p', {class: 'again'}, 'command: ', code(`headlab pattern ${run().name} --grid --svg FILE`)),
    el('div', {class: 'columns'},
      plotsOf('losses').map((_, i) =>
        overTraining('losses', `headlab runs ${run().name} --svg FILE`, i)),
      overTraining('history', `headlab history ${run().name} --svg FILE`)),
  ];
}

/// Stored patterns: the result, all heads in their layers, and how heads divide a relation.
function storedNodes() {
  const {divisions = [], command} = run().reports.heads;
  return [
    conclusion(run()), headGrid(),
    ...divisions.filter((d) => d.by && d.classes?.length)
      .map((d) => figure((width) => divisionPicture(d, width), {
        id: `division-${d.relation}`, most: 640, again: command,
      })),
    el('p', {class: 'again'}, 'command: ', code(command)),
  ];
}

// ---- how many --------------------------------------------------------------------------------

/// Three questions with their answers: [number, of what, the rule].
function howMany() {
  const {curve} = run().reports;
  const points = bestPoints();
  const used = curve?.methods.find((m) => m.points === points)?.used;
  const of = (kept) => digits(points.find((p) => p.kept === kept)?.loss, 2);
  const needed = task().needed === 1 ? 'one head' : `${task().needed} heads`;
  return [
    used != null && [String(used), 'this model, without fine-tuning',
      `loss ${of(used)}: fewest heads that cost at most 1 % of what removing all heads costs`],
    task().needed && !run().config.imported && [
      String(task().needed), 'the task, by its definition',
      `${needed} can solve it, and with fewer the loss stays high; a trained model may use more ` +
        'heads'],
    ...prunedRuns().map((r) => [String(headsOf(r).length),
      finetuning(r), `loss ${digits(r.facts.evaluation.loss, 2)} in the run ${r.name}`]),
  ].filter(Boolean);
}

function howManyNodes() {
  const rows = howMany();
  return [
    rows.length ? tableOf('Each answer with its rule', ['heads', 'enough for', 'because'], rows)
      : lacking('curve.json', 'The loss by number of heads is'),
    run().reports.curve && figure(curvePicture, {
      id: 'curve', most: 760, again: run().reports.curve.command,
      choose: (r, c) => go({view: 'bench', kept: bestPoints()[c]?.kept ?? null}),
    }),
  ].filter(Boolean);
}

export const storyView = {
  name: 'story', place: 'Story', title: 'In full', uses: ['ex'],
  available: (page) => page.runs.length > 0,
  build(main) {
    const part = (title, nodes) =>
      nodes.length && main.append(el('h3', null, title), ...nodes.filter(Boolean));
    if (!headsOf().length && !run().attentionLayers.length)
      return main.append(
        conclusion(run()), note('This model has 0 layers, so it has no heads. Its ' +
        'loss is what embedding and unembedding alone can do.'));
    if (isStored()) return part('The heads', storedNodes());
    part('The questions', askedNodes());
    part('The result', [
      conclusion(run()), lacking('heads.json', 'Scores of heads against the ground truth are'),
      isLive() && headsOf().length > 1 && scenePanel(),
    ]);
    part('The heads', headsNodes());
    return part('How many are enough?', howManyNodes());
  },
};
