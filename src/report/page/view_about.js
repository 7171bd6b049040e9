// What this page holds, what it lacks with the command that adds it, and how far it can be trusted.

const GLOSSARY = [
  [
    'head',
    'one of several parallel attentions of a layer; 0.2 is number 2 of module 0, counted as born',
  ],
  [
    'pattern',
    'for each query position, how its attention is shared among the keys; a row adds up to 1',
  ],
  ['relation', 'what the task knows must be looked at: for each query, the right keys (gold)'],
  ['mass', 'the attention on the right keys, averaged over queries that are asked'],
  [
    'chance (null)',
    'the mass that the best answer without content would get: uniform, a fixed offset, the mean pattern',
  ],
  ['lift', '(mass − chance) / (1 − chance): 0 is chance, 1 a perfect head'],
  [
    'owns',
    'lift at least 0.3 and p < 0.01 under permuted truth, on examples that did not choose the head',
  ],
  ['gate', 'what a head’s output is multiplied by: 1 as trained, 0 silent'],
  ['regret', 'the loss of a set of heads beyond that of the best set of its size'],
  ['nat', 'the unit of the loss: 1 nat is a factor of e in probability'],
];

VIEWS.push({
  name: 'about',
  title: 'About this page',
  short: 'About',
  uses: [],
  available: () => true,
  build(main) {
    const {facts} = app.page;
    main.append(
      el(
        'p',
        null,
        `One file, written by headlab ${facts.headlab}; nothing is fetched, stored or sent. `,
        dynamic('span', null, () => app.check?.sentence || ''),
      ),
    );
    if (facts.left_out?.length)
      main.append(
        el('h3', null, 'Left out'),
        el(
          'ul',
          null,
          facts.left_out.map((words) => el('li', null, words)),
        ),
      );
    if (app.page.runs.length) {
      const settings = Object.entries(run().config)
        .filter(([, v]) => typeof v !== 'object' && v !== '')
        .map(([key, v]) => [key, String(v)]);
      main.append(
        el('h3', null, `Files of ${run().name}`),
        tableOf(
          {
            head: ['file', '', 'written by'],
            rows: (run().facts.files || []).map((f) => [
              f.file,
              f.present ? 'here' : 'missing',
              f.command ? code(f.command) : f.present ? '' : 'does not belong to this run',
            ]),
          },
          'What the views need',
        ),
        el('h3', null, 'The run'),
        tableOf(
          {
            head: ['setting', 'value'],
            rows: [['parameters', String(run().facts.parameters)], ...settings],
          },
          'Every setting: the same run comes out again, bit for bit',
        ),
      );
      if (task().facts.relations.length)
        main.append(
          el('h3', null, 'Relations of the task'),
          tableOf(
            {
              head: ['relation', 'what it is', 'by position alone'],
              rows: task().facts.relations.map((r) => [
                r.name,
                r.description,
                r.positional ? 'yes' : 'no',
              ]),
            },
            task().facts.spec,
          ),
        );
    }
    main.append(
      el('h3', null, 'Words'),
      el(
        'dl',
        null,
        GLOSSARY.flatMap(([term, words]) => [
          el('dt', null, el('dfn', null, term)),
          el('dd', null, words),
        ]),
      ),
      el('h3', null, 'Keys'),
      tableOf({head: ['key', 'does'], rows: KEYS}, 'Keys'),
    );
  },
});
