// Holds the scripts engine/*.js of the page against what the program computed, under node:
//   node core_test.mjs PAGE.html EXPECTED.json
// EXPECTED says what to look at: {"examples": n, "whole": also the evaluation,
// "cases": [{"name", "gates": [[..]..], "replacement", "by": [loss of each example]}],
// "edges": [{"relation", "heads", "change"}], "mutations"}.
// Prints a line for each problem; the exit status is 1 if there is any.
import fs from 'node:fs';
import {pageOfHtml, selfCheck} from './page_of.mjs';
import {evaluateSteps, lossesOf} from '../../src/app/report/page/engine/losses.js';
import {finish, forwardPass} from '../../src/app/report/page/engine/pass.js';

const [pagePath, expectedPath] = process.argv.slice(2);
const evaluate = (run, options) => finish(evaluateSteps(run, options));
const html = fs.readFileSync(pagePath, 'utf8');
const expected = JSON.parse(fs.readFileSync(expectedPath, 'utf8'));
const page = pageOfHtml(html);
const problems = [];

function near(what, ours, theirs, absolute = 2e-5, relative = 1e-4) {
  const bound = absolute + relative * Math.abs(theirs);
  if (!(Math.abs(ours - theirs) <= bound)) problems.push(`${what}: ${ours} here, ${theirs} there`);
}

function checkPage(run) {
  const check = selfCheck(run);
  if (!check.ok) problems.push(`${run.name}: ${check.sentence}`);
  for (const name of ['held_out', 'scored']) {
    const known = run.losses(name), set = run.task.set(name);
    for (let i = 0; i < Math.min(expected.examples, set.size); ++i) {
      const {sum, count} = lossesOf(forwardPass(run.model, set.example(i)));
      if (count > 0) near(`${run.name} ${name} ${i}`, sum / count, known[i]);
      if (count === 0 && !Number.isNaN(known[i])) problems.push(`${name} ${i} has no target here`);
    }
  }
}

function checkEvaluation(run) {
  const ours = evaluate(run, {}), theirs = run.facts.evaluation;
  near('loss', ours.loss, theirs.loss);
  near('accuracy', ours.accuracy, theirs.accuracy, 2e-3);
  theirs.targets.forEach((target, k) => {
    near(`loss of ${target.name}`, ours.targets[k].loss, target.loss);
    if (ours.targets[k].count !== target.count) problems.push(`${target.name}: other targets`);
  });
}

function checkCase(run, entry) {
  const result = evaluate(run, {gates: entry.gates, replacement: entry.replacement,
    count: entry.by.length});
  entry.by.forEach((loss, i) => near(`${entry.name} example ${i}`, result.by[i], loss, 1e-4, 1e-4));
}

// Masked ground-truth edges: what the loss on the relation's targets rises by.
function checkEdges(run, {relation, heads, change}) {
  const places = heads.map(([m, original]) => [m, run.attentionLayers[m].placeOf(original)]);
  const index = run.task.relations.findIndex(({name}) => name === relation);
  const whole = evaluate(run).relations[index];
  const without = evaluate(run, {hide: {relation: index, heads: places}}).relations[index];
  near(`masked edges of ${relation}`, without.loss - whole.loss, change);
}

// A check that cannot fail is none: one flipped bit is noticed,
function checkFlippedBits() {
  const block = page.facts.runs[0].weights.block;
  const open = `id="${block.id}">`, at = html.indexOf(open) + open.length;
  const end = html.indexOf('<', at);
  for (const place of [at + 5, at + Math.floor((end - at) / 2), end - 5]) {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const flipped = alphabet[alphabet.indexOf(html[place]) ^ 8];
    const damaged = pageOfHtml(html.slice(0, place) + flipped + html.slice(place + 1));
    if (selfCheck(damaged.runs[0]).ok) problems.push(`a flipped bit at ${place} is not noticed`);
  }
  const altered = pageOfHtml(html.replace('"parameters":', '"parameters":1'));
  if (selfCheck(altered.runs[0]).ok) problems.push('another digit in the facts is not noticed');
  const begin = html.indexOf('id="facts">') + 11, length = html.indexOf('</script>', begin) - begin;
  for (let part = 0; part < 200; ++part) {
    const place = begin + Math.floor(length * part / 200);
    const flipped = String.fromCharCode(html.charCodeAt(place) ^ (1 << part % 4));
    try {
      const {damaged} = pageOfHtml(html.slice(0, place) + flipped + html.slice(place + 1)).blocks;
      if (!damaged.has('facts')) problems.push(`a flipped bit of the facts at ${place} is not noticed`);
    } catch { /* no JSON any more: the page says so */ }
  }
}

// and any number that the program computed otherwise: in each example, of logits and patterns.
function checkOtherNumbers() {
  const [run] = pageOfHtml(html).runs;
  const {logits, patterns, examples} = run.facts.check;
  for (const block of [logits, ...patterns]) {
    const values = run.page.blocks.read(block), each = values.length / examples;
    for (let i = 0; i < 2 * examples; ++i) {  // the first and the last of each example
      const at = Math.ceil(i / 2) * each - i % 2, kept = values[at];
      for (const other of [NaN, kept + 1]) {
        values[at] = other;
        if (selfCheck(run).ok) problems.push(`${other} for ${kept} in ${block.shape} is not noticed`);
      }
      values[at] = kept;
    }
  }
}

for (const run of page.runs) checkPage(run);
if (expected.whole) checkEvaluation(page.runs[0]);
for (const entry of expected.cases || []) checkCase(page.runs[0], entry);
for (const test of expected.edges || []) checkEdges(page.runs[0], test);
if (expected.mutations) {
  checkFlippedBits();
  checkOtherNumbers();
}
for (const problem of problems.slice(0, 20)) console.log(problem);
process.exit(problems.length > 0 ? 1 : 0);
