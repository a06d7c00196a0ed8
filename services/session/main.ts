import { uuidv7 } from 'uuidv7';
import type { InspectionEvent } from 'xstate';
import { openInMemory } from '../../shared/adapters/in-memory/open.ts';
import { createMcp } from '../../shared/adapters/mcp/create.ts';
import { createModels } from '../../shared/adapters/model/create.ts';
import { OfflineModel } from '../../shared/adapters/model/offline.ts';
import type { Config } from '../../shared/domain/config/schema.ts';
import { reservedCommands } from '../../shared/domain/routing/chat-command.ts';
import type { Logger } from '../../shared/kit/log.ts';
import { secretHider } from '../../shared/kit/scrub.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { HeldPartitions } from '../../shared/ports/presence.ts';
import type { IndexView } from '../../shared/ports/session-index.ts';
import type { Tools } from '../../shared/ports/tools.ts';
import type { Consumption } from '../../shared/ports/work-queue.ts';
import type { Service } from '../../shared/runtime/service.ts';
import { SkillLibrary } from '../../shared/runtime/skills/library.ts';
import { randomApprovalId } from './host/approval-id.ts';
import { SessionHost } from './host/host.ts';
import { instrumented } from './host/instrumented.ts';
import { SessionMeters } from './host/meters.ts';
import { recoverLostTurns } from './host/recovery.ts';
import { warmUp } from './host/warm-up.ts';
import { MemoryReader } from './memory/reader.ts';
import { SystemPrompts } from './prompt/system-prompt.ts';
import { createTools } from './tools/create.ts';
import { localTools } from './tools/local.ts';
import { memoryTools } from './tools/memory.ts';
import { sessionTools } from './tools/sessions.ts';
import { RunTraces } from './turn/run-traces.ts';
import { allOn, type SafetyToggles } from './turn/safety-toggles.ts';

export interface SessionServiceOptions {
  readonly config: Config;
  readonly ports: Ports;
  readonly log: Logger;
  /** Unique name of this host among all hosts. */
  readonly member: string;
  /** Environment variables, for the keys of model providers and the programs of tools. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly model?: Model;
  readonly tools?: Tools;
  /** Hidden in what models write and tools return, before it is recorded. Default: none. */
  readonly secrets?: readonly string[];
  /** What the offline model says with its first answer. Default: nothing. */
  readonly introduction?: string;
  /** Natter's version, sent to MCP servers. */
  readonly version?: string;
  readonly safetyToggles?: SafetyToggles;
  readonly newId?: () => string;
  readonly newApprovalId?: () => string;
  readonly commitPatienceMs?: number;
  readonly recoveryEveryMs?: number;
  /** Receives what XState reports of every live actor, for developer tools. Default: nothing is inspected. */
  readonly inspect?: (event: InspectionEvent) => void;
  /** Compile the code path of a turn before the first message comes; worth its 50 ms in a long-running process. */
  readonly warmUp?: boolean;
}

/** Starts a session host: it handles the commands of its share of the partitions and recovers turns that lost their host. */
export const startSession = async (options: SessionServiceOptions): Promise<Service> => {
  const { config, ports, log } = options;
  // The models and the index first: a host that cannot start must not have taken commands, nor anything that would keep it alive.
  const { model, secrets = [] } = options;
  const modelOf = model ? () => model : createModels(config, options.env, ports.clock, secrets, options.introduction);
  if (options.warmUp) await warmUp(createRehearsal(options), ports);
  const view = await ports.index.watch();
  const memories = config.memory.enabled ? await ports.memory.watch() : null;
  const memory = memories === null ? undefined : new MemoryReader({ config, ports, rows: view, view: memories });
  const tools = options.tools ?? (await openTools(options, view, memory));
  const reserved = reservedCommands(config.session.resetTriggers);
  const skills = await SkillLibrary.open({ config, log, env: options.env, reserved });
  const meters = new SessionMeters();
  const host = createHost(options, { meters, modelOf, tools, skills, memory });
  const { consumption, acquired, held } = await takeCommands(options, host);
  const stopping = new AbortController();
  const recovery = recover(options, { host, consumption, view, signal: stopping.signal });

  return {
    name: 'session',
    problems: () => consumption.problems(),
    // Without one of its tools a session still answers, and a broken session holds up its partition alone.
    warnings: () => [...consumption.warnings(), ...tools.problems(), ...skills.problems(), ...host.quarantine.warnings()],
    metrics: () => ({
      ...hostMetrics(host),
      partitions_owned: consumption.owned().length,
      partitions_acquired_total: acquired(),
      tool_problems: tools.problems().length,
    }),
    series: meters.series,
    held,
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

/** Natter's own tools and those of the MCP servers. */
const openTools = async (
  { config, ports, log, env, version = '0' }: SessionServiceOptions,
  view: IndexView,
  memory: MemoryReader | undefined,
): Promise<Tools> => {
  const { clock, events } = ports;
  const local = localTools({ config, env, events, clock });
  const mcp = await createMcp(config.mcp, { env, log, clock, version, timeoutMs: config.tools.timeoutMs });
  await mcp.started;
  return createTools(
    [local, sessionTools({ config, ports, view }), ...(memory ? [memoryTools({ config, memory })] : []), mcp],
    config,
  );
};

interface HostParts {
  readonly meters: SessionMeters;
  readonly tools: Tools;
  readonly skills?: SkillLibrary;
  readonly memory: MemoryReader | undefined;
  modelOf(name?: string): Model;
}

/** The host, with spans and durations for its log, models and tools. */
const createHost = (options: SessionServiceOptions, { meters, tools, skills, memory, modelOf }: HostParts): SessionHost => {
  const { config, ports, log, member, inspect } = options;
  const traces = new RunTraces(ports.events);
  const instruments = instrumented({ clock: ports.clock, meters, traces });
  return new SessionHost({
    ...{ config, log, member, skills, meters, traces, inspect, memory },
    ports: { ...ports, events: instruments.log(ports.events) },
    modelOf: (name) => instruments.model(modelOf(name)),
    tools: instruments.tools(tools),
    hideSecrets: secretHider(options.secrets ?? []),
    prompts: new SystemPrompts(memory),
    safetyToggles: options.safetyToggles ?? allOn,
    newId: options.newId ?? uuidv7,
    newApprovalId: options.newApprovalId ?? randomApprovalId,
    commitPatienceMs: options.commitPatienceMs ?? 10_000,
  });
};

/** A host on a broker in memory, without tools, for `warmUp`. Its model is the offline one: another would be asked. */
const createRehearsal = (options: SessionServiceOptions): SessionHost => {
  const { ports, config, log } = options;
  const offline = new OfflineModel(ports.clock);
  // Introspection would set a timer, here one of this process.
  const quiet = { ...config, introspection: { ...config.introspection, enabled: false } };
  const rehearsed = {
    ...options,
    config: quiet,
    ports: openInMemory(ports).portsFor('warm-up'),
    log: log.child({}, { level: 'silent' }),
  };
  const tools: Tools = { of: () => [], problems: () => [], close: async () => {} };
  return createHost(rehearsed, { meters: new SessionMeters(), tools, memory: undefined, modelOf: () => offline });
};

/**
 * Consumes the commands of this host's partitions. `acquired`: how many partitions it has taken over so far; `held`: those it has now,
 * by the time when it took them.
 */
const takeCommands = async ({ ports: { clock, commands }, member }: SessionServiceOptions, host: SessionHost) => {
  let acquired = 0;
  const since = new Map<number, number>();
  const forget = (partition: number): void => host.lose((key) => commands.partitionOf(key) === partition);
  const consumption = await commands.consume({
    member,
    handle: (delivery) => host.handle(delivery),
    // A late message may have loaded a session after its partition was lost; another host has continued it since.
    acquired: (partition) => {
      acquired += 1;
      since.set(partition, wholeSecond(clock.now()));
      forget(partition);
    },
    isBusy: (partition) => host.turns.isCalling((key) => commands.partitionOf(key) === partition),
    lost: forget,
  });
  const held = (): HeldPartitions[] => {
    const byTime = new Map<number, number[]>();
    for (const partition of consumption.owned()) {
      const at = since.get(partition) ?? 0;
      byTime.set(at, [...(byTime.get(at) ?? []), partition]);
    }
    return [...byTime].map(([at, partitions]) => ({ since: at, partitions }));
  };
  return { consumption, acquired: () => acquired, held };
};
/** Partitions that are taken together share their time, so that a report stays small. */
const wholeSecond = (at: number): number => Math.floor(at / 1_000) * 1_000;

interface RecoverOptions {
  readonly host: SessionHost;
  readonly consumption: Consumption;
  readonly view: IndexView;
  readonly signal: AbortSignal;
}
const recover = (
  { ports: { clock, commands }, log, recoveryEveryMs = 1_000 }: SessionServiceOptions,
  { host, consumption, view, signal }: RecoverOptions,
): Promise<void> =>
  recoverLostTurns({
    ...{ clock, view, log, signal },
    everyMs: recoveryEveryMs,
    owns: (key) => consumption.owned().includes(commands.partitionOf(key)),
    recover: (key) => host.recover(key),
    expire: (key, approvalId) => host.expire(key, approvalId),
    expireResults: (key, turnId) => host.expireResults(key, turnId),
  });

const hostMetrics = (host: SessionHost): Record<string, number> => ({
  sessions_resident: host.residents,
  sessions_quarantined: host.quarantine.size,
  sessions_damaged: host.quarantine.damaged.length,
  commits_total: host.counts.commits,
  commits_fenced_total: host.counts.fenced,
  commits_uncommitted_total: host.counts.uncommitted,
  commands_duplicate_total: host.counts.duplicates,
  commands_late_total: host.counts.late,
  commands_refused_total: host.counts.refused,
  loads_total: host.counts.loads,
  turns_resumed_total: host.counts.resumes,
  turns_running: host.turns.running,
  snapshots_total: host.snapshots.written,
  ...host.turnCounters.metrics(),
});
