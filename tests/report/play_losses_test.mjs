// The playground's trainer against the program, under node:
//   node play_losses_test.mjs write PAGE.html FOLDER     writes the sequences of each task as lines
//   node play_losses_test.mjs MODULES PAGE.html EXPECTED.json
// EXPECTED lists what the program found on those lines: [{task: its number, config: config.json,
// train_loss, loss, accuracy}]. MODULES is the folder of the page's modules. Losses differ by at
// most 1e-5. Prints a line for each problem.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {pageTexts} from './page_of.mjs';

const SOURCES = new URL('../../src/app/report/page/', import.meta.url).pathname;
const [first, pagePath, last] = process.argv.slice(2);
const isWriting = first === 'write';
const load = (name) => import(pathToFileURL(path.join(isWriting ? SOURCES : first, name)));
const {Sequences} = await load('play/train/sequences.js');
const {Trainer} = await load('play/train/trainer.js');
const facts = JSON.parse(pageTexts(fs.readFileSync(pagePath, 'utf8')).get('facts'));
const tasks = facts.tasks.map((one) => new Sequences(one));

if (isWriting) {
  tasks.forEach((task, i) => {
    fs.writeFileSync(path.join(last, `${i}.jsonl`), task.lines(task.train));
    fs.writeFileSync(path.join(last, `${i}_held_out.jsonl`), task.lines(task.held));
  });
  process.exit(0);
}

const problems = [];
for (const expected of JSON.parse(fs.readFileSync(last, 'utf8'))) {
  const {task} = expected;
  const config = {attention_function: 'softmax', ...expected.config};
  const {batch, seed, lr, warmup, steps} = config;
  const trainer = new Trainer(tasks[task],
    {config, batch, seed, lr, warmup, steps, ownerLift: facts.owner_lift});
  let sum = 0;
  for (let i = 0; i < steps; ++i) {
    trainer.step();
    sum += trainer.trainLoss;
  }
  const {loss, accuracy} = trainer.evaluate();
  const found = {train_loss: sum / steps, loss, accuracy};
  for (const [key, value] of Object.entries(found))
    if (!(Math.abs(value - expected[key]) <= 1e-5))
      problems.push(`${tasks[task].name}, ${JSON.stringify(config)}, ${steps} steps: ${key} ` +
        `${value} here, ${expected[key]} there`);
}
for (const problem of problems) console.log(problem);
process.exit(problems.length ? 1 : 0);
