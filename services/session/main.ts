import { uuidv7 } from 'uuidv7';
import { createMcp } from '../../shared/adapters/mcp/create.ts';
import { createModels } from '../../shared/adapters/model/create.ts';
import type { Config } from '../../shared/domain/config/schema.ts';
import { reservedCommands } from '../../shared/domain/routing/chat-command.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { IndexView } from '../../shared/ports/session-index.ts';
import type { Tools } from '../../shared/ports/tools.ts';
import type { Service } from '../../shared/runtime/service.ts';
import { SkillLibrary } from '../../shared/runtime/skills/library.ts';
import { randomApprovalId } from './approval-id.ts';
import { SessionHost } from './host.ts';
import { MemoryReader } from './memory/reader.ts';
import { SessionMeters } from './meters.ts';
import { observing } from './observed.ts';
import { recoverLostTurns } from './recovery.ts';
import { RunTraces } from './run-traces.ts';
import { allOn, type Switches } from './switches.ts';
import { SystemPrompts } from './system-prompt.ts';
import { createTools } from './tools/create.ts';
import { localTools } from './tools/local.ts';
import { memoryTools } from './tools/memory.ts';
import { sessionTools } from './tools/sessions.ts';
import { warmUp } from './warm-up.ts';

export interface SessionServiceOptions {
  readonly config: Config;
  readonly ports: Ports;
  readonly log: Logger;
  /** Unique name of this host among all hosts. */
  readonly member: string;
  /** Environment variables that model providers may name for their keys, and tools for their programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly model?: Model;
  readonly tools?: Tools;
  /** Of Natter, which introduces itself to MCP servers. */
  readonly version?: string;
  readonly switches?: Switches;
  readonly newId?: () => string;
  readonly newApprovalId?: () => string;
  readonly commitPatienceMs?: number;
  readonly recoveryEveryMs?: number;
  /** Compile the way of a turn before the first message comes; worth its 50 ms in a process that stays. */
  readonly warmUp?: boolean;
}

/** Starts a session host: it takes commands of its share of the partitions, and recovers turns that lost their host. */
export const startSession = async (options: SessionServiceOptions): Promise<Service> => {
  const { config, ports, log, member } = options;
  const { model } = options;
  const modelOf = model ? () => model : createModels(config, options.env, ports.clock);
  // The index first: a host that cannot start must not have taken commands yet.
  const view = await ports.index.watch();
  const memories = config.memory.enabled ? await ports.memory.watch() : null;
  const memory = memories === null ? undefined : new MemoryReader({ config, ports, rows: view, view: memories });
  const tools = options.tools ?? (await toolsOf(options, view, memory));
  const reserved = reservedCommands(config.session.resetTriggers);
  const skills = await SkillLibrary.open({ config, log, env: options.env, reserved });
  if (options.warmUp) await warmUp(modelOf(), ports);
  const meters = new SessionMeters();
  const traces = new RunTraces(ports.events);
  const { log: events, model: observed, tools: observedTools } = observing({ clock: ports.clock, meters, traces });
  const host = new SessionHost({
    config,
    ports: { ...ports, events: events(ports.events) },
    log,
    member,
    modelOf: (name) => observed(modelOf(name)),
    tools: observedTools(tools),
    skills,
    prompts: new SystemPrompts(memory),
    meters,
    traces,
    switches: options.switches ?? allOn,
    newId: options.newId ?? uuidv7,
    newApprovalId: options.newApprovalId ?? randomApprovalId,
    commitPatienceMs: options.commitPatienceMs ?? 10_000,
  });
  const stopping = new AbortController();
  const { commands } = ports;
  let acquired = 0;
  const forget = (partition: number): void => host.lose((key) => commands.partitionOf(key) === partition);
  const consumption = await commands.consume({
    member,
    handle: (delivery) => host.handle(delivery),
    // A message that came late may have brought a session back to memory after its partition was lost: others have gone on with it since.
    acquired: (partition) => {
      acquired += 1;
      forget(partition);
    },
    lost: forget,
  });
  const recovery = recoverLostTurns({
    clock: ports.clock,
    view,
    log,
    everyMs: options.recoveryEveryMs ?? 1_000,
    owns: (key) => consumption.owned().includes(commands.partitionOf(key)),
    recover: (key) => host.recover(key),
    expire: (key, approvalId) => host.expire(key, approvalId),
    signal: stopping.signal,
  });

  return {
    name: 'session',
    problems: () => consumption.problems(),
    // Without one of its tools a session still answers.
    warnings: () => [...tools.problems(), ...skills.problems()],
    metrics: () => ({
      sessions_resident: host.residents,
      sessions_quarantined: host.quarantine.size,
      partitions_owned: consumption.owned().length,
      partitions_acquired_total: acquired,
      commits_total: host.counts.commits,
      commits_fenced_total: host.counts.fenced,
      commits_uncommitted_total: host.counts.uncommitted,
      commands_duplicate_total: host.counts.duplicates,
      commands_refused_total: host.counts.refused,
      loads_total: host.counts.loads,
      turns_resumed_total: host.counts.resumes,
      turns_running: host.turnsRunning,
      tool_problems: tools.problems().length,
      snapshots_total: host.snapshots.written,
      ...host.tally.metrics(),
    }),
    series: meters.series,
    stop: async (deadlineMs) => {
      stopping.abort();
      await recovery;
      await host.drain(deadlineMs / 4);
      await consumption.close(deadlineMs / 4);
      host.close();
      await tools.close();
      await skills.close();
      await view.close();
      await memories?.close();
    },
  };
};

/** The tools of this process, of the sessions and of the MCP servers. */
const toolsOf = async (
  { config, ports, log, env, version = '0' }: SessionServiceOptions,
  view: IndexView,
  memory: MemoryReader | undefined,
): Promise<Tools> => {
  const { clock, events } = ports;
  const local = localTools({ config, env, events, clock });
  const mcp = createMcp(config.mcp, { env, log, clock, version, timeoutMs: config.tools.timeoutMs });
  await mcp.started;
  return createTools(
    [local, sessionTools({ config, ports, view }), ...(memory ? [memoryTools({ config, memory })] : []), mcp],
    config,
  );
};
