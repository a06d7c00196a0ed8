/** Text that YAML reads as a plain string: no special characters, no number, no `null`, no continuation. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are not plain.
const words = /^[A-Za-z](?:(?!:(?:\s|$)|\s#)[^\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff])*$/u;
const line = /^([A-Za-z][A-Za-z0-9_-]*): +(\S.*)$/u;

/**
 * A fast path for simple front matter, as most is: on each line a name with a plain string, a flag, or a map in JSON. The result
 * equals YAML's, in a tenth of the time. `null`: it is not that simple.
 */
export const plainFields = (source: string): Record<string, unknown> | null => {
  const fields = new Map<string, unknown>();
  for (const text of source.split('\n')) {
    const [, name = '', given = ''] = line.exec(text.trimEnd()) ?? [];
    const value = valueIn(given);
    if (value === undefined || fields.has(name)) return null;
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
};

const valueIn = (text: string): unknown => {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text.startsWith('{')) return mapIn(text);
  return words.test(text) && !/^(true|false|null)$/i.test(text) ? text : undefined;
};

const mapIn = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};
