import { describe, expect, test } from 'vitest';
import { mentionOf, parseIrcLine } from '../../../../services/cli/ingest/irc.ts';
import { dayOf, readSource } from '../../../../services/cli/ingest/source.ts';

describe('a line of an IRC log', () => {
  test.each([
    ['[05:12] <Pelo> hello there', { kind: 'message', minute: 312, nick: 'Pelo', text: 'hello there' }],
    ['[00:00] <a|b^_`> x <y> z', { kind: 'message', minute: 0, nick: 'a|b^_`', text: 'x <y> z' }],
    ['[23:59] <nick> ', { kind: 'message', minute: 1439, nick: 'nick', text: '' }],
    [
      '[19:51]  * deadweasel stops helping.',
      { kind: 'action', minute: 1191, nick: 'deadweasel', text: '* deadweasel stops helping.' },
    ],
    ['[19:51]  * deadweasel', { kind: 'action', minute: 1191, nick: 'deadweasel', text: '* deadweasel' }],
    ['[10:00] <nick> === not a notice', { kind: 'message', minute: 600, nick: 'nick', text: '=== not a notice' }],
    ['=== someone has joined #ubuntu', { kind: 'notice' }],
    ['[05:12] -gfxtx:#ubuntu- spam', { kind: 'notice' }],
    ['', { kind: 'blank' }],
    ['   ', { kind: 'blank' }],
    ['[24:00] <nick> no such hour', { kind: 'unreadable' }],
    ['[10:60] <nick> no such minute', { kind: 'unreadable' }],
    ['<nick> no time', { kind: 'unreadable' }],
    ['[10:00] <> nobody', { kind: 'unreadable' }],
  ])('%j', (line, parsed) => {
    expect(parseIrcLine(line)).toEqual(parsed);
  });
});

describe('who addresses ubotu (A6)', () => {
  const mentions = mentionOf('ubotu');
  test.each([
    'ubotu: tell me',
    'ubotu, tell me',
    'UBOTU tell me',
    'ubotu-> tell',
    'ubotu',
    'ubotu?',
    '  ubotu; x',
    'hi @ubotu!',
    '@ubotu x',
  ])('%j does', (text) => expect(mentions(text)).toBe(true));
  test.each([
    '!ubotu',
    'ask ubotu',
    'ubotu2: no',
    'ubotu-fan: no',
    "ubotu's factoids",
    'x@ubotu.com',
    '@ubotu_ no',
    'hi, ubotu: no',
    '',
  ])('%j does not', (text) => expect(mentions(text)).toBe(false));
  test('a nick with characters that mean something in a pattern', () => {
    expect(mentionOf('[x]^.*')('[x]^.*: hello')).toBe(true);
    expect(mentionOf('a.b')('axb: hello')).toBe(false);
  });
});

describe('a file', () => {
  const options = { format: 'irc', channel: 'irc', group: '#ubuntu', mention: 'ubotu', day: '2006-06-05' } as const;
  const log = Buffer.concat([
    Buffer.from('=== a joined\r\n[10:00] <a> ubotu: hi\n\n[10:01] <b> bad '),
    Buffer.from([0xff, 0xfe]),
    Buffer.from(' bytes\nnonsense\n[10:02]  * c waves'),
  ]);

  test('counts every line and gives each message its time, place and sender', () => {
    const source = readSource('2006-06-05.log', log, options);
    expect(source).toMatchObject({ lines: 6, notices: 1, blank: 1, repaired: 1 });
    expect(source.refused).toEqual([{ line: 5, reason: 'the line is not a message, an action or a notice' }]);
    expect(source.envelopes.map(({ sender, text, mentioned, at }) => [sender.id, text, mentioned, at])).toEqual([
      ['a', 'ubotu: hi', true, Date.UTC(2006, 5, 5, 10, 0)],
      ['b', 'bad \ufffd\ufffd bytes', false, Date.UTC(2006, 5, 5, 10, 1)],
      ['c', '* c waves', false, Date.UTC(2006, 5, 5, 10, 2)],
    ]);
    expect(source.envelopes[0]?.conversation).toEqual({ id: '#ubuntu', kind: 'group' });
  });

  test('ids depend on channel, group, day and line, and on nothing else (I2)', () => {
    const ids = (change: object, file = 'x.log') =>
      readSource(file, log, { ...options, ...change }).envelopes.map(({ id }) => id);
    expect(ids({})).toEqual(ids({ mention: 'somebody' }, 'elsewhere/y.log'));
    expect(new Set(ids({})).size).toBe(3);
    for (const change of [{ channel: 'other' }, { group: '#other' }, { day: '2006-06-06' }])
      expect(ids(change)).not.toEqual(ids({}));
  });

  test('JSONL: what a line leaves out comes from the options; a bad line is refused alone', () => {
    const lines = [
      '{"sender":"ann","text":"hi"}',
      '{"sender":"ann"}',
      'not json',
      '[]',
      '{"id":"m9","sender":{"id":"bob"},"text":"@ubotu yo"}',
    ];
    const source = readSource('x.jsonl', Buffer.from(lines.join('\n')), { ...options, format: 'jsonl' });
    expect(source.envelopes.map(({ channel, sender, mentioned }) => [channel, sender.id, mentioned])).toEqual([
      ['irc', 'ann', false],
      ['irc', 'bob', true],
    ]);
    expect(source.envelopes[1]?.id).toBe('m9');
    expect(source.refused.map(({ line }) => line)).toEqual([2, 3, 4]);
    expect(source.refused[0]?.reason).toContain('text');
  });

  test('A4/45: a time in seconds is refused, for it would be one of 1970', () => {
    const line = (at: number) => JSON.stringify({ sender: 'ann', text: 'hi', at });
    const bytes = Buffer.from([1_763_736_000, 1_763_736_000_000].map(line).join('\n'));
    const { envelopes, refused } = readSource('x.jsonl', bytes, { ...options, format: 'jsonl' });
    expect(envelopes.map(({ at }) => at)).toEqual([1_763_736_000_000]);
    expect(refused).toEqual([{ line: 1, reason: 'at: is in milliseconds since 1970; this looks like seconds' }]);
  });

  test('the day comes from the name', () => {
    expect(dayOf('logs/2006-06-05.train-c.log')).toBe('2006-06-05');
    expect(dayOf('today.log')).toBeUndefined();
  });
});
