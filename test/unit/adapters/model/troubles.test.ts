import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type Answer, type Dialect, hang, padding, reset, status, stream } from '../../../support/provider-server.ts';
import { dialects, modelsAt, plantedKey, provide, request, take } from './rig.ts';

const at = (status: number) => expect.stringContaining(`HTTP ${status}`);
const soon = { connectMs: 300, firstTokenMs: 400, idleTokenMs: 500, totalMs: 1_500 };

describe.each(dialects)('I11: each trouble of a provider is an outcome (%s)', (_, wire) => {
  const { begin, text, call, end } = wire;
  const half = begin() + text('half');
  const done = begin() + text('done') + end('stop');

  test.each<[string, Answer, string, unknown]>([
    ['a key that is refused', status(401, wire.error('authentication_error', `bad key ${plantedKey}`)), 'model_auth', at(401)],
    ['a right that is missing', status(403, wire.error('permission_error', 'no')), 'model_auth', at(403)],
    ['too many requests', status(429, wire.error('rate_limit_error', 'slow down')), 'model_rate_limited', at(429)],
    ['an error of the server', status(500, wire.error('api_error', 'oops')), 'model_unavailable', at(500)],
    ['a proxy’s page', status(502, '<html>Bad gateway</html>'), 'model_unavailable', at(502)],
    ['a model that is not there', status(404, wire.error('not_found_error', 'no such model')), 'model_unknown', at(404)],
    ['a request it cannot read', status(400, wire.error('invalid_request_error', 'bad field')), 'model_bad_request', at(400)],
    [
      'a conversation too long',
      status(400, wire.error('invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum')),
      'context_overflow',
      at(400),
    ],
    ['a request too large', status(413, wire.error('request_too_large', 'no')), 'context_overflow', at(413)],
    ['a connection that breaks at once', reset, 'model_unavailable', expect.any(String)],
    ['a connection that breaks in mid-stream', stream(half, { waitMs: 20 }, 'reset'), 'model_unavailable', expect.any(String)],
    ['a stream that just ends', stream(half), 'model_invalid_answer', expect.any(String)],
    ['no stream at all', stream(), 'model_invalid_answer', expect.any(String)],
    ['a page instead of a stream', status(200, '<html>hello</html>'), 'model_invalid_answer', expect.any(String)],
    ['half of a JSON text', stream(begin(), text('a'), 'data: {"id": \n\n'), 'model_invalid_answer', expect.any(String)],
    ['half of a JSON text at once', stream('data: {"id": \n\n', 'hang'), 'model_invalid_answer', expect.any(String)],
    [
      'a JSON text that is no answer',
      stream(begin(), 'data: {"choices":7,"type":7}\n\n'),
      'model_invalid_answer',
      expect.any(String),
    ],
    [
      'bytes that are not UTF-8',
      stream(half, new Uint8Array([0x64, 0xff, 0xfe, 0x0a])),
      'model_invalid_answer',
      expect.stringContaining('not UTF-8'),
    ],
    ['an error in mid-stream', stream(half, wire.broken('overloaded_error', 'busy')), 'model_unavailable', at(529)],
    ['an error at once', stream(wire.broken('rate_limit_error', 'busy'), 'hang'), 'model_rate_limited', at(429)],
    ['an error of no known kind', stream(half, wire.broken('odd', 'it is odd')), 'model_error', 'it is odd'],
    ['an answer that its filter stopped', stream(half, end('refused')), 'model_refused', expect.any(String)],
    ['a limit reached without a word', stream(begin(), end('length')), 'model_invalid_answer', expect.stringContaining('8192')],
    [
      'more text than we store',
      stream(begin(), text('x'.repeat(limits.modelOutputBytes + 1))),
      'output_too_large',
      expect.stringContaining('more than 262144'),
    ],
    [
      'more arguments than we store',
      stream(begin(), call(0, 'tool', ...Array(300).fill('1'.repeat(1_024))), end('calls')),
      'output_too_large',
      expect.stringContaining('more than 262144'),
    ],
    [
      'more calls than a step may have',
      stream(begin(), ...Array.from({ length: 33 }, (_, index) => call(index, 'tool', '{}')), end('calls')),
      'output_too_large',
      expect.stringContaining('more than 32'),
    ],
    [
      'a tool with an endless name',
      stream(begin(), call(0, 'x'.repeat(129), '{}'), end('calls')),
      'model_invalid_answer',
      expect.any(String),
    ],
    [
      'fifty megabytes',
      stream(begin(), padding(50_000_000, `: ${'x'.repeat(65_533)}\n`)),
      'output_too_large',
      expect.stringContaining('sent more than'),
    ],
    [
      'a line without an end',
      stream(begin(), padding(50_000_000, 'x'.repeat(65_536))),
      'output_too_large',
      expect.stringContaining('a line of more than'),
    ],
    ['no head of an answer', hang, 'model_timeout', 'no answer to the request within 300 ms'],
    ['a head and no more', stream('hang'), 'model_timeout', 'no first token within 400 ms'],
    ['a stall in mid-stream', stream(half, 'hang'), 'model_timeout', 'no further token for 500 ms'],
    ['a sign of life without a word', stream(half, lifeSigns()), 'model_timeout', 'no further token for 500 ms'],
    ['a trickle', stream(begin(), trickle(wire)), 'model_timeout', 'no complete answer within 1500 ms'],
  ])('%s', async (_, answer, code, message) => {
    const { outcome, tookMs } = await take(wire, await provide(answer), code === 'model_timeout' ? soon : {});
    expect(outcome).toEqual({ kind: 'failed', code, message });
    expect(JSON.stringify(outcome)).not.toContain(plantedKey);
    expect(JSON.stringify(outcome).length).toBeLessThan(1_300);
    expect(tookMs).toBeLessThan(5_000);
  });

  test('a host that is not there', async () => {
    const gone = await provide(hang);
    gone.close();
    expect((await take(wire, gone)).outcome).toMatchObject({
      code: 'model_unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    const unknown = { url: 'http://no-such-host.invalid/v1' };
    expect((await take(wire, unknown)).outcome).toMatchObject({ code: 'model_unavailable' });
  });

  test('two ends: the answer is what came up to the first, and is told once', async () => {
    const { outcome, told } = await take(wire, await provide(stream(done, wire.kind === 'anthropic' ? done : end('stop'))));
    expect(outcome).toMatchObject({ kind: 'reply', text: 'done' });
    expect(told).toEqual(['done']);
  });

  test('a limit reached in mid-sentence: a reply that says so', async () => {
    const server = await provide(stream(half, end('length', { input: 5, output: 4 })));
    const { outcome, told } = await take(wire, server);
    expect(outcome).toMatchObject({ kind: 'reply', text: 'half\n\n[cut off after 4 tokens]' });
    expect(told.join('')).toBe('half\n\n[cut off after 4 tokens]');
  });

  test('somebody who does not want to know any more ends it at once', async () => {
    const stopped = new AbortController();
    const server = await provide(stream(half, 'hang'));
    const model = modelsAt({ local: { dialect: wire, url: server.url } })('local/tiny');
    const outcome = await model.step(request(), () => stopped.abort(), stopped.signal);
    expect(outcome.kind).toBe('failed');
    expect(server.requests.length).toBe(1);
  });
});

function* lifeSigns() {
  for (let signs = 0; signs < 100; signs++) yield* [': alive\n\n', { waitMs: 50 }];
}
function* trickle({ text, thought }: Dialect) {
  for (let pieces = 0; pieces < 100; pieces++) yield* [pieces % 2 ? thought('hm') : text('a'), { waitMs: 50 }];
}

/** A clock that notes the waits between two requests and does not wait. It is a quiet midnight. */
const hurrying = () => {
  const waits: number[] = [];
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (ms >= 30_000) return systemClock.sleep(ms, signal);
    waits.push(ms);
  };
  const clock: Clock = { ...systemClock, now: () => Date.parse('2026-11-21T00:00:00Z'), sleep };
  return { clock, waits };
};

describe.each(dialects)('asking again (%s)', (_, wire) => {
  const done = stream(wire.begin(), wire.text('done'), wire.end('stop'));
  const busy = (headers: Readonly<Record<string, string>> = {}): Answer =>
    status(429, wire.error('rate_limit_error', 'busy'), headers);

  test.each<[string, Answer[], number[]]>([
    ['the seconds it names', [busy({ 'retry-after': '1' })], [1_000]],
    ['the milliseconds it names', [busy({ 'retry-after-ms': '80', 'retry-after': '1' })], [80]],
    ['until the date it names', [busy({ 'retry-after': 'Sat, 21 Nov 2026 00:00:07 GMT' })], [7_000]],
    ['not at all for a date that is over', [busy({ 'retry-after': 'Fri, 20 Nov 2026 00:00:00 GMT' })], [0]],
    ['longer each time where it names nothing', [busy(), busy({ 'retry-after': 'soon' })], [500, 1_000]],
    ['after errors of the server', [status(503, 'down'), status(529, wire.error('overloaded_error', 'busy'))], [500, 1_000]],
    ['after a broken connection', [reset], [500]],
    ['after a stream that broke before its first word', [stream(wire.begin(), 'reset')], [500]],
  ])('waits %s', async (_, troubles, expected) => {
    const { clock, waits } = hurrying();
    const [first = reset, ...others] = troubles;
    const { outcome } = await take(wire, await provide(first, ...others, done), { retries: 2 }, {}, clock);
    expect(outcome).toMatchObject({ kind: 'reply', text: 'done' });
    expect(waits).toEqual(expected);
  });

  test.each<[string, Answer, object, number]>([
    ['at most as often as configured', busy({ 'retry-after-ms': '5' }), { retries: 2 }, 3],
    ['never where the configuration says so', busy({ 'retry-after-ms': '5' }), { retries: 0 }, 1],
    ['never when the wait is longer than the step may take', busy({ 'retry-after': '120' }), { retries: 2, totalMs: 60_000 }, 1],
    ['never after the first word', stream(wire.begin(), wire.text('a'), { waitMs: 20 }, 'reset'), { retries: 2 }, 1],
    ['never what is our own fault', status(400, wire.error('invalid_request_error', 'bad')), { retries: 2 }, 1],
  ])('%s', async (_, answer, limits, requests) => {
    const server = await provide(answer);
    const { outcome } = await take(wire, server, limits, {}, hurrying().clock);
    expect(outcome.kind).toBe('failed');
    expect(server.requests.length).toBe(requests);
  });
});
