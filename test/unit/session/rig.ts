import { pino } from 'pino';
import { type HostOptions, SessionHost } from '../../../services/session/host/host.ts';
import { SystemPrompts } from '../../../services/session/prompt/system-prompt.ts';
import { allOn, type SafetyToggles } from '../../../services/session/turn/safety-toggles.ts';
import { type InMemoryOptions, type InMemorySystem, openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { OfflineModel } from '../../../shared/adapters/model/offline.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { Tools } from '../../../shared/ports/tools.ts';
import { VirtualClock } from '../../sim/world/virtual-clock.ts';
import { command } from '../../support/domain/given.ts';
import { fakeTools } from '../../support/fake-tools.ts';

/** One session host on a broker in memory, with a clock of its own. */
export interface Rig {
  readonly clock: VirtualClock;
  readonly system: InMemorySystem;
  readonly ports: Ports;
  host: SessionHost;
  /** Another host on the same broker: the first is forgotten, not stopped. */
  restart(change?: Partial<RigOptions>): void;
  /** A command as it comes from the queue. */
  take(row: string | CommandEnvelope, key?: SessionKey): ReturnType<SessionHost['handle']>;
  events(key?: SessionKey): SessionEvent[];
}

export interface RigOptions extends Partial<InMemoryOptions> {
  readonly residents?: number;
  /** Other ports than the broker's own, for one host. */
  readonly portsOf?: (ports: Ports) => Ports;
  /** The configuration file. */
  readonly settings?: Parameters<typeof configSchema.parse>[0] & object;
  readonly tools?: (clock: VirtualClock) => Tools;
  readonly model?: (clock: VirtualClock) => Model;
  /** Instead of `model`: a model by the name a session chose. */
  readonly modelOf?: (name?: string) => Model;
  readonly safetyToggles?: Partial<SafetyToggles>;
  readonly commitPatienceMs?: number;
  readonly skills?: HostOptions['skills'];
  readonly inspect?: HostOptions['inspect'];
  readonly hideSecrets?: HostOptions['hideSecrets'];
}

export const keyOf = (name: string): SessionKey => `agent:main:${name}` as SessionKey;
const always =
  <T>(value: T) =>
  (): T =>
    value;

export const homeKey = keyOf('home');

export const rig = (options: RigOptions = {}): Rig => {
  const clock = new VirtualClock(1_790_000_000_000);
  const system = openInMemory({ clock, ...options });
  const ports = system.portsFor('host');
  let ids = 0;
  let approvals = 0;
  let taken = 0;
  const newHost = (change: RigOptions = {}): SessionHost => {
    const {
      residents = 100,
      model = (time: VirtualClock): Model => new OfflineModel(time),
      safetyToggles,
      commitPatienceMs = 0,
      settings = {},
      tools = (): Tools => fakeTools(),
      portsOf = (given: Ports): Ports => given,
      skills,
      inspect,
      hideSecrets,
    } = { ...options, ...change };
    return new SessionHost({
      config: configSchema.parse({ session: { residents }, ...settings }),
      ports: portsOf(ports),
      log: pino({ level: 'silent' }),
      member: 'host',
      modelOf: options.modelOf ?? always(model(clock)),
      tools: tools(clock),
      safetyToggles: { ...allOn, ...safetyToggles },
      prompts: new SystemPrompts(),
      newId: () => `own-${++ids}`,
      newApprovalId: () => `approval-${++approvals}`,
      commitPatienceMs,
      skills,
      inspect,
      hideSecrets,
    });
  };
  const made: Rig = {
    clock,
    system,
    ports,
    host: newHost(),
    restart: (change) => {
      made.host = newHost(change);
    },
    take: (row, key = homeKey) => {
      const seq = ++taken;
      const message = typeof row === 'string' ? { ...command(row, `command-${seq}`), key } : row;
      return made.host.handle({ message, seq, incarnation: 1, partition: 0, attempt: 1 });
    },
    events: (key = homeKey) => system.events.stored().flatMap((commit) => (commit.key === key ? commit.events : [])),
  };
  return made;
};

/** A command that posts this text. */
export const post = (text: string, id: string, key: SessionKey = homeKey): CommandEnvelope => ({
  ...command(`post ${id}`, id),
  key,
  data: { type: 'post_message', sessionId: 's1', message: { messageId: id, text, sender: { id: 'ann', role: 'owner' } } },
});
