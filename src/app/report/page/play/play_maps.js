// The heads of one net as maps of attention on the example: shades, outlines where the answers are,
// bars of the attention mass on each question, and a star for an owner. A head is a button that
// ablates it.
import {mapBitmap} from '../draw/draw.js';
import {el, palette, svgNode} from '../draw/ui.js';
import {curveOfOwners} from './play_curves.js';
import {currentTask, facts, isPair, toggleHead, view} from './play_state.js';
import {colorOf, nameOfHead, nameOfQuestion, roleOfQuestion} from './play_words.js';

const NARROW = 960;  // pixels of a window

export class HeadMaps {
  constructor(lab) {
    this.lab = lab;
    const {heads, layers} = lab.options.config;
    const isNarrow = window.innerWidth < NARROW;
    const most = isNarrow || isPair() ? Math.min(heads, 4) : heads;
    this.across = heads > 5 && !isNarrow && !isPair() ? Math.ceil(heads / 2) : most;
    const side = this.sideOf(heads, layers);
    const isTight = isNarrow || isPair() || side < 120;
    this.cells = Array.from({length: lab.heads}, (_, x) => this.cell(x));
    this.curve = curveOfOwners(lab);
    this.maps = el('div', {
      class: isTight ? 'play-maps tight' : 'play-maps', role: 'group',
      'aria-label': `Heads of seed ${lab.options.seed}`, onkeydown: (event) => this.move(event),
    }, this.cells.map(({node}) => node));
    this.maps.style.gridTemplateColumns = `repeat(${this.across}, minmax(0, ${side}px))`;
    this.node = el('div', {class: 'play-lab'},
      isPair() && el('h3', null, `Seed ${lab.options.seed}`), this.maps, this.curve.node);
  }
  /// The largest side of a map in pixels, so that all fit on the screen.
  sideOf(heads, layers) {
    if (heads > 5 || (layers > 1 && heads > 2)) return 112;
    return layers > 1 ? 150 : 191;
  }
  cell(x) {
    const {lab} = this;
    const {length: T} = lab.task;
    const bars = lab.task.relations.map((_, i) => this.bar(i));
    const parts = {
      canvas: el('canvas', {'aria-hidden': 'true'}), label: el('span', {class: 'map-label'}),
      stamp: el('span'), query: el('span', {class: 'query-row'}),
      outlines: svgNode('svg',
        {'class': 'outlines', 'viewBox': `0 0 ${T} ${T}`, 'aria-hidden': 'true'}),
    };
    const node = el('button', {
      type: 'button', class: 'map', tabindex: x === 0 ? 0 : -1, 'data-head': x,
      onclick: () => toggleHead(lab, x),
    }, parts.label,
    el('span', {class: 'frame'}, parts.canvas, parts.outlines, parts.query,
      el('span', {class: 'stamp'}, parts.stamp)),
    el('span', {class: 'play-bars', 'aria-hidden': 'true'}, bars.map(({node: bar}) => bar)));
    return {...parts, node, bars, role: null, drawn: '', values: new Float32Array(T * T)};
  }
  bar(i) {
    const fill = el('i');
    const tick = el('u');
    tick.style.left = `${100 * this.lab.task.baseline[i]}%`;
    return {fill, node: el('span', {class: `c${colorOf(i)}`}, fill, tick)};
  }
  /// Arrow keys move the focus among the heads.
  move(event) {
    const at = this.cells.findIndex(({node}) => node === event.target);
    const by = {
      ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.across, ArrowDown: this.across,
    }[event.key];
    if (at < 0 || by === undefined) return;
    event.preventDefault();
    const next = this.cells[at + by];
    if (!next) return;
    this.cells[at].node.tabIndex = -1;
    next.node.tabIndex = 0;
    next.node.focus();
  }
  draw() {
    this.lab.show(view.example);
    this.cells.forEach((cell, x) => {
      this.drawRole(cell, x);
      this.drawMap(cell, x);
      cell.bars.forEach(({fill}, i) => {
        const mass = Math.min(1, this.lab.seen.mass[i][x]).toFixed(3);
        fill.style.transform = `scaleX(${mass})`;
      });
    });
    this.curve.draw();
  }
  drawMap(cell, x) {
    const {lab} = this;
    const {length: T} = lab.task;
    const own = lab.relationsOf(x);
    cell.values.fill(NaN);
    for (let t = 0; t < T; ++t)
      for (let s = 0; s < lab.net.seen(0, t); ++s) cell.values[t * T + s] = lab.weight(x, t, s);
    const kind = `tint ${own.length ? roleOfQuestion(own[0]) : 'none'}`;
    mapBitmap({values: cell.values, rows: T, cols: T, kind}, palette(), cell.canvas);
    const drawn = `${own} ${view.example} ${view.query}`;
    if (drawn === cell.drawn) return;
    cell.drawn = drawn;
    cell.query.style.top = `${100 * view.query / T}%`;
    cell.query.style.height = `${100 / T}%`;
    cell.outlines.replaceChildren(...outlinesOf(own));
  }
  /// The words and the frame of a head, when they change.
  drawRole(cell, x) {
    const {lab} = this;
    const own = lab.relationsOf(x);
    const state = lab.state[x];
    const also = lab.seen.lift.flatMap((row, i) =>
      (row[x] >= facts.owner_lift && !own.includes(i) ? [nameOfQuestion(i)] : []));
    const role = JSON.stringify([own, state, also]);
    if (role === cell.role) return;
    const isNew = own.length > 0 && state === 'on' && view.isRunning &&
      !cell.role?.startsWith(`[[${own}]`);
    cell.role = role;
    cell.node.className = ['map', own.length ? `own c${colorOf(own[0])}` : 'cnone',
      state !== 'on' && `off ${state}`, isNew && 'emerges'].filter(Boolean).join(' ');
    const names = own.map((i) => nameOfQuestion(i));
    cell.label.replaceChildren(el('b', null, nameOfHead(lab, x)), ...this.wordsOf(x, names, also));
    cell.stamp.textContent = state === 'on' ? '' : state;
    cell.node.setAttribute('aria-pressed', state !== 'on');
    cell.node.setAttribute('aria-label', `Head ${nameOfHead(lab, x)}, ${state}, ${
      names.length ? `owner of ${names.join(' and ')}` : 'owner of nothing'}`);
    cell.node.title = state === 'on' ? 'Ablate this head' : 'Turn this head on';
  }
  wordsOf(x, names, also) {
    const {lab} = this;
    if (names.length) return [el('em', null, `★ ${names.join(', ')}`)];
    if (also.length) return [el('small', null, `too: ${also.join(', ')}`)];
    const was = lab.state[x] === 'on' ? [] : lab.was[x] ?? [];
    return was.length ? [el('s', null, was.map((i) => nameOfQuestion(i)).join(', '))] : [];
  }
}

/// Where the answers to all questions are in the example; those of an owner's own are strong. Where
/// questions share a key, one outline lies in the other.
function outlinesOf(own) {
  const {length: T, held} = currentTask();
  const from = view.example * T;
  return held.keys.flatMap((keys, i) => Array.from({length: T}, (_, t) => {
    const s = keys[from + t];
    if (s < 0) return null;
    const beside = held.keys.slice(0, i).filter((other) => other[from + t] === s).length;
    const inset = 0.1 + 0.17 * beside;
    const isOwn = own.includes(i);
    const strength = own.length ? 'other' : 'open';
    return svgNode('rect', {
      class: `c${colorOf(i)} ${isOwn ? 'mine' : strength}`,
      x: s + inset, y: t + inset, width: 1 - 2 * inset, height: 1 - 2 * inset,
    });
  })).filter(Boolean);
}
