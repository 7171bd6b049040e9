// Positions: how far the pattern of each head moves when the tokens of the example are shuffled.
// Read next: lesson_patterns.js.
import {jsDistance, randomFrom, range, shuffled} from '../engine/numbers.js';
import {forwardPass} from '../engine/pass.js';
import {button, dynamic, el, tableOf} from '../draw/ui.js';
import {
  app, baseTrace, example, exampleIndex, go, headsOf, isSlow, run, task,
} from '../state/state.js';
import {rolesOfHead} from '../parts/heads.js';
import {patternOf, rowOf} from '../parts/pattern.js';
import {spoken} from '../parts/questions.js';
import {controlRow, hasRun, lab} from './learn.js';

/// Shows how far each pattern moves when the tokens are shuffled: mean Jensen-Shannon distance of
/// rows.
function movedTable() {
  if (!baseTrace()) return [];
  const original = forwardPass(run().model, task().set('scored').example(exampleIndex()));
  const rows = headsOf().filter((x) => run().attentionLayers[x.m].kind === 'self').map((x) => {
    const [now, old] = [baseTrace(), original].map((pass) => patternOf(pass, x.m, x.place));
    const queries = range(now.rows).slice(1);
    const moved = queries.reduce((sum, t) => sum + jsDistance(rowOf(now, t), rowOf(old, t)), 0);
    const name = rolesOfHead(x)[0]?.name;
    const relation = task().relations.find((r) => r.name === name);
    const matter = relation?.positional ? 'position' : 'content';
    const role = relation ? [spoken(name), matter] : ['–', '–'];
    return [x.at, ...role, moved / (queries.length || 1)];
  });
  return tableOf('Distance that each pattern moved: 0.83 is the largest possible',
    ['head', 'does', 'which is a matter of', 'moved by'], rows);
}

/// The experiment, if the run has an order of tokens to shuffle.
export function positionNodes() {
  if (!hasRun() || !task().causal || example().source || isSlow(6e7)) return [];
  const shuffle = () => {
    const seed = lab('seed', 0) + 1;
    const {tokens} = task().set('scored').example(exampleIndex());
    go({tokens: shuffled(tokens, randomFrom(seed)), lab: {...app.state.lab, seed}});
  };
  return [
    el('h3', null, 'Positions'),
    el('p', null, 'Shuffle the tokens: the pattern of a head that attends a fixed distance back ' +
      'stays as it is, that of one that attends to content moves.'),
    controlRow(button('Shuffle the tokens', shuffle, {id: 'shuffle'}),
      button('As it was', () => go({tokens: []}), {id: 'as-it-was'})),
    dynamic('div', {id: 'moved'}, () => (app.state.tokens.length ? movedTable() : []))];
}
