// The card of keys and words, which opens in place. An untrained run adds the command that trains
// it. Read next: app.js, which has all keys.
import {aside, button, byId, code, el, link} from '../draw/ui.js';
import {app, go, isStored, run, task} from '../state/state.js';
import {isUntrained} from './head_words.js';
import {spoken} from './questions.js';

const HELP_KEYS = [
  ['click, tap', 'select a head and read about it'],
  ['x, or its pill', 'ablate the selected head, or restore it'],
  ['arrows', 'next head, next token'],
  ['Enter', 'select the head with the focus; again: ablate it'],
  ['Escape', 'close this; all heads on'],
];

const HELP_WORDS = [
  ['head', 'decides which tokens each token looks at'],
  ['query', 'the token that looks'],
  ['key', 'a token that can be looked at'],
  ['question', 'what must be looked at; one row each'],
  ['baseline', 'the attention that a head which does not read the tokens would give'],
  ['owner', 'the head that answers a question, tested against the baseline'],
  ['share', 'several heads that answer one question together'],
  ['ablate', 'set the output of a head to 0'],
  ['right', 'the share of right answers over held-out examples'],
  ['guessing', 'the loss if every answer were equally likely'],
];

const helpRows = (rows) => el('dl', null, rows.map(([word, meaning]) =>
  [el('dt', null, word), el('dd', null, meaning)]));

function trainNodes() {
  if (!app.page.runs.length || isStored() || !isUntrained()) return [];
  const {task: spec, heads} = run().config;
  return [
    el('h3', null, 'Train this model'),
    el('p', null, code(`headlab train --task ${spec} --heads ${heads} --out runs/trained`),
      ', then ', code('headlab page runs/trained'), ' writes a page like this one.'),
  ];
}

const questionRows = () => (app.page.runs.length ? task().relations.slice(0, 8) : [])
    .map(({name, description}) => [spoken(name), description.split('\n')[0]]);

export function closeHelp() {
  const card = byId('help');
  const wasOpen = !card.hidden;
  card.hidden = true;
  if (wasOpen) byId('keys').focus();
  return wasOpen;
}

export function openHelp() {
  const card = byId('help');
  if (!card.hidden) return closeHelp();
  const more = () => {
    closeHelp();
    go({view: 'about'});
  };
  card.hidden = false;
  card.replaceChildren(
    ...trainNodes(), el('h3', null, 'Keys'), helpRows(HELP_KEYS), el('h3', null, 'Words'),
    helpRows([...HELP_WORDS, ...questionRows()]),
    aside(link('All keys, files and settings', more, {id: 'help-more'}), ' · ',
      button('Close', closeHelp, {id: 'help-close'})));
  byId('help-close').focus();
  return true;
}
