import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openRig, type Rig } from './rig.ts';

let rig: Rig;
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  await rig.close();
  for (const step of cleanUp.splice(0)) await step();
});

/** Another address, which answers every request; the requests it got. */
const startElsewhere = async () => {
  const visits: string[] = [];
  const server = createServer((request, response) => {
    visits.push(`${request.method}`);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => server.close());
  return { visits, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/elsewhere` };
};

test.each([301, 302, 303, 307, 308])(
  'a webhook that answers %i sends nobody to its Location: the message is given up',
  async (status) => {
    const elsewhere = await startElsewhere();
    rig = await openRig(() => ({ status, headers: { location: elsewhere.url } }));
    await rig.start('one');
    const id = await rig.say('a reply');
    await rig.until(() => expect(rig.states(id)).toEqual(['prepared 1', 'sending 1', 'failed 1']));
    expect(elsewhere.visits).toEqual([]);
    expect(rig.farSide.received).toHaveLength(1);
    expect(await rig.ports.deadLetters.list(10)).toMatchObject([{ id, reason: `HTTP ${status}` }]);
  },
);
