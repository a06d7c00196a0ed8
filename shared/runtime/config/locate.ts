/**
 * Locates values in a JSON5 text: dotted path → line, from 1. JSON5's parser keeps no positions, so this tokenises the text
 * again. Called for texts that did parse, to locate values that the schema refused.
 */
const token = /\/\/[^\n\r]*|\/\*[\s\S]*?\*\/|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|[{}[\]:,]|[^\s{}[\]:,"'/]+/g;

interface Frame {
  readonly kind: '{' | '[';
  name: string;
  index: number;
}

const unquoted = (text: string): string => (/^["']/.test(text) ? text.slice(1, -1) : text);

/** The line of every key and list item in `text`. A repeated key gets its last line, since its last value counts. */
export const linesOf = (text: string): ReadonlyMap<string, number> => {
  const lines = new Map<string, number>();
  const stack: Frame[] = [];
  const path = (): string => stack.map((frame) => (frame.kind === '[' ? String(frame.index) : frame.name)).join('.');
  let line = 1;
  let read = 0;
  let expectsKey = false;
  for (const found of text.matchAll(token)) {
    line += text.slice(read, found.index).split('\n').length - 1;
    read = found.index;
    const part = found[0];
    if (part.startsWith('//') || part.startsWith('/*')) continue;
    const frame = stack.at(-1);
    if (part === '}' || part === ']') {
      stack.pop();
      expectsKey = false;
    } else if (part === ',') {
      if (frame?.kind === '[') frame.index += 1;
      expectsKey = frame?.kind === '{';
    } else if (part !== ':') {
      if (expectsKey && frame) frame.name = unquoted(part);
      if (expectsKey || frame?.kind === '[') lines.set(path(), line);
      expectsKey = part === '{';
      if (part === '{' || part === '[') stack.push({ kind: part, name: '', index: 0 });
    }
  }
  return lines;
};
