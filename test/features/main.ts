import { argv, cwd, stdout } from 'node:process';
import { citationsIn, dueIn, idsOf, uncited } from './citations.ts';
import { type Section, sections } from './features.ts';
import { testFiles } from './files.ts';

/**
 * `npm run features`: each feature, and the tests that cite it (`citations.ts` says what counts). `--all` lists every test, not the first
 * three. Exit code 1 with `--strict` when a feature that is to be tested has none, or a citation is wrong.
 */
const all = argv.includes('--all');
const shown = 3;
const citations = citationsIn(testFiles(cwd()));
const missing = uncited(citations);

const tell = (line = ''): void => void stdout.write(`${line}\n`);

const tellSection = (section: Section): void => {
  const { name, title, first, features, partly = {} } = section;
  const ids = idsOf(section);
  const due = new Set(dueIn(section));
  const covered = ids.filter((id) => citations.found.has(id)).length;
  tell(`\n${name} ${title}: ${covered} of ${ids.length}${due.size === 0 ? ' (later)' : ''}`);
  for (const [index, id] of ids.entries()) {
    const tests = citations.found.get(id) ?? [];
    const part = partly[first + index];
    tell(
      `  ${tests.length > 0 ? (part === undefined ? 'ok  ' : 'part') : due.has(id) ? 'NONE' : '    '} ${id.padEnd(7)} ${features[index] ?? ''}`,
    );
    if (part !== undefined) tell(`         partly: ${part}`);
    for (const { file, line, title: cited } of all ? tests : tests.slice(0, shown)) tell(`         ${file}:${line}  ${cited}`);
    if (!all && tests.length > shown) tell(`         and ${tests.length - shown} more`);
  }
};

for (const section of sections) tellSection(section);
tell();
for (const wrong of citations.wrong) tell(`there is no such feature: ${wrong}`);
tell(
  missing.length === 0 ? 'every feature that is to be tested is cited' : `no test cites ${missing.length}: ${missing.join(', ')}`,
);
if (argv.includes('--strict') && (missing.length > 0 || citations.wrong.length > 0)) process.exitCode = 1;
