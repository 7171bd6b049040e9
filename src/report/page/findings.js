// Findings: whatever the program found of a run, from the columns that it describes itself, sorted
// by any number, which is drawn, with the meaning of each column in its title. And the curve of
// loss against heads kept.
import {at2} from './core_losses.js';
import {bars, digits, grouped, plot} from './charts.js';
import {aside, button, choice, code, dynamic, el, figure, note, tableOf, term} from './ui.js';
import {app, go, run} from './state.js';

// ---- tables ----------------------------------------------------------------------------------

const valueAt = (json, path) =>
  path === '' ? json : path.split('.').reduce((at, name) => at?.[name], json);

/// Where the parts of a cell stand: "gold.change,low" is gold.change and gold.low.
const pathsOf = (key) =>
  key.split(',').map((name, i) => (i ? key.split(',')[0].replace(/[^.]*$/, '') : '') + name);

/// A number as its column wants it (base/table.h): in groups of three, with a sign, as a p, with so
/// many decimals, or to four figures.
function told(v, {digits: how, unit}) {
  if (typeof v !== 'number') return v == null ? '–' : String(v);
  const shown = unit === '%' ? 100 * v : v;
  const words = how === 1000 ? grouped(v) : how === -4 && v <= 1e-6 ? '<\u00a01e−6'
    : how >= 0 && Math.abs(shown) < 1e6 ? shown.toFixed(how).replace('-', '−') : digits(shown);
  return `${how === -2 && v > 0 ? '+' : ''}${words}${unit === '%' ? ' %' : ''}`;
}

/// A cell as {words, number, low, high}.
function cellOf(row, column) {
  const {key, unit} = column;
  const parts = pathsOf(key).map((path) => valueAt(row, path));
  if (/layer,head$/.test(key)) return {words: parts[0] == null ? '–' : at2(parts)};
  const [v] = parts;
  if (typeof v === 'number') {
    const [low, high] = /,high$/.test(key) ? parts.slice(1)
      : /,half_width$/.test(key) && parts[1] != null ? [v - parts[1], v + parts[1]] : [];
    const between = low == null ? '' : ` (${told(low, column)} to ${told(high, column)})`;
    return {words: told(v, column) + between, number: v, low, high};
  }
  if (typeof v === 'boolean') return {words: v ? 'yes' : 'no', number: Number(v)};
  if (Array.isArray(v)) {
    const all = unit === 'head' ? [v] : v;
    return {words: all.map((one) => (Array.isArray(one) ? at2(one) : told(one, column))).join(' ')};
  }
  return {words: v != null && typeof v === 'object' ? '…' : told(v, column)};
}

/// The rows of a described table; those of `inner` stand in arrays of their own.
function rowsOf(report, {name, inner}) {
  const found = valueAt(report, name) ?? [];
  const rows = Array.isArray(found) ? found : [found];
  return inner ? rows.flatMap((row) => (row[inner] || []).map((one) => ({...row, ...one}))) : rows;
}

/// The tables of a report; of one that describes none, its records and lists of heads, those of the
/// same kind in one table.
function tablesOf(report) {
  if (report.tables) return report.tables.map((t) => ({...t, rows: rowsOf(report, t)}));
  const isRecord = (v) => v && typeof v === 'object' && !Array.isArray(v);
  const found = new Map();
  for (const [name, v] of Object.entries(report)) {
    const title = name.replaceAll('_', ' ');
    const isHead = (one) => Array.isArray(one) && one.length === 2;
    const rows = !Array.isArray(v) ? (isRecord(v) ? [{' ': title, ...v}] : [])
      : v.every(isRecord) ? v : v.every(isHead) ? [{' ': title, heads: v}] : [];
    const keys = Object.entries(rows[0] || {}).filter(([, one]) => !isRecord(one) &&
      !(Array.isArray(one) && (isRecord(one[0]) || (one.length > 24 && !isHead(one[0])))))
      .map(([key]) => key);
    if (['options', 'settings'].includes(name) || !keys.length) continue;
    const columns = keys.map((key) => ({key, title: key.replaceAll('_', ' '), meaning: ''}));
    const same = found.get(String(keys));
    if (!same) found.set(String(keys), {name, title, columns, rows: [...rows]});
    else Object.assign(same, {title: `${same.title}, ${title}`, rows: [...same.rows, ...rows]});
  }
  return [...found.values()];
}

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
  const columns = table.columns.filter((c) => c.digits !== -3 &&
    table.rows.some((row) => !/^–?$/.test(cellOf(row, c).words)));
  const cells = table.rows.map((row) => columns.map((c) => cellOf(row, c)));
  const numeric = columns.map((_, i) => cells.some((row) => row[i].number != null));
  const large = (i) => cells.some((row) => Math.abs(row[i].number) > 1e-6);  // no float noise
  let by = columns.findIndex((c, i) => (table.by ? c.key === table.by
    : large(i) && /,high$|,half_width$/.test(c.key)));
  const out = el('div');
  const titled = (c, i) => el('span', null, c.meaning ? term(c.title, c.meaning) : c.title,
    numeric[i] && button(by === i ? '▾' : '↕', () => sortBy(i), {
      class: 'sort', 'aria-label': `Sort by ${c.title}`, 'aria-pressed': String(by === i),
    }));
  const show = () => {
    if (by >= 0) cells.sort((a, b) => (b[by].number ?? -Infinity) - (a[by].number ?? -Infinity));
    out.replaceChildren(
      tableOf(table.title || table.name, columns.map(titled),
        cells.map((row) => row.map((c) => c.words))),
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

export const findingsView = {
  name: 'findings', place: 'Experiment', title: 'Findings', uses: [],
  available: (page) => page.runs.length > 0,
  build(main) {
    const {reports, facts} = run();
    const there = Object.keys(reports);
    const missing = facts.files.filter((f) => (!f.present || f.outdated) && f.command);
    const shown = () => (there.includes(app.state.file) ? app.state.file
      : there.find((name) => name === 'ablation') || there[0]);
    main.append(
      el('p', null, 'What the program found and wrote into the folder of this run.'),
      el('div', {class: 'controls'}, there.length > 0 &&
        choice('pick-file', 'Finding', there.map((name) => [name, name.replaceAll('_', ' ')]),
          (file) => go({file}), shown)),
    );
    let last = null;
    main.append(dynamic('div', {id: 'finding'}, () => {
      const key = `${app.state.run} ${shown()}`;
      if (last?.key === key) return last.nodes;
      const curve = shown() === 'curve';
      const nodes = !there.length ? note('Nothing was found yet.')
        : tablesOf(reports[shown()]).filter(({name}) => !curve || name === 'methods')
          .map((t, i) => sortedTable(t, `finding-${i}`));
      const {examples} = reports[shown()] || {};
      if (examples) nodes.unshift(aside(`Over ${grouped(examples)} examples.`));
      if (curve) nodes.unshift(figure(curvePicture, {
        id: 'curve', most: 760, again: reports.curve.command,
        choose: (r, c) => go({view: 'bench', kept: methodNow().points[c]?.kept ?? null}),
      }));
      last = {key, nodes};
      return nodes;
    }));
    if (missing.length)
      main.append(el('details', {id: 'missing'},
        el('summary', null, `${missing.length} more can be found`),
        tableOf('What would be found, and by which command', ['file', 'command'],
          missing.map((f) => [f.file, code(f.command)])),
      ));
  },
};

// ---- the curve -------------------------------------------------------------------------------

export const FEW = ['exhaustive', 'greedy', 'ablation', 'importance', 'random'];

/// The methods of the curve, those of most interest first.
export const methodsOf = () => {
  const all = run().reports.curve?.methods || [];
  const rank = ({method}) => (FEW.includes(method) ? FEW.indexOf(method) : FEW.length);
  return [...all].sort((a, b) => rank(a) - rank(b));
};
export const methodNow = () =>
  methodsOf().find((m) => m.method === app.state.method) || methodsOf()[0];

export const methodWords = (m) =>
  ({exhaustive: 'best of all sets', ablation: 'each head alone'})[m] || m;

export function curvePicture(width) {
  const {curve} = run().reports;
  const methods = methodsOf().filter((m, i) => i < FEW.length || m === methodNow());
  const top = Math.max(...methods.flatMap((m) => m.points.map((p) => p.loss)));
  const [best] = methods;
  return plot({
    width, height: 300,
    series: methods.map((m) => ({
      name: methodWords(m.method), bold: m === methodNow(), thick: m === methodNow() ? 3 : 1.5,
      points: m.points.map((p) => [p.kept, Math.max(p.loss, top / 1e6)]),
    })),
    x: {label: 'heads kept', names: best.points.map((p) => p.kept)},
    y: {label: 'loss (nats, log)', log: true},
    lines: [
      best.knee != null && {x: best.knee, name: `${best.knee}: within 1 %`},
      curve.needed && {x: curve.needed, name: `${curve.needed}: needed`},
      app.state.kept != null && {x: app.state.kept, name: `${app.state.kept} kept`, strong: true},
    ].filter(Boolean),
    about: {
      name: 'curve', title: 'Loss against heads kept, without fine-tuning',
      sentence: `All heads: ${digits(curve.full.loss)}; none: ${digits(curve.none.loss)}. Choose ` +
        'a point to try it.',
    },
  });
}
