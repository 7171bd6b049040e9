// Attention that trains: forward and backward over a batch of sequences of one length. Weights of
// attention stay in `pattern` [sequences, heads, queries, keys]. A gate of 0 ablates a head. Read
// next: net.js.
import {attentionFunctions, positionKinds, turn, turnsOf} from '../../engine/kinds.js';
import {attentionGradients} from './gradients.js';
import {TrainedLinear} from './layers.js';

const ROTARY_BASE = 10000;  // of the program

export class TrainedAttention {
  constructor(parameters, prefix, {config, length, batch}) {
    const {heads: H, d_head: D} = config;
    const R = batch * length;
    const position = positionKinds[config.positions];
    Object.assign(this, {H, D, T: length, width: H * D, R},
      attentionFunctions[config.attention_function],
      attentionGradients[config.attention_function]);
    for (const m of ['Q', 'K', 'V', 'O'])
      this[m] = new TrainedLinear(parameters, prefix, m, R);
    for (const buffer of ['q', 'k', 'v', 'z', 'dq', 'dk', 'dv', 'dz'])
      this[buffer] = new Float64Array(R * this.width);
    this.pattern = new Float64Array(batch * H * length * length);
    this.grads = new Float64Array(length);  // of one row of weights
    this.gates = new Float64Array(H).fill(1);
    this.turns = position.turns ? turnsOf(length, D, ROTARY_BASE) : null;
    this.slopes = Float64Array.from({length: H}, (_, h) => position.slope?.(h, H) ?? 0);
  }
  /// Adds the output for the first sequences to y; query t of sequence b sees keys below
  /// seen(b, t).
  forward(x, y, seen, sequences) {
    const rows = sequences * this.T;
    this.Q.forward(x, this.q, rows);
    this.K.forward(x, this.k, rows);
    this.V.forward(x, this.v, rows);
    if (this.turns) {
      turn(this.q.subarray(0, rows * this.width), rows, this.turns);
      turn(this.k.subarray(0, rows * this.width), rows, this.turns);
    }
    for (let b = 0; b < sequences; ++b) for (let h = 0; h < this.H; ++h) this.attend(b, h, seen);
    this.O.forward(this.z, y, rows, true);
  }
  attend(b, h, seen) {
    const {T, D, width, z, v, pattern} = this;
    const gate = this.gates[h];
    const first = b * T * width + h * D;
    for (let t = 0; t < T; ++t) {
      const row = ((b * this.H + h) * T + t) * T;
      const at = first + t * width;
      const keys = seen(b, t);
      this.score(h, t, row, at, keys);
      this.weigh(pattern, row, row + keys);
      for (let d = 0; d < D; ++d) z[at + d] = 0;
      for (let s = 0; s < keys && gate !== 0; ++s) {
        const weight = gate * pattern[row + s];
        for (let d = 0, i = at, j = first + s * width; d < D; ++d) z[i++] += weight * v[j++];
      }
    }
  }
  /// The scores of a query, less what its distance to a key takes off.
  score(h, t, row, at, keys) {
    const {q, k, D, width, pattern} = this;
    const first = at - t * width;
    const factor = 1 / Math.sqrt(D);
    const slope = this.slopes[h];
    for (let s = 0; s < keys; ++s) {
      let sum = 0;
      for (let d = 0, i = at, j = first + s * width; d < D; ++d) sum += q[i++] * k[j++];
      pattern[row + s] = sum * factor - slope * Math.abs(t - s);
    }
  }
  /// Writes dx, of all sequences.
  backward(x, dy, dx, seen) {
    const {dq, dk, dv, dz, turns, R} = this;
    this.O.backward(this.z, dy, dz);
    dq.fill(0);
    dk.fill(0);
    dv.fill(0);
    for (let b = 0; b < R / this.T; ++b)
      for (let h = 0; h < this.H; ++h) if (this.gates[h] !== 0) this.attendBack(b, h, seen);
    if (turns) {
      turn(dq, R, turns, -1);
      turn(dk, R, turns, -1);
    }
    this.Q.backward(x, dq, dx);
    this.K.backward(x, dk, dx, true);
    this.V.backward(x, dv, dx, true);
  }
  attendBack(b, h, seen) {
    const {T, D, width, pattern, grads, v, dv, dz} = this;
    const gate = this.gates[h];
    const first = b * T * width + h * D;
    for (let t = 0; t < T; ++t) {
      const row = ((b * this.H + h) * T + t) * T;
      const at = first + t * width;
      const keys = seen(b, t);
      for (let s = 0; s < keys; ++s) {
        const weight = pattern[row + s];
        let sum = 0;
        for (let d = 0, i = at, j = first + s * width; d < D; ++d, ++i, ++j) {
          const grad = gate * dz[i];
          sum += grad * v[j];
          dv[j] += weight * grad;
        }
        grads[s] = sum;
      }
      this.gradient(pattern, row, row + keys, grads);
      this.scoreBack(at, first, keys);
    }
  }
  /// From the gradients of the scores of a query to those of q and k.
  scoreBack(at, first, keys) {
    const {q, k, dq, dk, D, width, grads} = this;
    const factor = 1 / Math.sqrt(D);
    for (let s = 0; s < keys; ++s) {
      const grad = factor * grads[s];
      for (let d = 0, i = at, j = first + s * width; d < D; ++d, ++i, ++j) {
        dq[i] += grad * k[j];
        dk[j] += grad * q[i];
      }
    }
  }
}
