// The page's model compared with logits and patterns that the program computed.
import {forwardSteps} from './pass.js';

function largestDifference(ours, theirs, width, every, result) {
  const rows = Math.floor(ours.length / width / every);
  for (let row = 0; row < rows; ++row) {
    for (let i = 0; i < width; ++i) {
      const a = ours[((row + 1) * every - 1) * width + i];
      const b = theirs[row * width + i];
      result.difference = Math.max(result.difference, Math.abs(a - b));  // NaN stays NaN
      result.largest = Math.max(result.largest, Math.abs(b));
    }
  }
}

function checkedExample(run, trace, i, logits, patterns) {
  const {every, logits: block, patterns: blocks} = run.facts.check;
  const read = (b) => run.page.blocks.read(b);
  const wide = run.task.targets * run.task.outputs;
  const each = block.shape[1];
  const own = read(block).subarray(i * each, (i + 1) * each);
  largestDifference(trace.logits, own, wide, every, logits);
  blocks.forEach((stored, m) => {
    const [, H, Q, S] = stored.shape;
    const all = read(stored);
    for (let place = 0; place < H; ++place) {
      const at = (i * H + place) * Q * S;
      largestDifference(trace.pattern(m, place), all.subarray(at, at + Q * S), S, every, patterns);
    }
  });
}

/// Holds the page's model against what the program computed. Everything live is to be switched off
/// unless it is ok: damaged blocks and a pass that computes something else are found alike. The run
/// is one with a model.
export function* selfCheckSteps(run) {
  const {tolerance} = run.page.facts;
  const logits = {difference: 0, largest: 0};
  const patterns = {difference: 0, largest: 0};
  const {examples} = run.facts.check;
  for (let i = 0; i < examples; ++i) {
    const trace = yield* forwardSteps(run.model, run.task.set('scored').example(i));
    checkedExample(run, trace, i, logits, patterns);
    yield {done: i + 1, of: examples};
  }
  const damaged = [...run.page.blocks.damaged];
  const ok = damaged.length === 0 && patterns.difference <= tolerance &&
    logits.difference <= tolerance * Math.max(1, logits.largest);
  const by = 'largest difference of a logit from the program ' + logits.difference.toPrecision(2) +
    ', of a weight ' + patterns.difference.toPrecision(2);
  const broken = damaged.length ? `blocks of numbers are damaged (${damaged.join(', ')}); ` : '';
  return {ok,
    sentence: ok ? 'Verified: ' + examples + ' examples, ' + by
      : 'This page computes other numbers than the program: ' + broken + by +
        '. Nothing is computed live.'};
}
