import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { documentOf, type Figure, figuresOf, medianRows, overLimit, readDocument, worseThan } from './document.ts';
import { record } from './history.ts';
import { optionsOf } from './options.ts';
import { profileInto, profilesIn } from './profiles.ts';
import { backup } from './scenarios/backup.ts';
import { contextOfLongSession } from './scenarios/context.ts';
import { deliveries } from './scenarios/deliveries.ts';
import { deltaLatency } from './scenarios/deltas.ts';
import { gateway } from './scenarios/gateway.ts';
import { idMemory } from './scenarios/id-memory.ts';
import { idle } from './scenarios/idle.ts';
import { eventLog } from './scenarios/log.ts';
import { memorySearch } from './scenarios/memory-search.ts';
import { ownership } from './scenarios/ownership.ts';
import { page } from './scenarios/page.ts';
import { routing } from './scenarios/routing.ts';
import { longSession, memory } from './scenarios/sessions.ts';
import { sessionsList } from './scenarios/sessions-list.ts';
import { skills } from './scenarios/skills.ts';
import { throughGateway } from './scenarios/through-gateway.ts';
import { toolTurns, waitingTurns } from './scenarios/tools.ts';
import { latency, turnsPerSecond } from './scenarios/turns.ts';
import type { SetupName } from './system.ts';
import { printTable, type Row } from './table.ts';

/**
 * `npm run bench [-- --only through-gateway,turns --setup always,default,cluster --seconds 8 --rounds 3 --json FILE --against FILE --record
 * NAME --profile FOLDER]`: whole-process measurements against real nats-servers, what a user gets first. `--only` names some of the scenarios below; `routing`, `list`, `skills` and
 * `memory-search` need no broker and run once, and so do `idle` and `backup`, with brokers of their own, and `page`, with a broker and a Chromium. `--rounds` runs each so many times and shows medians. `--json` writes
 * one document; `--against` compares with an earlier one and ends with 1 if a ratio is worse by more than a tenth, and so does a figure over its limit; `--record` keeps the figures
 * under a name in docs/develop; `--profile FOLDER` has each process write its profile there, and says where its time went (that costs some).
 * Figures are of this machine and this run; trust the ratios. Nothing here is a test.
 */
const values = optionsOf('npm run bench --', {
  only: { type: 'string' },
  setup: { type: 'string', default: 'always,default,cluster' },
  seconds: { type: 'string', default: '8' },
  json: { type: 'string' },
  against: { type: 'string' },
  rounds: { type: 'string', default: '1' },
  record: { type: 'string' },
  profile: { type: 'string' },
});
const seconds = Number(values.seconds);
const chosen = values.setup.split(',') as SetupName[];
const scenarios: Record<string, (setup: SetupName, seconds: number) => Promise<Row[]>> = {
  'through-gateway': throughGateway,
  turns: turnsPerSecond,
  latency,
  session: longSession,
  memory,
  ownership,
  tools: toolTurns,
  waiting: waitingTurns,
  deltas: deltaLatency,
  deliveries,
  gateway,
  context: contextOfLongSession,
  log: eventLog,
  'id-memory': idMemory,
};
const alone: Record<string, (seconds: number) => Promise<Row[]>> = {
  idle,
  routing,
  list: sessionsList,
  skills,
  'memory-search': memorySearch,
  backup,
  page,
};

const known = Object.keys({ ...scenarios, ...alone });
const names = values.only?.split(',') ?? known;
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) throw new Error(`no scenario "${unknown.join()}"; there are: ${known.join(', ')}`);
// Read now: a wrong name should not cost the whole run.
const before = values.against === undefined ? undefined : readDocument(values.against);

if (values.profile !== undefined) profileInto(resolve(values.profile));

const figures: Figure[] = [];
const over: string[] = [];
const report = async (name: string, setup: SetupName | undefined, round: () => Promise<Row[]>): Promise<void> => {
  const rounds: Row[][] = [];
  for (let number = 0; number < Number(values.rounds); number++) rounds.push(await round());
  const rows = medianRows(rounds);
  printTable(name, rows);
  figures.push(...figuresOf(name, setup, rows));
  over.push(...overLimit(name, rows));
};
for (const name of names) {
  const [scenario, single] = [scenarios[name], alone[name]];
  if (single) await report(name, undefined, () => single(seconds));
  if (scenario) for (const setup of chosen) await report(name, setup, () => scenario(setup, seconds));
}
for (const { title, rows } of values.profile === undefined ? [] : profilesIn(values.profile)) printTable(title, rows);
const document = documentOf(figures);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(document, null, 2)}\n`);
if (values.record !== undefined) record({ name: values.record, ...document }, pathToFileURL(`${process.cwd()}/docs/develop/`));
const worse = before === undefined ? [] : worseThan(before, figures);
for (const line of worse) process.stdout.write(`worse by more than a tenth: ${line}\n`);
for (const line of over) process.stdout.write(`over its limit: ${line}\n`);
process.exit(worse.length + over.length === 0 ? 0 : 1);
