import { describe, expect, test } from 'vitest';
import { reservedCommands } from '../../../../shared/domain/routing/chat-command.ts';
import { type Change, config, outcome, routed } from './support.ts';

/**
 * D7: who may change a session by a chat command. A column is a place to write from, a row a command; a cell is the type of what
 * the session is told. `notice`: that only the owner may.
 */
const owned = { agent: { owners: ['telegram:1'], names: ['natter'] } };
const direct = (id: string): Change => ({ conversation: { id, kind: 'direct' }, sender: { id } });
const inGroup = (id: string, mentioned = true): Change => ({
  conversation: { id: '-1', kind: 'group' },
  sender: { id },
  mentioned,
});
const scoped = (session: Change): Change => ({ ...owned, session });

type Place = readonly [change: Change, settings: Change];
const places: Readonly<Record<string, Place>> = {
  'owner, direct': [direct('1'), owned],
  'owner, group': [inGroup('1', false), owned],
  'owner, global': [inGroup('1'), scoped({ scope: 'global' })],
  'other, dmScope main': [direct('9'), owned],
  'other, global': [direct('9'), scoped({ scope: 'global' })],
  'other, no owners': [direct('9'), {}],
  'other, per-peer': [direct('9'), scoped({ dmScope: 'per-peer' })],
  'other, per-account': [direct('9'), scoped({ dmScope: 'per-account-channel-peer' })],
  'other, global, per-peer': [direct('9'), scoped({ scope: 'global', dmScope: 'per-peer' })],
  'other, group': [inGroup('9'), scoped({ dmScope: 'per-peer' })],
  'other, topic': [{ ...inGroup('9'), conversation: { id: '-1', kind: 'group', threadId: '7' } }, owned],
  'other, group, aside': [inGroup('9', false), owned],
  'program, group': [{ ...inGroup('9'), sender: { id: '9', role: 'program' } }, owned],
  'hook, its own': [{ ...direct('9'), channel: 'hook' }, owned],
  'hook, of another': [{ ...direct('9'), channel: 'hook', sessionKey: 'agent:main:telegram:dm:1' }, owned],
};
const table = `
                         /new      /reset hi  /compact  /stop      /send off
owner, direct            reset     reset      compact   stop       patch
owner, group             reset     post       compact   stop       patch
owner, global            reset     reset      compact   stop       patch
other, dmScope main      notice    notice     notice    stop own   notice
other, global            notice    notice     notice    stop own   notice
other, no owners         notice    notice     notice    stop own   notice
other, per-peer          reset     reset      compact   stop       notice
other, per-account       reset     reset      compact   stop       notice
other, global, per-peer  notice    notice     notice    stop own   notice
other, group             notice    notice     notice    stop own   notice
other, topic             notice    notice     notice    stop own   notice
other, group, aside      append    append     append    append     append
program, group           notice    notice     notice    stop own   notice
hook, its own            reset     reset      compact   stop       notice
hook, of another         notice    notice     notice    stop own   notice
`;

/** Those that change nothing of the conversation, or ask for a check of their own: an approval's answer is examined by its session. */
const others = `
                         /status  /context  /checkpoint  /approve p  /deny p   /pair X  /skill x
owner, direct            report   report    checkpoint   approval    approval  approve  post
owner, group             report   report    checkpoint   approval    approval  notice   post
owner, global            report   report    checkpoint   approval    approval  notice   post
other, dmScope main      report   report    checkpoint   approval    approval  notice   post
other, global            report   report    checkpoint   approval    approval  notice   post
other, no owners         report   report    checkpoint   approval    approval  notice   post
other, per-peer          report   report    checkpoint   approval    approval  notice   post
other, per-account       report   report    checkpoint   approval    approval  notice   post
other, global, per-peer  report   report    checkpoint   approval    approval  notice   post
other, group             report   report    checkpoint   approval    approval  notice   post
other, topic             report   report    checkpoint   approval    approval  notice   post
other, group, aside      append   append    append       append      append    append   append
program, group           report   report    checkpoint   approval    approval  notice   post
hook, its own            report   report    checkpoint   approval    approval  notice   post
hook, of another         report   report    checkpoint   approval    approval  notice   post
`;

/** Those that set one thing for the session, and those that only tell (B25). */
const settings = `
                         /model default  /think high  /name Plans  /queue steer  /activation always  /export  /help   /usage
owner, direct            patch           patch        patch        patch         patch               export   help    report
owner, group             patch           patch        patch        patch         patch               export   help    report
owner, global            patch           patch        patch        patch         patch               export   help    report
other, dmScope main      notice          notice       notice       notice        notice              notice   help    report
other, global            notice          notice       notice       notice        notice              notice   help    report
other, no owners         notice          notice       notice       notice        notice              notice   help    report
other, per-peer          patch           patch        patch        patch         patch               export   help    report
other, per-account       patch           patch        patch        patch         patch               export   help    report
other, global, per-peer  notice          notice       notice       notice        notice              notice   help    report
other, group             notice          notice       notice       notice        notice              notice   help    report
other, topic             notice          notice       notice       notice        notice              notice   help    report
other, group, aside      append          append       append       append        append              append   append  append
program, group           notice          notice       notice       notice        notice              notice   help    report
hook, its own            patch           patch        patch        patch         patch               export   help    report
hook, of another         notice          notice       notice       notice        notice              notice   help    report
`;

/** A command in a word of the table. */
const wordOf = (result: ReturnType<typeof outcome>): string => {
  if ('pairing' in result) return result.pairing.kind;
  if (!('command' in result)) throw new Error(JSON.stringify(result));
  const { data } = result.command;
  if (data.type === 'stop') return data.by === undefined ? 'stop' : 'stop own';
  if (data.type === 'post_notice' && data.notice.code !== 'owner_only') return data.notice.code;
  return data.type
    .replace(/^(post|append)_message$/, '$1')
    .replace(/^patch_session$/, 'patch')
    .replace(/^(request|resolve)_/, '')
    .replace(/^post_notice$/, 'notice');
};

const tables = [table, others, settings].map((text) => {
  const [header = '', ...lines] = text.trim().split('\n');
  return { commands: header.trim().split(/ {2,}/), rows: lines.map((line) => line.split(/ {2,}/)) };
});

describe('who may do what by a chat command', () => {
  test('every place has its rows, and every command its column', () => {
    for (const { rows } of tables) expect(rows.map(([place]) => place).sort()).toEqual(Object.keys(places).sort());
    const asked = tables.flatMap(({ commands }) => commands.map((text) => /^\/(\w+)/.exec(text)?.[1] ?? text));
    expect(asked.sort()).toEqual([...reservedCommands(config().session.resetTriggers)].sort());
  });

  describe.each(tables)('$commands', ({ commands, rows }) => {
    test.each(rows)('D7: %s', (place = '', ...cells) => {
      const [change, settings] = places[place] as Place;
      expect(commands.map((text) => wordOf(outcome({ ...change, text }, settings)))).toEqual(cells);
    });
  });

  test('D7: the notice says what was not done, and who may', () => {
    const { data } = routed({ ...inGroup('9'), text: '@natter /new hello' }, owned);
    expect(data).toEqual({
      type: 'post_notice',
      notice: {
        code: 'owner_only',
        text: 'Nothing was changed: only the owner may use /new in a session that several people share.',
      },
    });
  });

  test.each(['/new hello', '/reset', '/compact', '/send off'])(
    'D7: where nobody is the owner, the notice of %s names the setting',
    (text) => {
      const { data } = routed({ ...inGroup('9'), text: `@natter ${text}` }, { agent: { names: ['natter'] } });
      expect(data).toMatchObject({
        notice: { text: expect.stringMatching(/only the owner .* Nobody is named in agent\.owners\.$/i) },
      });
    },
  );
});
