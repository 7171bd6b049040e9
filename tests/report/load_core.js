// The model in the page, under node: the files core_*.js in the order in which page.html puts them
// together:
//   const core = require('./load_core.js')('src/report/page');
// `changed` may break them, to see that a test notices.
'use strict';
const fs = require('fs');

module.exports = function loadCore(folder, changed = (text) => text) {
  const skeleton = fs.readFileSync(`${folder}/page.html`, 'utf8');
  const files = [...skeleton.matchAll(/\{\{file:(core_\w+\.js)\}\}/g)].map(([, name]) => name);
  const text = changed(files.map((name) => fs.readFileSync(`${folder}/${name}`, 'utf8')).join(''));
  return new Function(`'use strict'; const core = {}; ${text} return core;`)();
};
