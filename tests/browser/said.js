// Sentences with a number that the open view of a page says: [sentence]. Evaluated in the page by
// sentences_test.cc.
(() => {
  const isShown = (node) => node.getClientRects().length > 0;
  const inner = 'p, li, figcaption, legend';
  const nodes = [...document.querySelectorAll('#view p, #view li, #view figcaption, #view .note')];
  const blocks = nodes.filter((node) => isShown(node) && !node.querySelector(inner) &&
    !node.closest('.again') && node.firstElementChild?.tagName !== 'CODE');
  // the title of a figure and its sentence are two
  const pieces = blocks.flatMap((node) => (node.tagName === 'FIGCAPTION' && node.firstElementChild
    ? [...node.childNodes].reduce(([title, rest], one, i) => (i === 0 ? [one.textContent, rest]
      : [title, rest + one.textContent]), ['', '']) : [node.textContent]));
  const plain = pieces.map((words) => words.replace(/[\u2066-\u2069]/g, '').replace(/\s+/g, ' '));
  const sentences = plain.flatMap((words) => words.trim().split(/(?<=[.?])\s+/));
  return [...new Set(sentences)].filter((words) => /\d/.test(words) && /[.?]$/.test(words));
})()
