// Lesson 10: the glossary of lessons.html, at one level or both, searched as one types.

LESSONS[9] = {
  build(main) {
    const list = byId('terms');
    const terms = [...list.querySelectorAll('dt')];
    const find = el('input', {
      type: 'search', id: 'find-term', autocomplete: 'off', oninput: () => show10(),
    });
    const level = labChoice('level', 'Level', [[0, 'both'], [1, 'in a word'], [2, 'exactly']]);
    const count = el('span', {id: 'term-count', role: 'status'});
    const show10 = () => {
      let shown = 0;
      for (const term of terms) {
        const [word, exact] = [term.nextElementSibling, term.nextElementSibling.nextElementSibling];
        const wanted = `${term.textContent} ${word.textContent} ${exact.textContent}`
          .toLowerCase()
          .includes(find.value.trim().toLowerCase());
        term.hidden = !wanted;
        word.hidden = !wanted || lab('level') === 2;
        exact.hidden = !wanted || lab('level') === 1;
        shown += Number(wanted);
      }
      count.textContent = `${shown} of ${terms.length} terms`;
    };
    main.append(controlRow(el('label', null, 'Find ', find), level, count));
    list.before(main);
    live(show10);
  },
};
