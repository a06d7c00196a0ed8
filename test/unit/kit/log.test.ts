import { describe, expect, test } from 'vitest';
import { NatterError } from '../../../shared/kit/errors.ts';
import { createLog } from '../../../shared/kit/log.ts';

const secret = 'hunter2 "quoted" \\ & more';
const token = 'natter_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789';

/** The lines that `use` makes a log write. */
const linesOf = (use: (log: ReturnType<typeof createLog>) => void, level = 'info'): string => {
  let written = '';
  use(createLog({ level, name: 'test', secrets: [secret, 'ab'], destination: { write: (line: string) => (written += line) } }));
  return written;
};

describe('secrets never reach the log (I12)', () => {
  const failed = Object.assign(new Error(`401 for ${secret}`), { config: { headers: { authorization: `Bearer ${token}` } } });
  const canaries: readonly [string, (log: ReturnType<typeof createLog>) => void][] = [
    ['in the message', (log) => log.info(`password is ${secret}`)],
    ['in a format argument', (log) => log.info('it is %s and %j', secret, { deep: secret })],
    ['in a field', (log) => log.info({ note: secret }, 'x')],
    ['in a field named token', (log) => log.info({ apiToken: 'anything-at-all-1234' }, 'x')],
    ['deep in an object', (log) => log.info({ a: { b: { c: { d: secret } } } }, 'x')],
    ['in a list', (log) => log.info({ list: [secret, { token: secret }] }, 'x')],
    ['in an error', (log) => log.error(failed)],
    ['in the cause of an error', (log) => log.error(new Error('outer', { cause: failed }), 'x')],
    ['in an error under another name', (log) => log.error({ reason: failed }, 'x')],
    ['in a child log', (log) => log.child({ whole: { envelope: secret }, token }).info('x')],
    ['in the query of a URL', (log) => log.info({ req: { method: 'GET', url: `/v1?token=${encodeURIComponent(secret)}` } }, 'x')],
    ['where a long text is cut', (log) => log.info({ note: `${'x'.repeat(1_990)}${secret}` }, 'x')],
    ['URL-encoded', (log) => log.info(`https://host/?x=${encodeURIComponent(secret)}`)],
    ['as base64 of the whole secret', (log) => log.info(Buffer.from(secret).toString('base64'))],
    [
      'in a header of a request',
      (log) => log.info({ req: { method: 'GET', url: '/', headers: { authorization: secret } } }, 'x'),
    ],
  ];
  test.each(canaries)('%s', (_, use) => {
    const written = linesOf(use);
    expect(written).toMatch(/\n$/);
    for (const form of [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      'hunter2',
      token,
      'anything-at-all-1234',
    ])
      expect(written).not.toContain(form);
    expect(written).not.toContain(Buffer.from(secret).toString('base64'));
    expect(() =>
      written
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).not.toThrow();
  });

  test.each(['base64', 'base64url'] as const)('nothing stays of a whole secret in %s', (encoding) => {
    // The two encodings of this one differ in their alphabet and in the padding.
    const odd = 'hunter2 ?>?>~~~ more';
    expect(Buffer.from(odd).toString('base64')).toMatch(/^(?=.*\+)(?=.*\/).*=$/);
    let written = '';
    const log = createLog({ level: 'info', name: 'test', secrets: [odd], destination: { write: (line) => (written += line) } });
    log.info(`a ${Buffer.from(odd).toString(encoding)} b`);
    expect(JSON.parse(written).msg).toBe('a [secret] b');
  });

  test.each([
    token,
    'Bearer abcdefghijklmnop',
    'nats://user:password@host:4222',
    'https://x/?access_token=abcdefg',
    'sk-ant-api03-abcdefghijklmnopqrstuvwxyz',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'xoxb-1234567890-abcdefghij',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk',
    'SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY',
    '123456789:AAabcdefghijklmnopqrstuvwxyz0123456',
    'https://api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz0123456/send',
    'https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/abcdefghijklmnop',
    'https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnop_-0123',
    'password=correcthorse',
    'token:abcdefgh',
    'token:page:abcdefghijkl',
    'token: page:owner:a6bp5tq5ec46',
    'token:page:owner:a6bp5tq5ec46-and-more',
    'token=page:owner:a6bp5tq5ec46',
  ])('the shape of %j is known', (text) => {
    const { msg } = JSON.parse(linesOf((log) => log.info(`a ${text} b`))) as { msg: string };
    expect(msg).toMatch(/^a .*\[secret\].* b$/);
    expect(msg).not.toContain(text);
  });

  test.each(['token:page:owner:a6bp5tq5ec46', 'token:page:approver:0123456789ab', 'token:page:x7:a6bp5tq5ec46'])(
    'the name of a page’s token stays readable: %s',
    (actor) => {
      expect(JSON.parse(linesOf((log) => log.info({ actor }, `by ${actor}.`)))).toMatchObject({ actor, msg: `by ${actor}.` });
    },
  );

  test('what is no secret stays readable', () => {
    const text =
      'commit 12 of agent:main:telegram:group:-100123 took 1.5 ms in natter_snapshots at http://127.0.0.1:4600/v1/sessions?limit=5';
    expect(JSON.parse(linesOf((log) => log.info(text))).msg).toBe(text);
  });
});

describe('a log line', () => {
  test('is one line that no terminal obeys: C0, C1, U+2028 and direction marks are gone', () => {
    const written = linesOf((log) => log.info('a\u001b[31m\u009b2J\u0085\u2028b\n\u202ec'));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
    expect(written).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
    expect(written.trimEnd().split('\n')).toHaveLength(1);
  });

  test('says of an error its type, message, code and causes, and nothing else', () => {
    const error = Object.assign(new Error('outer', { cause: new TypeError('inner') }), { code: 'E1', request: { a: 1 } });
    const { err } = JSON.parse(linesOf((log) => log.error(error)));
    expect(err).toMatchObject({ type: 'Error', message: 'outer', code: 'E1', cause: { type: 'TypeError', message: 'inner' } });
    expect(err).not.toHaveProperty('request');
  });

  test('leaves whole objects out and shortens long text', () => {
    const line = JSON.parse(
      linesOf((log) => log.info({ envelope: { text: 'private' }, text: 'x'.repeat(5_000), count: 3 }, 'm')),
    );
    expect(line).toMatchObject({ envelope: '[left out]', count: 3, level: 'info', name: 'test', msg: 'm' });
    expect(line.text.length).toBeLessThan(2_100);
  });

  test('below the level is not written', () => {
    expect(linesOf((log) => log.info('x'), 'warn')).toBe('');
  });
});

test('an expected failure has no stack trace; one that nobody expected has', () => {
  const away = linesOf((log) => log.error({ err: new NatterError('unavailable', 'the broker is away') }, 'failed'));
  expect(JSON.parse(away).err).toEqual({ type: 'NatterError', message: 'the broker is away', code: 'unavailable' });
  expect(JSON.parse(linesOf((log) => log.error({ err: new TypeError('x') }, 'failed'))).err.stack).toContain('log.test.ts');
});
