// What this page holds, what it lacks with the command that adds it, and how far it can be trusted.

VIEWS.push({
  name: 'about', title: 'About this page', short: 'About', uses: [], available: () => true,
  build(main) {
    const {facts} = app.page;
    main.append(
      el('p', null,
        `One file, written by headlab ${facts.headlab}; nothing is fetched, stored or sent. `,
        dynamic('span', null, () => app.check?.sentence || ''),
      ),
    );
    if (facts.left_out?.length)
      main.append(
        el('h3', null, 'Left out'),
        el('ul', null, facts.left_out.map((words) => el('li', null, words))),
      );
    if (app.page.runs.length) {
      const settings = Object.entries(run().config)
        .filter(([, v]) => typeof v !== 'object' && v !== '')
        .map(([key, v]) => [key, String(v)]);
      main.append(
        el('h3', null, `Files of ${run().name}`),
        tableOf('What the views need', ['file', '', 'written by'],
          run().facts.files.map((f) => [
            f.file, f.present ? 'here' : 'missing',
            f.command ? code(f.command) : f.present ? '' : 'does not belong to this run',
          ]),
        ),
        el('h3', null, 'The run'),
        tableOf('Every setting: the same run comes out again, bit for bit', ['setting', 'value'],
          [['parameters', String(run().facts.parameters)], ...settings],
        ),
      );
      if (task().relations.length)
        main.append(
          el('h3', null, 'Relations of the task'),
          tableOf(task().spec, ['relation', 'what it is', 'by position alone'],
            task().relations.map((r) => [r.name, r.description, r.positional ? 'yes' : 'no']),
          ),
        );
    }
    main.append(
      el('h3', null, 'Words'),
      el('p', null, 'What the words mean: ',
        el('a',
          {
            href: formatHash({...defaultState(), view: 'learn', page: LESSONS.length}),
            id: 'to-words',
          },
          'the glossary of the lessons',
        ),
        '.',
      ),
      el('h3', null, 'Keys'), tableOf('Keys', ['key', 'does'], KEYS),
    );
  },
});
