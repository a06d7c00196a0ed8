import { describe, expect, test } from 'vitest';
import { sessionCommand } from '../../../../shared/domain/session/commands.ts';
import { command, given, stateAfter } from '../../../support/domain/given.ts';

/** Every command in every status: what it leads to. `-` is "legal, and nothing happens". */
const histories: Record<string, readonly string[]> = {
  unknown: [],
  idle: ['open'],
  running: ['post m1'],
  queued: ['post m1', 'post m2'],
  calling: ['post m1', 'call m1/1 1 read run ask'],
  awaiting: ['post m1', 'ask m1/1 p1'],
  inactive: ['open', 'deactivate'],
  deleted: ['post m1', 'delete key'],
};

const table = `
  unknown  | open            | session_opened s1 g1
  idle     | open            | -
  running  | open            | -
  queued   | open            | -
  awaiting | open            | -
  inactive | open            | session_reopened

  unknown  | post m9         | session_opened s1 g1, user_message m9 for a turn, turn_started m9/1
  idle     | post m9         | user_message m9 for a turn, turn_started m9/1
  running  | post m9         | user_message m9 for a turn, turn_queued m9 #1
  queued   | post m9         | user_message m9 for a turn, turn_queued m9 #2
  awaiting | post m9         | user_message m9 for a turn, turn_queued m9 #1
  inactive | post m9         | session_reopened, user_message m9 for a turn, turn_started m9/1

  unknown  | append m9       | session_opened s1 g1, user_message m9
  idle     | append m9       | user_message m9
  running  | append m9       | user_message m9
  queued   | append m9       | user_message m9
  awaiting | append m9       | user_message m9
  inactive | append m9       | session_reopened, user_message m9

  unknown  | stop            | -
  idle     | stop            | -
  running  | stop            | turn_aborted m1/1 stop
  queued   | stop            | queue_cleared m2, turn_aborted m1/1 stop
  awaiting | stop            | turn_aborted m1/1 stop
  inactive | stop            | -

  unknown  | cancel m2       | refused: not_queued
  idle     | cancel m2       | refused: not_queued
  running  | cancel m2       | refused: not_queued
  queued   | cancel m2       | queue_cleared m2
  calling  | cancel m2       | refused: not_queued
  awaiting | cancel m2       | refused: not_queued
  inactive | cancel m2       | refused: not_queued
  deleted  | cancel m2       | refused: not_queued

  unknown  | reset s2        | refused: session_unknown
  idle     | reset s2        | session_reset s1 to s2 g2
  running  | reset s2        | turn_aborted m1/1 /new, checkpoint_requested new_session s1 1-1, session_reset s1 to s2 g2
  queued   | reset s2        | queue_cleared m2, turn_aborted m1/1 /new, checkpoint_requested new_session s1 1-2, session_reset s1 to s2 g2
  awaiting | reset s2        | turn_aborted m1/1 /new, checkpoint_requested new_session s1 1-2, session_reset s1 to s2 g2
  inactive | reset s2        | session_reset s1 to s2 g2

  unknown  | reset s2 m9     | session_opened s2 g1, user_message m9 for a turn, turn_started m9/1
  idle     | reset s2 m9     | session_reset s1 to s2 g2, user_message m9 for a turn, turn_started m9/1
  queued   | reset s2 m9     | queue_cleared m2, turn_aborted m1/1 /new, checkpoint_requested new_session s1 1-2, session_reset s1 to s2 g2, user_message m9 for a turn, turn_started m9/1

  unknown  | edit in-1       | -
  idle     | edit in-1       | -
  running  | edit in-1       | -
  queued   | edit in-1       | -
  awaiting | edit in-1       | -
  inactive | edit in-1       | -
  deleted  | edit in-1       | -
  calling  | edit in-1       | -

  unknown  | withdraw in-1   | -
  idle     | withdraw in-1   | -
  running  | withdraw in-1   | -
  queued   | withdraw in-1   | -
  awaiting | withdraw in-1   | -
  inactive | withdraw in-1   | -
  deleted  | withdraw in-1   | -
  calling  | withdraw in-1   | -

  deleted  | open            | session_opened s1#2 g2
  deleted  | post m9         | session_opened s1#2 g2, user_message m9 for a turn, turn_started m9/1
  deleted  | append m9       | session_opened s1#2 g2, user_message m9
  deleted  | stop            | -
  deleted  | reset s2        | refused: session_unknown
  deleted  | deactivate      | -
  deleted  | resume          | -
  deleted  | reply m1/1 1    | -
  deleted  | ask m1/1 p9     | -
  deleted  | answer p1 granted | refused: approval_unknown

  unknown  | origin x        | session_opened s1 g1, origin_changed x
  idle     | origin x        | origin_changed x
  running  | origin x        | origin_changed x
  queued   | route #x        | route_changed #x
  awaiting | origin x        | origin_changed x
  inactive | origin x        | origin_changed x
  deleted  | origin x        | session_opened s1#2 g2, origin_changed x

  unknown  | await-results m1/1 | -
  unknown  | give owner m1.1.0:ok | refused: results_unexpected
  unknown  | expire-results m1 | -
  idle     | await-results m1/1 | -
  idle     | give owner m1.1.0:ok | refused: results_unexpected
  idle     | expire-results m1 | -
  running  | await-results m1/1 | -
  running  | give owner m1.1.0:ok | refused: results_unexpected
  running  | expire-results m1 | -
  queued   | await-results m1/1 | -
  queued   | give owner m1.1.0:ok | refused: results_unexpected
  queued   | expire-results m1 | -
  calling  | await-results m1/1 | -
  calling  | give owner m1.1.0:ok | refused: results_unexpected
  calling  | expire-results m1 | -
  awaiting | await-results m1/1 | -
  awaiting | give owner m1.1.0:ok | refused: results_unexpected
  awaiting | expire-results m1 | -
  inactive | await-results m1/1 | -
  inactive | give owner m1.1.0:ok | refused: results_unexpected
  inactive | expire-results m1 | -
  deleted  | await-results m1/1 | -
  deleted  | give owner m1.1.0:ok | refused: results_unexpected
  deleted  | expire-results m1 | -

  unknown  | undelivered 2.1 | -
  idle     | undelivered 2.1 | delivery_reported 2.1 unknown
  running  | undelivered 2.1 | delivery_reported 2.1 unknown
  queued   | undelivered 2.1 | delivery_reported 2.1 unknown
  calling  | undelivered 2.1 | delivery_reported 2.1 unknown
  awaiting | undelivered 2.1 | delivery_reported 2.1 unknown
  inactive | undelivered 2.1 | delivery_reported 2.1 unknown
  deleted  | undelivered 2.1 | -
  unknown  | repeat-delivery 2.1 | refused: session_unknown
  idle     | repeat-delivery 2.1 | delivery_repeated 2.1 by boss
  running  | repeat-delivery 2.1 | delivery_repeated 2.1 by boss
  queued   | repeat-delivery 2.1 | delivery_repeated 2.1 by boss
  calling  | repeat-delivery 2.1 | delivery_repeated 2.1 by boss
  awaiting | repeat-delivery 2.1 | delivery_repeated 2.1 by boss
  inactive | repeat-delivery 2.1 | delivery_repeated 2.1 by boss
  deleted  | repeat-delivery 2.1 | refused: session_unknown

  unknown  | send deny       | refused: session_unknown
  idle     | send deny       | settings_changed {"sendPolicy":"deny"}
  running  | send allow      | settings_changed {"sendPolicy":"allow"}
  queued   | send inherit    | -
  awaiting | send deny       | settings_changed {"sendPolicy":"deny"}
  inactive | send deny       | settings_changed {"sendPolicy":"deny"}
  deleted  | send deny       | refused: session_unknown

  unknown  | notice hello    | notice told
  idle     | notice hello    | notice told
  running  | notice hello    | notice told
  queued   | notice hello    | notice told
  awaiting | notice hello    | notice told
  inactive | notice hello    | notice told
  deleted  | notice hello    | notice told

  unknown  | report          | notice status
  idle     | report          | notice status
  running  | report          | notice status
  queued   | report          | notice status
  awaiting | report          | notice status
  inactive | report          | notice status
  deleted  | report          | notice status

  unknown  | stop-told       | notice stopped
  queued   | stop-told       | queue_cleared m2, turn_aborted m1/1 /stop, notice stopped

  unknown  | delete          | refused: session_unknown
  idle     | delete          | session_deleted session g1 e1
  running  | delete          | refused: session_busy
  queued   | delete          | refused: session_busy
  awaiting | delete          | refused: session_busy
  inactive | delete          | session_deleted session g1 e1
  deleted  | delete          | refused: session_unknown

  unknown  | delete key      | refused: session_unknown
  queued   | delete key      | session_deleted key g1 e1 m1 m2
  unknown  | delete erased   | session_deleted erased g0 e1
  running  | delete erased   | session_deleted erased g1 e1 m1
  deleted  | delete erased   | session_deleted erased g1 e2

  unknown  | deactivate      | -
  idle     | deactivate      | session_deactivated
  running  | deactivate      | refused: session_busy
  queued   | deactivate      | refused: session_busy
  awaiting | deactivate      | refused: session_busy
  inactive | deactivate      | -

  unknown  | resume          | -
  idle     | resume          | -
  running  | resume          | turn_resumed m1/2 step 1
  queued   | resume          | turn_resumed m1/2 step 1
  awaiting | resume          | -
  inactive | resume          | -

  unknown  | reply m1/1 1    | -
  idle     | reply m1/1 1    | -
  running  | reply m1/1 1    | model_step m1/1 1 stop, assistant_message m1/1, turn_completed m1/1
  queued   | reply m1/1 1    | model_step m1/1 1 stop, assistant_message m1/1, turn_completed m1/1, turn_started m2/1
  awaiting | reply m1/1 1    | -
  inactive | reply m1/1 1    | -

  unknown  | continue m1/1 1 | -
  idle     | continue m1/1 1 | -
  running  | continue m1/1 1 | model_step m1/1 1 continue
  queued   | continue m1/1 1 | model_step m1/1 1 continue
  awaiting | continue m1/1 1 | -
  inactive | continue m1/1 1 | -

  unknown  | fail m1/1 1     | -
  idle     | fail m1/1 1     | -
  running  | fail m1/1 1     | turn_failed m1/1 model_failed
  queued   | fail m1/1 1     | turn_failed m1/1 model_failed, turn_started m2/1
  awaiting | fail m1/1 1     | -
  inactive | fail m1/1 1     | -

  unknown  | ask m1/1 p9     | -
  idle     | ask m1/1 p9     | -
  running  | ask m1/1 p9     | approval_requested m1/1 p9
  queued   | ask m1/1 p9     | approval_requested m1/1 p9
  awaiting | ask m1/1 p9     | -
  inactive | ask m1/1 p9     | -

  unknown  | answer p1 granted | refused: approval_unknown
  idle     | answer p1 granted | refused: approval_unknown
  running  | answer p1 granted | refused: approval_unknown
  queued   | answer p1 granted | refused: approval_unknown
  awaiting | answer p1 granted | approval_resolved m1/2 p1 granted
  inactive | answer p1 granted | refused: approval_unknown

  unknown  | expire p1 @1001 | -
  idle     | expire p1 @1001 | -
  running  | expire p1 @1001 | -
  queued   | expire p1 @1001 | -
  awaiting | expire p1 @1001 | approval_resolved m1/2 p1 expired
  inactive | expire p1 @1001 | -
  deleted  | expire p1 @1001 | -

  unknown  | start m1/1 m1.1.0 | -
  idle     | start m1/1 m1.1.0 | -
  running  | start m1/1 m1.1.0 | -
  queued   | start m1/1 m1.1.0 | -
  calling  | start m1/1 m1.1.1 | tool_call_started m1/1 m1.1.1 #1
  awaiting | start m1/1 m1.1.0 | -
  inactive | start m1/1 m1.1.0 | -
  deleted  | start m1/1 m1.1.0 | -

  unknown  | result m1/1 m1.1.0 | -
  idle     | result m1/1 m1.1.0 | -
  running  | result m1/1 m1.1.0 | -
  queued   | result m1/1 m1.1.0 | -
  calling  | result m1/1 m1.1.0 | tool_result m1/1 m1.1.0 ok
  awaiting | result m1/1 m1.1.0 | -
  inactive | result m1/1 m1.1.0 | -
  deleted  | result m1/1 m1.1.0 | -

  unknown  | compact c9      | notice compacted
  idle     | compact c9      | notice compacted
  running  | compact c9      | turn_queued c9 #1
  queued   | compact c9      | turn_queued c9 #2
  calling  | compact c9      | turn_queued c9 #1
  awaiting | compact c9      | turn_queued c9 #1
  inactive | compact c9      | notice compacted
  deleted  | compact c9      | notice compacted

  unknown  | compacted m1/1 1 2 | -
  idle     | compacted m1/1 1 2 | -
  running  | compacted m1/1 1 2 | context_compacted m1/1 through 1
  queued   | compacted m1/1 1 2 | context_compacted m1/1 through 1
  calling  | compacted m1/1 1 2 | context_compacted m1/1 through 1
  awaiting | compacted m1/1 1 2 | -
  inactive | compacted m1/1 1 2 | -
  deleted  | compacted m1/1 1 2 | -

  calling  | open            | -
  calling  | post m9         | user_message m9 for a turn, turn_queued m9 #1
  calling  | append m9       | user_message m9
  calling  | stop            | turn_aborted m1/1 stop
  calling  | reset s2        | turn_aborted m1/1 /new, checkpoint_requested new_session s1 1-2, session_reset s1 to s2 g2
  calling  | origin x        | origin_changed x
  calling  | send deny       | settings_changed {"sendPolicy":"deny"}
  calling  | notice hello    | notice told
  calling  | report          | notice status
  calling  | delete          | refused: session_busy
  calling  | deactivate      | refused: session_busy
  calling  | resume          | turn_resumed m1/2 step 2
  calling  | reply m1/1 2    | -
  calling  | ask m1/1 p9     | -
  calling  | answer p1 granted | refused: approval_unknown
  calling  | expire p1 @1001 | -

  unknown  | checkpoint      | refused: session_unknown
  idle     | checkpoint      | -
  running  | checkpoint      | checkpoint_requested manual s1 1-1
  queued   | checkpoint      | checkpoint_requested manual s1 1-2
  calling  | checkpoint      | checkpoint_requested manual s1 1-2
  awaiting | checkpoint      | checkpoint_requested manual s1 1-2
  inactive | checkpoint      | -
  deleted  | checkpoint      | refused: session_unknown

  unknown  | introspect 1 1  | -
  idle     | introspect 1 1  | introspected manual s1 1-1, memory_changed introspection add
  running  | introspect 1 1  | introspected manual s1 1-1, memory_changed introspection add
  queued   | introspect 1 2  | introspected manual s1 1-2, memory_changed introspection add
  calling  | introspect 1 2  | introspected manual s1 1-2, memory_changed introspection add
  awaiting | introspect 1 2  | introspected manual s1 1-2, memory_changed introspection add
  inactive | introspect 1 2  | introspected manual s1 1-2, memory_changed introspection add
  deleted  | introspect 1 2  | -

  unknown  | forget 9-0      | memory_changed person forget
  idle     | forget 9-0      | memory_changed person forget
  running  | forget 9-0      | memory_changed person forget
  queued   | forget 9-0      | memory_changed person forget
  calling  | forget 9-0      | memory_changed person forget
  awaiting | forget 9-0      | memory_changed person forget
  inactive | forget 9-0      | memory_changed person forget
  deleted  | forget 9-0      | memory_changed person forget

  unknown  | fork s2 1       | refused: session_unknown
  idle     | fork s2 1       | session_reset s1 to s2 g2 from 1
  running  | fork s2 1       | turn_aborted m1/1 from sequence 2, checkpoint_requested new_session s1 1-1, session_reset s1 to s2 g2 from 1
  queued   | fork s2 1       | queue_cleared m2, turn_aborted m1/1 from sequence 2, checkpoint_requested new_session s1 1-2, session_reset s1 to s2 g2 from 1
  calling  | fork s2 2       | turn_aborted m1/1 from sequence 4, checkpoint_requested new_session s1 1-2, session_reset s1 to s2 g2 from 2
  awaiting | fork s2 1       | turn_aborted m1/1 from sequence 2, checkpoint_requested new_session s1 1-2, session_reset s1 to s2 g2 from 1
  inactive | fork s2 2       | session_reset s1 to s2 g2 from 2
  inactive | fork s2 3       | refused: fork_invalid
  deleted  | fork s2 1       | refused: session_unknown

  unknown  | repair disk     | refused: not_damaged
  idle     | repair disk     | refused: not_damaged
  running  | repair disk     | refused: not_damaged
  queued   | repair disk     | refused: not_damaged
  calling  | repair disk     | refused: not_damaged
  awaiting | repair disk     | refused: not_damaged
  inactive | repair disk     | refused: not_damaged
  deleted  | repair disk     | refused: not_damaged

  unknown  | check           | -
  idle     | check           | -
  running  | check           | -
  queued   | check           | -
  calling  | check           | -
  awaiting | check           | -
  inactive | check           | -
  deleted  | check           | -
`;

const rows = table
  .split('\n')
  .filter((line) => line.includes('|'))
  .map((line) => line.split('|').map((cell) => cell.trim()) as [string, string, string]);

describe('every command in every status (A4/53, A5/60-64, 68-70, A7/80-82, A11/125, B21)', () => {
  test.each(rows)('%s: %s', (status, asked, outcome) => {
    const history = histories[status] ?? [];
    const { rows: happened, then } = given(...history).when(asked);
    const expected = outcome === '-' ? [] : outcome.split(', ');
    if (outcome.startsWith('refused')) expect(happened).toEqual(expected);
    else then(...expected);
  });

  test('the table has no hole', () => {
    const cells = new Set(rows.map(([status, asked]) => `${status} ${command(asked).data.type}`));
    const types = sessionCommand.options.map((option) => option.shape.type.value);
    const missing = Object.keys(histories).flatMap((status) => types.filter((type) => !cells.has(`${status} ${type}`)));
    expect(missing).toEqual([]);
  });

  test('the histories are in the statuses they are named after', () => {
    const statuses = Object.values(histories).map((history) => stateAfter(...history).machine.value);
    expect(statuses).toEqual(['inactive', 'idle', 'running', 'running', 'running', 'awaiting_approval', 'inactive', 'inactive']);
  });
});
