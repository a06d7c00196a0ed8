import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type BrokerUser, brokerUsers, inboxPrefixOf, resourceNames, resourcesOf } from '../../../shared/wire/grants.ts';
import { deeperThan, isAllowed, rightsOf } from '../../../shared/wire/rights.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { withRightsTable } from '../../support/docs/rights-docs.ts';

/** What must hold of the rights whatever else is in them. They are tried out in test/e2e/broker/rights.test.ts. */
const subjects = subjectsUnder('natter');
const { streams } = topologyOf(subjects, { replicas: 1, partitions: 2 });
const rights = (user: BrokerUser) => rightsOf(user, subjects);
const who = (may: (user: BrokerUser) => boolean): BrokerUser[] => brokerUsers.filter(may);
const publishing = (subject: string): BrokerUser[] => who((user) => isAllowed(rights(user).publish, subject));
const hearing = (subject: string): BrokerUser[] => who((user) => isAllowed(rights(user).subscribe, subject));

test('the table in docs/operate/broker.md is the one of the code', async () => {
  const page = new URL('../../../docs/operate/broker.md', import.meta.url);
  const text = readFileSync(page, 'utf8');
  await expect(withRightsTable(text)).toMatchFileSnapshot(page.pathname);
});

test('only session hosts write the log, and only the gateway tokens (ADR 19)', () => {
  expect(publishing('natter.event.turn_started.agent.main.main')).toEqual(['session', 'restorer']);
  expect(publishing('natter.event.lost')).toEqual(['session', 'operator', 'restorer']);
  expect(publishing('$KV.natter_tokens.token.x')).toEqual(['gateway']);
  expect(publishing('natter.audit.pairing_approved')).toContain('router');
  expect(publishing('natter.audit.token_created')).toEqual(['gateway', 'operator', 'restorer']);
  expect(publishing('natter.audit.session_deleted')).toEqual(['checkpoint', 'gateway', 'operator', 'restorer']);
});

test('only the provisioner makes streams, and consumers only of queues: a consumer delivers to any subject (ADR 2)', () => {
  for (const { name } of streams) {
    for (const request of [`STREAM.CREATE.${name}`, `STREAM.UPDATE.${name}`])
      expect([request, publishing(`$JS.API.${request}`)]).toEqual([request, ['provisioner', 'restorer']]);
    expect(publishing(`$JS.API.STREAM.DELETE.${name}`)).toEqual(['restorer']);
    const never = ['CONSUMER.DELETE.%.x', 'CONSUMER.CREATE.%', 'CONSUMER.CREATE.%.x', 'CONSUMER.DURABLE.CREATE.%.x'];
    for (const request of never.map((each) => each.replace('%', name)))
      expect([request, publishing(`$JS.API.${request}`)]).toEqual([request, []]);
    const isQueue = /^NATTER_(INBOUND|COMMANDS|CHECKPOINTS|TIMERS)$/.test(name);
    expect([name, publishing(`$JS.API.CONSUMER.CREATE.${name}.commands.natter.x`)]).toEqual([
      name,
      isQueue ? ['provisioner', 'restorer'] : [],
    ]);
  }
});

test('what was done can be removed by its session host and by an operator, and the audit trail by nobody', () => {
  const removing = (stream: string) => [
    publishing(`$JS.API.STREAM.PURGE.${stream}`),
    publishing(`$JS.API.STREAM.MSG.DELETE.${stream}`),
  ];
  expect(removing('NATTER_COMMANDS')).toEqual([
    ['session', 'operator'],
    ['session', 'operator', 'restorer'],
  ]);
  expect(removing('NATTER_EVENTS')).toEqual([
    ['operator', 'restorer'],
    ['operator', 'restorer'],
  ]);
  expect(removing('NATTER_AUDIT')).toEqual([[], []]);
});

test('a run that has ended needs its deadline no more: who delivers its answer cancels that timer, and no other (A11/125)', () => {
  expect(publishing('natter.timer.commands.agent%3Amain%3Asubagent%3Aa-b.deadline')).toEqual(['session', 'delivery', 'gateway']);
  expect(publishing('natter.timer.commands.agent%3Amain%3Amain.idle')).toEqual(['session', 'gateway']);
});

test('nobody hears the answers to another, nor everything', () => {
  for (const user of brokerUsers.filter((each) => each !== 'connector'))
    expect(hearing(`${inboxPrefixOf(user)}.x`)).toEqual([user]);
  for (const subject of ['>', '_INBOX.>', '_INBOX.x', '$JS.>', '$KV.>', 'natter.>', '$JS.API.>', '$JS.ACK.>'])
    expect(hearing(subject)).toEqual([]);
});

test('a message is acknowledged in both forms, by the user who takes it', () => {
  for (const form of ['$JS.ACK', '$JS.ACK.domain.hash'])
    expect(publishing(`${form}.NATTER_COMMANDS.partition-1.1.2.3.4.5`)).toEqual(['session']);
  expect(publishing('$JS.ACK.NATTER_TIMERS.inbound.1.2.3.4.5')).toEqual(['router']);
});

test('a connector is for one channel, and a backup writes nothing', () => {
  const { publish, subscribe } = rightsOf('connector', subjects, 'irc');
  expect(publish).toEqual(['natter.inbound.irc.*']);
  expect(subscribe).toEqual(['_INBOX_connector-irc.>', 'natter.delivery.*.irc.*']);
  expect(rights('backup').publish.filter((subject) => !subject.startsWith('$JS.'))).toEqual([]);
});

test('every stream is in the table, and every right is under the prefix', () => {
  const resources = resourcesOf(subjects, '*');
  expect(new Set(resourceNames.flatMap((name) => resources[name].stream ?? []))).toEqual(
    new Set(streams.map(({ name }) => name)),
  );
  const others = brokerUsers.flatMap((user) => {
    const { publish, subscribe } = rightsOf(user, subjectsUnder('other'));
    return [...publish, ...subscribe].filter((subject) => /natter/i.test(subject));
  });
  expect(others).toEqual([]);
});

test('what is deeper than a * at the end is denied, but not what is allowed by itself', () => {
  expect(deeperThan(['a.*', 'b.*.c', 'd.*.*', 'e.>', 'f.*', 'f.>'])).toEqual(['a.*.>', 'd.*.*.>']);
});

test.each([
  ['a.*', 'a.b', true],
  ['a.*', 'a.*', true],
  ['a.*', 'a.>', false],
  ['a.*', 'a.b.c', false],
  ['a.>', 'a', false],
  ['a.>', 'a.*.c', true],
  ['a.b', 'a.*', false],
])('%s allows %s: %s', (pattern, subject, allowed) => {
  expect(isAllowed([pattern], subject)).toBe(allowed);
});
