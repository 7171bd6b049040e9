// The picture of how heads divide a relation. Read next: src/app/report/grid.cc, which draws the
// same in the program.
import {SERIES} from '../draw/draw.js';
import {digits, label, rect, shortened, tableNumber} from '../draw/charts.js';

/// Draws how heads divide a relation, like src/app/report/grid.cc: the attention mass of the first
/// head on each class to the left of its name, that of the other heads to the right. `name` is that
/// of the relation.
export function divisionPicture({heads, classes: all, by, sentence}, name, width) {
  const names = 80;
  const gap = 10;
  const tall = 16;
  const wide = (width - names) / heads.length;
  const classes = all.slice(0, 500);
  const head = heads.map((x) => x.join('.'));
  const side = (h) => h * wide + (h && names);
  const box = (r, h) => {
    const mass = Math.min(Math.max(classes[r].mass[h], 0), 1) * (wide - gap);
    return [side(h) + (h ? 0 : wide - gap - mass), tall * (r + 1), mass, 14];
  };
  const named = (r, words, bold) => label(wide + names / 2, tall * r + 7,
    shortened(words, names - gap, 11), {size: 11, anchor: 'middle', bold});
  const height = tall * (classes.length + 1);
  return {
    name: 'division', title: `${name}, by ${by}`, sentence: `${sentence}.`,
    width, height,
    items: [
      named(0, name, true),
      ...head.map((at, h) => label(side(h) + (h ? 0 : wide - gap), 7, at,
        {size: 11, anchor: h ? 'start' : 'end'})),
      ...classes.flatMap((one, r) => [
        named(r + 1, one.class),
        ...head.map((_, h) => rect(...box(r, h), {fill: SERIES[h % SERIES.length]})),
      ]),
    ],
    table: () => ({
      head: ['', ...head], rows: classes.map((one) => [one.class, ...one.mass.map(tableNumber)]),
    }),
    marks: {
      rows: classes.length, cols: () => heads.length, box,
      text: (r, h) => `${classes[r].class}: ${head[h]} ${digits(classes[r].mass[h], 2)}`,
      find: (x, y) => (y < tall || y >= height ? null
        : [Math.floor(y / tall) - 1, Math.max(0, Math.floor((x - names) / wide))]),
    },
  };
}
