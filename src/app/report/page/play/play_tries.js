// Challenges: what a button sets, and when one counts as done, with the number found. Challenges
// about `relations` are offered if the page holds that task with its four questions.
import {button, byId, el} from '../draw/ui.js';
import {change, knobs, startOf, tasks, toggleTraining, view} from './play_state.js';
import {headsText, shareOf} from './play_words.js';

const QUESTIONS = 4;
const PLAIN = {
  positions: 'learned', attention: 'softmax', network: 'none', norm: 'layer', width: 48, two: 'no',
};
const isFinished = (lab) => lab.steps >= knobs.steps;
const rightNow = (lab) => `${shareOf(lab.now.accuracy)} right`;

const TRIES = [
  {
    name: 'Train 4 heads', hint: 'Does each question get a head?', set: {heads: 4},
    done: (lab) => lab.isDivided && lab.heads === QUESTIONS && lab.now.accuracy > 0.9 &&
      `All four owned at step ${lab.events.at(-1).step}.`,
  },
  {
    name: 'How few suffice?', hint: 'Solved: 99% right. Try 3 heads, then 2.', set: {heads: 3},
    done: (lab) => lab.heads < QUESTIONS && isFinished(lab) &&
      `${headsText(lab.heads)}: ${rightNow(lab)}, loss ${lab.now.loss.toPrecision(2)}.`,
  },
  {
    name: 'Ablate a star', hint: 'Train, then choose the head that owns a question.', anyTask: true,
    done: (lab) => view.ablation?.lab === lab && view.ablation.accuracy > 0.9 &&
      lab.now.accuracy < view.ablation.accuracy - 0.1 &&
      `${shareOf(view.ablation.accuracy)} falls to ${shareOf(lab.now.accuracy)}.`,
  },
  {
    name: 'Another seed', hint: 'Two nets side by side: which head does what?',
    set: {heads: 4, two: 'yes'},
    done: (lab) => {
      const other = view.labs[1];
      if (!lab.isDivided || !other?.isDivided) return '';
      const moved = lab.owners.filter((owner, i) => owner !== other.owners[i]).length;
      return `${moved} of ${QUESTIONS} questions have another head.`;
    },
  },
  {
    name: '8 heads, prune to 4', hint: 'Train, prune, train on.', set: {heads: 8},
    done: (lab) => view.pruning?.keep <= QUESTIONS && lab.steps > view.pruning.step &&
      lab.now.accuracy > 0.99 && `${headsText(lab.active)} left, ${rightNow(lab)}.`,
  },
  {
    name: 'No positions', hint: 'Can a head find “3 back” without them?',
    set: {heads: 4, positions: 'none'},
    done: (lab) => knobs.positions === 'none' && isFinished(lab) && `Only ${rightNow(lab)}.`,
  },
];
const done = new Map();  // words by name of a challenge

const playedTask = () =>
  Object.values(tasks).find((task) => task.name === 'relations' &&
    task.relations.length === QUESTIONS)?.key;

function beginTry({set}) {
  if (!set) {
    byId('labs').querySelector('.own, .map').focus();
    return;
  }
  change({...PLAIN, ...startOf(playedTask()), ...set});
  toggleTraining();
}

export function showTries() {
  const offered = TRIES.filter(({anyTask}) => anyTask || playedTask());
  byId('tries').replaceChildren(...offered.map((one) => el('li', null,
    button('', () => beginTry(one), {'data-try': one.name}))));
  for (const node of byId('tries').querySelectorAll('button')) describe(node);
}

function describe(node) {
  const {name, hint} = TRIES.find((one) => one.name === node.dataset.try);
  node.className = done.has(name) ? 'done' : '';
  node.replaceChildren(el('b', null, name), el('span', null, done.get(name) ?? hint));
}

export function judgeTries() {
  const [lab] = view.labs;
  for (const {name, anyTask, done: judge} of TRIES) {
    if (done.has(name) || !(anyTask || lab.task.key === playedTask())) continue;
    const words = judge(lab);
    if (!words) continue;
    done.set(name, words);
    describe(byId('tries').querySelector(`[data-try="${name}"]`));
  }
}
