// The faults of the open view on a small screen, as a list of sentences: captions, choices and names
// of bars that are cut, sentences of the first screen that need more room than they have, text that
// lies on an answer or ends beyond the screen, keys out of sight. phone_test.cc evaluates it.
(() => {
  const faults = [];
  const expect = (truth, fault) => truth || faults.push(fault);
  const all = (selector) => [...document.querySelectorAll(selector)]
    .filter((node) => node.getClientRects().length > 0);
  const named = (node) => `${node.tagName}.${node.className.baseVal ?? node.className} ` +
    `"${node.textContent.slice(0, 40)}"`;

  /// The boxes of the lines of text in a node.
  function linesOf(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].filter(({width, height}) => width > 0 && height > 0);
  }
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;

  /// The width that a list would have if it held the chosen option alone.
  function widthOfChoice(list) {
    const copy = list.cloneNode(false);
    copy.append(list.selectedOptions[0].cloneNode(true));
    copy.style.maxWidth = 'none';
    list.after(copy);
    const {offsetWidth} = copy;
    copy.remove();
    return offsetWidth;
  }

  for (const caption of all('caption, figcaption')) {
    expect(caption.scrollWidth <= caption.clientWidth + 1, `cut: ${named(caption)}`);
    expect(caption.getBoundingClientRect().right <= innerWidth, `beyond the screen: ${named(caption)}`);
  }
  for (const list of all('select').filter(({selectedOptions}) => selectedOptions.length)) {
    const wanted = widthOfChoice(list);
    expect(wanted <= list.offsetWidth, `cut: the choice "${list.selectedOptions[0].textContent}" ` +
      `of ${list.id} needs ${wanted} pixels and has ${list.offsetWidth}`);
  }
  for (const name of all('.bar-name')) {
    const {left, right} = name.getBoundingClientRect();
    const frame = name.ownerSVGElement.getBoundingClientRect();
    expect(left >= frame.left - 1 && right <= frame.right + 1, `cut: ${named(name)}`);
  }
  for (const words of all('.headline, .detail, .drawer p, .lane-name'))
    expect(words.scrollHeight <= words.clientHeight + 1 && words.scrollWidth <= words.clientWidth + 1,
      `cut: ${named(words)}`);
  const answers = all('.answers .answer, .answers .share').filter((node) => node.textContent)
    .map((node) => node.getBoundingClientRect());
  for (const words of all('.lane-name > *'))
    for (const line of linesOf(words)) {
      expect(line.right <= innerWidth, `beyond the screen: ${named(words)}`);
      expect(!answers.some((answer) => overlap(line, answer)), `on an answer: ${named(words)}`);
    }
  for (const pill of all('.pill'))
    for (const words of pill.parentNode.querySelectorAll('.map-label > *'))
      expect(!linesOf(words).some((line) => overlap(line, pill.getBoundingClientRect())),
        `under its pill: ${named(words)}`);

  const strip = document.querySelector('.lanes-scroll')?.getBoundingClientRect();
  const tiles = all('.tokens-row.example :is(.key, .query)').map((tile) =>
    tile.getBoundingClientRect());
  const ends = [Math.min(...tiles.map(({left}) => left)), Math.max(...tiles.map(({right}) => right))];
  if (tiles.length && ends[1] - ends[0] <= strip.width)
    expect(ends[0] >= strip.left - 1 && ends[1] <= strip.right + 1, 'the query or a key is out of sight');
  return faults;
})()
