// Holds the scripts engine/*.js of the page against PyTorch, by the golden files that the program
// is held against too:  node core_golden_test.mjs FILE.safetensors ...
// Logits and patterns differ by at most 1e-5 of the largest. Prints a line for each problem.
import fs from 'node:fs';
import {hashOf, loadPage, makeExample} from '../../src/app/report/page/engine/page_data.js';
import {forwardPass} from '../../src/app/report/page/engine/pass.js';

const files = process.argv.slice(2);
const problems = [];

/// The numbers of a tensor; null if none of its kind are read here.
function valuesOf(dtype, buffer) {
  if (dtype === 'F32') return new Float32Array(buffer);
  return dtype === 'I64' ? Array.from(new BigInt64Array(buffer), Number) : null;
}

function readSafetensors(path) {
  const bytes = fs.readFileSync(path), length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, 8 + length).toString());
  const notes = header.__metadata__;
  delete header.__metadata__;
  const tensors = {};
  for (const [name, {dtype, shape, data_offsets: [begin, end]}] of Object.entries(header)) {
    const own = Uint8Array.from(bytes.subarray(8 + length + begin, 8 + length + end)).buffer;
    tensors[name] = {shape, values: valuesOf(dtype, own)};
  }
  return {notes, tensors};
}

const isParameter = (name) => /embed|blocks|ln_final|unembed/.test(name) && !/^(grad|after)\./.test(name);

// The facts of a page with this model alone.
function factsOf({notes, tensors}) {
  const two = Boolean(tensors.source), [, T] = tensors.tokens.shape;
  const [V, C] = tensors['embed.W_E'].shape, S = two ? tensors.source.shape[1] : 0;
  const settings = Object.fromEntries((notes.settings || '').split(',').map((one) => one.split('=')));
  const heads = Number(notes.heads), blocks = Number(settings.kv_heads || heads);
  const windows = (settings.window || '0').split('+').map(Number);
  const encoderLayers = Number(notes.encoder_layers || 0);
  const layer = (name, kind, window = 0) => ({
    name, kind, layer: 0, window, heads: [...Array(heads).keys()],
    original_heads: heads,
    d_head: C / heads, d_value: C / heads, kv_blocks: [...Array(blocks).keys()],
    kv_head: [...Array(heads).keys()].map((h) => Math.floor(h * blocks / heads))});
  const attentionLayers = [];
  for (let i = 0; i < encoderLayers; ++i) {
    attentionLayers.push(layer(`encoder.blocks.${i}.attn`, 'encoder'));
  }
  for (let i = 0; i < Number(notes.layers); ++i) {
    attentionLayers.push(layer(`${two ? 'decoder.' : ''}blocks.${i}.attn`, 'self',
      windows[i % windows.length]));
    if (two) attentionLayers.push(layer(`decoder.blocks.${i}.cross_attn`, 'cross'));
  }
  const weights = [], list = [];
  for (const [name, {shape, values}] of Object.entries(tensors)) {
    if (!isParameter(name)) continue;
    list.push({name, shape, offset: weights.length});
    weights.push(...values);
  }
  const bytes = new Uint8Array(Float32Array.from(weights).buffer);
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  const causal = notes.causal === 'True';
  const oneStack = causal ? 'decoder' : 'encoder';
  const facts = {tolerance: 1e-5,
    tasks: [{spec: 'golden', name: 'golden', vocab: V, length: T, source_length: S, targets: 1,
      architecture: two ? 'encoder_decoder' : oneStack,
      causal: two || causal, relations: [], target_names: ['next'], sets: {}}],
    runs: [{name: 'golden', task: 0, parent: null, attention_layers: attentionLayers, weights: {tensors: list,
      block: {id: 'b0', dtype: 'f32', shape: [weights.length], hash: hash >>> 0}},
    config: {d_model: C, d_ff: 1, layers: Number(notes.layers), encoder_layers: encoderLayers,
      activation: settings.activation || notes.activation || 'gelu', norm: settings.norm || 'layer',
      norm_place: notes.norm, positions: settings.positions || 'learned', rotary_base: 10000, tied: false}}]};
  return {facts, text: Buffer.from(bytes).toString('base64')};
}

function compare(what, ours, theirs) {
  const largest = theirs.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  ours.forEach((value, i) => {
    if (!(Math.abs(value - theirs[i]) <= 1e-5 * largest))
      problems.push(`${what} ${i}: ${value} here, ${theirs[i]} in PyTorch`);
  });
}

for (const file of files) {
  const golden = readSafetensors(file), {tensors} = golden, {facts, text} = factsOf(golden);
  const words = JSON.stringify(facts);
  const sum = hashOf(new TextEncoder().encode(words));
  const run = loadPage((id) => ({facts: words, checksum: sum})[id] ?? text).runs[0];
  const [B, T] = tensors.tokens.shape, rows = (name, b, each) => tensors[name].values.slice(b * each, (b + 1) * each);
  for (let b = 0; b < B; ++b) {
    const S = tensors.source ? tensors.source.shape[1] : 0;
    const example = makeExample(run.task, rows('tokens', b, T),
      {source: S ? rows('source', b, S) : null});
    if (S) example.sourceLength = tensors.source_lengths.values[b];
    const trace = forwardPass(run.model, example);
    compare(`${file} logits of ${b},`, Array.from(trace.logits), rows('logits', b, trace.logits.length));
    run.attentionLayers.forEach((layer, m) => layer.heads.forEach((_, h) => {
      const ours = Array.from(trace.pattern(m, h)), each = ours.length, H = layer.heads.length;
      const theirs = tensors.patterns ? rows('patterns', (m * B + b) * H + h, each)
        : rows(`pattern.${m}`, b * H + h, each);
      compare(`${file} pattern ${m}.${h} of ${b},`, ours, theirs);
    }));
  }
  if (run.page.blocks.damaged.size > 0) problems.push(`${file}: the block is damaged`);
}
for (const problem of problems.slice(0, 20)) console.log(problem);
process.exit(problems.length > 0 ? 1 : 0);
