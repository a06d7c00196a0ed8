import { expect, test } from 'vitest';
import { feed } from '../../../../services/cli/ingest/feed.ts';
import { serve } from '../../client/server.ts';

const envelope = {
  ...{ id: 'm-1', channel: 'irc', conversation: { id: '#a', kind: 'group' as const }, sender: { id: 'ann' }, text: 'hello' },
  ...{ mentioned: false, directed: false },
};
const feedTo = async (status: number, body: string, headers = {}) => {
  const { client } = await serve((request, response) => {
    if (request.method === 'POST') response.writeHead(status, headers).end(body);
    else response.end('{"commits":[],"sessions":[],"next":"0","more":false,"nextCursor":null}');
  });
  return feed(client, [{ key: 'agent:main:irc:group:#a', envelopes: [envelope] }], () => {});
};

test('what the gateway refuses is told with the reason, and the rest goes on', async () => {
  const { refused } = await feedTo(403, '{"code":"forbidden","detail":"not your channel"}');
  expect(refused).toEqual([{ id: 'm-1', reason: 'not your channel' }]);
});

test.each([
  ['a proxy', 403, '<html>', {}],
  ['a redirect', 302, '', { location: 'https://elsewhere' }],
])('%s refuses nothing: whoever answers is no gateway', async (_, status, body, headers) => {
  await expect(feedTo(status, body, headers)).rejects.toMatchObject({ code: 'unexpected', status });
});
