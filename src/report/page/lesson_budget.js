// Why one head is not enough: one budget of attention against two; and, of a sweep, the measured
// knee.
import {SERIES, range} from './draw.js';
import {bars} from './charts.js';
import {code, dynamic, figure, note, tableOf} from './ui.js';
import {app} from './state.js';
import {kneePicture} from './training.js';
import {attend, columns, identity} from './worlds.js';
import {controlRow, fixed, lab, labChoice, labSlider} from './learn.js';

/// A query that wants the keys A and B, of four; keys are two numbers, values say who they are.
const TWO_WANTED = {
  name: 'two-wanted', tokens: ['query'], keys: ['A (wanted)', 'B (wanted)', 'C', 'D'], heads: 2,
  k: [[1, 0], [0, 1], [-1, 0], [0, -1]], v: identity(4),
};
const twoWanted = (sharpness, H) =>
  range(H, (h) => {
    const [from, to] = [h * (2 / H), (h + 1) * (2 / H)];
    const q = new Array(to - from).fill(sharpness);
    return attend(q, columns(TWO_WANTED.k, from, to), TWO_WANTED.v);
  });

function budgetPicture(width) {
  const H = lab('heads', 1);
  const heads = twoWanted(lab('sharp', 2), H);
  return bars({
    width: Math.min(width, 560), unit: 'weight', low: 0, high: 1,
    rows: heads.flatMap(({row}, h) =>
      row.map((v, s) => ({
        name: `${H > 1 ? `head ${h + 1}: ` : ''}${TWO_WANTED.keys[s]}`,
        value: v, strong: s < 2, color: SERIES[h],
      })),
    ),
    about: {
      name: 'budget',
      title: H > 1 ? 'Two heads, two budgets' : 'One head, one budget',
      sentence:
        H > 1
          ? `Head 1 gives A ${fixed(heads[0].row[0])}, head 2 gives B ${fixed(heads[1].row[1])}.`
          : `No key gets more than ${fixed(Math.max(...heads[0].row))}; A and B can never get ` +
            `more than .5 each.`,
    },
  });
}

export const budgetLesson = {
  build(main) {
    main.append(
      controlRow(labSlider('sharp', 'Sharpness', {min: 0, max: 12, step: 0.5, initial: 2}),
        labChoice('heads', 'Heads', [[1, '1'], [2, '2']], 1),
      ),
      figure(budgetPicture, {id: 'budget', most: 560}),
      dynamic('div', {id: 'arrives'}, () =>
        tableOf('What arrives: the values of A to D, averaged', ['', ...'ABCD'],
          twoWanted(lab('sharp', 2), lab('heads', 1)).map(({z}, h) => [
            `head ${h + 1}`, ...z.map((v) => fixed(v)),
          ]),
        ),
      ),
    );
    if (app.page.facts.sweep)
      main.append(
        figure(kneePicture, {id: 'knee', most: 760, again: app.page.facts.sweep.command}),
      );
    else
      main.append(
        note('The measured knee needs trained models: ',
          code('headlab sweep --task relations --heads 1,2,3,4,5,8 --seeds 3 --out sweeps/knee'),
          ', then ', code('headlab page sweeps/knee'), '.',
        ),
      );
  },
};
