import { expect, test } from 'vitest';
import { readAttachment } from '../../../services/gateway/attachments/read-attachment.ts';
import { ConcurrencyQuota } from '../../../services/gateway/http/concurrency-quota.ts';
import type { Call } from '../../../services/gateway/operation/operation.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { commitTo, keyOf, messageWithFiles } from '../../support/domain/commits.ts';
import { digestOf } from '../../support/files.ts';

const [key, other] = [keyOf('agent:main:main'), keyOf('agent:main:cli:other')];
const content = new TextEncoder().encode('a file');
const digest = digestOf(content);

/** The file of a session with these commits, for somebody who sees what is after a sequence. */
const read = async (commits: readonly SessionEvent[], { after = 0, mayRead = true, storedFor = key } = {}) => {
  const ports = openInMemory({ clock: systemClock }).portsFor('gateway');
  await ports.attachments.put(storedFor, content);
  let seq = 0;
  for (const [index, event] of commits.entries()) {
    const result = await ports.events.append(commitTo(key, { rev: index + 1, events: [event] }), seq);
    if (result.kind !== 'stored') throw new Error(JSON.stringify(result));
    seq = result.seq;
  }
  const access = {
    read: async () => (mayRead ? { row: { seq }, after } : Promise.reject(new Error('none of your business'))),
  };
  const replays = new ConcurrencyQuota({ all: 1, each: 1 }, 'too many');
  const call = { context: { access, ports, replays }, caller: { actor: 'ann', principal: {} } } as unknown as Call;
  const answer = readAttachment(call, { key, digest });
  await answer.catch(() => {});
  expect(replays.inUse).toBe(0);
  return answer;
};
const said = messageWithFiles(digest);
const withdrawn: SessionEvent = { type: 'message_withdrawn', v: 1, of: '1.0', messageId: 'm', by: { id: 'ann' } };

test.each<[string, readonly SessionEvent[], object]>([
  ['a message has', [said], {}],
  ['a message was sent with again after an earlier one was withdrawn', [said, withdrawn, said], {}],
  ['another message has besides the withdrawn one', [said, said, withdrawn], {}],
])('a file that %s is handed out', async (_, commits, given) => {
  expect((await read(commits, given)).content).toEqual(content);
});

test.each<[string, readonly SessionEvent[], object]>([
  ['no message came with', [messageWithFiles(digestOf(Buffer.from('another')))], {}],
  ['came with a withdrawn message', [said, withdrawn], {}],
  ['was said before what the caller may see', [said, messageWithFiles()], { after: 1 }],
  ['is stored for another session alone', [said], { storedFor: other }],
])('I8: a file that %s is as one that never was', async (_, commits, given) => {
  await expect(read(commits, given)).rejects.toMatchObject({ code: 'not_found', field: 'digest' });
});

test('I8: who may not read the session gets no file of it', async () => {
  await expect(read([said], { mayRead: false })).rejects.toThrow('none of your business');
});
