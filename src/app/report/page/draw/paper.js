// Figures on paper. Read next: ui.js, which shows them on the screen.
import {svg} from './draw.js';
import {figures, palette} from './ui.js';

/// Adds a drawing of each figure for paper, and removes it again: printers leave out what was
/// painted on a canvas a moment before.
export function drawFiguresForPaper(begins) {
  for (const old of document.querySelectorAll('svg.paper')) old.remove();
  for (const {picture, frame} of begins ? figures : []) {
    if (!picture || frame.hidden) continue;
    const parsed = new DOMParser().parseFromString(svg(picture, palette('light'), ''),
      'image/svg+xml');
    const drawing = document.importNode(parsed.documentElement, true);
    drawing.setAttribute('class', 'paper');
    frame.append(drawing);
  }
}
