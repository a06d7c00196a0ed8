import { expect, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type { answerBody } from '../../../services/gateway/approvals/operations.ts';
import type * as deadLetters from '../../../services/gateway/dead-letters/results.ts';
import type * as deliveries from '../../../services/gateway/deliveries/results.ts';
import type * as inspection from '../../../services/gateway/inspection/results.ts';
import type { postBody } from '../../../services/gateway/messages/post-message.ts';
import type { scheduledMessages } from '../../../services/gateway/messages/results.ts';
import type * as results from '../../../services/gateway/operation/results.ts';
import type { codeMade, whoIsThere } from '../../../services/gateway/page/operations.ts';
import type { pairingList } from '../../../services/gateway/pairing/results.ts';
import type { VisibleDelta } from '../../../services/gateway/runs/live-text.ts';
import type { compactBody } from '../../../services/gateway/sessions/context-operations.ts';
import type { deletion, listQuery, reasonBody } from '../../../services/gateway/sessions/operations.ts';
import type { patchBody } from '../../../services/gateway/sessions/patch.ts';
import type { retentionResult } from '../../../services/gateway/sessions/retention-operations.ts';
import type { ProblemDetails } from '../../../shared/client/errors.ts';
import type * as client from '../../../shared/client/main.ts';
import type { MethodName, Row, table } from './table.ts';

/**
 * The client's types say what the gateway's schemas say, in both directions. The compiler is the judge: `npm run typecheck` fails, and
 * names what has drifted apart.
 */

type Absent = { readonly absent: true };
type Field<T> = undefined extends T ? Exact<Exclude<T, undefined>> | Absent : Exact<T>;
/** A type with its optional fields marked, so that who assigns one to the other cannot leave any out; all else that does not count is gone. */
type Exact<T> = T extends string | number | boolean | null
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Exact<Item>[]
    : T extends object
      ? { readonly [Name in keyof T as [T[Name]] extends [undefined] ? never : Name]-?: Field<T[Name]> }
      : T;
type IsSame<One, Other> = [Exact<One>, Exact<Other>] extends [Exact<Other>, Exact<One>] ? true : false;

/** What a method hands out. */
type Told<Method> = Method extends (...given: never[]) => AsyncIterable<infer Item>
  ? Item
  : Method extends (...given: never[]) => Promise<infer Answer>
    ? Answer
    : never;
type MethodNamed<Name> = Name extends `${infer Group extends 'sessions' | 'runs' | 'approvals'}.${infer Method}`
  ? client.NatterClient[Group][Method & keyof client.NatterClient[Group]]
  : client.NatterClient[Name & keyof client.NatterClient];
/** Without what is no answer of its operation: live text and gaps have descriptions of their own, and the client makes the address. */
type Answer<Name extends MethodName> = Name extends 'events'
  ? client.NatterEvent
  : Name extends 'ticket'
    ? Omit<client.Ticket, 'url'>
    : Told<MethodNamed<Name>>;
type Schema<R extends Row> = z.output<R extends { readonly item: infer Item extends z.ZodType } ? Item : R['answer']>;
type Drifted = {
  [Name in MethodName]: IsSame<Answer<Name>, Schema<(typeof table)[Name]>> extends true ? never : Name;
}[MethodName];

/** What paths without a method of their own answer, and their schemas. */
interface Paths {
  '/v1/me': [client.Caller, typeof whoIsThere];
  '/v1/page/codes': [client.LoginCode, typeof codeMade];
  '/v1/sessions': [client.SessionPage, typeof results.sessions];
  '/v1/events': [client.EventPage, typeof results.events];
  '/v1/memory': [client.MemoryPage, typeof results.memories];
  '/v1/memory/:id': [client.MemoryWithHistory, typeof results.memoryRead];
  '/v1/pairing': [client.Pairings, typeof pairingList];
  '/v1/deliveries': [client.DeliveryPage, typeof deliveries.deliveries];
  '/v1/deliveries/delivered': [client.DeliveredPage, typeof deliveries.deliveredPage];
  '/v1/deliveries/:seq': [client.DeliveryWithText, typeof deliveries.deliveryRead];
  '/v1/dead-letters': [client.DeadLetterPage, typeof deadLetters.deadLetters];
  '/v1/dead-letters/:seq': [client.DeadLetterWithMessage, typeof deadLetters.deadLetterRead];
  '/v1/scheduled-messages': [client.ScheduledMessages, typeof scheduledMessages];
  '/v1/audit': [client.AuditPage, typeof results.audit];
  '/v1/hosts': [client.Hosts, typeof inspection.hosts];
  '/v1/skills': [client.Skills, typeof inspection.skills];
  '/v1/config': [client.ConfigInForce, typeof inspection.config];
  '/v1/metrics/history': [client.MetricHistory, typeof inspection.metricHistory];
  '/v1/doctor': [client.DoctorReport, typeof inspection.findings];
  '/v1/log': [client.LogPage, typeof inspection.log];
  '/v1/retention': [client.Retention, typeof retentionResult];
}
type DriftedPaths = {
  [Path in keyof Paths]: IsSame<Paths[Path][0], z.output<Paths[Path][1]>> extends true ? never : Path;
}[keyof Paths];

test('the comparison sees what is missing, optional or of another type, and nothing else', () => {
  expectTypeOf<IsSame<{ readonly a: readonly string[]; b?: 1 }, { a: string[] } & { b?: 1 | undefined }>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<{ t: 'a' | 'b'; x: 1 }, { t: 'a'; x: 1 } | { t: 'b'; x: 1 }>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<{ a: 1 }, { a: 1; b?: 2 }>>().toEqualTypeOf<false>();
  expectTypeOf<IsSame<{ a: 1; b?: 2 }, { a: 1; b: 2 }>>().toEqualTypeOf<false>();
  expectTypeOf<IsSame<{ a: { b: 'x' }[] }, { a: { b: string }[] }>>().toEqualTypeOf<false>();
  expectTypeOf<IsSame<{ t: 'a'; x: 1 } | { t: 'b' }, { t: 'a'; x?: 1 } | { t: 'b' }>>().toEqualTypeOf<false>();
});

test('every answer is what the schema of its operation says', () => {
  // Written like this the compiler says which is not.
  const drifted: never[] = [] as Drifted[];
  expect(drifted).toEqual([]);
  const driftedPaths: never[] = [] as DriftedPaths[];
  expect(driftedPaths).toEqual([]);
});

test('live text is what streams send, and a problem what errors are made of', () => {
  expectTypeOf<IsSame<Omit<client.LiveText, 'type' | 'key'>, VisibleDelta>>().toEqualTypeOf<true>();
  expectTypeOf<z.output<typeof results.problem>>().toExtend<ProblemDetails>();
});

test('every body, and every choice of a query, is what its route takes', () => {
  type Given<Name extends 'post' | 'patch' | 'stop' | 'reset' | 'compact' | 'delete' | 'list'> = Parameters<
    client.NatterClient['sessions'][Name]
  >;
  type Own<Options, Common = client.RunOptions> = Omit<NonNullable<Options>, keyof Common>;
  expectTypeOf<IsSame<client.NewMessage, Omit<z.input<typeof postBody>, 'mode'>>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<client.SettingsChange, z.input<typeof patchBody>>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<Own<Given<'stop'>[1]>, z.input<typeof reasonBody>>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<Own<Given<'reset'>[1]>, z.input<typeof reasonBody>>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<Own<Given<'compact'>[1]>, z.input<typeof compactBody>>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<Own<Given<'delete'>[1]>, z.input<typeof deletion>>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<client.ListOptions['status'], z.input<typeof listQuery>['status']>>().toEqualTypeOf<true>();
  type Resolve = Parameters<client.NatterClient['approvals']['resolve']>;
  type Answered = Own<Resolve[2]> & { verdict: Resolve[1] };
  expectTypeOf<IsSame<Answered, z.input<typeof answerBody>>>().toEqualTypeOf<true>();
});
