// Below the nets: which setting trains here, the command that repeats it with the program, the
// sequences as files, and a table of what was trained so far.
import {button, byId, code, download, el} from '../draw/ui.js';
import {
  BATCH, HEAD_WIDTH, WARMUP, configOfKnobs, currentTask, facts, knobs, tasks, view,
} from './play_state.js';
import {nameOfQuestion, shareOf} from './play_words.js';

const TRAIN_FILE = 'play.jsonl';
const HELD_FILE = 'play_held_out.jsonl';

/// The command that trains the same net on the saved sequences, with the same losses.
function commandOfNet() {
  const config = configOfKnobs();
  const flags = {
    'task': `file:train=${TRAIN_FILE},held_out=${HELD_FILE},test=${HELD_FILE}`,
    'layers': config.layers, 'heads': config.heads, 'd-model': config.d_model,
    'd-head': config.d_head, 'd-ff': config.d_ff,
    ...(config.d_ff > 0 && {activation: config.activation}),
    'norm': config.norm, 'positions': config.positions,
    'attention-function': config.attention_function, 'batch': BATCH, 'lr': knobs.lr,
    'warmup': WARMUP, 'min-lr': Number((knobs.lr / 10).toPrecision(6)), 'steps': knobs.steps,
    'seed': knobs.seed,
  };
  const words = Object.entries(flags).map(([name, value]) => `--${name} ${value}`);
  return `headlab train ${words.join(' ')} --out runs/play`;
}

function saveSequences() {
  const task = currentTask();
  download(TRAIN_FILE, 'application/jsonl', task.lines(task.train));
  download(HELD_FILE, 'application/jsonl', task.lines(task.held));
}

function settingText() {
  const {train, held, length, spec} = currentTask();
  return `This page trains a small setting of the task ${spec}: heads of width ${HEAD_WIDTH}, a ` +
    `stream of width ${knobs.width}, batches of ${BATCH} out of ${train.size} sequences of ` +
    `${length} positions, measured on ${held.size} others. The command of README trains a larger ` +
    'model on fresh sequences.';
}

function ownersText({owners, task, config}) {
  const named = owners.flatMap((owner, i) => {
    if (owner === null) return [];
    const head = `${Math.floor(owner / config.heads)}.${owner % config.heads}`;
    return [`${nameOfQuestion(i, tasks[task])} ${head}`];
  });
  return named.join(', ') || 'none';
}

function tableOfTrained() {
  const head = ['task', 'heads', 'seed', 'steps', 'right', 'owners'];
  const rows = [...view.trained].reverse().map((one) => [
    one.task, `${one.active} of ${one.config.heads * one.config.layers}${
      one.config.layers > 1 ? ` in ${one.config.layers} layers` : ''}`,
    one.seed, one.steps, shareOf(one.accuracy), ownersText(one)]);
  return el('div', {class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Trained so far'},
    el('table', {'id': 'trained', 'aria-label': 'Nets trained before this one'},
      el('thead', null, el('tr', null, head.map((words) => el('th', {scope: 'col'}, words)))),
      el('tbody', null, rows.map((row) => el('tr', null, row.map((cell) => el('td', null,
        String(cell))))))));
}

export function showLog() {
  const {length: n} = view.trained;
  byId('log').replaceChildren(
    el('p', null, settingText(), ' A star is a lift of at least ', String(facts.owner_lift),
      ' here. There is no significance test in this page; ', code('headlab heads'), ' has one.'),
    el('p', null, 'A seed here is the same seed in the program: same initial values, same ' +
      'batches, same losses, unless heads are ablated or pruned on the way. ',
    button('Save the sequences', saveSequences, {id: 'save-sequences'}),
    ' as ', code(TRAIN_FILE), ' and ', code(HELD_FILE), ', then run ',
    el('code', {id: 'command'}, commandOfNet())),
    ...(n === 0 ? [] : [el('h2', null, `Trained so far: ${n}`), tableOfTrained()]));
}
