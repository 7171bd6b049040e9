// The words of the playground: names of questions and heads, and the headline, which is the result
// of the last action or the last event.
import {spokenName} from '../parts/task_words.js';
import {currentTask, knobs, view} from './play_state.js';

/// More about the tasks that the page knows: a title, the question, names and colours of relations.
const ABOUT = {
  relations: {
    title: 'Four questions at every letter',
    ask: 'Which letter was 1, 3 and 5 places back? Which was the last of the same class? ' +
      '(Classes: a e i m, b f j n, c g k o, d h l p.)',
  },
  induction: {
    title: 'Continue what came before', names: ['what followed', '1 back'], colors: [3, 0],
    ask: 'A piece of the sequence comes twice. Which letter comes next? One head must attend one ' +
      'letter back; a head of the next layer uses its output to find what followed.',
    solved: (first, second) => `Head ${second} attends one letter back; head ${first} uses its ` +
      'output to continue the piece',
  },
  sort: {
    title: 'Write the letters in order', names: ['next larger'], colors: [2],
    ask: 'After the separator | the same letters follow in alphabetical order. Which comes next?',
  },
  english: {
    title: 'Words that agree',
    ask: 'Which word comes next in an English sentence: is or are, was or were, herself or ' +
      'themselves? One earlier word decides it.',
  },
};
const MOST_COLORS = 5;

/// Whether the words above fit the task: its relations may be others.
function aboutTask(task) {
  const about = ABOUT[task.name] ?? {};
  const usual = {relations: 4, induction: 2, sort: 1, english: 4}[task.name];
  return task.relations.length === usual ? about : {};
}
export const titleOfTask = (task) => aboutTask(task).title ?? `Task ${task.spec}`;
export const askedOfTask = (task) => aboutTask(task).ask ?? task.question;
export const colorOf = (i) => {
  const color = aboutTask(currentTask()).colors?.[i] ?? i;
  return color < MOST_COLORS ? color : 'none';
};
export const roleOfQuestion = (i) => (colorOf(i) === 'none' ? 'none' : `q${colorOf(i)}`);
export const nameOfQuestion = (i, task = currentTask()) =>
  aboutTask(task).names?.[i] ?? spokenName(task.relations[i].name, task);
export const nameOfHead = (lab, x) => `${Math.floor(x / lab.headsInLayer)}.${x % lab.headsInLayer}`;

/// 98%, or 99.9% where rounding would say 100%.
export const shareOf = (share) => share > 0.99 && share < 1
  ? `${(Math.floor(1000 * share) / 10).toFixed(1)}%` : `${Math.round(100 * share)}%`;
export const headsText = (n) => `${n} head${n === 1 ? '' : 's'}`;
const questionsText = (n) => `${n} question${n === 1 ? '' : 's'}`;

/// "Step 24: head 0.1 now owns “1 back”."
const eventText = (lab, {step, head, relation}) =>
  `Step ${step}: head ${nameOfHead(lab, head)} now owns “${nameOfQuestion(relation)}”.`;

/// The last change of a net's owners, for screen readers; '' if there is none.
export function lastEvent(lab) {
  const event = lab.events.at(-1);
  if (!event) return '';
  const seed = view.labs.length > 1 ? `Seed ${lab.options.seed}. ` : '';
  if (event.head !== null) return seed + eventText(lab, event);
  return `${seed}Step ${event.step}: “${nameOfQuestion(event.relation)}” has no owner any more.`;
}

/// The result of what the visitor did last to heads or to time; '' if they did nothing.
function resultOfAction(lab) {
  const {ablation, pruning, moment, restoring} = view;
  if (restoring) return `Restoring step ${restoring.step} of the link …`;
  if (moment !== null) return `Back at step ${lab.seen.step}: ${shareOf(lab.seen.accuracy)} right.`;
  if (ablation && ablation.lab.steps === ablation.step) {
    return `Without head ${nameOfHead(ablation.lab, ablation.x)}, ${
      shareOf(ablation.lab.now.accuracy)} of the answers are right instead of ${
      shareOf(ablation.accuracy)}.`;
  }
  if (pruning?.step === lab.steps) {
    return `Pruned to ${headsText(lab.active)}: ${shareOf(lab.now.accuracy)} right. Train on.`;
  }
  return '';
}

/// The conclusion if each question has an owner of its own and almost all is right.
function resultOfDivision(lab) {
  const n = lab.task.relations.length;
  const right = `${shareOf(lab.now.accuracy)} right`;
  const owners = lab.owners.map((x) => nameOfHead(lab, x));
  if (n === 1) return `Head ${owners[0]} solves it: ${right}.`;
  const {solved} = aboutTask(lab.task);
  if (solved) return `${solved(...owners)}: ${right}.`;
  return `${headsText(lab.active)}, ${questionsText(n)}: each question has a head of its own. ${
    right}.`;
}

export function headline() {
  const [lab, other] = view.labs;
  const n = lab.task.relations.length;
  const {accuracy} = lab.now;
  const action = resultOfAction(lab);
  if (action) return action;
  if (lab.steps === 0) {
    const heads = lab.heads === 1 ? 'this head' : `these ${headsText(lab.heads)}`;
    return `No one tells ${heads} what to attend to. Press Train.`;
  }
  if (other && lab.isDivided && other.isDivided) {
    const isSame = lab.owners.every((owner, i) => owner === other.owners[i]);
    return isSame ? 'Two seeds, and this time the same division.'
      : `Two seeds: the same ${questionsText(n)}, divided among different heads.`;
  }
  if (lab.isDivided && accuracy > 0.99) return resultOfDivision(lab);
  const whole = `${headsText(lab.active)} for ${questionsText(n)}`;
  const right = `${shareOf(accuracy)} right`;
  if (lab.steps >= knobs.steps && accuracy < 0.99) return `${whole}: ${right}, and no more.`;
  if (lab.steps >= knobs.steps) return `${whole}: ${right}, but heads share questions.`;
  return progressText(lab);
}

function progressText(lab) {
  const event = lab.events.findLast(({head}) => head !== null);
  if (!event) return 'All heads still attend everywhere. Wait for the first owner …';
  const found = lab.owners.filter((owner) => owner !== null).length;
  return `${eventText(lab, event)} ${found} of ${questionsText(lab.owners.length)} ${
    found === 1 ? 'has' : 'have'} an owner.`;
}
