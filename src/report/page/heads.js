// The grid of heads: what a cell says, how it is sorted, drawn, reached by keyboard and exported.
import {reportScore} from './core_losses.js';
import {mapBitmap, pooled, range, remember} from './draw.js';
import {digits, label, line, nearestMark, rect, shortened, small, tableNumber} from './charts.js';
import {
  againLine, button, choice, dynamic, el, link, live, note, palette, saveButtons, say, tableOf,
} from './ui.js';
import {formatHash} from './address.js';
import {
  app, chosen, exampleIndex, go, headsOf, lacking, run, scoresOf, task, toggleGate, trace,
} from './state.js';
import {patternOf} from './pattern.js';

/// The score of heads.json, or at an earlier step the one that was tracked last until then.
function scoreNow(i, m, place) {
  const score = reportScore(run(), i, m, place);
  const {history} = run().facts;
  if (app.state.step == null || !score) return score;
  const at = (history?.steps || []).filter((s) => s <= app.state.step).length - 1;
  const head = (history?.heads || []).findIndex(
    ([layer, born]) => layer === m && run().modules[m].placeOf(born) === place,
  );
  const tracked = history?.relations[task().relations[i].name];
  return at < 0 || head < 0 || !tracked
    ? null
    : {...score, mass: tracked.mass[head][at], lift: tracked.lift[head][at]};
}

/// What a cell says of its head: the relation it scores best on, beside the chance level.
function bestScore(m, place) {
  let best = null;
  for (const {name, i, owns: owner} of scoresOf({m, place})) {
    const [score, owns] = [scoreNow(i, m, place), app.state.step == null && owner];
    if (
      score?.mass != null &&
      (!best || (owns && !best.owns) || (owns === best.owns && score.lift > best.lift))
    )
      best = {...score, name, owns};
  }
  return best;
}

/// What heads can be sorted by: [name, value of a head].
function sortings() {
  const {heads, ablation} = run().reports;
  const found = [
    ['place', null],
    ['lift of its best relation', (x) => bestScore(x.m, x.place)?.lift],
  ];
  task().relations.forEach((r, i) =>
    found.push([`mass on ${r.name}`, (x) => reportScore(run(), i, x.m, x.place)?.mass]),
  );
  const record = (list, x) => list?.find((h) => h.layer === x.m && h.head === x.born);
  if (ablation) found.push(['loss without it', (x) => record(ablation.heads, x)?.change]);
  for (const key of ['entropy', 'focus', 'confidence', 'distance', 'rank'])
    if (heads?.heads?.[0]?.[key] != null) found.push([key, (x) => record(heads.heads, x)?.[key]]);
  return found;
}

/// The heads of one row of the grid, as born; a removed head is {gone: true}.
function gridRows() {
  const by = sortings().find(([name]) => name === app.state.sort)?.[1];
  if (by) {
    const value = (x) => by(x) ?? -Infinity;
    return [
      {
        name: `by ${app.state.sort}, largest first`,
        cells: headsOf()
          .sort((a, b) => value(b) - value(a))
          .map((x) => ({...x, score: by(x), what: app.state.sort})),
      },
    ];
  }
  return run().modules.map((module) => ({
    name: moduleName(module),
    cells: range(module.born, (born) => ({
      m: module.index, born, place: module.placeOf(born), at: `${module.index}.${born}`,
    })),
  }));
}

export function moduleName({name, kind, heads, kvBlocks}) {
  const layer = /blocks\.(\d+)/.exec(name)?.[1] ?? 0;
  const side = {
    self: task().architecture === 'encoder_decoder' ? 'Decoder layer' : 'Layer',
    encoder: 'Encoder layer', cross: 'Cross-attention of decoder layer',
  }[kind];
  const shared =
    kvBlocks.length < heads.length ? `, ${kvBlocks.length} blocks of keys and values shared` : '';
  return `${side} ${layer}${heads.length ? '' : ', all heads removed: only its bias is ' +
    'left'}${shared}`;
}

/// Whether maps of single examples are worth their time: not those of very long inputs.
const showsExample = () => app.state.thumb === 'example' && trace() && task().length <= 256;

/// The small map of a head, as an item of a picture without its place.
function thumbnailOf(x) {
  const look = {kind: 'weight', top: 1, root: task().length > 64};
  if (!showsExample()) {
    const {rows, columns: cols, weights: values} = run().thumbnail(x.m, x.place);
    return {values, rows, cols, ...look};
  }
  const small = remember(trace(), `thumbnail ${x.at}`, () => {
    const {values, rows, cols} = patternOf(trace(), x.m, x.place);
    return pooled(values, rows, cols, Math.ceil(Math.max(rows, cols) / 64));
  });
  return {...small, ...look};
}

function headCell(x) {
  if (x.place < 0)
    return el('div',
      {
        class: 'cell gone', role: 'gridcell', tabindex: -1, 'data-head': x.at,
        'aria-label': `head ${x.at}, removed`,
      },
      el('b', null, x.at), el('br'), '✕ removed',
    );
  const best = bestScore(x.m, x.place);
  const gate = app.state.gates[x.at];
  const words = best ? `${best.owns ? '★ ' : ''}${best.name} ${digits(best.mass, 2)}` : '';
  const described = `head ${x.at}${best ? `, ${best.owns ? 'owns' : 'no owner; best on'} ` +
    `${best.name}: mass ${digits(best.mass, 3)}, chance ` +
    `${digits(best.null, 3)}` : ''}${gate === 0 ? ', switched off' : ''}`;
  const bar = best && el('div', {class: 'bar'}, el('span'), app.state.null === 'on' && el('i'));
  if (bar) {
    bar.firstChild.style.width = `${100 * Math.min(best.mass, 1)}%`;
    if (bar.children[1])
      bar.children[1].style.left = `calc(${100 * Math.min(best.null, 1)}% - 1px)`;
  }
  const canvas = el('canvas', {'aria-hidden': 'true'});
  const map = thumbnailOf(x);
  if (map.rows) mapBitmap(map, palette(), canvas);
  return el('div',
    {
      class: `cell${chosen()?.at === x.at ? ' chosen' : ''}${gate === 0 ? ' off' : ''}`,
      role: 'gridcell', tabindex: -1, 'data-head': x.at, id: `cell-${x.at}`,
      'aria-label': described, onclick: () => go({view: 'head', h: x.at}),
    },
    canvas, el('b', null, x.at), ' ', words, bar,
    x.score !== undefined && el('div', {class: 'muted'}, digits(x.score, 3)),
  );
}

/// One Tab stop; arrows by place on the screen, Home and End in a row, Page keys by row.
function gridKeys(event, grid) {
  const cells = [...grid.querySelectorAll('.cell')];
  const at = cells.indexOf(document.activeElement);
  if (at < 0) return;
  const across = Math.max(1, cells.filter((c) => c.offsetTop === cells[at].offsetTop).length);
  const row = cells[at].closest('[role="row"]');
  const inRow = [...row.querySelectorAll('.cell')];
  const next = {
    ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + across, ArrowUp: at - across,
    Home: cells.indexOf(inRow[0]), End: cells.indexOf(inRow.at(-1)),
    PageDown: at + inRow.length, PageUp: at - inRow.length,
  }[event.key];
  if (event.key === 'Enter') cells[at].click();
  else if (event.key === 'x' && cells[at].dataset.head)
    toggleGate(headsOf().find((x) => x.at === cells[at].dataset.head));
  else if (next === undefined) return;
  else if (cells[next]) focusCell(grid, cells[next]);
  event.preventDefault();
  event.stopPropagation();
}

function focusCell(grid, cell) {
  for (const other of grid.querySelectorAll('.cell')) other.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus();
  say(cell.getAttribute('aria-label'));
}

export function headGrid(props) {
  const grid = el('div', {
    role: 'grid', 'aria-label': 'All heads, layer by layer', id: 'grid',
    onkeydown: (event) => gridKeys(event, grid), ...props,
  });
  live(() => {
    const [rows, focused] = [
      gridRows(),
      grid.contains(document.activeElement) && document.activeElement.dataset.head,
    ];
    grid.className = `grid${headsOf().length > 24 ? ' small' : ''}`;
    grid.replaceChildren(
      ...rows.map((row) =>
        el('div', {role: 'row'}, el('div', {role: 'rowheader'}, row.name), row.cells.map(headCell)),
      ),
    );
    const cell =
      [...grid.querySelectorAll('.cell')].find(
        (c) => c.dataset.head === (focused || chosen()?.at),
      ) || grid.querySelector('.cell');
    if (cell) cell.tabIndex = 0;
    if (focused) cell?.focus();
  });
  return grid;
}

/// All heads as one picture, for the export.
function gridPicture(width) {
  const rows = gridRows().filter((row) => row.cells.length);
  const across = Math.max(1, ...rows.map((row) => Math.min(row.cells.length, 12)));
  const side = Math.min(110, (width - 10) / across - 8);
  const [items, boxes, table] = [[], [], []];
  let y = 0;
  for (const row of rows) {
    items.push(small(4, y + 10, row.name));
    boxes.push(
      row.cells.map((x, i) => {
        const box = [
          4 + (i % across) * (side + 8), y + 22 + Math.floor(i / across) * (side + 30), side, side,
        ];
        const [bx, by] = box;
        const best = x.place >= 0 && bestScore(x.m, x.place);
        const map = x.place >= 0 && thumbnailOf(x);
        if (map) items.push({type: 'map', x: bx, y: by, w: side, h: side, ...map});
        else
          items.push(
            line([[bx, by], [bx + side, by + side]], {stroke: 'edge'}),
            line([[bx + side, by], [bx, by + side]], {stroke: 'edge'}),
          );
        items.push(rect(bx, by, side, side, {stroke: 'edge', dash: map ? [] : [3, 3]}));
        items.push(
          label(bx, by + side + 10,
            shortened(
              x.at + (best ? ` ${best.owns ? '★ ' : ''}${best.name}` : map ? '' : ' removed'),
              side, 11,
            ),
            {size: 11, bold: Boolean(best && best.owns)},
          ),
        );
        table.push([
          x.at, map ? '' : 'removed', best ? best.name : '', best ? best.owns : '',
          ...(best ? [best.mass, best.null, best.lift, best.p] : ['', '', '', '']).map((v) =>
            typeof v === 'number' ? tableNumber(v) : v,
          ),
        ]);
        return box;
      }),
    );
    y += 22 + Math.ceil(row.cells.length / across) * (side + 30);
  }
  return {
    name: 'heads', title: 'All heads', width, height: Math.max(y, 20), items,
    sentence: `${headsOf().length} heads; ${table.filter((r) => r[3] === true).length} own a ` +
      `relation. ${!showsExample() ? 'Each map is the mean pattern over the scored ' +
      'examples.' : `Each map is the pattern on example ${exampleIndex()}.`}`,
    table: () => ({
      head: ['head', 'removed', 'best relation', 'owns it', 'mass', 'chance', 'lift', 'p'],
      rows: table,
    }),
    marks: {
      rows: boxes.length, cols: (r) => boxes[r].length, box: (r, c) => boxes[r][c],
      find: nearestMark(boxes), text: (r, c) => rows[r].cells[c].at,
    },
  };
}
// Overview: the verdict, and every head as a small map with its score beside chance. The grid is
// one stop of the Tab key; arrows move in it (the ARIA grid pattern). Pruned heads keep their cell.

/// The verdict in pieces; what it speaks of is a link away. Runs of this page that were pruned from
/// this one follow.
export function verdict(r) {
  const pruned = app.page.runs.filter(({facts}) => app.page.runs[facts.parent] === r);
  return el('p', {class: 'verdict', id: 'verdict-live'},
    r.facts.verdict.map(({text: words, head: h, relation: rel, view}) => {
      const place = view ? {view} : {view: 'head', h, rel: rel || null};
      const href = formatHash({...app.state, ...place});
      return h || view ? link(words, () => go(place), {href}) : words;
    }),
    pruned.map((child) => [
      link(`${child.name} keeps ${headsOf(child).length} of them`, () =>
        go({run: app.page.runs.indexOf(child) + 1, h: null}),
      ),
      `: loss ${digits(child.facts.evaluation.loss)}${child.reports.prune?.finetuned ? ` after ` +
        `${child.reports.prune.finetuned} steps of fine-tuning` : ''}. `,
    ]),
  );
}

/// What the relations ask for.
const meanings = ({relations}) =>
  relations.length > 0 &&
  relations.length <= 8 &&
  el('p', {class: 'small muted', id: 'meanings'},
    relations.map((r, i) => [i > 0 && ' · ', el('b', null, r.name), ` ${r.description}`]),
  );

/// Findings of earlier weights, which are named and not shown.
function outdated() {
  const old = run().facts.files.filter((f) => f.outdated).map((f) => `${f.file} (step ${f.step})`);
  return old.length && note(`Of earlier weights, and so not shown: ${old.join(', ')}.`);
}

export const headsView = {
  name: 'heads', place: 'Story', title: 'Overview', uses: ['ex', 'step'],
  available: (page) => page.runs.length > 0,
  build(main) {
    main.append(
      outdated() || '', verdict(run()), meanings(task()) || '',
      dynamic('p', {class: 'small muted', id: 'other-step'}, () =>
        app.state.step == null ? [] :
          `The maps are of step ${app.state.step}; the sentence above is of the last step.`,
      ),
    );
    if (!run().modules.length)
      return main.append(
        note(
          'This model has 0 layers, so it has no heads. Its loss is what embedding and ' +
            'unembedding alone can do.',
        ),
      );
    main.append(
      el('div', {class: 'controls'},
        choice('sort', 'Sort by', sortings().map(([name]) => [name, name]),
          (v) => go({sort: v}), () => app.state.sort,
        ),
        task().length <= 256 &&
          choice('thumb', 'Maps show',
            [['example', 'this example'], ['mean', 'the mean over examples']],
            (v) => go({thumb: v}), () => app.state.thumb,
          ),
        el('span', {class: 'muted'}, '★ owns the relation · bar: attention on its truth · ',
          el('b', null, '┃'), ' chance',
        ),
      ),
    );
    main.append(headGrid(), lacking('heads.json', 'Scores of heads against the truth are') || '');
    const picture = () => gridPicture(Math.min(900, Math.max(300, main.clientWidth)));
    const table = el('div', {hidden: true});
    const command = `headlab heads ${run().name} --all`;
    main.append(
      el('figure', null,
        el('div', {class: 'tools'},
          button('Table',
            () => {
              const {head, rows} = picture().table();
              table.hidden = !table.hidden;
              table.replaceChildren(tableOf('All heads', head, rows, 200));
            },
            {class: 'table-button', id: 'grid-table'},
          ),
          saveButtons(picture, () => command),
        ),
        table, againLine(command),
      ),
    );
  },
};
