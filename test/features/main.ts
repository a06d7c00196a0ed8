import { argv, cwd, stdout } from 'node:process';
import { citationsIn, dueIn, uncited } from './citations.ts';
import { type Section, sections } from './features.ts';
import { testFiles } from './files.ts';

/**
 * `npm run features`: each rule of part A of `docs/spec.md`, and the tests that cite it (`citations.ts` says what counts). `--all` lists
 * every test, not the first three. Exit code 1 with `--strict` when a rule that is to be tested has none, or a citation is wrong.
 */
const all = argv.includes('--all');
const shown = 3;
const citations = citationsIn(testFiles(cwd()));
const missing = uncited(citations);

const tell = (line = ''): void => void stdout.write(`${line}\n`);

const tellSection = (section: Section): void => {
  const { name, title, rules } = section;
  const due = new Set(dueIn(section));
  const covered = rules.filter(({ id }) => citations.found.has(id)).length;
  tell(`\n${name} ${title}: ${covered} of ${rules.length}`);
  for (const { id, text, missing: open } of rules) {
    const tests = citations.found.get(id) ?? [];
    const mark = tests.length > 0 ? (open === undefined ? 'ok  ' : 'part') : due.has(id) ? 'NONE' : '    ';
    tell(`  ${mark} ${id.padEnd(7)} ${text}`);
    if (open !== undefined) tell(`         ${open.all ? 'not built yet' : 'partly built'}: ${open.what}`);
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
