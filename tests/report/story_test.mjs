// The sentences of a page and what its keys do, in a document of its own under node:
//   node story_test.mjs PAGE.html EXPECTED.json
// EXPECTED: {"checks": [{"hash", "id", "holds": [words], "lacks": [words], "facts"}], "keys"}. "facts"
// replace facts of the page from this check on. With "keys" the maps are walked by keyboard. Prints a line for each problem; the exit status is 1 if there
// is any.
import fs from 'node:fs';
import {openPage} from './page_document.mjs';

const [pagePath, expectedPath] = process.argv.slice(2);
const expected = JSON.parse(fs.readFileSync(expectedPath, 'utf8'));
const page = await openPage(fs.readFileSync(pagePath, 'utf8'));
const {parseHash} = await import('../../src/app/report/page/state/address.js');
const {app, go, press, words} = page;
const problems = [];
const expect = (truth, what) => truth || problems.push(what);

/// Long computations run in slices: waits until none is left.
async function settle() {
  for (let i = 0; i < 500; ++i) {
    await new Promise((done) => setTimeout(done, 2));
    if (app.busy <= 0) return;
  }
}

async function goTo(hash) {
  go({...parseHash(hash).state});
  app.show(true);
  await settle();
}

/// The words of an element; of a picture, which has none, its label.
function wordsAt(id) {
  const found = document.getElementById(id);
  if (!found) return `nothing at ${id}`;
  return found.textContent || found.getAttribute('aria-label') || '';
}

async function check({hash = '', id, holds = [], lacks = [], facts = {}}) {
  Object.assign(app.page.facts, facts);
  await goTo(hash);
  const said = wordsAt(id);
  for (const part of holds) expect(said.includes(part), `${hash} #${id} lacks "${part}": ${said}`);
  for (const part of lacks) expect(!said.includes(part), `${hash} #${id} holds "${part}": ${said}`);
}

// ---- keys: among the maps, and of the page -----------------------------------------------------

const focused = () => document.activeElement.dataset.head;
const mapOf = (name) => document.body.querySelectorAll('.map')
  .find((map) => map.dataset.head === name);

/// Two layers of three heads: two columns of maps in a row of four.
async function walkTheMaps() {
  await goTo('#view=first');
  mapOf('0.0').focus();
  for (const [key, name] of [
    ['ArrowRight', '0.1'], ['End', '1.2'], ['ArrowRight', '1.2'], ['Home', '0.0'],
    ['ArrowLeft', '0.0'], ['ArrowRight', '0.1'],
  ]) {
    press(document.activeElement, key);
    expect(focused() === name, `${key} leads to ${focused()}, not ${name}`);
  }
  press(document.activeElement, 'Enter');
  expect(app.state.h === '0.1' && app.state.gates['0.1'] === undefined, 'Enter selects a head');
  press(mapOf('0.1'), 'Enter');
  expect(app.state.gates['0.1'] === 0, 'Enter again ablates it');
  press(mapOf('0.1'), 'x');
  expect(app.state.gates['0.1'] === undefined, 'x switches it on again');
  press(mapOf('1.2'), 'q');
  expect(app.state.view === 'first', 'another key does nothing');
}

async function pressKeysOfThePage() {
  await goTo('#view=bench&h=0.1');
  press(null, 'X');
  const off = Object.keys(app.state.gates).sort().join();
  expect(off === '0.0,0.2,1.0,1.1,1.2', `X leaves only 0.1 on: ${off} are off`);
  expect(/^Changed: .*0\.0 off/.test(words('edited')), `what is changed is said: ${words('edited')}`);
  press(null, 'a');
  expect(Object.keys(app.state.gates).length === 0, 'a switches all heads on');
  expect(words('edited') === '', `nothing is changed: ${words('edited')}`);
  go({tokens: [1, 2, 3]});
  expect(words('edited').includes('tokens typed'), `typed tokens are said: ${words('edited')}`);
  go({tokens: [], hide: 'truth'});
  expect(words('edited').includes('ground-truth edges masked'), `masked edges are said: ${words('edited')}`);
  document.getElementById('undo').click();
  expect(app.state.hide === null && words('edited') === '', 'Undo takes all of it back');
  await goTo('#ex=3');
  press(null, ']');
  expect(app.state.ex === 4, '] is the next example');
  press(null, '[');
  press(null, '[');
  expect(app.state.ex === 2, '[ is the example before');
  const help = document.getElementById('help');
  press(null, '?');
  expect(!help.hidden && app.state.view !== 'about', '? opens the card of keys in place');
  press(null, 'Escape');
  expect(help.hidden, 'Escape closes it');
  go({keys: 'off'});
  press(null, '?');
  expect(help.hidden, 'keys can be switched off');
}

await settle();
for (const one of expected.checks || []) await check(one);
if (expected.keys) {
  await walkTheMaps();
  await pressKeysOfThePage();
}
for (const problem of problems.slice(0, 20)) console.log(problem);
process.exit(problems.length > 0 ? 1 : 0);
