// The controls: the knobs of the model, the speed, and how many heads pruning keeps.
import {byId, button, el} from '../draw/ui.js';
import {
  CHOICES, LIMITS, SPEEDS, change, isPair, knobs, startOf, suggestedKeep, tasks, view,
} from './play_state.js';

const NAMES = {
  heads: 'Heads', layers: 'Layers', seed: 'Seed', positions: 'Positions', attention: 'Attention',
  network: 'Network', norm: 'Norm', width: 'Width', lr: 'Rate',
};

function stepper(key) {
  const [least, most] = LIMITS[key];
  const by = (step) => () =>
    change({[key]: Math.min(most, Math.max(least, knobs[key] + step))});
  return el('span', {class: 'joined', role: 'group', 'aria-label': NAMES[key]}, `${NAMES[key]} `,
    button('−', by(-1), {'aria-label': `fewer: ${NAMES[key]}`, id: `${key}-less`}),
    el('output', {id: `${key}-now`}),
    button('+', by(1), {'aria-label': `more: ${NAMES[key]}`, id: `${key}-more`}));
}

function list(key, options, act) {
  return el('label', null, `${NAMES[key] ?? 'Task'} `, el('select', {
    id: `knob-${key}`, onchange: (event) => act(event.target.value),
  }, options.map((value) => el('option', {value}, String(value)))));
}

const chosenValue = (key) => (value) =>
  change({[key]: typeof CHOICES[key][0] === 'number' ? Number(value) : value});

export function showKnobs() {
  byId('knob-bar').replaceChildren(
    list('task', Object.keys(tasks), (task) => change(startOf(task))),
    ...Object.keys(LIMITS).map(stepper),
    ...Object.keys(CHOICES).map((key) => list(key, CHOICES[key], chosenValue(key))));
  byId('speed').replaceChildren(...Object.keys(SPEEDS).map((name) =>
    button(name, () => setSpeed(name), {'data-speed': name})));
}

function setSpeed(name) {
  knobs.speed = name;
  updateKnobs();
}

export function updateKnobs() {
  for (const key of Object.keys(LIMITS)) byId(`${key}-now`).textContent = knobs[key];
  for (const key of ['task', ...Object.keys(CHOICES)]) byId(`knob-${key}`).value = knobs[key];
  for (const node of byId('speed').children)
    node.setAttribute('aria-pressed', node.dataset.speed === knobs.speed);
  byId('compare').setAttribute('aria-pressed', isPair());
}

let offered = '';
/// The numbers of heads that pruning may keep; the reader's choice stays while it is possible.
export function updateKeep() {
  const active = Math.max(...view.labs.map((lab) => lab.active));
  const state = `${active} ${view.labs[0].heads} ${view.labs[0].task.key}`;
  byId('prune').disabled = view.labs[0].steps === 0 || active < 2;
  byId('keep').disabled = byId('prune').disabled;
  if (state === offered) return;
  offered = state;
  const numbers = Array.from({length: Math.max(1, active - 1)}, (_, i) => i + 1);
  byId('keep').replaceChildren(...numbers.map((n) => el('option', {value: n}, String(n))));
  byId('keep').value = Math.min(suggestedKeep(), numbers.length);
}

