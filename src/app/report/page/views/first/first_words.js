// The sentences of the first screen as rows: {name, when, text}. The first row whose condition
// holds is shown. Conditions and texts read one object of facts, so that a test can compute the
// same facts from the files of a run. Read next: first_steps.js.
import {idOfPair, isUntested} from '../../engine/reports.js';
import {digits} from '../../draw/charts.js';
import {app, headsOf, isLive, isStored, model, run, task} from '../../state/state.js';
import {lossWithout, percent} from '../../parts/heads.js';
import {listed} from '../../parts/task_words.js';
import {measured} from '../../parts/measure.js';
import {ownersOfQuestions, questionSentence, questions, spoken} from '../../parts/questions.js';
import {answerCounts, isAblated} from './first_state.js';

/// "Head 0.1", "heads 0.1 and 0.2", or, of more than three, their number.
const headWords = ({off, heads}) => {
  if (off.length > 3) return `${off.length} of ${heads} heads`;
  return `head${off.length > 1 ? 's' : ''} ${listed(off)}`;
};
const begin = (f) => (f.off.length > 3 ? `${headWords(f)} ablated:` : `Without ${headWords(f)},`);
const allAnswers = (n) =>
  (n < 3 ? ['no answer is asked', 'the answer holds', 'both answers hold'][n]
    : `all ${n} answers hold`);
const heads = (n) => `${n} head${n === 1 ? '' : 's'}`;

/// Whether the owners alone do the work: without all other heads the loss rises by at most 5% of
/// the way from all heads to none.
function ownersSuffice(owners) {
  const others = headsOf().filter((x) => !owners.includes(x.at));
  const [all, alone, none] = [[], others, headsOf()].map((off) => lossWithout(off));
  if (all == null || alone == null || none == null || !owners.length) return false;
  return alone - all <= 0.05 * (none - all);
}

/// All that the sentences depend on.
export function factsOfScreen() {
  const owners = ownersOfQuestions().map((x) => x.at);
  const off = headsOf().filter(isAblated).map((x) => x.at);
  return {
    heads: headsOf().length, owners, suffice: ownersSuffice(owners), off,
    scored: Boolean(run().reports.heads),
    tooFew: isStored() && run().reports.heads.examples < 20,
    control: task().control, live: isLive(),
    asks: task().relations.length > 0,
    untested: task().relations.every((_, r) => isUntested(run(), r)),
    shared: (run().reports.heads?.divisions || []).length > 0,
    answers: answerCounts(), step: app.state.step, typed: app.state.tokens.length > 0,
    question: questionSentence(), result: measured.waiting ? null : measured.result,
    before: run().facts.evaluation, examples: task().set('held_out').size,
    relations: questions().length, computing: isLive() && Boolean(model()),
  };
}

const isStart = (f) => !f.off.length && f.step == null;

/// The headline.
export const HEADLINES = [
  {name: 'no-heads', when: (f) => f.heads === 0, text: () => 'This model has no heads.'},
  {name: 'untold', when: (f) => f.answers && !f.answers.known && !isStart(f),
    text: (f) => `${begin(f)} the answers to typed tokens cannot be judged.`},
  {name: 'typed', when: (f) => f.answers && !f.answers.known,
    text: () => 'Your own tokens: the page does not know the right answers.'},
  {name: 'nothing-asked', when: (f) => f.answers?.asked === 0,
    text: () => 'Nothing is asked at this token.'},
  {name: 'earlier', when: (f) => f.step != null && !f.off.length && f.answers,
    text: (f) => `After ${f.step} training steps, ${f.answers.right} of ${f.answers.asked} ` +
      `answers ${f.answers.right === 1 ? 'is' : 'are'} right.`},
  {name: 'breaks', when: (f) => f.off.length && f.answers?.broken > 0,
    text: (f) => `${begin(f)} ${f.answers.broken} of ${f.answers.asked} answers ` +
      `break${f.answers.broken === 1 ? 's' : ''}.`},
  {name: 'holds', when: (f) => f.off.length && f.answers?.right === f.answers?.asked && f.answers,
    text: (f) => `${begin(f)} ${allAnswers(f.answers.asked)}.`},
  {name: 'same', when: (f) => f.off.length && f.answers,
    text: (f) => `${begin(f)} no further answer breaks.`},
  {name: 'control', when: (f) => f.control && !f.owners.length,
    text: (f) => `${heads(f.heads)}; a control task: there is nothing to find.`},
  {name: 'suffice', when: (f) => f.suffice && f.owners.length < f.heads && f.live,
    text: (f) => `${heads(f.heads)}; ${f.owners.length} do${f.owners.length === 1 ? 'es' : ''} ` +
      'the work. Try to break it.'},
  {name: 'owners', when: (f) => f.owners.length > 0,
    text: (f) => `${heads(f.heads)}; ${f.owners.length} own${f.owners.length === 1 ? 's' : ''} ` +
      `a question.${f.live ? ' Try to break it.' : ''}`},
  {name: 'shared', when: (f) => f.shared,
    text: (f) => `${heads(f.heads)} share the work.${f.live ? ' Try to break it.' : ''}`},
  {name: 'not-tested', when: (f) => f.scored && f.asks && f.untested,
    text: (f) => `${heads(f.heads)}, which cannot be tested: every sequence has the same keys.`},
  {name: 'too-few', when: (f) => f.tooFew && f.asks,
    text: (f) => `${heads(f.heads)}; too few examples to test which head answers a question.`},
  {name: 'no-owner', when: (f) => f.scored && f.asks,
    text: (f) => `${heads(f.heads)}; none owns a question.${f.live ? ' Try to break it.' : ''}`},
  {name: 'plain', when: () => true,
    text: (f) => `${heads(f.heads)}.${f.live ? ' Try to break it.' : ''}`},
];

/// The questions whose share of right answers fell most, with their shares now.
function worstQuestion({result, before}) {
  const fell = result.targets.map((now) => {
    const then = before.targets.find((one) => one.name === now.name);
    return {name: now.name, now: now.accuracy, fall: (then?.accuracy ?? 1) - now.accuracy};
  });
  return fell.reduce((a, b) => (a && a.fall >= b.fall ? a : b), null);
}

function measuredWords(f) {
  const worst = worstQuestion(f);
  const part = f.result.targets.length > 1 && worst.fall > 0.005
    ? `“${spoken(worst.name)}” is right in ${percent(worst.now)}`
    : `${percent(f.result.accuracy)} of the answers are right`;
  return `Over ${f.examples} held-out examples, ${part}; the loss is ` +
    `${digits(f.result.loss, 2)} (${digits(f.before.loss, 2)} with all heads after training).`;
}

/// The line below the headline.
export const DETAILS = [
  {name: 'start', when: isStart, text: (f) => f.question},
  {name: 'not-live', when: (f) => !f.live, text: (f) => f.question},
  {name: 'waiting', when: (f) => !f.result, text: () => 'Measuring on held-out examples …'},
  {name: 'measured', when: () => true, text: measuredWords},
];

export const sentenceOfRows = (rows, facts) => rows.find(({when}) => when(facts)).text(facts);

/// "0.1 (owner of back1)" and so on: the label of a head for those who listen.
export function describedHead(x, question) {
  const role = question ? `, ${question.owner === x.at ? 'owner of' : 'also attends to keys of'} ` +
    spoken(question.name) : '';
  return `Head ${idOfPair([x.m, x.original])}${role}${isAblated(x) ? ', ablated' : ''}`;
}
