// The example: its tokens as buttons, an arc from the query to the key of each question, as thick
// as the attention of that question's best head, and a table of the answers.
import {byId, el, svgNode, visible} from '../draw/ui.js';
import {currentTask, view} from './play_state.js';
import {
  askedOfTask, colorOf, nameOfHead, nameOfQuestion, shareOf, titleOfTask,
} from './play_words.js';

const ARC_TALL = 74;  // pixels, as in play.css
const MOST_LETTERS = 3;  // of a token that fits its column; longer ones are turned
let shownAnswers = '';

/// The words of the task, and the tokens of the example.
export function showExample() {
  const task = currentTask();
  const {length: T, vocabulary, held} = task;
  const from = view.example * T;
  const tokens = Array.from(held.tokens.slice(from, from + held.lengths[view.example]));
  const choose = (t) => () => {
    view.query = t;
    view.draw();
  };
  byId('title').textContent = titleOfTask(task);
  byId('ask').textContent = askedOfTask(task);
  const isOfWords = Math.max(...vocabulary.map((word) => word.length)) > MOST_LETTERS;
  byId('tokens').classList.toggle('of-words', isOfWords);
  byId('tokens').replaceChildren(...tokens.map((token, t) =>
    el('button', {type: 'button', onclick: choose(t)}, visible(vocabulary[token]))));
  shownAnswers = '';
}

export function drawExample(lab) {
  const {task} = lab;
  const keys = task.held.keys.map((row) => row[view.example * task.length + view.query]);
  [...byId('tokens').children].forEach((node, t) => {
    const i = keys.indexOf(t);
    const look = i >= 0 ? `key c${colorOf(i)}` : '';
    if (node.className !== look) node.className = look;
    node.setAttribute('aria-pressed', t === view.query);
  });
  drawArcs(lab, keys);
  drawAnswers(lab);
}

function drawArcs(lab, keys) {
  const wide = (byId('arcs').clientWidth || 400) / byId('tokens').children.length;
  const place = (t) => (t + 0.5) * wide;
  const arc = (s, kind, i, more) => {
    const top = ARC_TALL - Math.min(70, 14 + 11 * Math.abs(view.query - s)) * 1.25;
    const [from, to] = [place(view.query), place(s)];
    return svgNode('path', {
      d: `M${from} ${ARC_TALL} C${from} ${top} ${to} ${top} ${to} ${ARC_TALL}`,
      class: `${kind} c${colorOf(i)}`, ...more,
    });
  };
  byId('arcs').replaceChildren(...keys.flatMap((s, i) => {
    if (s < 0) return [];
    const x = lab.seen.best[i];
    const weight = lab.state[x] === 'on' ? lab.weight(x, view.query, s) : 0;
    const look = {'stroke-width': 1 + 5 * weight, opacity: Math.max(0.02, weight)};
    return [arc(s, 'truth', i), arc(s, 'attended', i, look)];
  }));
}

/// The target that a relation answers: its own or, if the task has one target, that one if it is
/// asked where the relation has a key; -1 if it answers none.
function slotOfQuestion({targets, relations, held}, i) {
  const given = targets.findIndex(({from, name}) => from === i || name === relations[i].name);
  if (given >= 0 || targets.length > 1) return given;
  return held.keys[i].some((key, r) => key >= 0 && held.targets[r] >= 0) ? 0 : -1;
}

/// A row for each question and, if no question has it, for each target.
function answerRows(lab) {
  const {task} = lab;
  const asked = task.relations.map((_, i) => ({i, e: slotOfQuestion(task, i)}));
  const covered = new Set(asked.map(({e}) => e));
  const rest = task.targets.map((_, e) => ({i: -1, e})).filter(({e}) => !covered.has(e));
  return [...asked, ...rest].map(({i, e}) => {
    const owner = i < 0 ? null : lab.seen.owners[i];
    return {
      color: i < 0 ? 'none' : colorOf(i),
      name: i < 0 ? `target ${task.targets[e].name}` : nameOfQuestion(i),
      owner: owner === null ? '–' : `★ ${nameOfHead(lab, owner)}`, ...answerCells(lab, e, i),
    };
  });
}

/// The answer to target e if it is asked here and question i, if there is one, has a key here.
function answerCells(lab, e, i) {
  const {targets, answers, held, length: T} = lab.task;
  if (e < 0) return {answer: '–', sure: '', right: 'a helper', kind: ''};
  const right = shareOf(lab.seen.slots[e].accuracy);
  const at = view.example * T + view.query;
  const target = held.targets[at * targets.length + e];
  const isAsked = target >= 0 && (i < 0 || held.keys[i][at] >= 0);
  if (!isAsked) return {answer: '–', sure: '', right, kind: ''};
  const {answer, sure} = lab.answer(e, view.query);
  const isRight = answer === target;
  const wanted = isRight ? '✓' : `✗ ${visible(answers[target])}`;
  return {answer: `${visible(answers[answer])} ${wanted}`, sure: shareOf(sure), right,
    kind: isRight ? 'correct' : 'wrong'};
}

function drawAnswers(lab) {
  const rows = answerRows(lab);
  const words = JSON.stringify(rows);
  if (words === shownAnswers) return;
  shownAnswers = words;
  byId('answers').replaceChildren(...rows.map(({color, name, owner, answer, sure, right, kind}) =>
    el('tr', {class: `c${color}`}, el('th', {scope: 'row'}, name), el('td', null, owner),
      el('td', null, el('span', {class: `play-answer ${kind}`}, answer)), el('td', null, sure),
      el('td', null, right))));
}
