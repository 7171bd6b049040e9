// Words for tasks and their relations, the same on every page; the program decides the names of
// relations (src/app/report/task_words.cc).

/// "0.1, 0.2 and 0.3".
export const listed = (words) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/// The name of a relation or a target of a task for a reader: "1 back" for "back1".
export const spokenName = (name, {relations}) =>
  relations.find((one) => one.name === name)?.spoken ?? name.replaceAll('_', ' ');
