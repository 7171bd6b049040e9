// Results: whatever the program stored for a run, in its own words and columns, sorted by any
// number, which is drawn, with the meaning of each column in its title.
import {range} from '../../engine/numbers.js';
import {bars, digits, grouped, matrix} from '../../draw/charts.js';
import {
  aside, button, choice, code, dynamic, el, explained, figure, link, note, tableOf, term,
} from '../../draw/ui.js';
import {formatHash} from '../../state/address.js';
import {app, go, isStored, run} from '../../state/state.js';
import {curvePicture, methodNow} from '../../parts/curve.js';
import {divisionPicture} from '../../parts/divisions.js';
import {knowsTraining, trainingNodes} from '../../parts/emergence.js';
import {spoken} from '../../parts/questions.js';

// ---- tables ----------------------------------------------------------------------------------

const isInterval = ({cell}) => cell === 'interval' || cell === 'half_width';

/// The cells of a table as the program shows them, row by row: {words, number, low, high}.
const cellsOf = (rows) => rows.map((row) =>
  row.map(([words, number, low, high]) => ({words, number, low, high})));

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

/// The tables of a result, with the titles and cells that a reader sees.
function tableNodes(report, shown) {
  return report.tables.map((table, i) => {
    const {title, columns: titles, rows} = shown[i];
    const columns = table.columns.map((column, c) => ({...column, title: titles[c]}));
    return sortedTable({...table, title, columns, rows: cellsOf(rows)}, `result-${i}`);
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

function curveNodes(again) {
  const {enough, figures} = run().facts;
  return [
    enough.rows.length > 0 &&
      tableOf('How many heads are enough', ['heads', 'enough for', 'because'], enough.rows),
    ...figures.curve.plots.map((_, i) =>
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
  const nodes = tableNodes(report, run().facts.tables[name]);
  for (const [i, one] of (report.figures || []).entries())
    nodes.push(figure((width) => shadesOf(width, report, one),
      {id: `map-${i}`, most: 760, again}));
  if (name === 'curve') nodes.unshift(...curveNodes(again));
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
