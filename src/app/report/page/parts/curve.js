// The curve of loss against heads kept, with its methods. Read next: plot.js.
import {programPlot} from '../draw/plot.js';
import {app, run} from '../state/state.js';

/// The methods of the curve, those that are looked at most first.
export const methodsOf = () => run().facts.enough.order.map((i) => run().reports.curve.methods[i]);
export const methodNow = () =>
  methodsOf().find((m) => m.method === app.state.method) || methodsOf()[0];

/// Plot `i` of the program's curve, with the method that is looked at bold, and what is kept of it.
export function curvePicture(width, i = 0) {
  const {kept} = app.state;
  const {curve} = run().facts.figures;
  const {method, points} = methodNow();
  const [first, ...others] = curve.plots;
  const known = first.series.some((s) => s.name === method) ? []
    : [{name: method, points: points.map((p) => [p.kept, p.loss])}];
  const plots = [{...first, series: [...first.series, ...known]}, ...others].map((one) => ({
    ...one, series: one.series.map((s) => (s.name === method ? {...s, bold: true, thick: 3} : s)),
  }));
  return programPlot({...curve, plots}, width, {
    name: 'curve', i, lines: kept == null ? [] : [{x: kept, name: `${kept} kept`, strong: true}],
  });
}
