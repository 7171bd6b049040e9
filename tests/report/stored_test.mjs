// Compares a page that cannot run the model of its run with what the program computed:
//   node stored_test.mjs PAGE.html EXPECTED.json
// EXPECTED: {"unknown": [kinds], "tolerance", "pattern": [weights of head 0.0 on the first example]}.
// Prints a line for each problem; the exit status is 1 if there is any.
import fs from 'node:fs';
import {pageOfHtml} from './page_of.mjs';
import {storedTrace} from '../../src/app/report/page/engine/stored_trace.js';

const [pagePath, expectedPath] = process.argv.slice(2);
const expected = JSON.parse(fs.readFileSync(expectedPath, 'utf8'));
const [run] = pageOfHtml(fs.readFileSync(pagePath, 'utf8')).runs;
const problems = [];
if (run.live || run.model) problems.push('the page runs a model that it cannot compute');
if (run.unknown.join() !== expected.unknown.join()) problems.push(`it says: ${run.unknown}`);
const pattern = storedTrace(run, 0).pattern(0, 0);
expected.pattern.forEach((weight, i) => {
  if (!(Math.abs(weight - pattern[i]) < expected.tolerance)) problems.push(`weight ${i}: ${pattern[i]}`);
});
for (const problem of problems) console.log(problem);
process.exitCode = problems.length ? 1 : 0;
