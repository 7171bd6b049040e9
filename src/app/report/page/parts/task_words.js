// Words for tasks and their relations, the same on every page. A task is {name, relations,
// target_names}.

/// "0.1, 0.2 and 0.3".
export const listed = (words) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/// The question of each task, with its own verb. Relations describe the tasks without a row.
const ASKED = {
  induction: 'After a token that was seen before, the model continues the segment that it began.',
  copy: 'After the separator, the model writes the symbols again.',
  sort: 'After the separator, the model writes the symbols in ascending order.',
  reverse: 'After the separator, the model writes the symbols backwards.',
  reverse_cross: 'The model reads a source and writes it backwards.',
  recall: 'Given a key, the model recalls the value that followed it.',
  duplicate: 'At each token, the model decides whether the token occurred before.',
  brackets: 'The model closes the innermost open bracket.',
  grid: 'The model fills in hidden pixels from the pixels to the left and above.',
  patches: 'The model compares patches of a picture with patches of the same colour, to the left ' +
    'and mirrored.',
  assign: 'The model looks up the values of variables through chains of definitions.',
  histogram: 'The model counts how often each token occurs.',
  memoryless: 'The model labels each token from the token alone: a control.',
  random: 'The model guesses labels that were drawn by chance: a control.',
  patterns: 'Attention patterns of a model from an array: arcs show where the query attends.',
  english: 'The model says the next word of an English sentence: is or are, herself or themselves.',
  text: 'The model predicts the next character.',
  tokens: 'The model predicts the next token.',
  repeated: 'The model predicts the next token of a segment that occurs twice.',
};

/// "1 back" for "back1", and "same class" of the task `relations`; other names stay.
export function spokenName(name, task) {
  if (name === 'same' && task.name === 'relations') return 'same class';
  return name.replace(/^back(\d+)$/, '$1 back').replaceAll('_', ' ');
}

/// The question of a task as a sentence.
export function questionOfTask(task) {
  const {name, relations, target_names: targets} = task;
  if (ASKED[name]) return ASKED[name];
  const spokenTargets = listed(targets.map((target) => spokenName(target, task)));
  if (!relations.length) return `The model predicts the ${spokenTargets}.`;
  const keys = listed(relations.slice(0, 4).map((r) => r.description.split('\n')[0]));
  const isNamed = relations.every((r) => targets.includes(r.name));
  if (isNamed) return `At each token, the model names ${keys}.`;
  const isMeant = relations.some((r) => r.description.split('\n')[0] !== r.name);
  if (!isMeant) return `The model predicts the ${spokenTargets}. Questions: ${keys}.`;
  return `The model predicts the ${spokenTargets}; to do so, it can attend to ${keys}.`;
}
