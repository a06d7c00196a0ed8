import type { History } from './history.ts';
import type { SimOptions } from './world/options.ts';
import type { World } from './world/world.ts';

/** What a run must have gone through now and then: checkers that never see trouble prove nothing. Counts by name. */
export const sometimes = ({ commits, sent, told }: History, world: World, options: SimOptions): Record<string, number> => {
  const events = commits.flatMap((commit) => commit.events);
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  const answered = (outcome: string): number => told.filter(({ answer }) => answer.outcome === outcome).length;
  const failed = (code: string): number => events.filter((event) => event.type === 'turn_failed' && event.code === code).length;
  const faulty = (...names: string[]): number => names.reduce((sum, name) => sum + (world.faults[name] ?? 0), 0);
  return {
    'fenced write': world.total('commits_fenced_total'),
    'command given back': world.total('commits_uncommitted_total'),
    'ambiguous append': world.marks('ambiguous append'),
    'append landed late': faulty('append landed_late'),
    'commits went together': world.system.events.groups.stored,
    'group refused': world.system.events.groups.refused,
    'group without an answer': faulty('group answer_lost', 'group request_lost', 'group landed_late', 'group unavailable'),
    'acknowledgement lost': faulty('acknowledge answer_lost', 'acknowledge request_lost', 'acknowledge unavailable'),
    'stale read': faulty('read stale'),
    takeover: takeovers({ told }),
    'resumed turn': count('turn_resumed'),
    'given up after resumes': failed('attempts_exhausted'),
    'duplicate refused': answered('duplicate'),
    'refused command': answered('refused'),
    'command without effect': answered('nothing'),
    'queue full': count('message_refused'),
    'queue cleared': count('queue_cleared'),
    'session renewed': events.filter((event) => event.type === 'session_reset' && event.cause?.trigger !== 'command').length,
    'session deleted': count('session_deleted'),
    'turn ended by deletion': events.filter((event) => event.type === 'session_deleted' && event.turnIds.length > 0).length,
    'call begun': count('tool_call_started'),
    'call begun again': events.filter((event) => event.type === 'tool_call_started' && event.callAttempt > 1).length,
    'outcome unknown': events.filter((event) => event.type === 'tool_result' && event.outcome === 'unknown').length,
    'asked once more': events.filter((event) => event.type === 'approval_requested' && event.asks === 'retry').length,
    'allowed for good': events.filter((event) => event.type === 'approval_resolved' && event.scope === 'always').length,
    'call denied': events.filter((event) => event.type === 'approval_resolved' && event.verdict === 'denied').length,
    'approval expired': events.filter((event) => event.type === 'approval_resolved' && event.verdict === 'expired').length,
    'message joined': count('turn_joined'),
    'answered in between': events.filter((event) => event.type === 'assistant_message' && event.interim).length,
    'answered together': events.filter((event) => event.type === 'turn_started' && event.merged).length,
    compacted: count('context_compacted'),
    'allowed after its turn': events.filter((event) => event.type === 'turn_started' && event.turn.call).length,
    'waited for a person': count('approval_requested'),
    'snapshot read': world.marks('snapshot read'),
    'memory projected': world.total('memory_position'),
    'host killed': world.marks('host killed'),
    'zombie went on': world.marks('zombie went on'),
    'graceful stop': world.marks('graceful stop'),
    outage: world.marks('outage'),
    'done came again': world.marks('done came again'),
    ...(options.store === 'rolled back' && { 'log went back': world.marks('log went back') }),
    ...(options.store === 'lost' && {
      'loss accepted': world.marks('loss accepted'),
      'acknowledged and lost': sent.filter(({ isLost }) => isLost).length,
    }),
    ...(options.store === 'damaged' && {
      'commit damaged': world.marks('commit damaged'),
      'told damaged': told.filter(({ answer }) => answer.code === 'damaged').length,
      'damage repaired': count('history_damaged'),
    }),
  };
};

/** How often the answers for a key came from another host than before. */
const takeovers = ({ told }: Pick<History, 'told'>): number => {
  const owner = new Map<string, string>();
  let count = 0;
  for (const { host, key } of told) {
    if (owner.has(key) && owner.get(key) !== host) count++;
    owner.set(key, host);
  }
  return count;
};
