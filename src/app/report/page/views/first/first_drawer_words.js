// The sentences of the drawer as rows {name, when, lead, text, command}: of each list the first row
// whose condition holds is shown, its lead in bold. Conditions and texts read one object of facts
// about a head, so that a test can compute the same facts from the files of a run.
// Read next: first_drawer.js.
import {idOfPair, ownerOf} from '../../engine/reports.js';
import {digits} from '../../draw/charts.js';
import {headsOf, isStored, run, scoresOf, task} from '../../state/state.js';
import {
  bestPoints, costOf, emergenceStepOf, goneAt, isExact, keptTo, lossWithout, pairsOf, partnerOf,
  rolesOfHead, signed,
} from '../../parts/heads.js';
import {listed} from '../../parts/task_words.js';
import {spoken} from '../../parts/questions.js';

/// The relation that a head attends to as an owner must, or the one with its largest lift.
export const bestOf = (x) =>
  rolesOfHead(x)[0] || scoresOf(x).sort((a, b) => b.score.lift - a.score.lift)[0];

/// The loss with all heads on, and without this head and its partner.
export function neededFacts(x) {
  const all = lossWithout([]) ?? run().facts.evaluation?.loss ?? null;
  const cost = costOf([x]);
  const partner = partnerOf(x);
  return {
    all, alone: cost == null ? null : all + cost, partner,
    both: partner ? all + partner.both : null, knowsPairs: pairsOf(x).length > 0,
    isOnly: headsOf().length === 1,
  };
}

/// The head that owns a relation, or null.
function ownerNamed(name) {
  const r = task().relations.findIndex((one) => one.name === name);
  const found = r < 0 ? null : ownerOf(run(), r);
  return found && found.place >= 0 ? idOfPair([found.m, found.original]) : null;
}

function attendsFacts(x) {
  const found = bestOf(x);
  const best = found?.score.queries > 0 ? found : null;
  const name = best?.name;
  const does = (y) => rolesOfHead(y).some((d) => d.name === name);
  return {
    best: best && spoken(name), mass: best?.score.mass, baseline: best?.score.baseline,
    asks: task().relations.length > 0, stored: isStored(), scored: Boolean(run().reports.heads),
    does: rolesOfHead(x).length > 0, owner: ownerNamed(name),
    others: headsOf().filter((y) => y.at !== x.at && does(y)).map((y) => y.at),
  };
}

/// All that the sentences about a head depend on.
function factsOfDrawer(x) {
  const {history} = run().facts;
  return {
    at: x.at, run: run().name, ...attendsFacts(x), ...neededFacts(x),
    isTracked: Boolean(history), emergenceStep: emergenceStepOf(x), last: history?.steps.at(-1),
    isPruned: bestPoints().length > 0, isExact: isExact(),
    kept: keptTo(x), gone: goneAt(x), count: headsOf().length,
  };
}

/// A head is needed if the loss rises by 0.1 nats without it, or doubles and rises by 0.01.
const isNeeded = ({all, alone}) =>
  alone - all >= 0.1 || (alone >= 2 * all && alone - all >= 0.01);
const notMeasured = {lead: () => 'Not measured.', text: () => ' ',
  command: (f) => `headlab curve ${f.run}`};

const ATTENDS_TO = [
  {name: 'stored', when: (f) => !f.asks && f.stored, lead: () => 'No ground truth.',
    text: () => ' Below: the weights of the query.'},
  {name: 'no-truth', when: (f) => !f.asks, lead: () => 'No ground truth:',
    text: () => ' the task names no keys. Below: the weights.'},
  {name: 'no-question', when: (f) => !f.best && f.scored, lead: () => 'No question',
    text: () => ' asks for keys of this attention layer. Below: the weights.'},
  {name: 'not-scored', when: (f) => !f.best, lead: () => 'Not scored.',
    text: () => ' This writes scores: ', command: (f) => `headlab heads ${f.run}`},
  {name: 'share', when: () => true, lead: (f) => digits(f.mass, 2),
    text: (f) =>
      ` of its attention is on the keys of “${f.best}” (baseline ${digits(f.baseline, 2)}).`},
];

const ROLE = [
  {name: 'no-score', when: (f) => !f.asks || !f.best, text: () => ''},
  {name: 'no-role', when: (f) => !f.does, text: () => ' No question fits well.'},
  {name: 'owner', when: (f) => f.owner, text: (f) => ` Head ${f.owner} is the owner.`},
  {name: 'several', when: (f) => f.others.length,
    text: (f) => ` ${f.others.length > 3 ? `${f.others.length} other heads do` : `Also ${
      listed(f.others)}`}; none is the owner.`},
  {name: 'no-owner', when: () => true, text: () => ' No head is the owner.'},
];

const NEEDED = [
  {name: 'not-measured', when: (f) => f.alone == null, ...notMeasured},
  {name: 'needed', when: isNeeded, lead: () => 'Yes.',
    text: (f) => ` Without it, the loss is ${digits(f.alone, 2)} instead of ${digits(f.all, 2)}.`},
  {name: 'hardly', when: () => true, lead: () => 'Hardly, alone:',
    text: (f) => ` the loss changes by ${signed(f.alone - f.all)}.`},
];

const PARTNER = [
  {name: 'alone-unknown', when: (f) => f.alone == null || f.isOnly, text: () => ''},
  {name: 'pairs-unknown', when: (f) => !f.knowsPairs, text: () => ' Pairs are not measured.'},
  {name: 'no-partner', when: (f) => !f.partner, text: () => ' No other head backs it up.'},
  {name: 'redundant', when: (f) => f.partner.conclusion === 'redundant',
    text: (f) => ` Without its redundant partner ${f.partner.x.at} too: ${digits(f.both, 2)}.`},
  {name: 'partner', when: () => true,
    text: (f) => ` Without ${f.partner.x.at} too: ${digits(f.both, 2)}.`},
];

const EMERGED = [
  {name: 'not-tracked', when: (f) => !f.isTracked, lead: () => 'Not tracked.',
    text: () => ' Train with ', command: () => '--track-heads'},
  {name: 'never', when: (f) => !f.does, lead: () => 'Never:',
    text: () => ' it reaches the limits of an owner on no question.'},
  {name: 'other-name', when: (f) => f.emergenceStep == null, lead: () => 'Not tracked:',
    text: (f) => ` the training kept no lift on “${f.best}”.`},
  {name: 'emerged', when: () => true, lead: (f) => `Step ${f.emergenceStep}`,
    text: (f) => ` of ${f.last}: its lift on “${f.best}” reached half of its final value.`},
];

const SURVIVES = [
  {name: 'not-measured', when: (f) => !f.isPruned, ...notMeasured},
  {name: 'to-the-end', when: (f) => f.kept === 1, lead: () => 'To the end:',
    text: (f) => (f.isExact ? ' it is the best single head to keep.'
      : ' it is the last head if heads are removed one by one.')},
  {name: 'not-removed', when: (f) => f.gone == null, lead: (f) => `Down to ${f.kept}:`,
    text: () => ' smaller sizes were not tried.'},
  {name: 'first', when: (f) => f.gone === f.count - 1, lead: () => 'First to go:',
    text: (f) => (f.isExact ? ` it is not among the best ${f.gone}.`
      : ' it is removed first if heads are removed one by one.')},
  {name: 'gone', when: (f) => f.kept === f.count, lead: () => 'Not kept:',
    text: (f) => ` it is not among the ${f.isExact ? 'best ' : ''}${f.gone} that are kept.`},
  {name: 'down', when: () => true, lead: (f) => `Down to ${f.kept}:`,
    text: (f) => (f.isExact
      ? ` it is among the best ${f.kept} heads, not among the best ${f.gone}.`
      : ` it is one of the last ${f.kept} heads, not of the last ${f.gone}.`)},
];

/// The lists of rows of each column.
export const ATTENDS_ROWS = [ATTENDS_TO, ROLE];
export const NEEDED_ROWS = [NEEDED, PARTNER];
export const EMERGED_ROWS = [EMERGED];
export const SURVIVES_ROWS = [SURVIVES];

/// The rows of a column that hold for a head: [{name, lead, text, command}].
export function sentencesOf(lists, x) {
  const facts = factsOfDrawer(x);
  return lists.map((rows) => {
    const {name, lead, text, command} = rows.find(({when}) => when(facts));
    return {name, lead: lead?.(facts) ?? '', text: text(facts), command: command?.(facts) ?? ''};
  });
}
