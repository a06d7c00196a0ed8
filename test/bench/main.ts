import { parseArgs } from 'node:util';
import { backup } from './backup.ts';
import { contextOfLongSession } from './context.ts';
import { deliveries } from './deliveries.ts';
import { deltaLatency } from './deltas.ts';
import { gateway } from './gateway.ts';
import { idMemory } from './id-memory.ts';
import { eventLog } from './log.ts';
import { memorySearch } from './memory-search.ts';
import { ownership } from './ownership.ts';
import { routing } from './routing.ts';
import { longSession, memory } from './sessions.ts';
import { sessionsList } from './sessions-list.ts';
import { skills } from './skills.ts';
import type { SetupName } from './system.ts';
import { printTable, type Row } from './table.ts';
import { toolTurns, waitingTurns } from './tools.ts';
import { latency, turnsPerSecond } from './turns.ts';

/**
 * `npm run bench [-- --only turns,latency,session,memory,ownership,tools,waiting,deltas,deliveries,gateway,context,log,id-memory,routing,list,skills,memory-search,backup --setup always,default --seconds 8]`: whole-process
 * measurements against real nats-servers; `routing`, `list`, `skills` and `memory-search` need none and run once, and so does `backup`, with two of its own. Figures are of this machine and this run; trust the
 * ratios. Nothing here is a test.
 */
const { values } = parseArgs({
  options: {
    only: {
      type: 'string',
      default:
        'turns,latency,session,memory,ownership,tools,waiting,deltas,deliveries,gateway,context,log,id-memory,routing,list,skills,memory-search,backup',
    },
    setup: { type: 'string', default: 'always,default,cluster' },
    seconds: { type: 'string', default: '8' },
  },
});
const seconds = Number(values.seconds);
const chosen = values.setup.split(',') as SetupName[];
const scenarios: Record<string, (setup: SetupName, seconds: number) => Promise<Row[]>> = {
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
const alone: Record<string, () => Promise<Row[]>> = {
  routing,
  list: sessionsList,
  skills,
  'memory-search': memorySearch,
  backup,
};

for (const name of values.only.split(',')) {
  const [scenario, single] = [scenarios[name], alone[name]];
  if (single) printTable(name, await single());
  else if (scenario) for (const setup of chosen) printTable(name, await scenario(setup, seconds));
  else throw new Error(`no scenario "${name}"; there are: ${Object.keys({ ...scenarios, ...alone }).join(', ')}`);
}
process.exit(0);
