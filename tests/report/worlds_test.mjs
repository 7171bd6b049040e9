// Attention as the lessons compute it against the model of the page, under node:
//   node worlds_test.mjs PAGE.html EXPECTED.json
// For each run of the page, on its first examples: the weights and outputs of every head, by
// headOfWorld() and line by line. EXPECTED is not read. Prints a line for each problem.
import fs from 'node:fs';
import {pageOfHtml} from './page_of.mjs';
import {forwardPass} from '../../src/app/report/page/engine/pass.js';
import {attendLines, attendTrace} from '../../src/app/report/page/engine/attend.js';
import * as worlds from '../../src/app/report/page/engine/worked_example.js';

const page = pageOfHtml(fs.readFileSync(process.argv[2], 'utf8'));
const problems = [];

function near(what, ours, theirs) {
  if (!(Math.abs(ours - theirs) <= 1e-5)) problems.push(`${what}: ${ours}, in the model ${theirs}`);
}

/// The row and the output of one query, by the lines that the lesson steps through.
function byLines(world, head, t) {
  const {mask, name} = worlds.usualSwitches(world);
  const [from, to] = worlds.keysOfQuery(world, t, mask);
  const [k, v] = [head.k, head.v].map((rows) => rows.slice(from, to));
  const {slope} = head;
  const traced = attendTrace(head.q[t], k, v, {name, slope, t: t - from});
  const text = attendLines(name, slope).map((line) => line.text).join('\n');
  const run = new Function(`${text}; return ${/function (\w+)/.exec(text)[1]};`)();
  const shown = slope ? run(head.q[t], k, v, undefined, slope, t - from) : run(head.q[t], k, v);
  return {from, to, traced, shown};
}

function checkHead(what, {world, attention, place}) {
  const head = worlds.headOfWorld(world, place);
  const pattern = attention.pattern(place);
  const {dValue: Dv} = attention.layer;
  const {mask} = worlds.usualSwitches(world);
  world.tokens.forEach((_, t) => {
    const [first, end] = worlds.keysOfQuery(world, t, mask);
    if (first >= end) {  // its window is beyond the end of a short source
      const {steps} = attendTrace(head.q[t], [], [], {name: worlds.usualSwitches(world).name});
      if (steps.length > 0 || head.z[t].some((v) => v !== 0)) problems.push(`${what} without keys ${t}`);
      return;
    }
    const {from, to, traced, shown} = byLines(world, head, t);
    world.keys.forEach((__, s) => {
      const weight = pattern[t * attention.keys + s];
      const isSeen = s >= from && s < to;
      near(`${what} weight ${t} ${s}`, head.weights[t][s], weight);
      near(`${what} traced weight ${t} ${s}`, isSeen ? traced.row[s - from] : 0, weight);
      near(`${what} shown weight ${t} ${s}`, isSeen ? shown.row[s - from] : 0, weight);
    });
    for (let i = 0; i < Dv; ++i) {
      const z = attention.z[(t * attention.H + place) * Dv + i];
      near(`${what} output ${t} ${i}`, head.z[t][i], z);
      near(`${what} traced output ${t} ${i}`, traced.z[i], z);
    }
  });
}

for (const run of page.runs)
  for (const i of [0, 1]) {
    const trace = forwardPass(run.model, run.task.set('scored').example(i));
    trace.attentionLayers.forEach((attention, m) => {
      const names = (n) => Array.from({length: n}, (_, t) => String(t));
      const tokens = {queries: names(attention.queries), keys: names(attention.keys)};
      const world = worlds.worldOfRun(trace, m, tokens);
      if (world.isCut) problems.push(`${run.name}: keys are left out`);
      for (let place = 0; place < attention.H; ++place)
        checkHead(`${run.name} ${i} head ${m}.${place}`, {world, attention, place});
    });
  }

for (const problem of problems.slice(0, 20)) console.log(problem);
process.exit(problems.length ? 1 : 0);
