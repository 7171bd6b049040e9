// A pattern is not yet a cause. Here is what happens when something is taken away: heads, exactly
// the
// edges that the truth names, activations of another input; and what the weights alone say.
/// A bar for each head of a report, the largest first.
import {at2, idOf} from './core_losses.js';
import {range} from './draw.js';
import {bars, digits, matrix} from './charts.js';
import {againLine, aside, el, figure, note, tableOf} from './ui.js';
import {byPlace} from './address.js';
import {go, lacking, run} from './state.js';

const barRows = (list) =>
  list
    .map((x) => ({name: idOf(x), value: x.change ?? x.restored, low: x.low, high: x.high}))
    .sort((a, b) => b.value - a.value);

function ablationPicture(width) {
  const report = run().reports.ablation;
  if (!report) return lacking('ablation.json', 'Ablations are');
  const rows = barRows(report.heads);
  if (!rows.length) return note('There is no head to silence.');
  return bars({
    width: Math.min(width, 620), rows, unit: 'rise of the loss (nats)',
    about: {
      name: 'ablation', title: 'Silence one head',
      sentence: `Without ${rows[0].name} the loss rises by ${digits(rows[0].value, 3)} nats, ` +
        `from ${digits(report.loss)}; without ${rows.at(-1).name} by ` +
        `${digits(rows.at(-1).value, 3)}. In its place: ${report.kind}. Lines: 95 % intervals ` +
        `over ${report.examples} examples.`,
    },
  });
}

function goldPicture(width) {
  const report = run().reports.gold_edges;
  if (!report) return lacking('gold_edges.json', 'Tests of gold edges are');
  const best = (r) =>
    [...r.tests].sort((a, b) => a.heads.length - b.heads.length || b.lift - a.lift)[0];
  const tests = report.relations.map((r) => ({name: r.name, ...best(r)})).filter((t) => t.heads);
  const bar = (name, change, look) => ({
    name, value: change?.change, low: change?.low, high: change?.high, ...look,
  });
  const rows = tests.flatMap((t) => [
    bar(`${t.name}, ${t.heads.map(at2).join(' ')}`, t.gold, {strong: t.cause}),
    bar('others that weigh as much', t.control, {color: 'edge'}),
  ]);
  const judged = tests
    .filter((t) => t.gold?.examples)
    .map((t) => `${t.name} ${t.targets} in ${t.gold.examples}`);
  const causes = tests.filter((t) => t.cause).map((t) => t.name);
  if (!rows.length) return note('This task asks for no relation.');
  return bars({
    width: Math.min(width, 620), rows, unit: 'rise of the loss (nats)',
    about: {
      name: 'gold-edges', title: 'Hide exactly the edges of the truth',
      sentence: `${
        causes.length
          ? `The gold edges of the best head are a cause, not just a pattern: ${causes.join(', ')}.`
          : 'No relation passes: hiding its edges costs no more than hiding others, or too little.'
      } Targets, in examples: ${judged.join('; ')}.`,
    },
  });
}

function pairPicture(width) {
  const report = run().reports.interactions;
  if (!report) return lacking('interactions.json', 'Interactions of pairs are');
  const names = [...new Set(report.pairs.flatMap((p) => [at2(p.first), at2(p.second)]))].sort(
    byPlace,
  );
  const n = names.length;
  const values = new Float32Array(n * n).fill(NaN);
  const found = new Map();
  for (const p of report.pairs) {
    const [i, j] = [names.indexOf(at2(p.first)), names.indexOf(at2(p.second))];
    values[i * n + j] = values[j * n + i] = p.interaction.change;
    found.set(i * n + j, p).set(j * n + i, p);
  }
  const top = Math.max(1e-9, ...report.pairs.map((p) => Math.abs(p.interaction.change)));
  const best = report.pairs.reduce(
    (a, b) => (a && a.interaction.change >= b.interaction.change ? a : b),
    null,
  );
  const backups = report.pairs
    .filter((p) => p.backs_up)
    .map((p) => `${at2(p.first)} and ${at2(p.second)} (${p.relation})`);
  return matrix({
    rowNames: names, colNames: names, values, kind: 'sign', top, width: Math.min(width, 480),
    cell: 40,
    about: {
      name: 'interactions', title: 'Silence two heads',
      sentence: best
        ? `What two cost beyond what their effects on the logits, added, would cost, over ` +
          `${report.examples} examples. ${backups.length ? `Of one relation, so that they back ` +
          `each other up: ${backups.join(', ')}.` : 'No two heads of one relation back each ' +
          'other up.'} Most: ${at2(best.first)} with ${at2(best.second)}, ` +
          `${digits(best.interaction.change, 3)} nats.`
        : 'There are no pairs.',
    },
    say: (r, c) => {
      const p = found.get(r * n + c);
      return p
        ? `${names[r]} and ${names[c]}: together ${digits(p.joint)}, if independent ` +
          `${digits(p.independent)}, beyond it ${digits(p.interaction.change)} ` +
          `(${digits(p.interaction.low)} to ${digits(p.interaction.high)})`
        : `${names[r]} alone`;
    },
  });
}

function patchPictures(width) {
  const report = run().reports.patching;
  if (!report) return lacking('patching.json', 'Patching is');
  const rows = barRows(report.heads);
  return bars({
    width: Math.min(width, 620), rows, unit: 'share of the answer brought back',
    about: {
      name: 'patching', title: 'Carry one head’s output over from the clean input',
      sentence: rows.length
        ? `${rows[0].name} brings back ${digits(100 * rows[0].value, 3)} % of the answer over ` +
          `${report.pairs} pairs of inputs.`
        : 'There is no head to patch.',
    },
  });
}

function residualPicture(width) {
  const report = run().reports.patching;
  if (!report?.residual?.length) return null;
  const n = Math.max(...report.residual.map((r) => r.length));
  const values = Float32Array.from(
    report.residual.flatMap((r) => range(n, (i) => r[i] ?? NaN)),
  );
  const top = Math.max(1e-9, ...report.residual.flat().map(Math.abs));
  const rowNames = report.residual.map((_, i) => (i === 0 ? 'embedding' : `after ${i}`));
  return matrix({
    rowNames, colNames: range(n, String), values, kind: 'sign', top,
    width: Math.min(width, 620), cell: 34, leastTall: 16, tall: 22,
    about: {
      name: 'patching-residual', title: 'Carry the residual stream over, by place',
      sentence:
        'Where the answer is carried, layer by layer (rows) and position by position (columns).',
    },
    say: (r, c) =>
      `${rowNames[r]}, position ${c}: ${digits(report.residual[r][c])} of the answer brought back`,
  });
}

function attributionPicture(width) {
  const report = run().reports.attribution;
  if (!report) return lacking('attribution.json', 'Attributions are');
  const values = Float32Array.from(report.parts.flatMap((p) => p.shares));
  const top = Math.max(1e-9, ...values.map(Math.abs));
  return matrix({
    rowNames: report.parts.map((p) => p.name), colNames: report.targets, values, kind: 'sign', top,
    width: Math.min(width, 200 + 64 * report.targets.length), cell: 64, tall: 20, leastTall: 20,
    about: {
      name: 'attribution', title: 'What adds to the right answer’s logit',
      sentence:
        report.targets
          .map((name, k) => {
            const best = report.parts.reduce((a, b) => (a.shares[k] >= b.shares[k] ? a : b));
            return `${name}: ${best.name} ${digits(best.shares[k], 3)} of ` +
              `${digits(report.logits[k], 3)}`;
          })
          .slice(0, 6)
          .join('; ') + '.',
    },
    say: (r, c) =>
      `${report.parts[r].name} adds ${digits(report.parts[r].shares[c])} to the right logit of ` +
        `${report.targets[c]}`,
  });
}

function circuitNodes() {
  const report = run().reports.circuits;
  if (!report) return lacking('circuits.json', 'Circuits are');
  const listed = (values) => values.map((v) => digits(v, 2)).join('  ');
  const above = report.compositions
    .filter((c) => c.percentile >= 95 && c.strength > c.random)
    .sort((a, b) => b.strength / b.random - a.strength / a.random);
  return [
    el('h3', null, 'What the weights alone say'),
    tableOf('OV and QK circuits, by question',
      ['head', 'looks at its own token (share)', 'copying score', 'tokens it copies'],
      report.heads.map((x) => [idOf(x), x.matches, listed(x.copying), listed(x.copies)]),
    ),
    above.length
      ? tableOf('Heads that read what heads write, above chance only',
          ['from', 'to', 'through', 'strength', 'random weights', 'percentile'],
          above.map((c) => [at2(c.from), at2(c.to), c.kind, c.strength, c.random, c.percentile]),
        )
      : aside('No head reads what another writes, above chance.'),
    againLine(report.command || `headlab circuits ${run().name}`),
  ];
}

export const causesView = {
  name: 'causes', place: 'Experiment', title: 'Causes', uses: [],
  available: (page) => page.runs.length > 0,
  build(main) {
    const again = (file, otherwise) => () =>
      run().reports[file]?.command || `headlab ${otherwise} ${run().name}`;
    const open = (r) => go({view: 'head', h: barRows(run().reports.ablation.heads)[r].name});
    main.append(
      el('p', null,
        'Where a head looks is not yet why the model is right. Each picture here takes ' +
          'something away, or puts something back, and counts.',
      ),
      el('div', {class: 'columns'},
        figure(ablationPicture, {
          id: 'ablation', again: again('ablation', 'ablate'), choose: open,
        }),
        figure(goldPicture, {id: 'gold-edges', again: again('gold_edges', 'ablate --gold-edges')}),
        figure(pairPicture, {id: 'pairs', again: again('interactions', 'ablate --pairs')}),
        el('div', null, figure(patchPictures, {id: 'patching', again: again('patching', 'patch')}),
          figure(residualPicture, {id: 'residual', again: again('patching', 'patch')}),
        ),
        figure(attributionPicture, {id: 'attribution', again: again('attribution', 'attribute')}),
        el('div', {id: 'circuits'}, circuitNodes()),
      ),
    );
  },
};
