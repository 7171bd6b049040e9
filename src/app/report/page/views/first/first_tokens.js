// The tokens of the example: tiles that can be typed in place, with the query, the right keys and
// the wrong answers. Read next: first_lanes.js.
import {range} from '../../engine/numbers.js';
import {byId, el, say, visible} from '../../draw/ui.js';
import {example, go, isLive, task} from '../../state/state.js';
import {typableTokens} from '../../parts/pattern.js';
import {queryNow, unitOf} from '../../parts/questions.js';

export const isTyped = (row) =>
  isLive() && !example().vectors && (row === 'source') === Boolean(example().source);

/// The token that typed words name: exactly, by their last character, or the next one that begins
/// with it; -1 if there is none.
function typedToken(words, before) {
  const texts = task().tokens.map(visible);
  const last = visible([...words].at(-1) ?? '');
  for (const wanted of [words, last]) {
    const exact = texts.indexOf(wanted);
    if (exact >= 0 && exact !== before) return exact;
  }
  const order = range(texts.length, (i) => (before + 1 + i) % texts.length);
  return last ? order.find((i) => texts[i].startsWith(last)) ?? -1 : -1;
}

/// Says that typed words are no token, and which tokens there are.
function refuseToken(words) {
  const texts = task().tokens.map(visible);
  const known = texts.length > 40 ? `${texts.slice(0, 40).join(' ')} …` : texts.join(' ');
  const sentence = `“${words}” is no ${unitOf()} of this task. It knows: ${known}`;
  const line = byId('detail');
  if (line) line.textContent = sentence;
  say(sentence);
}

function replaceToken(row, at, words) {
  const all = typableTokens();
  const token = typedToken(words, all[at]);
  if (token < 0) refuseToken([...words].at(-1) ?? '');
  if (token < 0) return false;
  all[at] = token;
  go({tokens: all, scene: 0});
  return true;
}

function tokenKeys(event, row, at, tiles) {
  const {key} = event;
  const vocab = task().tokens;
  const turn = {ArrowUp: -1, ArrowDown: 1}[key];
  const step = {ArrowLeft: -1, ArrowRight: 1, Enter: 1}[key];
  if (step) tiles[Math.max(0, Math.min(tiles.length - 1, at + step))]?.focus();
  if (turn && isTyped(row)) {
    const {source, tokens} = example();
    const next = ((source || tokens)[at] + turn + vocab.length) % vocab.length;
    replaceToken(row, at, visible(vocab[next]));
  }
  if (step || turn) event.preventDefault();
}

function tokenTile(row, at, tiles) {
  const words = row === 'source' ? 'source token' : 'token';
  const tile = el('input', {
    class: 'tok', type: 'text', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
    'aria-label': `${words} ${at}`, readonly: !isTyped(row),
    onfocus: () => {
      tile.select?.();
      if (row !== 'source' && queryNow() !== at) go({q: at, k: null, scene: 0});
    },
    oninput: () => {
      const done = tile.value !== '' && replaceToken(row, at, tile.value);
      if (!done) tile.value = tile.shown;
      else tiles[Math.min(at + 1, tiles.length - 1)]?.focus();
    },
    onkeydown: (event) => tokenKeys(event, row, at, tiles),
  });
  return tile;
}

/// A row of tiles that are made once for each length and then filled.
export function tokenRow(row) {
  const node = el('div', {class: `tokens-row ${row}`, role: 'group',
    'aria-label': row === 'source' ? 'Source' : 'Example'});
  const tiles = [];
  const fill = (texts, classes) => {
    if (tiles.length !== texts.length) {
      tiles.length = 0;
      tiles.push(...range(texts.length, (at) => tokenTile(row, at, tiles)));
      node.replaceChildren(...tiles);
    }
    tiles.forEach((tile, at) => {
      tile.shown = texts[at];
      if (tile.value !== texts[at]) tile.value = texts[at];
      tile.className = `tok ${classes(at)}`;
    });
  };
  return {node, fill};
}

/// The classes of a tile: the query, a ground-truth key in its question's colour, a broken answer.
export function classesOf(row, keys, {broken, wrong}) {
  return (at) => {
    const one = keys.find(({side, all}) => side === row && all.includes(at));
    const isQuery = row === 'example' && at === queryNow();
    const isExample = row === 'example';
    return [isQuery && 'query', one && `key c${one.color}`, isExample && broken.has(at) && 'broken',
      isExample && wrong.has(at) && 'wrong'].filter(Boolean).join(' ');
  };
}

/// The size of a token's letters, so that all of them fit.
export function fontOf(letters, size) {
  if (letters < 2 && size >= 20) return '';
  return `${Math.max(8, Math.min(15, (size - 5) / (0.61 * Math.max(1, letters)))).toFixed(1)}px`;
}
