import { expect, test, vi } from 'vitest';
import { createLog } from '../../../shared/kit/log.ts';
import { fakeTools } from '../../support/fake-tools.ts';
import { secretOf } from '../gateway/access/access-rig.ts';
import { startWhole } from '../system/whole.ts';
import { type Collector, startCollector } from './collector.ts';
import { traceTo } from './tracing.ts';

/** What the log says of a turn, and what neither log nor traces nor metrics ever say. */
interface Line {
  readonly msg: string;
  readonly [field: string]: unknown;
}
const logInMemory = (secrets: readonly string[] = []) => {
  const lines: string[] = [];
  const log = createLog({
    level: 'trace',
    name: 'natter',
    secrets,
    destination: { write: (line: string) => void lines.push(line) },
  });
  return { lines, log, parsed: (): Line[] => lines.map((line) => JSON.parse(line)) };
};

test('lines of a command and of a turn have its key, its rev, its run and its trace', async () => {
  const collector: Collector = await startCollector();
  await traceTo(collector.url);
  const { log, parsed } = logInMemory();
  const whole = await startWhole({ log });
  await whole.say('telegram:7', '[[steps 2]] [[fail busy]] hello');
  const { key, turnId } = await whole.delivered();
  await vi.waitFor(() => expect(collector.named('invoke_agent main')).not.toEqual([]));
  const traceId = collector.named('invoke_agent main')[0]?.traceId;

  const about = { key, correlationId: turnId, traceId };
  expect(parsed()).toContainEqual(
    expect.objectContaining({ ...about, msg: 'command', rev: 1, command: 'post_message', outcome: 'accepted' }),
  );
  expect(parsed()).toContainEqual(
    expect.objectContaining({ ...about, level: 'warn', msg: 'turn failed', rev: expect.any(Number), code: 'busy' }),
  );
  expect(parsed()).toContainEqual(expect.objectContaining({ key, traceId, msg: 'custody', state: 'delivered' }));
});

test('planted secrets are in no line, no span and no metric (I12)', async () => {
  const planted = {
    'the text of a message': 'sk-live-in-the-message-0123456789',
    'the arguments of a call': 'canary-in-the-arguments-0123456789',
    'the result of a call': 'canary-in-the-result-0123456789',
    'the error of a tool': 'canary-in-an-error-0123456789',
    'a header': secretOf('owner'),
    'the query of a URL': 'canary-in-the-query-0123456789',
    'a path': 'canary-in-the-path-0123456789',
    "a person's name": 'Canary In The Name 0123456789',
  };
  const collector = await startCollector();
  const tracing = await traceTo(collector.url);
  const { log, lines } = logInMemory([secretOf('owner')]);
  const tools = fakeTools(
    { name: 'look', run: async () => ({ outcome: 'ok', text: planted['the result of a call'] }) },
    {
      name: 'fall',
      run: async () => {
        throw new Error(planted['the error of a tool']);
      },
    },
  );
  const whole = await startWhole({ log, tools });
  const words = `[[tool look {"a": "${planted['the arguments of a call']}"}]] [[tool fall]] ${planted['the text of a message']}`;
  await whole.say('telegram:7', words, { sender: { id: '7', name: planted["a person's name"] } });
  const { text } = await whole.delivered();
  expect(text).toContain(planted['the result of a call']);
  await whole.as.owner('GET', `/v1/sessions?token=${planted['the query of a URL']}`);
  await whole.as.owner('GET', `/v1/${planted['a path']}`);

  const page = (await whole.as.owner('GET', '/metrics')).text;
  await tracing.stop(2_000);
  expect(lines.length).toBeGreaterThan(5);
  expect(collector.spans.length).toBeGreaterThan(10);
  for (const [where, secret] of Object.entries(planted)) {
    const places = { lines: lines.join('\n'), spans: collector.bodies.join('\n'), page };
    for (const [place, told] of Object.entries(places))
      expect([where, place, told.includes(secret)]).toEqual([where, place, false]);
  }
});
