// Which heads can go: every method's curve of loss against heads kept, beside the best subset; a
// slider along it, which the live model follows.
import {at2} from './core_losses.js';
import {digits, plot} from './charts.js';
import {choice, el, figure, live, note, sliderOf, tableOf} from './ui.js';
import {app, go, headsOf, isLive, lacking, ownedBy, run, silenced} from './state.js';
import {measure, measured, onMeasured, showMeasured} from './measure.js';

const curveOf = () => run().reports.curve;
const curveNamed = (name) => curveOf().methods.find((m) => m.method === name);
const methodOf = () =>
  curveNamed(app.state.method) || curveNamed('greedy') || curveOf().methods[0];

function pointOf(method = methodOf()) {
  const kept = app.state.kept ?? curveOf().needed ?? curveOf().heads;
  return method.points.reduce(
    (best, p) => (Math.abs(p.kept - kept) < Math.abs(best.kept - kept) ? p : best),
    method.points[0],
  );
}

const idsOf = (heads) => (heads || []).map(at2);
const sameHeads = (p, q) => idsOf(p.heads).join() === idsOf(q.heads).join();
export const without = (ids, others) => ids.filter((at) => !others.includes(at)).join(' ');

/// The best subset known of a size: of the exhaustive search, or of all subsets' losses.
const bestOf = (kept) => curveNamed('exhaustive')?.points.find((p) => p.kept === kept);

function curvePicture(width) {
  const shown = new Set([
    'random', 'magnitude', 'importance', 'ablation', 'greedy', 'exhaustive', methodOf().method,
  ]);
  const methods = curveOf().methods.filter(
    (m) => shown.has(m.method) || curveOf().methods.length <= 7,
  );
  const top = Math.max(...methods.flatMap((m) => m.points.map((p) => p.loss)));
  const series = methods.map((m) => ({
    name: m.method, bold: m === methodOf(), thick: m === methodOf() ? 3 : 1.5,
    points: m.points.map((p) => [p.kept, Math.max(p.loss, top / 1e6)]),
    ...(m.method === 'exhaustive'
      ? {color: 's5', dash: [2, 2], shape: 'square', hollow: true, r: 5}
      : {}),
  }));
  const point = pointOf();
  const regret = methodOf().regret;
  return plot({
    width, height: 340, series,
    x: {label: 'heads kept', names: methods[0].points.map((p) => p.kept)},
    y: {label: 'loss (nats, log)', log: true},
    lines: [
      {x: curveOf().needed, name: `${curveOf().needed} needed`},
      {x: point.kept, name: `${point.kept} kept`, strong: true},
    ].filter((l) => l.x != null),
    about: {
      name: 'curve', title: 'Loss against heads kept',
      sentence: `${methodOf().method} keeps ${point.kept} heads at a loss of ` +
        `${digits(point.loss)} (all heads: ${digits(curveOf().full.loss)}).${regret != null ? ` ` +
        `Its mean regret, beyond the best subsets, is ${digits(regret, 3)} nats.` : ''}`,
    },
  });
}

function setNode() {
  const [point, best] = [pointOf(), bestOf(pointOf().kept)];
  const kept = new Set(idsOf(point.heads));
  const removed = headsOf().filter((x) => !kept.has(x.at));
  return [
    el('p', null,
      el('b', null, `${point.kept} heads kept: `),
      `loss ${digits(point.loss)}, ${digits(100 * point.accuracy)} % right. `,
      best
        ? sameHeads(best, point)
          ? 'This is the best set of that size.'
          : `The best set of that size, ${idsOf(best.heads).join(' ') || 'none'}, has ` +
            `${digits(best.loss)}; regret ${digits(point.loss - best.loss)} nats.`
        : '',
    ),
    el('p', {class: 'tokens', id: 'kept-heads'},
      headsOf().map((x) =>
        el('span',
          {class: `cell${kept.has(x.at) ? ' chosen' : ''}`}, kept.has(x.at) ? '● ' : '✕ ',
          el('b', null, x.at), ' ', ownedBy(x).join(', '),
        ),
      ),
    ),
    isLive() &&
    point.heads &&
    headsOf().every((x) => (app.state.gates[x.at] ?? 1) === Number(kept.has(x.at))) &&
    measured.result
      ? el('p', {id: 'prune-live'},
          `The live model with this set: loss ` +
            `${digits(measured.result.loss)}${measured.done < measured.of ? ` so far ` +
            `(${measured.done} of ${measured.of})` : ''}.`,
        )
      : '',
    removed.length && !point.heads
      ? note('This method is an average over draws; there is no one set.')
      : '',
  ];
}

/// The first size at which each method's set is not the best one.
function partings() {
  const rows = curveOf()
    .methods.filter((m) => m.method !== 'exhaustive')
    .map((m) => {
      const parts = [...m.points].reverse().find((p) => {
        const best = bestOf(p.kept);
        return best && !sameHeads(best, p) && p.loss - best.loss > 1e-9;
      });
      return [
        m.method, m.area, m.regret, m.rank_correlation ?? null, m.knee ?? null,
        parts
          ? `${parts.kept} heads: ` +
            `${without(idsOf(parts.heads), idsOf(bestOf(parts.kept).heads)) || 'an average'} ` +
            `instead of ${without(idsOf(bestOf(parts.kept).heads), idsOf(parts.heads))}`
          : 'never',
      ];
    });
  const head = [
    'method', 'area under the curve', 'mean regret', 'rank correlation with ablation',
    'knee: heads that are enough', 'first parts from the best set at',
  ];
  return tableOf('Methods side by side', head, rows);
}

function papers() {
  const {michel, voita, prune} = run().reports;
  return [
    prune &&
      tableOf(`This run was pruned by ${prune.method}`, ['', 'loss', 'accuracy', 'parameters'],
        [
          ['before', prune.before], ['without fine-tuning', prune.without_finetuning],
          [`after ${prune.finetune} steps`, prune.after],
        ]
          .filter(([, r]) => r)
          .map(([name, r]) => [name, r.loss, r.accuracy, r.parameters]),
      ),
    michel &&
      tableOf('Michel et al. 2019, table 3: one head for each layer',
        ['module', 'best single head', 'rise of the loss with it alone'],
        michel.one_head_per_layer.map((r) => [
          r.module, at2(r.out_of_sample), r.change_out_of_sample,
        ]),
      ),
    voita &&
      tableOf('Voita et al. 2019: heads that learned gates leave',
        ['penalty λ', 'heads left', 'loss, pruned', 'loss, from scratch'],
        voita.rows.map((r) => [r.lambda, r.survivors.length, r.pruned?.loss, r.from_scratch?.loss]),
      ),
    !michel && lacking('michel.json', 'The experiments of Michel et al. are'),
    !voita && lacking('voita.json', 'The experiments of Voita et al. are'),
  ].filter(Boolean);
}

export function keep(changes) {
  go(changes);
  const point = pointOf();
  if (isLive() && point.heads) {
    const kept = new Set(idsOf(point.heads));
    go({gates: silenced(headsOf().filter((x) => !kept.has(x.at))), repl: 'zero'});
  }
}

export const pruneView = {
  name: 'prune', place: 'Experiment', title: 'Pruning', uses: [],
  available: (page) => page.runs.length > 0,
  stepBy: (by) => curveOf() && keep({kept: Math.max(0, pointOf().kept + by)}),
  build(main) {
    if (!curveOf()?.methods?.length)
      return main.append(
        lacking('curve.json', 'Pruning curves are') || note('There is no curve for this run.'),
        ...papers(),
      );
    const sizes = methodOf().points.map((p) => p.kept);
    const sets = el('div', {id: 'set'});
    main.append(
      el('div', {class: 'controls'},
        choice('method', 'Method', curveOf().methods.map((m) => [m.method, m.method]),
          (v) => keep({method: v}), () => methodOf().method,
        ),
        sliderOf('kept', 'Heads kept', {
          min: Math.min(...sizes), max: Math.max(...sizes), step: 1, 'aria-label': 'heads kept',
          value: () => pointOf().kept, act: (kept) => keep({kept}),
        }),
        isLive() && el('span', {class: 'muted'}, 'Move it, and the live model follows.'),
      ),
      figure(curvePicture, {
        id: 'curve', again: curveOf().command || `headlab curve ${run().name}`, most: 860,
        choose: (r, c) => keep({kept: methodOf().points[c]?.kept}),
      }),
      sets, partings(), ...papers(),
    );
    onMeasured(() => sets.replaceChildren(...setNode().filter(Boolean)));
    return live(() => {
      measure();
      showMeasured();
    });
  },
};
