// The sentences of the first screen as rows: {name, when, text}. The first row whose condition
// holds is shown. Conditions and texts read one object of facts, so that a test can compute the
// same facts from the files of a run. Read next: first_steps.js.
import {digits} from '../../draw/charts.js';
import {visible} from '../../draw/ui.js';
import {app, example, headsOf, isLive, isStored, run, task} from '../../state/state.js';
import {percent} from '../../parts/heads.js';
import {listed} from '../../parts/task_words.js';
import {countsNow, countsWithout, guessShare} from '../../parts/counts.js';
import {isGuessing, isUntrained} from '../../parts/head_words.js';
import {
  isAblated, ownersOfQuestions, queryNow, questions, roleOfHead, spoken, unitOf,
} from '../../parts/questions.js';
import {answerCounts, severalTargets} from './first_state.js';
import {feeder, stepRow} from './first_steps.js';

const headsWords = (n) => `${n} head${n === 1 ? '' : 's'}`;

/// "Without head 0.1", "With 4 of 8 heads off".
function withoutWords({off, heads}) {
  if (off.length === heads) {
    if (heads < 3) return heads === 1 ? 'With its only head off' : 'With both heads off';
    return `With all ${heads} heads off`;
  }
  if (off.length > 3) return `With ${off.length} of ${heads} heads off`;
  return `Without head${off.length > 1 ? 's' : ''} ${listed(off)}`;
}

/// The share of right answers of the owners alone, as a part of that of all heads; null if unknown.
function ownersShare(owners, base) {
  if (!owners.length || owners.length === headsOf().length || !isLive()) return null;
  const rest = headsOf().map((x) => x.at).filter((at) => !owners.includes(at));
  const {accuracy, done} = countsWithout(rest);
  return done && base ? accuracy / base : null;
}

export function factsOfScreen() {
  const {step} = app.state;
  const owners = ownersOfQuestions().map((x) => x.at);
  const asked = questions().filter(({r}) => r >= 0);
  const base = countsWithout([]);
  const fed = step == null ? feeder() : null;
  const off = headsOf().filter(isAblated).map((x) => x.at);
  return {
    heads: headsOf().length, owners, off, step, live: isLive(), asked, fed,
    control: task().control,
    untested: asked.length > 0 && asked.every(({role}) => role.kind === 'untested'),
    unknown: asked.every(({role}) => role.kind === 'unknown'),
    shared: asked.find(({main}) => main.length > 1),
    share: off.length || step != null ? null : ownersShare(owners, base.accuracy),
    answers: answerCounts(), typed: app.state.tokens.length > 0, question: task().question,
    untrained: isUntrained(), imported: Boolean(run().config.imported),
    guess: isStored() ? null : guessShare(), base,
    now: off.length ? countsNow() : base, several: severalTargets(), why: stepRow()?.because ?? '',
    unit: unitOf(),
  };
}

const isStart = (f) => !f.off.length && f.step == null;
const inStep = (f) => (f.step == null ? '' : `At step ${f.step}: `);
const lead = (f) => {
  const words = withoutWords(f);
  return f.step == null ? words : inStep(f) + words[0].toLowerCase() + words.slice(1);
};
const tryIt = (f) => (f.live ? ' Try to break it.' : '');
const isUnknown = (f) => f.answers && !f.answers.known;
const isAll = (f) => f.off.length === f.heads;
const losses = (f) => f.base.accuracy - f.now.accuracy;
const names = (asked) => listed(asked.map(({name}) => `“${spoken(name)}”`));
const unfound = ({asked}) => asked.filter(({role}) => role.kind === 'none');

function foundWords({asked}) {
  const found = asked.filter(({main}) => main.length).length;
  if (!found) return 'no head has a role yet';
  if (asked.length === 1) return 'the question has its head';
  if (found === asked.length) return 'every question has its head';
  return `${found} of ${asked.length} questions ${found === 1 ? 'has' : 'have'} a head`;
}

/// "do the work", "does most of the work", "have a question of their own".
function workWords({owners, share}) {
  const one = owners.length === 1;
  if (share == null || share < 0.9) return one ? 'has a question of its own'
    : 'have a question of their own';
  const verb = one ? 'does' : 'do';
  return share >= 0.995 ? `${verb} the work` : `${verb} most of the work`;
}

/// The number of heads that find the keys of the only question.
const finders = ({asked: [one]}) => one.main.length + one.others.length;

export const HEADLINES = [
  {name: 'no-heads', when: (f) => f.heads === 0, text: () => 'This model has no heads.'},
  {name: 'untold', when: (f) => isUnknown(f) && !isStart(f),
    text: (f) => `${lead(f)}, the answers to typed tokens cannot be judged.`},
  {name: 'typed', when: isUnknown,
    text: () => 'Your own tokens: the page does not know the right answers.'},
  {name: 'counting', when: (f) => f.off.length && f.now.accuracy == null,
    text: (f) => `${lead(f)} …`},
  {name: 'guessed', when: (f) => f.off.length && losses(f) < 0.005 && isGuessing(f.base.accuracy),
    text: (f) => `${lead(f)}, nothing changes: it was guessing before.`},
  {name: 'holds', when: (f) => f.off.length && losses(f) < 0.005,
    text: (f) => `${lead(f)}, nothing breaks: ${percent(f.now.accuracy)} right.`},
  {name: 'below-guess', when: (f) => f.off.length && isAll(f) && f.now.accuracy < f.guess - 0.1,
    text: (f) => `${lead(f)}, ${percent(f.now.accuracy)} are right: the most frequent answer ` +
      `alone would reach ${percent(f.guess)}.`},
  {name: 'guessing', when: (f) => f.off.length && isAll(f) && f.now.accuracy <= f.guess + 0.03,
    text: (f) => `${lead(f)}, nothing is left but guessing: ${percent(f.now.accuracy)} right.`},
  {name: 'tokens-alone', when: (f) => f.off.length && isAll(f),
    text: (f) => `${lead(f)}, ${percent(f.now.accuracy)} are right: what each token tells alone.`},
  {name: 'breaks', when: (f) => f.off.length,
    text: (f) => `${lead(f)}: ${percent(f.now.accuracy)} of answers right, ` +
      `${percent(f.base.accuracy)} before.`},
  {name: 'earlier-counting', when: (f) => f.step != null && f.base.accuracy == null,
    text: (f) => (f.asked.length ? `At step ${f.step}: ${foundWords(f)}.` : `Step ${f.step} …`)},
  {name: 'earlier', when: (f) => f.step != null,
    text: (f) => `${inStep(f)}${percent(f.base.accuracy)} right` +
      `${f.asked.length ? `; ${foundWords(f)}` : ''}.`},
  {name: 'control', when: (f) => f.control && !f.owners.length,
    text: (f) => `${headsWords(f.heads)}; a control task: there is nothing to find.`},
  {name: 'not-tested', when: (f) => f.untested,
    text: (f) => `${headsWords(f.heads)}, which cannot be tested: ` +
      `${f.asked[0].role.untested.because}.`},
  {name: 'imported', when: (f) => f.untrained && f.imported,
    text: (f) => `${headsWords(f.heads)}, which only guess on these examples: ` +
      `${percent(f.base.accuracy)} right.`},
  {name: 'untrained', when: (f) => f.untrained,
    text: (f) => `${headsWords(f.heads)}, not trained yet: ${percent(f.base.accuracy)} right is ` +
      'guessing.'},
  {name: 'no-truth', when: (f) => !f.asked.length && f.live,
    text: (f) => `${headsWords(f.heads)}, ${percent(f.base.accuracy)} right. Which ` +
      `${f.heads === 1 ? 'work does it' : 'do the work'}? Try to break it.`},
  {name: 'plain', when: (f) => !f.asked.length, text: (f) => `${headsWords(f.heads)}.`},
  {name: 'not-scored', when: (f) => f.unknown,
    text: (f) => `${headsWords(f.heads)}; which of them answer a question is not scored yet.`},
  {name: 'nobody', when: (f) => !f.owners.length,
    text: (f) => `${headsWords(f.heads)}; no head finds ${names(unfound(f))} alone.${tryIt(f)}`},
  {name: 'all-share', when: (f) => f.shared?.main.length === f.heads && f.asked.length === 1,
    text: (f) => `${f.heads} heads share one question.${tryIt(f)}`},
  {name: 'share', when: (f) => f.shared && f.asked.length === 1,
    text: (f) => `${f.heads} heads; ${f.shared.main.length} share one question.${tryIt(f)}`},
  {name: 'share-some', when: (f) => f.shared,
    text: (f) => `${f.heads} heads; ${f.shared.main.length} share “${spoken(f.shared.name)}”.` +
      tryIt(f)},
  {name: 'depends', when: (f) => f.fed,
    text: (f) => `${f.heads} heads; ${listed(f.fed.heads)} ` +
      `${f.fed.heads.length > 1 ? 'depend' : 'depends'} on ${f.fed.x.at}.${tryIt(f)}`},
  {name: 'only-head', when: (f) => f.heads === 1,
    text: (f) => `1 head, with a question.${tryIt(f)}`},
  {name: 'each-owns', when: (f) => f.owners.length === f.heads,
    text: (f) => `${f.heads} heads, ${f.asked.length === f.heads ? 'each with its own question'
      : 'all of them with a question'}.${tryIt(f)}`},
  {name: 'one-enough', when: (f) => f.asked.length === 1 && f.share >= 0.9 && finders(f) > 1,
    text: (f) => `${f.heads} heads; ${finders(f)} find ${names(f.asked)}, one is ` +
      `${f.share >= 0.995 ? '' : 'almost '}enough. Try it.`},
  {name: 'owners', when: () => true,
    text: (f) => `${f.heads} heads; ${f.owners.length} ${workWords(f)}.${tryIt(f)}`},
];

// ---- the line below the headline -------------------------------------------------------------

/// Answers that break in the example: at the query if there are several targets.
function exampleWords({answers, several}) {
  if (!answers?.asked) return '';
  const {asked, right, broken} = answers;
  const token = visible(task().tokens[example().tokens[queryNow()]]);
  const where = several ? `at “${token}” in this example` : 'in this example';
  if (asked === 1) {
    const wrong = right ? 'holds' : 'was wrong before';
    return `The one answer ${broken ? 'breaks' : wrong} ${where}. `;
  }
  if (!broken) return `No answer breaks ${where}. `;
  return `${broken} of ${asked} answers break${broken === 1 ? 's' : ''} ${where}. `;
}

const countedWords = ({counted, of, done}) => (done ? `Counted on ${of} held-out examples.`
  : `Counted on ${counted} of ${of} held-out examples so far.`);

const lossChange = ({now, base}) => (now.loss == null || base.loss == null ? ''
  : `Loss ${digits(now.loss, 3)} instead of ${digits(base.loss, 3)}. `);

/// How two heads divide a question: by the program, which tested the split.
function sharedWords({main, role: {kind, division}}, unit) {
  if (kind !== 'split' || !division.classes?.length)
    return `Heads ${listed(main)} look at the same keys, each with a part of its attention. `;
  const order = division.heads.map((pair) => pair.join('.'));
  const best = ({mass}) => order[mass.indexOf(Math.max(...mass))];
  const found = (at) => division.classes.filter((one) => best(one) === at).length;
  const marks = main.map((at) => `${at} (${roleOfHead({at}).mark}) finds ${found(at)}`);
  const what = division.by.includes('key') ? `${unit}s` : 'classes';
  return `${listed(marks)} of ${division.classes.length} ${what}. `;
}

const rightWords = ({base}) => (base.accuracy == null ? ''
  : `${percent(base.accuracy)} of all answers are right.`);

export const DETAILS = [
  {name: 'advised', when: (f) => f.untested && f.asked[0].role.untested.advice && isStart(f),
    text: (f) => `${f.question} ${f.asked[0].role.untested.advice}`},
  {name: 'not-live', when: (f) => !f.live && f.step == null, text: (f) => f.question},
  {name: 'ablated', when: (f) => f.off.length,
    text: (f) => f.why + exampleWords(f) + lossChange(f) + countedWords(f.now)},
  {name: 'earlier', when: (f) => f.step != null,
    text: (f) => `The arcs, maps, colours and boxes below are those of step ${f.step}. ` +
      (f.base.of ? countedWords(f.base) : '')},
  {name: 'imported', when: (f) => f.untrained && f.imported,
    text: (f) => `${f.question} If the model was trained for something else, import it with ` +
      'examples of that: --task file:train=FILE.'},
  {name: 'untrained', when: (f) => f.untrained,
    text: (f) => `${f.question} Its heads have no role to show: the most frequent answer alone ` +
      `is right in ${percent(f.guess)}.`},
  {name: 'no-truth', when: (f) => !f.asked.length,
    text: (f) => `${f.question} The task names no right keys, so no arc is right or wrong: ` +
      'select a head to see where it looks.'},
  {name: 'shared', when: (f) => f.shared,
    text: (f) => `${f.question} ${sharedWords(f.shared, f.unit)}${rightWords(f)}`},
  {name: 'start', when: () => true, text: (f) => `${f.question} ${rightWords(f)}`},
];

export const sentenceOfRows = (rows, facts) => rows.find(({when}) => when(facts)).text(facts);

/// "0.1 (owner of 1 back)" and so on: the label of a head for those who listen.
export function describedHead(x) {
  const {question, isMain, isShared} = roleOfHead(x);
  const owner = question?.role.source === 'program' ? 'owner of' : 'attends most to the keys of';
  const main = isShared ? 'shares' : owner;
  const role = question ? `, ${isMain ? main : 'also attends to keys of'} ${spoken(question.name)}`
    : '';
  return `Head ${x.at}${role}${isAblated(x) ? ', ablated' : ''}`;
}
