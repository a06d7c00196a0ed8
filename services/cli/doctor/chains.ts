import { openNats } from '../../../shared/adapters/nats/open.ts';
import type { Config } from '../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { checkDamaged } from '../../../shared/runtime/check-damaged.ts';
import { type Finding, fail, ok, warn } from '../../../shared/runtime/doctor/finding.ts';
import { type Damage, scrubLog } from '../../../shared/runtime/scrub-log.ts';
import type { BrokerAddress } from '../runtime/broker.ts';
import type { World } from '../terminal.ts';

/** Damaged sessions that the finding names. */
const named = 5;

/** Reads the whole log as fast as it comes and checks the chain of every session. Rejects as the broker does. */
export const scrubNow = async (config: Config, address: BrokerAddress, world: World): Promise<Finding> => {
  const ports = await openNats(config, { name: 'natter doctor', clock: systemClock, ...address });
  try {
    return await scrubbed(ports, world);
  } finally {
    await ports.close();
  }
};

const scrubbed = async (ports: Ports, { terminal, interrupted }: World): Promise<Finding> => {
  const { events, index } = ports;
  const { lastSeq } = await events.info();
  const view = await index.watch();
  const { commits, sessions, damages, differing, unerased } = await scrubLog(events, {
    ...{ upTo: lastSeq, signal: interrupted, rows: view.rows },
    paced: ({ seq }) => terminal.progress(`checking the log: ${seq} of ${lastSeq}`),
  }).finally(() => void view.close());
  if (interrupted.aborted) return warn('chains', `interrupted after ${commits} commits`, 'run it again');
  await checkDamaged(ports, damages, 'doctor');
  if (damages.length > 0)
    return fail(
      'chains',
      `${damages.length} of ${counted(sessions, 'session')} ${damages.length === 1 ? 'is' : 'are'} damaged: ${damages.slice(0, named).map(sentenceOf).join('; ')}`,
      'see "A session is damaged" in docs/operate/operations.md',
    );
  if (unerased.length > 0)
    return fail(
      'chains',
      `${counted(unerased.length, 'session')} had been erased, and what was said before is there again: ${unerased.slice(0, named).join(', ')}`,
      'run "natter erase KEY" again for each: an older copy of the log was put back, or an erasure was interrupted',
    );
  if (differing.length > 0)
    return warn(
      'chains',
      `one replica has ${counted(differing.length, 'session')} damaged, another has them whole`,
      'rebuild that replica: see "A session is damaged" in docs/operate/operations.md',
    );
  return ok('chains', `all of ${counted(commits, 'commit')} of ${counted(sessions, 'session')} as written`);
};

const sentenceOf = ({ key, seq, rev, reason }: Damage): string =>
  `${key}: ${reason} at sequence ${seq}${rev === null ? '' : ` (rev ${rev})`}`;
