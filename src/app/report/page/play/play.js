// The playground: how it starts, the keys, and the loop, which steps inside an animation frame
// until the time of the frame is over.
import {byId, forgetColors, palette, say} from '../draw/ui.js';
import {drawSmallCurves} from './play_curves.js';
import {drawExample, showExample} from './play_example.js';
import {showKnobs, updateKeep, updateKnobs} from './play_knobs.js';
import {showLog} from './play_log.js';
import {HeadMaps} from './play_maps.js';
import {
  SPEEDS, addressOfState, allHeadsOn, change, chooseExample, isPair, knobs, pruneTo, readState,
  renew, toggleTraining, trainOne, trainSteps, view,
} from './play_state.js';
import {judgeTries, showTries} from './play_tries.js';
import {headline, headsText, lastEvent} from './play_words.js';

const FRAME = 9;  // ms of a frame in which nets are trained
const FRAME_OF_PAIR = 12;
const CALM_PAUSE = 250;  // ms between pictures if motion is reduced
const NARROW_WINDOW = 960;
let pictures = [];

function put(id, words) {
  const node = byId(id);
  if (node.textContent !== words) node.textContent = words;
}

/// Makes the parts that depend on the nets, and draws.
function rebuild() {
  pictures = view.labs.map((lab) => new HeadMaps(lab));
  byId('labs').replaceChildren(...pictures.map(({node}) => node));
  byId('labs').className = isPair() ? 'two' : '';
  showExample();
  updateKnobs();
  showLog();
  draw();
}

/// Draws everything as it is now or, while the visitor looks back, as it was at that moment.
function draw() {
  for (const lab of view.labs) lab.recall(view.moment);
  for (const picture of [...pictures].reverse()) picture.draw();
  drawExample(view.labs[0]);
  drawSmallCurves();
  putWords();
  for (const lab of view.labs) lab.recall(null);
  if (view.moment === null && !view.restoring) judgeTries();
}

function trainWords(steps) {
  if (view.isRunning) return '❚❚ Pause';
  if (steps === 0) return '▶ Train';
  return steps >= view.until ? '▶ Train on' : '▶ Go on';
}

let heard = '';
function putWords() {
  const [lab] = view.labs;
  const isNarrow = window.innerWidth < NARROW_WINDOW;
  put('headline', headline());
  put('count', isNarrow ? `step ${lab.steps}` : `step ${lab.steps} of ${view.until}`);
  put('train', trainWords(lab.steps));
  byId('train').className = lab.steps === 0 && !view.isRunning ? 'fresh' : '';
  const heads = lab.heads === 1 ? 'The head' : `All ${headsText(lab.heads)}`;
  put('heads-title', `${heads}: choose one to ablate it`);
  byId('restore').disabled = view.labs.every(({active, heads: all}) => active === all);
  put('legend', 'Bars: attention on the answer of each question; the tick is the baseline. ' +
    'Framed row: the token that asks, on the left.' +
    (lab.options.config.layers > 1 ? ' Head 1.0 is head 0 of layer 1.' : ''));
  updateKeep();
  const event = view.labs.map(lastEvent).filter(Boolean).join(' ');
  const news = view.isRunning ? event : byId('headline').textContent;
  if (news && news !== heard) say(news);
  heard = news;
}

let last = 0;
let drawn = 0;
function frame(now) {
  requestAnimationFrame(frame);
  const passed = Math.min(100, now - last);
  last = now;
  if (!view.isRunning) return;
  const isFast = view.restoring || knobs.speed === 'fast';
  view.due = isFast ? 0 : Math.min(8, view.due + passed / 1000 * SPEEDS[knobs.speed]);
  const before = view.labs[0].steps;
  const steps = isFast ? Infinity : Math.floor(view.due);
  trainSteps(steps, performance.now() + (isPair() ? FRAME_OF_PAIR : FRAME));
  view.due -= Math.min(view.due, view.labs[0].steps - before);
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (view.isRunning && isCalm && now - drawn < CALM_PAUSE) return;
  drawn = now;
  draw();
}

function nextTheme() {
  knobs.theme = {auto: 'light', light: 'dark', dark: 'auto'}[knobs.theme];
  applyTheme();
  say(`Colours: ${knobs.theme === 'auto' ? 'same as the system' : knobs.theme}.`);
}

function applyTheme() {
  document.documentElement.dataset.theme = knobs.theme;
  forgetColors();
  palette();
  draw();
}

async function copyAddress() {
  try {
    await navigator.clipboard.writeText(location.href.split('#')[0] + addressOfState());
    say('The link to this state is in the clipboard.');
  } catch {
    say(`The link to this state ends in ${addressOfState() || 'nothing'}.`);
  }
}

const prune = () => byId('prune').disabled || pruneTo(Number(byId('keep').value));
const ACTIONS = {
  'train': toggleTraining, 'one': trainOne, 'restart': () => change({}), 'restore': allHeadsOn,
  'prune': prune, 'compare': () => change({two: isPair() ? 'no' : 'yes'}), 'theme': nextTheme,
  'copy-link': copyAddress,
  'another': () => {
    chooseExample(view.example + 1);
    showExample();
    draw();
  },
};
const PLAY_KEYS = {'t': 'train', '.': 'one', 'r': 'restart', 'p': 'prune', 'Escape': 'restore'};

function pressKey(event) {
  const isTyping = event.target.matches('select, input');
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || !PLAY_KEYS[event.key]) return;
  ACTIONS[PLAY_KEYS[event.key]]();
  event.preventDefault();
}

export function startPlayground() {
  const notices = readState();
  Object.assign(view, {draw, rebuild});
  if (window.innerWidth < NARROW_WINDOW) byId('knobs').open = false;
  document.documentElement.dataset.theme = knobs.theme;
  showKnobs();
  showTries();
  renew();
  view.isRunning = Boolean(view.restoring);
  rebuild();
  if (notices.length) say(notices.join(' '));
  for (const [id, act] of Object.entries(ACTIONS)) byId(id).addEventListener('click', act);
  window.addEventListener('keydown', pressKey);
  window.addEventListener('resize', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
  requestAnimationFrame(frame);
}
