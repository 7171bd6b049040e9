// Layers that train: each keeps what its backward pass needs in buffers that are made once, for at
// most R rows (sequences times positions). `forward` fills the output; `backward` takes the
// gradient of the output, adds to those of the parameters, and writes or adds to that of the input.
// Kinds are those of kinds.js. Everything is in double, so that gradients can be checked by
// differences.
import {gemm, matrixOf, transposed} from '../../engine/gemm.js';
import {activations, momentsOf, norms} from '../../engine/kinds.js';
import {activationSlopes, normGradient} from './gradients.js';

/// y = x W + b.
export class TrainedLinear {
  constructor(parameters, prefix, label, R) {
    const {W, back, grad} = parameters.matrix(`${prefix}W_${label}`);
    Object.assign(this, {W, back, grad, R});
    this.bias = parameters.of(`${prefix}b_${label}`);
    this.biasGrad = parameters.gradient(`${prefix}b_${label}`);
    this.views = new Map();
  }
  /// The array as a matrix of R rows; made once for each array.
  rowsOf(values, cols) {
    if (!this.views.has(values)) {
      const view = matrixOf(values, this.R, cols);
      this.views.set(values, {view, back: transposed(view)});
    }
    return this.views.get(values);
  }
  /// y = x W + b, or y += x W + b if `add`.
  forward(x, y, rows, add = false) {
    const {bias, W} = this;
    const end = rows * W.cols;
    for (let i = 0, c = 0; i < end; ++i) {
      y[i] = (add ? y[i] : 0) + bias[c];
      if (++c === W.cols) c = 0;
    }
    gemm(this.rowsOf(x, W.rows).view, W, this.rowsOf(y, W.cols).view, true, rows);
  }
  /// dW += x^T dy, db += sum of dy, and dx = dy W^T, or dx += it if `add`; of all R rows.
  backward(x, dy, dx, add = false) {
    const {W, biasGrad} = this;
    for (let i = 0, c = 0; i < this.R * W.cols; ++i) {
      biasGrad[c] += dy[i];
      if (++c === W.cols) c = 0;
    }
    const out = this.rowsOf(dy, W.cols).view;
    gemm(this.rowsOf(x, W.rows).back, out, this.grad, true);
    gemm(out, this.back, this.rowsOf(dx, W.rows).view, add);
  }
}

/// y = (x - mean) scale gain + bias, for each row of C numbers.
export class TrainedNorm {
  constructor(parameters, name, config, R) {
    this.kind = {...norms[config.norm], epsilon: 1e-5};
    this.C = config.d_model;
    for (const [part, key] of [['gain', 'w'], ['bias', 'b']]) {
      this[part] = parameters.of(name + key);
      this[`${part}Grad`] = parameters.gradient(name + key);
    }
    this.y = new Float64Array(R * this.C);
    this.mean = new Float64Array(R);
    this.scale = new Float64Array(R);
    this.moments = new Float64Array(2);
    this.row = {x: null, dx: null, dy: new Float64Array(this.C), at: 0, mean: 0, scale: 0};
  }
  forward(x, rows) {
    const {C, y, gain, bias} = this;
    for (let r = 0, at = 0; r < rows; ++r, at += C) {
      momentsOf(this.kind, x, at, C, this.moments);
      const mean = this.moments[0];
      const scale = this.moments[1];
      this.mean[r] = mean;
      this.scale[r] = scale;
      for (let c = 0; c < C; ++c) {
        const value = (x[at + c] - mean) * scale;
        y[at + c] = value * (gain ? gain[c] : 1) + (bias ? bias[c] : 0);
      }
    }
    return y;
  }
  /// Adds to dx.
  backward(x, dy, dx, rows) {
    const {C, gain, gainGrad, biasGrad, row} = this;
    row.x = x;
    row.dx = dx;
    for (let r = 0; r < rows; ++r) {
      row.at = r * C;
      row.mean = this.mean[r];
      row.scale = this.scale[r];
      for (let c = 0; c < C; ++c) {
        const grad = dy[row.at + c];
        if (gain) gainGrad[c] += grad * (x[row.at + c] - row.mean) * row.scale;
        if (biasGrad) biasGrad[c] += grad;
        row.dy[c] = grad * (gain ? gain[c] : 1);
      }
      normGradient(this.kind, C, row);
    }
  }
}

/// A feed-forward network: f(x W_in + b_in) W_out + b_out or, gated, the product of x W_in + b_in
/// and f(x W_gate + b_gate) instead.
export class TrainedNetwork {
  constructor(parameters, prefix, config, R) {
    const F = config.d_ff;
    Object.assign(this, activations[config.activation], {F});
    this.slope = activationSlopes[config.activation];
    this.into = new TrainedLinear(parameters, prefix, 'in', R);
    this.gate = this.gated ? new TrainedLinear(parameters, prefix, 'gate', R) : null;
    this.out = new TrainedLinear(parameters, prefix, 'out', R);
    for (const buffer of ['inner', 'gates', 'hidden', 'dHidden', 'dGates'])
      this[buffer] = new Float64Array(R * F);
  }
  /// Adds to y.
  forward(x, y, rows) {
    const {inner, gates, hidden, f} = this;
    this.into.forward(x, inner, rows);
    this.gate?.forward(x, gates, rows);
    for (let i = 0; i < rows * this.F; ++i)
      hidden[i] = this.gate ? f(gates[i]) * inner[i] : f(inner[i]);
    this.out.forward(hidden, y, rows, true);
  }
  /// Writes dx, of all rows.
  backward(x, dy, dx) {
    const {inner, gates, dHidden, dGates, f, slope} = this;
    this.out.backward(this.hidden, dy, dHidden);
    for (let i = 0; i < dHidden.length; ++i) {
      const grad = dHidden[i];
      if (this.gate) dGates[i] = grad * inner[i] * slope(gates[i]);
      dHidden[i] = grad * (this.gate ? f(gates[i]) : slope(inner[i]));
    }
    this.into.backward(x, dHidden, dx);
    this.gate?.backward(x, dGates, dx, true);
  }
}
