// The training of a run: its loss and other curves, the lifts of its heads with the steps at which
// roles emerge, and a player that goes through the steps that were kept.
// Read next: views/results/results.js.
import {button, el, figure, say} from '../draw/ui.js';
import {programPlot} from '../draw/plot.js';
import {app, go, nearestStep, run, stepSlider, timeSteps} from '../state/state.js';
import {emergences} from './heads.js';
import {spoken} from './questions.js';

/// A figure of the program over training, with a line at the step that is looked at: its i-th plot,
/// named by what it shows.
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
      say(`${spoken(crossed.name)} emerges: step ${crossed.emergenceStep}, head ${crossed.best}.`);
    if (!stop && !crossed) return;
    clearInterval(playing);
    set(false);
  }, 500);
  return undefined;
}

/// Whether the page holds anything about the training of the run.
export const knowsTraining = () =>
  Boolean(run().facts.figures.losses || run().facts.figures.history);

/// The charts of training with the player.
export function trainingNodes() {
  const {name} = run();
  return [
    timeSteps().length > 1 && el('div', {class: 'controls'},
      button('Play', (event) => play(event.target), {'aria-pressed': 'false', id: 'play'}),
      stepSlider()),
    overTraining('history', `headlab history ${name} --svg FILE`),
    el('div', {class: 'columns'}, plotsOf('losses').map((_, i) =>
      overTraining('losses', `headlab runs ${name} --svg FILE`, i))),
  ].filter(Boolean);
}
