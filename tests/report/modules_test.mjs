// The rules of the page's modules, under node:  node --expose-internals modules_test.mjs
// Floors (no import from a floor above, no circle), exports that are used, no name twice in the script that they are
// joined to, no name that is not declared, at most 40 lines a function, 100 columns a line. Node's
// own parser reads them. Prints a line for each problem.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);
const {parse} = require('internal/deps/acorn/acorn/dist/acorn');
const folder = new URL('../../src/app/report/page/', import.meta.url);
/// The folders, a floor each: a file imports from its own folder and from the folders above it in
/// this list. Pictures know no model: of the engine they use plain numbers alone. Views, lessons and
/// the playground use nothing of each other; its trainer uses the engine and no document.
const FLOORS = ['engine', 'draw', 'state', 'parts', 'views', 'lessons', 'play', ''];
const ENTRIES = ['app.js', 'play/play.js'];
const SIDE_BY_SIDE = ['views', 'lessons', 'play'];
const TRAINER = 'play/train';
const OF_A_DOCUMENT = ['document', 'window', 'location', 'history', 'navigator'];
const isPlain = (file) => file === 'engine/numbers.js';
const BROWSER = new Set(
  ('Array BigInt Blob Boolean Float32Array Float64Array Infinity Int32Array JSON Map Math NaN Node ' +
    'Number Object Promise RegExp Set String URL Uint16Array Uint32Array Uint8Array WeakMap atob ' +
    'clearInterval clearTimeout decodeURIComponent document encodeURIComponent getComputedStyle ' +
    'history location matchMedia navigator parseInt performance queueMicrotask requestAnimationFrame ' +
    'setInterval DOMParser ' +
    'setTimeout structuredClone TextEncoder undefined window').split(' '),
);
const problems = [];
const expect = (truth, what) => truth || problems.push(what);

// ---- names: what a module declares, and what it uses without declaring it -------------------

/// The names that a pattern binds.
function bound(pattern) {
  switch (pattern?.type) {
    case 'Identifier': return [pattern.name];
    case 'ObjectPattern': return pattern.properties.flatMap((p) => bound(p.value || p.argument));
    case 'ArrayPattern': return pattern.elements.flatMap(bound);
    case 'AssignmentPattern': return bound(pattern.left);
    case 'RestElement': return bound(pattern.argument);
    default: return [];
  }
}

/// The names that statements declare in their block.
const declared = (statements) =>
  statements.flatMap((s) => {
    const {type, declarations, id} = s.declaration || s;
    if (type === 'VariableDeclaration') return declarations.flatMap((d) => bound(d.id));
    return /^(Function|Class)Declaration$/.test(type) ? [id.name] : [];
  });

const children = (node) =>
  Object.entries(node)
    .filter(([key]) => key !== 'loc')
    .flatMap(([key, v]) => {
      if (key === 'key' && !node.computed) return [];
      if (key === 'property' && node.type === 'MemberExpression' && !node.computed) return [];
      return (Array.isArray(v) ? v : [v]).filter((x) => x?.type);
    });

/// Calls `use` with every name that no scope within the module declares.
function walk(node, scopes, use) {
  if (node.type === 'ImportDeclaration') return;
  if (node.type === 'Identifier') {
    if (!scopes.some((scope) => scope.has(node.name))) use(node.name);
    return;
  }
  const own = [
    ...(node.params || []).flatMap(bound), ...(node.param ? bound(node.param) : []),
    ...(node.type === 'BlockStatement' ? declared(node.body) : []),
    ...(/^For/.test(node.type) ? declared([node.init || node.left || {}]) : []),
  ];
  const inner = own.length ? [new Set(own), ...scopes] : scopes;
  if (/^(Function|Arrow)/.test(node.type) && node.loc) {
    const lines = node.loc.end.line - node.loc.start.line + 1;
    expect(lines <= 40, `${node.file}:${node.loc.start.line}: a function of ${lines} lines`);
  }
  for (const child of children(node)) {
    child.file = node.file;
    walk(child, inner, use);
  }
}

function read(file) {
  const text = fs.readFileSync(new URL(file, folder), 'utf8');
  text.split('\n').forEach((line, i) =>
    expect([...line].length <= 100, `${file}:${i + 1}: a line of ${[...line].length} columns`),
  );
  const tree = parse(text, {ecmaVersion: 'latest', sourceType: 'module', locations: true});
  tree.file = file;
  const imports = tree.body
    .filter((s) => s.type === 'ImportDeclaration')
    .map((s) => ({
      from: path.join(path.dirname(file), s.source.value),
      names: s.specifiers.map((x) => x.local.name),
      same: s.specifiers.every((x) => x.imported?.name === x.local.name),
    }));
  const exported = tree.body
    .filter((s) => s.type === 'ExportNamedDeclaration')
    .flatMap((s) => declared([s]));
  const used = new Set();
  walk(tree, [], (word) => used.add(word));
  return {name: file, imports, exported, own: declared(tree.body), used};
}

// ---- the rules ------------------------------------------------------------------------------

const files = fs.readdirSync(folder, {recursive: true}).filter((file) => file.endsWith('.js'));
const modules = new Map(files.map((file) => [file, read(file)]));
const short = new Set(files.map((file) => path.basename(file)));
expect(short.size === files.length, 'two files have one name: the program finds them by name');

const folderOf = (file) => path.dirname(file).split('/')[0].replace('.', '');
const floorOf = (file) => FLOORS.indexOf(folderOf(file));
/// A view uses no other view, and views, lessons and the playground not one another.
function mayImport(file, from) {
  if (file === 'app.js' || path.dirname(file) === path.dirname(from)) return true;
  if (folderOf(file) === 'draw') return isPlain(from);
  if (path.dirname(file) === TRAINER) return folderOf(from) === 'engine';
  if (path.dirname(from) === TRAINER) return folderOf(file) === 'play';
  const areBeside = SIDE_BY_SIDE.includes(folderOf(file)) && SIDE_BY_SIDE.includes(folderOf(from));
  return floorOf(from) < floorOf(file) && !areBeside;
}
for (const file of files) expect(floorOf(file) >= 0, `${file} is on no floor`);
const everywhere = new Map();
for (const {name, imports, own, used} of modules.values()) {
  const known = new Set([...own, ...BROWSER]);
  for (const {from, names: taken, same} of imports) {
    expect(modules.has(from), `${name} imports ${from}, which is not there`);
    expect(mayImport(name, from), `${name} imports ${from}, which is not on a floor below`);
    expect(same, `${name} renames what it imports: joined, it would be another name`);
    for (const word of taken) {
      expect(modules.get(from)?.exported.includes(word),
        `${name} imports ${word}, which ${from} does not export`);
      expect(used.has(word), `${name} imports ${word} and does not use it`);
      known.add(word);
    }
  }
  if (path.dirname(name) === TRAINER)
    for (const word of OF_A_DOCUMENT)
      expect(!used.has(word), `${name} uses ${word}: the trainer knows no document`);
  for (const word of used) expect(known.has(word), `${name} uses ${word}, which it does not know`);
  for (const word of own) {
    expect(!everywhere.has(word), `${word} is in ${name} and in ${everywhere.get(word)}`);
    everywhere.set(word, name);
  }
}

const done = new Set();
function circle(name, chain) {
  expect(!chain.includes(name), `a circle: ${[...chain, name].join(' > ')}`);
  if (done.has(name) || chain.includes(name)) return;
  for (const {from} of modules.get(name)?.imports || []) circle(from, [...chain, name]);
  done.add(name);
}
for (const entry of ENTRIES) circle(entry, []);
for (const name of modules.keys()) expect(done.has(name), `no page reaches ${name}`);

/// Names that tests use: imports of those under node, and words of those in the browser; and those
/// that the pages call.
const skeletons = ['page.html', 'play/play.html'].map((name) =>
  fs.readFileSync(new URL(name, folder), 'utf8'));
const tests = ['report', 'browser'].flatMap((kind) => {
  const place = new URL(`../${kind}/`, import.meta.url);
  const files = fs.readdirSync(place, {withFileTypes: true}).filter((entry) => entry.isFile());
  return files.map(({name}) => fs.readFileSync(new URL(name, place), 'utf8'));
}).concat(skeletons).join('\n');
for (const {name, exported} of modules.values())
  for (const word of exported) {
    const taken = [...modules.values()].some((m) =>
      m.imports.some(({from, names: list}) => from === name && list.includes(word)));
    expect(taken || new RegExp(`\\b${word}\\b`).test(tests), `${name} exports ${word} without a user`);
  }

for (const problem of problems.slice(0, Number(process.argv[2] || 40))) console.log(problem);
process.exit(problems.length ? 1 : 0);
