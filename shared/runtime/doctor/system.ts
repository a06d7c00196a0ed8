import type { Config } from '../../domain/config/schema.ts';
import type { HealthCode, HealthProblem } from '../../kit/health-problem.ts';
import { limits } from '../../kit/limits.ts';
import { deliveryService } from '../../ports/dead-letters.ts';
import type { Ports } from '../../ports/index.ts';
import type { HealthReport } from '../../ports/presence.ts';
import { commitsBehind } from '../commits-behind.ts';
import { absentAmong } from '../worker-names.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Checks of the running system, as functions of a report that any process with a connection can make. */

export interface SystemReport {
  /** Why the broker cannot be used as it should. */
  readonly problems: readonly HealthProblem[];
  /** The end of the log, and how far its readers are. */
  readonly lastSeq: number;
  readonly cursors: readonly { readonly name: string; readonly seq: number; readonly behind: number }[];
  /** Messages not yet processed. */
  readonly queues: readonly { readonly name: string; readonly count: number }[];
  readonly processes: readonly HealthReport[];
  readonly deadLetters: number;
  /** Those of them that are outgoing messages which may not have arrived (D12). */
  readonly openDeliveries: number;
  /** The key of the session whose checkpoint failed last; `null`: one has succeeded since. */
  readonly failedCheckpoint: string | null;
}

type Asked = Pick<
  Ports,
  'events' | 'cursors' | 'index' | 'presence' | 'commands' | 'inbound' | 'checkpoints' | 'deadLetters' | 'problems'
>;

/** Asks the broker. Rejects as it does. */
export const systemReport = async (ports: Asked): Promise<SystemReport> => {
  const [{ lastSeq }, failed, done, delivery, index, processes, commands, inbound, checkpoints, deadLetters, openDeliveries] =
    await Promise.all([
      ports.events.info(),
      ports.events.newest('introspection_failed'),
      ports.events.newest('introspected'),
      ports.cursors.get('delivery').then(({ seq }) => seq),
      ports.index.position(),
      ports.presence.list(),
      ports.commands.lag(),
      ports.inbound.lag(),
      ports.checkpoints.lag(),
      ports.deadLetters.count(),
      ports.deadLetters.count(deliveryService),
    ]);
  return {
    ...{ problems: ports.problems(), lastSeq, processes, deadLetters, openDeliveries },
    failedCheckpoint: failed !== null && failed.seq > (done?.seq ?? 0) ? failed.key : null,
    cursors: [
      // Its cursor stands at the last commit that sends something, so what it is behind is what it has in hand.
      { name: 'delivery', seq: delivery, behind: deliveryBehind(processes, lastSeq - delivery) },
      { name: 'index', seq: index, behind: await commitsBehind(ports.events, index) },
    ],
    queues: [
      { name: 'commands', count: commands },
      { name: 'inbound', count: inbound },
      { name: 'checkpoints', count: checkpoints },
    ],
  };
};

/** What delivery is behind: the outbounds in hand, and what waits in the log. If its window is full, the rest of the log waits as well. */
export const deliveryBehind = (processes: readonly HealthReport[], unread: number): number => {
  const inHand = processes
    .flatMap(({ services }) => services.filter(({ name }) => name === 'delivery'))
    .reduce((sum, { metrics }) => sum + (metrics.in_hand ?? 0) + (metrics.waiting ?? 0), 0);
  return inHand < limits.deliveryWindow ? inHand : Math.max(inHand, unread);
};

/** Waiting messages, or commits a reader is behind, from which on there is a warning or a failure. */
const lag = { warn: 1_000, fail: 20_000 } as const;

const atMost = (what: string, count: number, detail: string, fix: string): Finding =>
  count < lag.warn ? ok(what, detail) : (count < lag.fail ? warn : fail)(what, detail, fix);

/** The broker stores what it is sent, and all that the services rely on is there. `losses`: that the log went back is another finding. */
export const store = ({ problems, losses = [] }: Pick<SystemReport, 'problems'> & { losses?: readonly string[] }): Finding => {
  const ofLog = ['starting', 'log_went_back'];
  const problem = problems.find(({ code }) => losses.length === 0 || !ofLog.includes(code));
  return problem === undefined
    ? ok('store', 'a message was written')
    : fail('store', `${problem.code}: ${problem.message}`, problem.fix);
};

/** What waits in a queue, and who reads the log, in words. */
const waitingWords: Readonly<Record<string, string>> = { inbound: 'messages from channels' };
const readerWords: Readonly<Record<string, string>> = { index: 'the list of sessions' };

export const queues = ({ queues: waiting }: Pick<SystemReport, 'queues'>): Finding => {
  const most = Math.max(0, ...waiting.map(({ count }) => count));
  const detail = `waiting: ${waiting.map(({ name, count }) => `${count} ${waitingWords[name] ?? name}`).join(', ')}`;
  return atMost(
    'queues',
    most,
    detail,
    'start more session hosts or routers (natter service session); see their problems in natter status',
  );
};

/** Turns end with an answer. */
export const answers = ({ processes: reports }: Pick<SystemReport, 'processes'>): Finding => {
  const failed = reports
    .flatMap(({ services }) => services)
    .reduce((sum, { metrics }) => sum + (metrics.turns_failed_since_success ?? 0), 0);
  if (failed === 0) return ok('answers', 'the last one did not fail');
  const detail = failed === 1 ? 'the last one failed' : `the last ${failed} failed`;
  return warn('answers', detail, 'natter tail --from 1 --type turn_failed shows each; natter doctor asks the model');
};

/** Requested checkpoints are processed (A7/81), and come to a result. */
export const checkpoints = (
  { introspection }: Pick<Config, 'introspection'>,
  { queues: waiting, failedCheckpoint }: Pick<SystemReport, 'queues' | 'failedCheckpoint'>,
): Finding => {
  const count = waiting.find(({ name }) => name === 'checkpoints')?.count ?? 0;
  if (introspection.enabled && failedCheckpoint !== null)
    return warn(
      'checkpoints',
      `${count} waiting; the last one failed, of ${failedCheckpoint}, so memory learned nothing`,
      'natter tail --from 1 --type introspection_failed shows each; then natter checkpoint KEY tries again',
    );
  if (introspection.enabled) return ok('checkpoints', `${count} waiting`);
  if (count === 0) return ok('checkpoints', 'turned off');
  return warn(
    'checkpoints',
    `${count} waiting, but introspection.enabled is false`,
    'set it to true and restart the checkpoint services; they process what waits',
  );
};

/** How far the readers of the log are behind. */
export const followers = ({ lastSeq, cursors }: Pick<SystemReport, 'lastSeq' | 'cursors'>): Finding => {
  const most = Math.max(0, ...cursors.map(({ behind }) => behind));
  const detail = `of ${lastSeq} commits ${cursors.map(({ name, seq }) => `${readerWords[name] ?? name} has read ${seq}`).join(', ')}`;
  return atMost('log readers', most, detail, 'a reader is behind: see its service in natter status, and its outlets in its log');
};

const storesNothing: ReadonlySet<HealthCode> = new Set(['storage_full', 'write_probe_failed', 'leaders_missing']);

/** Every service runs somewhere, and no process reports a problem. */
export const processes = ({
  processes: reports,
  problems: ofBroker = [],
}: Pick<SystemReport, 'processes'> & Partial<Pick<SystemReport, 'problems'>>): Finding => {
  const running = reports.flatMap(({ services }) => services);
  const names = new Set(running.map(({ name }) => name));
  const absent = absentAmong(names);
  const problems = running.flatMap(({ name, problems: own }) => own.map((problem) => `${name}: ${problem}`));
  const warnings = running.flatMap(({ name, warnings: own }) => own.map((warning) => `${name}: ${warning}`));
  const detail = `${reports.length === 1 ? '1 process' : `${reports.length} processes`} with ${[...names].join(', ')}`;
  if (reports.length === 0 && ofBroker.some(({ code }) => storesNothing.has(code)))
    return fail('processes', 'no process can report its health: the broker does not store', 'see "store" above');
  if (reports.length === 0) return fail('processes', 'no process reports its health', 'start natter up');
  if (absent.length > 0)
    return fail('processes', `no process runs ${absent.join(', ')}`, `start natter up, or natter service ${absent[0]}`);
  if (problems.length > 0) return fail('processes', problems.slice(0, 3).join('; '), 'see natter status');
  if (warnings.length > 0) return warn('processes', warnings.slice(0, 3).join('; '), 'see natter status');
  return ok('processes', detail);
};

export const deadLetters = ({ deadLetters: count }: Pick<SystemReport, 'deadLetters'>): Finding =>
  count === 0
    ? ok('dead letters', 'none')
    : warn(
        'dead letters',
        `${count} messages could not be processed`,
        'natter dead-letters lists them with the reason; see "Dead letters" in docs/operate/operations.md',
      );

/** No message may have failed to arrive, or is held back until it is tried again. */
export const openDeliveries = ({
  openDeliveries: count,
  processes: reports,
}: Pick<SystemReport, 'openDeliveries' | 'processes'>): Finding => {
  const waits = reports.flatMap(({ services }) => services.flatMap(({ waiting = [] }) => waiting));
  if (count === 0 && waits.length === 0) return ok('deliveries', 'no message to a person is known to have failed');
  const { channel, detail } = waits[0] ?? {};
  const details = [
    ...(count > 0 ? [`${count} messages to people may not have arrived`] : []),
    ...(waits.length > 0 ? [`messages wait on ${channel}: ${detail}`] : []),
  ];
  return warn('deliveries', details.join('; '), 'natter deliveries lists them; repeat or leave each that may not have arrived');
};
