import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MemoryReader } from '../../../../services/session/memory/reader.ts';
import { createTools } from '../../../../services/session/tools/create.ts';
import { localTools } from '../../../../services/session/tools/local.ts';
import { memoryTools } from '../../../../services/session/tools/memory.ts';
import { sessionTools } from '../../../../services/session/tools/sessions.ts';
import { type AskedCall, isOffered, toolWord } from '../../../../services/session/tools/tool-policy.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { Sender } from '../../../../shared/domain/values/types.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { ToolSource } from '../../../../shared/ports/tool-source.ts';
import { afterwards } from '../../../support/afterwards.ts';
import { homeKey } from '../rig.ts';

/**
 * Every tool that Natter has, with everything switched on, and what happens to a call of it that no rule is about (A5/62, ADR 22). A tool that
 * is new is in no row: somebody has to decide about it here.
 */
const table = `
                  owner  program  stranger  program of a stranger
  exec            ask    ask      -         -
  list_files      allow  allow    -         -
  memory_add      allow  allow    -         -
  memory_forget   allow  ask      -         -
  memory_get      allow  allow    allow     allow
  memory_search   allow  allow    allow     allow
  memory_share    ask    .        .         .
  read_file       allow  allow    -         -
  read_output     allow  allow    allow     allow
  server__tool    ask    ask      -         -
  sessions_history allow allow    -         -
  sessions_list   allow  allow    -         -
  sessions_send   allow  allow    -         -
  sessions_spawn  allow  allow    -         -
  web_fetch       allow  allow    -         -
  write_file      allow  allow    -         -
`;
const stranger: Sender = { id: '8', role: 'participant', principal: 'bob' };
const callers: readonly (readonly [Sender, ...Sender[]])[] = [
  [{ id: 'olga', role: 'owner' }],
  [{ id: 'job', role: 'program' }],
  [stranger],
  [{ id: 'job', role: 'program', onBehalfOf: 'participant' }, stranger],
];

test('A5/62: every tool, for everybody, without a rule', async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'natter-test-'));
  afterwards(() => rmSync(workspace, { recursive: true }));
  const config = configSchema.parse({
    agent: { workspace },
    tools: { exec: { enabled: true }, web: { hosts: ['example.org'] } },
  });
  const ports = openInMemory({ clock: systemClock }).portsFor('test');
  const view = await ports.index.watch();
  const memory = new MemoryReader({ config, ports, rows: view, view: await ports.memory.watch() });
  const local = localTools({ config, env: {}, events: ports.events, clock: systemClock });
  const server: ToolSource = {
    of: (scope) => local.of(scope).flatMap((tool) => (tool.name === 'exec' ? [{ ...tool, name: 'server__tool' }] : [])),
    problems: () => [],
    close: async () => {},
  };
  const tools = createTools([local, sessionTools({ config, ports, view }), memoryTools({ config, memory }), server], config);

  const names = [...new Set(callers.flatMap(([sender]) => tools.of({ key: homeKey, sender }).map(({ name }) => name)))].sort();
  const cellOf = (name: string, senders: (typeof callers)[number]): string => {
    const acting = senders.at(-1) ?? senders[0];
    const tool = tools.of({ key: homeKey, sender: acting }).find((candidate) => candidate.name === name);
    if (tool === undefined) return '.';
    const asked = (sender: Sender): AskedCall => ({ tool, arguments: {}, agentId: 'main', sender });
    const words = senders.map((sender) => toolWord([], asked(sender)).action);
    const isSeen = senders.every((sender) => isOffered([], asked(sender)));
    expect(isSeen, `${name} is offered exactly where it may be called`).toBe(!words.includes('deny'));
    return isSeen ? (words.at(-1) ?? '') : '-';
  };
  const found = names.map((name) => [name, ...callers.map((senders) => cellOf(name, senders))].join(' '));
  const rows = table.trim().split('\n').slice(1);
  expect(found).toEqual(rows.map((row) => row.trim().split(/\s+/).join(' ')));
});
