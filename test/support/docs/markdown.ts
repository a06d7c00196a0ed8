import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** What tests need to know of a Markdown page: its links, headings, prose lines and diagrams. */

/** The text without code: fenced blocks become empty lines, so that line numbers stay. */
const withoutFences = (text: string): string =>
  text.replaceAll(/^(```|~~~)[^\n]*\n[\s\S]*?^\1/gm, (block) => '\n'.repeat(block.split('\n').length - 1));
const withoutCode = (text: string): string => withoutFences(text).replaceAll(/`[^`\n]*`/g, '');

/** The anchors of a page, as GitHub makes them from its headings. */
const anchorsOf = (text: string): Set<string> => {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutFences(text).matchAll(/^#{1,6} +(.*?)\s*$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
    const anchor = plain
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
};

/** The targets of a page's links, inline and by reference, and the references that are defined nowhere. */
const linksOf = (text: string): { targets: string[]; undefinedNames: string[] } => {
  const plain = withoutCode(text);
  const definitions = new Map([...plain.matchAll(/^\[([^\]]+)\]: (\S+)$/gm)].map(([, name = '', target = '']) => [name, target]));
  const names = [...plain.matchAll(/\[[^\]]+\]\[([^\]]+)\]/g)].map(([, name = '']) => name);
  const inline = [...plain.matchAll(/\]\(([^)\s]*)\)/g)].map(([, target = '']) => target);
  return { targets: [...inline, ...definitions.values()], undefinedNames: names.filter((name) => !definitions.has(name)) };
};

/** The relative links of a page that lead nowhere: to no file under `root`, to no heading in it, or to no definition. */
export const brokenLinks = (root: string, path: string, text: string): string[] => {
  const { targets, undefinedNames } = linksOf(text);
  const dead = targets.flatMap((link) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : normalize(join(dirname(path), file));
    if (target !== path && !existsSync(join(root, target))) return [`${link}: there is no ${target}`];
    if (anchor === undefined || !target.endsWith('.md')) return [];
    const page = target === path ? text : readFileSync(join(root, target), 'utf8');
    return anchorsOf(page).has(anchor) ? [] : [`${link}: ${target} has no such heading`];
  });
  return [...dead, ...undefinedNames.map((name) => `[${name}] is not defined`)];
};

/** Lines of prose with more characters than `most`. Tables, code and the addresses of links may be as long as they are. */
export const longLines = (text: string, most: number): string[] =>
  withoutFences(text)
    .split('\n')
    .map((line) => line.replaceAll(/\]\([^)]*\)/g, ']'))
    .filter((line) => line.length > most && !/^\s*\||^<!--/.test(line));

/** The diagrams of a page, as their text. */
export const diagramsOf = (text: string): string[] =>
  [...text.matchAll(/^```mermaid\n([\s\S]*?)^```/gm)].map(([, diagram = '']) => diagram);

/** A node of a flow chart. `box`: a rectangle, which is what processes are drawn as. */
export interface DiagramNode {
  readonly id: string;
  readonly text: string;
  readonly box: boolean;
}

/** The nodes of a Mermaid flow chart, each once, as they are first drawn with a shape. Labels of arrows are left out. */
export const nodesOf = (diagram: string): DiagramNode[] => {
  const nodes = new Map<string, DiagramNode>();
  const lines = diagram.split('\n').slice(1);
  const arrows = / -- .*? --> | -\. .*? \.-> | --> /;
  for (const part of lines.flatMap((line) => line.split(arrows)).map((text) => text.trim())) {
    const [, id, shape = ''] = /^(\w+)(\[.*\]|\(.*\))?$/.exec(part) ?? [];
    if (id === undefined || (nodes.has(id) && shape === '')) continue;
    const box = shape === '' || /^\[[^(]/.test(shape);
    nodes.set(id, { id, text: shape.replaceAll(/[[\]()"]/g, ''), box });
  }
  return [...nodes.values()];
};
