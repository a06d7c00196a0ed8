import { describe, expect, test } from 'vitest';
import { type ChatCommand, chatCommandIn } from '../../../../shared/domain/routing/chat-command.ts';

const given = { triggers: ['fresh start', 'fresh', '  Neu '], names: ['natter', '@Bot'] };
const reset = (word: string, rest = ''): ChatCommand => ({ type: 'reset', word, rest });

describe('chat commands', () => {
  test.each<[string, string, ChatCommand]>([
    ['A4/53: /new', '/new', reset('/new')],
    ['A4/53: /reset', '/reset', reset('/reset')],
    ['A4/53: the remainder is passed through as it is', '/new  write\n a  poem ', reset('/new', 'write\n a  poem')],
    ['A4/53: a line break ends the word', '/new\nhello', reset('/new', 'hello')],
    ['C17: a further trigger', 'fresh', reset('fresh')],
    ['C17: with a remainder', 'Fresh air', reset('fresh', 'air')],
    ['C17: the longest trigger counts', 'fresh start now', reset('fresh start', 'now')],
    ['C17: white space around a trigger means nothing', 'neu', reset('Neu')],
    ['C17: further triggers leave the usual ones', '/reset x', reset('/reset', 'x')],
    ['A11/125: /stop', '/stop', { type: 'stop' }],
    ['A11/123: /status', ' /status\n', { type: 'status' }],
    ['A11/124: /context is its list', '/context', { type: 'context', kind: 'list' }],
    ['A11/124: /context list', '/context list', { type: 'context', kind: 'list' }],
    ['A11/124: /context detail', '/context  detail', { type: 'context', kind: 'detail' }],
    ['A9/94: /send on', '/send on', { type: 'send', value: 'on' }],
    ['A9/94: /send off', '/send off', { type: 'send', value: 'off' }],
    ['A9/94: /send inherit', '/send inherit', { type: 'send', value: 'inherit' }],
    ['B25: a setting to show', '/model', { type: 'set', word: '/model', value: '' }],
    ['B25: a setting to change', '/Name  Rome in May ', { type: 'set', word: '/name', value: 'Rome in May' }],
    ['B25: /usage', '/usage', { type: 'usage' }],
    ['B25: /help', '/HELP', { type: 'help' }],
    ['B20: /export', '/export notes.md', { type: 'export' }],
    ['A11/126: /compact', '/compact', { type: 'compact', instructions: '' }],
    ['A7/81: /checkpoint', '/Checkpoint ', { type: 'checkpoint' }],
    [
      'A11/126: with instructions, as they are',
      '/Compact  keep the\nNames ',
      { type: 'compact', instructions: 'keep the\nNames' },
    ],
    ['A5/62: /approve', '/approve k3x9abcd', { type: 'approve', approvalId: 'k3x9abcd', scope: 'once' }],
    [
      'A5/62: an id may be written in capitals',
      '/Approve K3X9abcd ONCE',
      { type: 'approve', approvalId: 'k3x9abcd', scope: 'once' },
    ],
    ['A5/62: for good', '/approve k3x9abcd always', { type: 'approve', approvalId: 'k3x9abcd', scope: 'always' }],
    ['A5/62: in a group', '@natter /approve k3x9abcd', { type: 'approve', approvalId: 'k3x9abcd', scope: 'once' }],
    ['A5/62: as Telegram writes it', '/approve@natter k3x9abcd', { type: 'approve', approvalId: 'k3x9abcd', scope: 'once' }],
    ['A5/62: /deny', '/deny K3x9abcd', { type: 'deny', approvalId: 'k3x9abcd', reason: '' }],
    [
      'A5/62: with a reason, as it is',
      '/deny k3x9abcd  Not on\nFridays',
      { type: 'deny', approvalId: 'k3x9abcd', reason: 'Not on\nFridays' },
    ],
    ['A5/62: what is missing is not guessed', '/approve', { type: 'misspelt', word: '/approve' }],
    ['A5/62: nor what is meant', '/approve k3x9abcd allways', { type: 'misspelt', word: '/approve' }],
    ['A5/62: nor by two words', '/approve k3x9abcd once more', { type: 'misspelt', word: '/approve' }],
    ['A5/62: no id', '/approve přání', { type: 'misspelt', word: '/approve' }],
    ['A5/62: a very long id', `/deny ${'k'.repeat(129)}`, { type: 'misspelt', word: '/deny' }],
    ['A5/62: a denial of nothing', '/deny', { type: 'misspelt', word: '/deny' }],
    ['A11/127: a phone writes capitals', '/Stop', { type: 'stop' }],
    ['A11/127: as does somebody who is angry', '/SEND OFF', { type: 'send', value: 'off' }],
    ['A6/75: behind a mention', '@natter /new hello', reset('/new', 'hello')],
    ['A6/75: as people speak in IRC', 'Natter: /stop', { type: 'stop' }],
    ['A6/75: a name may be configured with its @', '@bot, /status', { type: 'status' }],
    ['A6/75: the way Telegram addresses a command', '/new@natter hello', reset('/new', 'hello')],
    ['A6/75: the same of a standalone one', '/stop@BOT', { type: 'stop' }],
  ])('%s', (_, text, expected) => expect(chatCommandIn(text, given)).toEqual(expected));

  test.each([
    ['C13: /status with more', '/status please'],
    ['C13: /stop with more', '/stop it'],
    ['A9/95: /send with more', '/send on please'],
    ['A9/95: /send with another word', '/send hello'],
    ['A9/95: /send alone', '/send'],
    ['A11/124: /context with another word', '/context all'],
    ['A4/53: a longer word', '/newer'],
    ['A4/53: a command in the middle', 'please /new'],
    ['C17: a trigger as the beginning of a word', 'freshly made'],
    ['A11/126: a longer word', '/compactor'],
    ['B25: a longer word', '/models'],
    ['C13: /usage with more', '/usage of it'],
    ['C13: /help with more', '/help me'],
    ['A9/95: /checkpoint with more behind it', '/checkpoint now'],
    ['A5/62: a longer word', '/approved k3x9'],
    ['A6/75: for another bot', '/new@other'],
    ['A6/75: for another bot by mention', '@other /new'],
    ['A6/75: the beginning of a name', '@nat /new'],
    ['A6/75: a name alone', '@natter'],
    ['A6/75: an empty text', ''],
    ['A11/127: a text that is as long as may be', `/stop${' '.repeat(262_000)}x`],
  ])('an ordinary text: %s', (_, text) => expect(chatCommandIn(text, given)).toBeNull());

  test('C17: without further triggers and names nothing else is a command', () => {
    expect(chatCommandIn('/new', { triggers: [] })).toEqual(reset('/new'));
    for (const text of ['fresh', '@natter /new', '/new@natter']) expect(chatCommandIn(text, { triggers: [] })).toBeNull();
  });
});
