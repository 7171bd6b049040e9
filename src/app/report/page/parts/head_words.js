// The sentences about one head as rows {name, when, lead, text, command}: of each list the first
// row whose condition holds is shown, its lead in bold. Conditions and texts read one object of
// facts, so that a test can compute the same facts from the files of a run.
// Read next: head_card.js.
import {digits, weightText} from '../draw/charts.js';
import {app, headsOf, isLive, isStored, run, task, trace} from '../state/state.js';
import {countsWithout, guessShare} from './counts.js';
import {costOf, emergenceStepOf, lossWithout, percent, roleAtEnd} from './heads.js';
import {patternOf, rowOf} from './pattern.js';
import {queryNow, questions, roleOfHead, spoken, unitOf} from './questions.js';
import {listed} from './task_words.js';

/// Whether a share of right answers is no better than that of the most frequent answer.
export const isGuessing = (accuracy) => accuracy != null && accuracy <= guessShare() + 0.05;

/// Whether the model after its training is no better than that.
export const isUntrained = () => !isStored() && isGuessing(run().facts.evaluation?.accuracy);

/// The question on which a head has the largest lift: {name, mass, baseline}; null without any.
function bestQuestion(x) {
  const scored = questions().map((one) => ({name: one.name, ...one.role.by.get(x.at)}))
    .filter(({lift}) => lift != null);
  return scored.sort((a, b) => b.lift - a.lift)[0] ?? null;
}

/// The largest weight of a head at the query, and the weight of even attention.
function spreadOf(x) {
  if (!trace()) return {};
  const map = patternOf(trace(), x.m, x.place);
  const row = rowOf(map, Math.min(queryNow(), map.rows - 1));
  return {largest: Math.max(...row), even: 1 / row.length};
}

function attendsFacts(x) {
  const {question, isMain, isShared} = roleOfHead(x);
  const {kind} = run().attentionLayers[x.m];
  const mine = questions().filter((one) => one.r >= 0 && one.kind === kind);
  const best = question ? {name: question.name, ...question.role.by.get(x.at)} : bestQuestion(x);
  const {kind: role, source, examples, untested} = (question || mine[0])?.role || {};
  const main = question?.main ?? [];
  return {
    kind, asks: task().relations.length > 0, isAsked: mine.length > 0, role, source, examples,
    because: untested?.because,
    best: best && spoken(best.name), mass: best?.mass, baseline: best?.baseline,
    does: Boolean(question), isMain, isShared, main, sharers: main.filter((at) => at !== x.at),
    unit: unitOf(), ...spreadOf(x),
  };
}

/// The other head that attends to the same keys, the one that answers the question first.
function mateOf(x) {
  const {question} = roleOfHead(x);
  return [...question?.main ?? [], ...question?.others ?? []].find((at) => at !== x.at) ?? null;
}

export function neededFacts(x) {
  const mate = mateOf(x);
  const [all, alone, both] = [[], [x.at], mate ? [x.at, mate] : null]
    .map((off) => off && countsWithout(off));
  const counts = [all, alone, both].filter(Boolean);
  const counted = Math.min(...counts.map((c) => (c.done ? Infinity : c.counted)));
  const loss = lossWithout([]) ?? run().facts.evaluation?.loss ?? null;
  return {
    all: all.accuracy, alone: alone.accuracy, both: both?.accuracy ?? null, mate, live: isLive(),
    drop: all.accuracy == null || alone.accuracy == null ? null : all.accuracy - alone.accuracy,
    guesses: isGuessing(all.accuracy), counted, of: alone.of, loss, rise: costOf([x]),
  };
}

/// All that the sentences about a head depend on.
function factsOfHead(x) {
  const {history} = run().facts;
  const {kept, first} = run().facts.enough;
  const emergenceStep = emergenceStepOf(x);
  const atEnd = roleAtEnd(x);
  return {
    at: x.at, run: run().name, step: app.state.step, stored: isStored(), count: headsOf().length,
    ...attendsFacts(x), ...neededFacts(x), untrained: isUntrained(),
    tracked: Boolean(history), imported: Boolean(run().config.imported), emergenceStep,
    atEnd: atEnd && spoken(atEnd), last: history?.steps.at(-1), from: history?.steps[0],
    pruned: Boolean(run().config.parent),
    enough: kept?.length ?? null, isKept: kept?.includes(x.at), first,
  };
}

const atStep = (f) => (f.step == null ? '' : `At step ${f.step}: `);
const soFar = (f) => (f.counted === Infinity ? '' : ` (${f.counted} of ${f.of} so far)`);
const againstBaseline = (f) => (f.baseline == null ? '' : `, baseline ${weightText(f.baseline)}`);
const notYet = (command) => ({lead: () => 'Not measured yet.', text: () => ' ',
  command: (f) => `headlab ${command} ${f.run}`});

const ATTENDS_TO = [
  {name: 'stored', when: (f) => !f.asks && f.stored, lead: () => 'No ground truth.',
    text: () => ' Below: the weights of the query.'},
  {name: 'spread', when: (f) => !f.asks && f.largest < 3 * f.even,
    lead: () => 'No right keys known.', text: (f) => ' From the query its attention is spread ' +
      `over many tokens (even: ${weightText(f.even)}).`},
  {name: 'no-truth', when: (f) => !f.asks, lead: () => 'No right keys known.',
    text: () => ' Below: where it looks from the query.'},
  {name: 'no-question', when: (f) => !f.isAsked, lead: () => 'No question',
    text: (f) => ` is asked of ${f.kind === 'encoder' ? 'the source' : 'these tokens'}.`},
  {name: 'not-scored', when: (f) => f.role === 'unknown', lead: () => 'Not scored yet.',
    text: () => ' This scores it: ', command: (f) => `headlab heads ${f.run}`},
  {name: 'untested', when: (f) => f.role === 'untested', lead: () => 'Not tested:',
    text: (f) => ` ${f.because}.`},
  {name: 'no-keys', when: (f) => f.mass == null, lead: () => 'No role.',
    text: () => ' No query asks for its keys.'},
  {name: 'no-role', when: (f) => !f.does, lead: (f) => `${atStep(f)}No role.`,
    text: (f) =>
      ` ${weightText(f.mass)} of its attention is on the keys of “${f.best}”` +
      `${againstBaseline(f)}.`},
  {name: 'share', when: () => true, lead: (f) => atStep(f) + weightText(f.mass),
    text: (f) => ` of its attention is on the keys of “${f.best}”${againstBaseline(f)}.`},
];

const isTested = (f) => f.source === 'program';
const measuredHere = (f) => (f.source === 'page' && f.step == null
  ? ` (Measured here, ${f.examples} examples.)` : '');

const ROLE = [
  {name: 'none', when: (f) => !f.asks || !f.does || !f.isAsked, text: () => ''},
  {name: 'split', when: (f) => f.isShared && f.role === 'split',
    text: (f) => ` Shared with ${listed(f.sharers)}: each finds other ${f.unit}s.`},
  {name: 'shared', when: (f) => f.isShared,
    text: (f) => ` Shared with ${listed(f.sharers)}.${measuredHere(f)}`},
  {name: 'owner', when: (f) => f.isMain && isTested(f), text: () => ' It is the owner.'},
  {name: 'most', when: (f) => f.isMain,
    text: (f) => ` No other head attends to them more.${measuredHere(f)}`},
  {name: 'no-owner', when: (f) => !f.main.length, text: () => ' No head is the owner.'},
  {name: 'others-share', when: (f) => f.main.length > 1,
    text: (f) => ` Heads ${listed(f.main)} share them.`},
  {name: 'other-owner', when: isTested, text: (f) => ` Head ${f.main[0]} is the owner.`},
  {name: 'other-most', when: () => true,
    text: (f) => ` Head ${f.main[0]} attends to them more.${measuredHere(f)}`},
];

const without = (f) => ` Without it ${percent(f.alone)} of all answers are right, before ` +
  `${percent(f.all)}${soFar(f)}.`;

const NEEDED = [
  {name: 'loss', when: (f) => !f.live && f.rise != null, lead: () => 'Without it',
    text: (f) => ` the loss is ${digits(f.loss + f.rise, 2)}, before ${digits(f.loss, 2)}.`},
  {name: 'not-measured', when: (f) => !f.live, ...notYet('ablate')},
  {name: 'counting', when: (f) => f.drop == null, lead: () => 'Counting …', text: () => ''},
  {name: 'nothing-to-lose', when: (f) => f.guesses, lead: (f) => `${atStep(f)}Nothing to lose:`,
    text: (f) => ` the model guesses with it and without it${soFar(f)}.`},
  {name: 'yes', when: (f) => f.drop >= 0.1, lead: (f) => `${atStep(f)}Yes.`, text: without},
  {name: 'little', when: (f) => f.drop >= 0.005, lead: (f) => `${atStep(f)}A little.`,
    text: without},
  {name: 'not-alone', when: (f) => f.mate, lead: (f) => `${atStep(f)}Not alone.`, text: without},
  {name: 'no', when: () => true, lead: (f) => `${atStep(f)}No.`, text: without},
];

const PARTNER = [
  {name: 'nothing', when: (f) => f.drop == null || f.guesses || f.count === 1, text: () => ''},
  {name: 'no-partner', when: (f) => !f.mate && f.drop >= 0.1,
    text: () => ' No other head backs it up.'},
  {name: 'no-mate', when: (f) => f.both == null || f.alone - f.both <= 0.02, text: () => ''},
  {name: 'same', when: (f) => f.drop < 0.05,
    text: (f) => ` ${f.mate} does the same: without both ${percent(f.both)}.`},
  {name: 'too', when: () => true, text: (f) => ` Without ${f.mate} too: ${percent(f.both)}.`},
];

const isBefore = (f) => (f.step != null && f.step < f.emergenceStep
  ? ` Step ${f.step} is before that.` : '');

const EMERGED = [
  {name: 'imported', when: (f) => !f.tracked && f.imported, lead: () => 'Not tracked',
    text: () => ' before the import: only the end of its training is in the file.'},
  {name: 'not-yet', when: (f) => f.untrained, lead: () => 'Not yet.',
    text: () => ' Training would show when.'},
  {name: 'not-tracked', when: (f) => !f.tracked, lead: () => 'Not tracked in training.',
    text: () => ' To get the curve, train again with ',
    command: () => '--track-heads 20'},
  {name: 'untested', when: (f) => f.role === 'untested', lead: () => 'Not tested,',
    text: () => ' so no step is known at which it began.'},
  {name: 'no-role', when: (f) => !f.atEnd, lead: () => 'No role,',
    text: () => ' so there is no step at which it began.'},
  {name: 'other-name', when: (f) => f.emergenceStep == null, lead: () => 'Not tracked:',
    text: (f) => ` the training kept no lift on “${f.atEnd}”.`},
  {name: 'before', when: (f) => f.pruned && f.emergenceStep === f.from,
    lead: () => 'Before the fine-tuning:',
    text: (f) => ` it had its role at step ${f.from}, the first that was tracked.`},
  {name: 'emerged', when: () => true, lead: (f) => `Step ${f.emergenceStep}`,
    text: (f) => ` of ${f.last}: half of its final attention on “${f.atEnd}” was there.` +
      isBefore(f)},
];

const others = (n) => (n === 1 ? 'one other head is' : `${n} others are`);

const SURVIVES = [
  {name: 'only', when: (f) => f.count === 1, lead: () => 'The only head.', text: () => ''},
  {name: 'untrained', when: (f) => f.untrained, lead: () => 'Nothing to keep:',
    text: () => ' every set of heads guesses as well.'},
  {name: 'earlier', when: (f) => f.step != null, lead: () => 'At the end of training',
    text: () => ' only: removal was tried on the trained model.'},
  {name: 'not-measured', when: (f) => f.enough == null, ...notYet('curve')},
  {name: 'all', when: (f) => f.enough === f.count && f.first != null,
    lead: () => 'No head can go unnoticed:',
    text: (f) => ` without the one removed first, ${percent(f.first)} are right.`},
  {name: 'all-unknown', when: (f) => f.enough === f.count, lead: () => 'Yes:',
    text: () => ' no smaller set was tried.'},
  {name: 'kept', when: (f) => f.isKept, lead: () => 'Yes:',
    text: (f) => (f.enough === 1 ? ' it alone is enough.'
      : ` it is one of the ${f.enough} that are enough.`)},
  {name: 'gone', when: () => true, lead: () => 'No:',
    text: (f) => ` ${others(f.enough)} enough.`},
];

/// The lists of rows of each column.
export const ATTENDS_ROWS = [ATTENDS_TO, ROLE];
export const NEEDED_ROWS = [NEEDED, PARTNER];
export const EMERGED_ROWS = [EMERGED];
export const SURVIVES_ROWS = [SURVIVES];

/// The rows of a column that hold for a head: [{name, lead, text, command}].
export function sentencesOf(lists, x) {
  const facts = factsOfHead(x);
  return lists.map((rows) => {
    const {name, lead, text, command} = rows.find(({when}) => when(facts));
    return {name, lead: lead?.(facts) ?? '', text: text(facts), command: command?.(facts) ?? ''};
  });
}
