// A page as node reads it: what the program wrote into it, and its own check of its model. The page
// itself reads its document (page_data.js).
import {loadPage} from '../../src/app/report/page/engine/page_data.js';
import {selfCheckSteps} from '../../src/app/report/page/engine/check.js';
import {finish} from '../../src/app/report/page/engine/pass.js';

/// The texts that the program wrote into a page, by their ids.
export function pageTexts(html) {
  const texts = new Map();
  const pattern = /<script type="application\/[a-z-]+" id="([a-z0-9]+)">([^<]*)<\/script>/g;
  for (const [, id, text] of html.matchAll(pattern)) texts.set(id, text);
  return texts;
}

export function pageOfHtml(html, load = loadPage) {
  const texts = pageTexts(html);
  return load((id) => texts.get(id));
}

export const selfCheck = (run) => finish(selfCheckSteps(run));
