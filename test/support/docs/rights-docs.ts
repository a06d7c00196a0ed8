import { brokerUsers, grantOf, type ResourceName, resourceNames, resourcesOf } from '../../../shared/wire/grants.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';

/** The table of rights in docs/operate/broker.md, made from shared/wire/grants.ts. A test compares the committed page with this. */
const resources = resourcesOf(subjectsUnder('natter'), '<channel>');

const placeOf = (name: ResourceName): string => {
  const { stream, subjects } = resources[name];
  return [...(stream === undefined ? [] : [stream]), ...subjects].map((each) => `\`${each}\``).join(' ');
};

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const rightsTable = (): string =>
  [
    row(['what', 'stream and subjects', ...brokerUsers]),
    `|${'---|'.repeat(brokerUsers.length + 2)}`,
    ...resourceNames.map((name) => row([name, placeOf(name), ...brokerUsers.map((user) => grantOf(name, user).join(' '))])),
  ].join('\n');

const [begin, end] = ['<!-- The table is generated from shared/wire/grants.ts. -->\n\n', '\n\n<!-- End of the table. -->'];

/** A page with its table brought up to date. */
export const withRightsTable = (page: string): string => {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error('the page has no place for the table of rights');
  return page.slice(0, from + begin.length) + rightsTable() + page.slice(to);
};

/** The letters in a page's table, by the name of the row and the user. */
export const grantsIn = (page: string): ReadonlyMap<string, ReadonlyMap<string, string>> => {
  const lines = page.slice(page.indexOf(begin) + begin.length, page.indexOf(end)).split('\n');
  const cellsOf = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [, , ...users] = cellsOf(lines[0] ?? '');
  return new Map(
    lines.slice(2).map((line) => {
      const [name = '', , ...letters] = cellsOf(line);
      return [name, new Map(users.map((user, index) => [user, letters[index] ?? '']))];
    }),
  );
};
