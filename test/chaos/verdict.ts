import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { checkAll } from '../sim/checkers/all.ts';
import type { History } from '../sim/history.ts';
import type { SentCommand } from './driver.ts';
import { leavesTrace } from './ledger.ts';
import type { ChaosSystem } from './system.ts';

/** Everything that is known after a run. Read when nothing runs any more. */
export interface Aftermath {
  readonly commands: readonly SentCommand[];
  readonly commits: readonly RecordedCommit[];
  /** The log as a follower saw it live, through all faults. */
  readonly followed: readonly RecordedCommit[];
  readonly snapshots: History['snapshots'];
  readonly index: History['index'];
  /** Commands that are not done; those that are stay in their stream until a host removes them (ADR 9). */
  readonly leftOver: number;
  readonly deadLetters: number;
}

export const readAftermath = async (
  { ports }: ChaosSystem,
  keys: readonly SessionKey[],
  seen: Pick<Aftermath, 'commands' | 'followed'>,
): Promise<Aftermath> => {
  const commits = await wholeLog(ports.events);
  const states = await Promise.all(keys.map((key) => ports.snapshots.get(key)));
  const rows = await Promise.all(keys.map((key) => ports.index.get(key)));
  return {
    ...seen,
    commits,
    snapshots: keys.flatMap((key, index) => {
      const state = states[index] ?? null;
      return state === null ? [] : [{ host: 'the bucket', key, state }];
    }),
    index: rows.filter((row) => row !== null),
    leftOver: await ports.commands.lag(),
    deadLetters: (await ports.deadLetters.list(100)).length,
  };
};

const wholeLog = async (events: ChaosSystem['ports']['events']): Promise<RecordedCommit[]> => {
  const { lastSeq } = await events.info();
  const commits: RecordedCommit[] = [];
  // Any replica may answer a read: one that is behind is asked again.
  while ((commits.at(-1)?.seq ?? 0) < lastSeq)
    commits.push(...(await events.page({ after: commits.at(-1)?.seq ?? 0, limit: 256 })).commits);
  return commits;
};

/** All that is wrong after a run; empty: nothing was lost, doubled, reordered, torn or forgotten. */
export const violationsOf = (aftermath: Aftermath): string[] => [
  ...checkAll(historyOf(aftermath)),
  ...sayWhatWasSaid(aftermath),
  ...followerSawAll(aftermath),
  ...(aftermath.deadLetters === 0 ? [] : [`${aftermath.deadLetters} commands are among the dead letters`]),
];

/** In the simulator's terms. Who sends on a key sends one after another, so each key is a client of its own. */
const historyOf = ({ commands, commits, snapshots, index, leftOver }: Aftermath): History => {
  const positionAt = positionsOf(commits);
  return {
    commits,
    sent: commands.map((sent) => ({
      envelope: sent.envelope,
      client: sent.envelope.key,
      from: positionAt(sent.invokedAt),
      acknowledged: sent.okAt !== null && (leavesTrace(sent) || sent.told !== null),
      order: sent.order,
    })),
    told: commands.flatMap(({ envelope, told }) =>
      told === null ? [] : [{ host: 'a host', key: envelope.key, answer: told.answer, at: positionAt(told.at) }],
    ),
    effects: [],
    modelCalls: [],
    snapshots,
    loads: [],
    writes: new Map(),
    damages: [],
    rollbacks: [],
    losses: [],
    residents: [],
    index,
    unfinished: leftOver,
  };
};

/** The log's end at a time. Looked up for every command, so by halving. */
const positionsOf =
  (commits: readonly RecordedCommit[]) =>
  (at: number): number => {
    let [least, most] = [0, commits.length];
    while (least < most) {
      const half = (least + most) >> 1;
      if ((commits[half]?.recordedAt ?? 0) <= at) least = half + 1;
      else most = half;
    }
    return commits[least - 1]?.seq ?? 0;
  };

/** Services of ours send commands too: what an introspection came to, and that it is time for one. */
const ourActors = ['introspection', 'timer:idle'];

/** No byte of a message has changed on its way, and nothing is in the log that nobody sent. */
const sayWhatWasSaid = ({ commands, commits }: Aftermath): string[] => {
  const sent = new Map(commands.map(({ envelope }) => [envelope.id, envelope]));
  return commits.flatMap(({ key, seq, command, actor, events }) => {
    const envelope = sent.get(command.id);
    if (command.seq !== null && envelope === undefined && !ourActors.includes(actor))
      return [`${key}: commit ${seq} is of a command nobody sent`];
    if (envelope !== undefined && envelope.key !== key) return [`${key}: commit ${seq} is of a command for ${envelope.key}`];
    return events.flatMap((event) => {
      if (event.type !== 'user_message') return [];
      const data = envelope?.data;
      const said = data?.type === 'post_message' || data?.type === 'append_message' ? data.message.text : null;
      return said === event.message.text ? [] : [`${key}: commit ${seq} has another text than was sent`];
    });
  });
};

/** Who follows the log live sees each commit once, in order, whatever happens to the broker. */
const followerSawAll = ({ commits, followed }: Aftermath): string[] => {
  const stored = commits.map(({ id }) => id).join();
  return followed.map(({ id }) => id).join() === stored
    ? []
    : [`a follower saw ${followed.length} commits in its own way; the log has ${commits.length}`];
};
