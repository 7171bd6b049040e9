// The rules of .clang-tidy for scripts:  node --expose-internals scripts.mjs FILE ...
// No nested conditional operators, no assignments in conditions, no comma expressions (a `for` may
// have them in its head, as in C++). Node's own parser reads the files, as in modules_test.mjs.
// Prints a line for each violation, in the form that compilers use; the status is 1 if there is one.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);
const {parse} = require('internal/deps/acorn/acorn/dist/acorn');

const isNode = (value) => typeof value?.type === 'string';

/// The nodes directly below a node, each with the name of the field that holds it.
function childrenOf(node) {
  return Object.entries(node).flatMap(([field, value]) => {
    const values = Array.isArray(value) ? value : [value];
    return values.filter(isNode).map((child) => ({field, child}));
  });
}

/// Whether the value of `node` is, or is made by operators from, the value of an assignment.
function assigns(node) {
  if (node.type === 'AssignmentExpression') return true;
  if (node.type === 'LogicalExpression' || node.type === 'BinaryExpression') {
    return assigns(node.left) || assigns(node.right);
  }
  return node.type === 'UnaryExpression' && assigns(node.argument);
}

/// Returns the rule that `node` breaks as the `field` of `parent`.
function brokenRule(node, parent, field) {
  if (node.type === 'ConditionalExpression' && parent?.type === 'ConditionalExpression') {
    return 'nested conditional operator [nested-conditional]';
  }
  if (field === 'test' && assigns(node)) return 'assignment in a condition [assignment-in-condition]';
  const inForHead = parent?.type === 'ForStatement' && (field === 'init' || field === 'update');
  if (node.type === 'SequenceExpression' && !inForHead) return 'comma expression [comma]';
  return undefined;
}

let violations = 0;

function check(file, node, parent, field) {
  const rule = brokenRule(node, parent, field);
  if (rule) {
    const {line, column} = node.loc.start;
    console.log(`${path.resolve(file)}:${line}:${column + 1}: warning: ${rule}`);
    violations += 1;
  }
  for (const {field: name, child} of childrenOf(node)) check(file, child, node, name);
}

for (const file of process.argv.slice(2)) {
  const text = fs.readFileSync(file, 'utf8');
  check(file, parse(text, {ecmaVersion: 'latest', sourceType: 'module', locations: true}));
}
process.exit(violations ? 1 : 0);
