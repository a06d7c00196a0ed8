import { randomBytes } from 'node:crypto';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Outlet } from '../../../shared/ports/outlet.ts';
import { type Config, keysOf } from '../../../shared/runtime/config/load.ts';
import { type Current, withLiveSession } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import type { WorkerName } from '../../../shared/runtime/worker-names.ts';
import { type CheckpointOptions, startCheckpoint } from '../../checkpoint/main.ts';
import { startDelivery } from '../../delivery/main.ts';
import { startRouter } from '../../router/main.ts';
import { startSession } from '../../session/main.ts';

export interface WorkerOptions {
  readonly config: Current<Config>;
  readonly ports: Ports;
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Tokens of this installation, hidden with the configured keys in what is recorded. */
  readonly tokens: readonly string[];
  /** Version of Natter. */
  readonly version: string;
  readonly outlets?: readonly Outlet[];
  /** What the offline model says with its first answer. */
  readonly introduction?: string;
}

/** A shorter secret may be a word of the conversation: hiding it would change what people read. */
const recordedSecretCharacters = 16;
const recordedSecrets = (secrets: readonly string[]): string[] =>
  secrets.filter(({ length }) => length >= recordedSecretCharacters);

/** A name that no other process has, for leases and partitions. */
export const uniqueMember = (name: string): string => `${name}-${process.pid}-${randomBytes(4).toString('hex')}`;

/** Options for the mirror of transcripts, if the configuration has a store for it (A2/19). */
const mirrorOptions = ({ agent, session }: Config): Pick<CheckpointOptions, 'mirror'> =>
  session.store === undefined ? {} : { mirror: { agent, session: { ...session, store: session.store } } };

/** Starts one of the services on its ports. */
export const startWorker = async (name: WorkerName, options: WorkerOptions): Promise<Service> => {
  const member = uniqueMember(name);
  return { ...(await startAs(member, name, options)), member };
};

const startAs = (
  member: string,
  name: WorkerName,
  { config, ports, env, tokens, version, outlets, introduction = '', ...options }: WorkerOptions,
): Promise<Service> => {
  const log = options.log.child({ service: name, member });
  const secrets = recordedSecrets([...tokens, ...keysOf(config.current(), env)]);
  switch (name) {
    case 'session': {
      const warmUp = env.NATTER_WARM_UP !== 'off';
      return startSession({ config: withLiveSession(config), ports, log, member, env, secrets, version, warmUp, introduction });
    }
    case 'router':
      return startRouter({ config, ports, log, member });
    case 'checkpoint':
      return startCheckpoint({
        ...{ ports, log, member, ...mirrorOptions(config.current()), scrub: config.current().scrub },
        retention: config.current().session,
        introspection: { config: withLiveSession(config), env, secrets },
      });
    case 'delivery':
      return startDelivery({ config, ports, log, member, secrets, ...(outlets && { outlets }) });
  }
};
