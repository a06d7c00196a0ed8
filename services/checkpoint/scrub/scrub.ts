import type { Config } from '../../../shared/domain/config/schema.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { checkDamaged } from '../../../shared/runtime/check-damaged.ts';
import { startLeasedWork, type Tenure } from '../../../shared/runtime/leased-work.ts';
import { scrubLog } from '../../../shared/runtime/scrub-log.ts';
import type { Service } from '../../../shared/runtime/service.ts';

export interface ScrubberOptions {
  readonly ports: Pick<Ports, 'clock' | 'events' | 'leases' | 'commands' | 'index'>;
  readonly log: Logger;
  readonly member: string;
  readonly config: Config['scrub'];
}

const name = 'checkpoint-scrub';
const hourMs = 3_600_000;
/** A round that has read for so long has not failed as the one before it. */
const steadyMs = 60_000;
const megabyte = 1_000_000;

/**
 * Reads the whole log again and again, slowly, and reports sessions whose chain is broken. Their hosts are told, too, and set them aside (F13).
 * One process does it at a time.
 */
export const startScrubber = ({ ports, log, member, config }: ScrubberOptions): Omit<Service, 'name' | 'problems'> => {
  const { clock, events, leases, index } = ports;
  const counts = { scrub_commits_total: 0, scrub_bytes_total: 0, scrub_runs_total: 0, scrub_position: 0 };
  let [damaged, notErased] = [0, 0];

  const scrub = async ({ stopping, healthy }: Tenure): Promise<void> => {
    const { lastSeq } = await events.info();
    const startedAt = clock.monotonic();
    let bytes = 0;
    const view = await index.watch();
    const { damages, differing, unerased } = await scrubLog(events, {
      upTo: lastSeq,
      rows: view.rows,
      signal: stopping,
      paced: (read) => {
        bytes += read.bytes;
        counts.scrub_commits_total += read.commits;
        counts.scrub_bytes_total += read.bytes;
        counts.scrub_position = read.seq;
        if (clock.monotonic() - startedAt > steadyMs) healthy();
        return clock.sleep(startedAt + (1_000 * bytes) / (config.megabytesPerSecond * megabyte) - clock.monotonic(), stopping);
      },
    }).finally(() => void view.close());
    if (stopping.aborted) return;
    for (const damage of damages) log.error({ ...damage }, 'session is damaged: its log is not as it was written');
    await checkDamaged(ports, damages, 'scrub');
    for (const key of differing) log.warn({ key }, 'one replica has a session damaged, another has it whole');
    for (const key of unerased) log.error({ key }, 'session was erased, and what was said before is there again');
    [damaged, notErased] = [damages.length, unerased.length];
    counts.scrub_runs_total += 1;
    healthy();
    await clock.sleep(config.everyHours * hourMs, stopping);
  };

  const leased = startLeasedWork({ name, member, leases, clock, log, work: scrub });
  return {
    warnings: () => [
      ...(damaged === 0
        ? []
        : [`${damaged} ${damaged === 1 ? 'session is' : 'sessions are'} damaged; natter doctor --scrub names them`]),
      ...(notErased === 0 ? [] : [`what was erased is there again in ${notErased} sessions; natter doctor --scrub names them`]),
    ],
    metrics: () => ({ ...counts, scrub_active: leased.active() ? 1 : 0, scrub_damaged_sessions: damaged }),
    stop: leased.stop,
  };
};
