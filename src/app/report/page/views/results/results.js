// Results: whatever the program stored for a run, in its own words and columns, sorted by any
// number, which is drawn, with the meaning of each column in its title.
import {range} from '../../engine/numbers.js';
import {bars, digits, grouped, matrix} from '../../draw/charts.js';
import {
  aside, button, choice, code, dynamic, el, explained, figure, link, note, tableOf, term,
} from '../../draw/ui.js';
import {formatHash} from '../../state/address.js';
import {app, go, headsOf, isStored, prunedRuns, run, task} from '../../state/state.js';
import {curvePicture, methodNow} from '../../parts/curve.js';
import {divisionPicture} from '../../parts/divisions.js';
import {knowsTraining, trainingNodes} from '../../parts/emergence.js';
import {bestPoints, finetuning} from '../../parts/heads.js';
import {spoken} from '../../parts/questions.js';

// ---- tables ----------------------------------------------------------------------------------

const isInterval = ({cell}) => cell === 'interval' || cell === 'half_width';

/// Tables whose column `name` has relations.
const RELATION_TABLES = ['relations', 'against', 'single_against'];

/// A title for a reader: the name of a relation or a target, or other words.
const titleForReader = (title) =>
  ([...task().target_names, ...task().relations.map(({name}) => name)].includes(title)
    ? spoken(title) : title);

/// A column with names of relations and targets for a reader: `isNamed` if its cells are such
/// names, and the title of a score of one relation, at scores.RELATION.
function columnForReader(column, table) {
  const {key, title} = column;
  const isRelation = key === 'name' && RELATION_TABLES.includes(table);
  const isNamed = isRelation || /(^|\.)(relations?|target)$/.test(key);
  const [scores, of] = key.split('.');
  const isScore = scores === 'scores' && title.startsWith(of);
  const shown = isScore ? spoken(of) + title.slice(of.length) : titleForReader(title);
  return {...column, isNamed, title: shown};
}

/// A text of a cell: names of relations, separated by commas, are those for a reader.
const textOf = (words, {isNamed}) =>
  (isNamed ? words.split(', ').map(spoken).join(', ') : words);

/// The cells of a table as the program shows them, row by row: {words, number, low, high}.
const cellsOf = (rows, columns) => rows.map((row) =>
  row.map(([words, number, low, high], i) =>
    ({words: textOf(words, columns[i]), number, low, high})));

/// The bars of a column, largest first, named by the columns without numbers.
function columnBars(width, {columns, cells, numeric}, by) {
  const drawn = cells.filter((row) => by >= 0 && row[by].number != null);
  if (drawn.length < 2 || drawn.length > 48) return null;
  const {key, title, meaning} = columns[by];
  const name = (row) => row.filter((_, i) => !numeric[i]).slice(0, 2).map((c) => c.words).join(' ');
  return bars({
    width: Math.min(width, 640), unit: title,
    rows: drawn.map((row) => ({...row[by], name: name(row), value: row[by].number})),
    about: {name: key.replace(/\W+/g, '-'), title, sentence: meaning},
  });
}

/// A table that is sorted by the column chosen last, with that column as bars.
function sortedTable(table, id) {
  if (!table.rows.length) return note(`${table.title || table.name}: none.`);
  const isShown = table.columns.map(({form}, i) => form !== 'hidden' &&
    table.rows.some((row) => !/^-?$/.test(row[i].words)));
  const columns = table.columns.filter((_, i) => isShown[i]);
  const cells = table.rows.map((row) => row.filter((_, i) => isShown[i]));
  const numeric = columns.map((_, i) => cells.some((row) => row[i].number != null));
  const large = (i) => cells.some((row) => Math.abs(row[i].number) > 1e-6);  // no float noise
  let by = columns.findIndex((c, i) =>
    (table.by ? c.key === table.by : large(i) && isInterval(c)));
  const out = el('div');
  const titled = (c, i) => el('span', null, c.meaning ? term(c.title, c.meaning) : c.title,
    numeric[i] && button(by === i ? '▾' : '↕', () => sortBy(i), {
      class: 'sort', 'aria-label': `Sort by ${c.title}`, 'aria-pressed': String(by === i),
    }));
  const show = () => {
    if (by >= 0) cells.sort((a, b) => (b[by].number ?? -Infinity) - (a[by].number ?? -Infinity));
    out.replaceChildren(
      tableOf(table.title || table.name, columns.map(titled),
        cells.map((row) => row.map((c) => c.words)), 512),
      table.note ? el('p', {class: 'small muted'}, table.note) : '',
    );
  };
  const made = {columns, cells, numeric};
  const node = figure((width) => columnBars(width, made, by), {
    id, again: () => run().reports[app.state.file]?.command,
  });
  const {draw} = app.figures.at(-1);
  const sortBy = (i) => {
    by = i;
    show();
    draw();
  };
  show();
  return [node, out];
}

/// Rows of numbers as shades, from 0 to the largest.
function shadesOf(width, report, {name, title}) {
  const rows = name.split('.').reduce((at, key) => at?.[key], report);
  const cols = Math.max(...rows.map((row) => row.length));
  const values = Float32Array.from(rows.flatMap((row) => range(cols, (c) => row[c] ?? 0)));
  const numbered = (n) => range(n, String);
  return matrix({
    rowNames: numbered(rows.length), colNames: numbered(cols), values, width, cell: 28,
    kind: 'weight', top: Math.max(...values, 1e-9), about: {name, title, sentence: ''},
    say: (r, c) => `row ${r}, column ${c}: ${digits(values[r * cols + c])}`,
  });
}

function tableNodes(report, cells) {
  return report.tables.map((t, i) => {
    const columns = t.columns.map((column) => columnForReader(column, t.name));
    const title = titleForReader(t.title);
    return sortedTable({...t, title, columns, rows: cellsOf(cells[i], columns)}, `result-${i}`);
  });
}

/// The conclusion of the program; what it speaks of is a link away.
function conclusionNode() {
  const pieces = run().facts.conclusion.filter(({view}) => view !== 'prune');
  return el('p', {class: 'conclusion', id: 'conclusion-live'},
    pieces.map(({text: words, head: h, relation: rel}) => {
      const place = {view: 'head', h, rel: rel || null};
      return h ? link(words, () => go(place), {href: formatHash({...app.state, ...place})})
        : explained(words);
    }));
}

/// How heads divide the relations that they share.
const divisionNodes = ({divisions = [], command}) =>
  divisions.filter((d) => d.by && d.classes?.length).map((d) =>
    figure((width) => divisionPicture(d, spoken(d.relation), width),
      {id: `division-${d.relation}`, most: 640, again: command}));

/// How many heads are enough, in three senses: [number, of what, the rule].
function howMany({methods}) {
  const points = bestPoints();
  const used = methods.find((m) => m.points === points)?.used;
  const of = (kept) => digits(points.find((p) => p.kept === kept)?.loss, 2);
  const needed = task().needed === 1 ? 'one head' : `${task().needed} heads`;
  return [
    used != null && [String(used), 'this model, without fine-tuning',
      `loss ${of(used)}: fewest heads that cost at most 1 % of what removing all heads costs`],
    task().needed && !run().config.imported && [
      String(task().needed), 'the task, by its definition',
      `${needed} can solve it, and with fewer the loss stays high; a trained model may use more ` +
        'heads'],
    ...prunedRuns().map((r) => [String(headsOf(r).length),
      finetuning(r), `loss ${digits(r.facts.evaluation.loss, 2)} in the run ${r.name}`]),
  ].filter(Boolean);
}

function curveNodes(report, again) {
  const rows = howMany(report);
  return [
    rows.length > 0 &&
      tableOf('How many heads are enough', ['heads', 'enough for', 'because'], rows),
    ...run().facts.figures.curve.plots.map((_, i) =>
      figure((width) => curvePicture(width, i), {
        id: i ? `curve-${i}` : 'curve', most: 760, again,
        choose: (r, c) => go({view: 'bench', kept: methodNow().points[c]?.kept ?? null}),
      })),
  ].filter(Boolean);
}

function nodesOf(name) {
  if (name === 'training') return trainingNodes();
  const report = run().reports[name];
  if (!report) return [note('Nothing is measured yet.')];
  const {examples, command: again} = report;
  const nodes = tableNodes(report, run().facts.cells[name]);
  for (const [i, one] of (report.figures || []).entries())
    nodes.push(figure((width) => shadesOf(width, report, one),
      {id: `map-${i}`, most: 760, again}));
  if (name === 'curve') nodes.unshift(...curveNodes(report, again));
  if (name === 'heads') nodes.unshift(...divisionNodes(report));
  if (examples) nodes.unshift(aside(`Over ${grouped(examples)} examples.`));
  return nodes;
}

export const resultsView = {
  name: 'results', title: 'Results', uses: [],
  get place() {
    return isStored() ? 'Scores' : 'Results';
  },
  available: (page) => page.runs.length > 0,
  build(main) {
    const {reports, facts} = run();
    const there = [...(knowsTraining() ? ['training'] : []), ...Object.keys(reports)];
    const missing = facts.files.filter((f) => (!f.present || f.outdated) && f.command);
    const shown = () => (there.includes(app.state.file) ? app.state.file : there[0]);
    main.append(
      conclusionNode(),
      el('div', {class: 'controls'}, there.length > 0 &&
        choice('pick-file', 'Result', there.map((name) => [name, name.replaceAll('_', ' ')]),
          (file) => go({file}), shown)),
    );
    let last = null;
    main.append(dynamic('div', {id: 'result'}, () => {
      const key = `${app.state.run} ${shown()}`;
      if (last?.key !== key) last = {key, nodes: nodesOf(shown())};
      return last.nodes;
    }));
    if (missing.length)
      main.append(el('details', {id: 'missing'},
        el('summary', null, `${missing.length} more results can be computed`),
        tableOf('Missing results, and the commands that compute them', ['file', 'command'],
          missing.map((f) => [f.file, code(f.command)])),
      ));
  },
};
