import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { inboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import type { Origin } from '../../../../shared/domain/values/types.ts';
import { stateAfter } from '../../../support/domain/given.ts';
import { type Change, occasionIn, receivedAt, routed } from './support.ts';

const chat = (change: Change = {}) => ({ conversation: { id: '7', kind: 'direct', ...change } });
const group = (change: Change = {}) => ({ conversation: { id: '-7', kind: 'group', ...change } });

describe('where a message comes from (A13)', () => {
  test.each<[rule: string, change: Change, origin: Origin]>([
    ['A13/132: the conversation label', group({ label: 'Team' }), { label: 'Team' }],
    ['A13/132: else the subject of a group', group({ subject: 'Plans', channel: 'x' }), { label: 'Plans' }],
    ['A13/132: else its channel', group({ channel: '#general' }), { label: '#general' }],
    [
      'A13/132, 139: the sender of a direct chat (SenderName)',
      { ...chat(), sender: { id: '42', name: 'Ann' } },
      { label: 'Ann' },
    ],
    ['A13/133: the channel is the provider', group(), { provider: 'telegram' }],
    [
      'A13/133: an extension names its own',
      { ...group(), channel: 'bridge', provider: ' Mattermost ' },
      { provider: 'mattermost' },
    ],
    ['A13/134: the ids of a direct chat', chat(), { from: '42', to: '7' }],
    ['A13/134: the ids of a group do not change with who speaks', group(), { from: '-7', to: '-7' }],
    [
      'A13/134: the raw ids of the envelope',
      { ...group(), from: 'telegram:group:-7', to: 'bot:1' },
      { from: 'telegram:group:-7', to: 'bot:1' },
    ],
    ['A13/135: the account', { ...group(), accountId: 'work' }, { accountId: 'work' }],
    ['A13/136: the thread', group({ threadId: '5' }), { threadId: '5' }],
    [
      'A2/13: subject, room and space',
      group({ subject: 's', channel: 'r', space: 'p' }),
      { subject: 's', room: 'r', space: 'p' },
    ],
    [
      'A2/15: discord:<guildSlug>#<channelSlug>',
      { ...group({ space: 'My Guild', channel: '#General Chat' }), channel: 'discord' },
      { displayName: 'discord:my-guild#general-chat' },
    ],
    ['A2/15: a room without a space', { ...group({ channel: 'general' }), channel: 'slack' }, { displayName: 'slack:#general' }],
    ['A2/13: a group with a subject', group({ subject: 'Ferien: Ärger & Spaß' }), { displayName: 'telegram:ferien-ärger--spaß' }],
    ['A2/13: a direct chat has none', { ...chat({ subject: 's' }) }, { label: undefined, displayName: undefined }],
    [
      'A13/137: what is not told is left out',
      group({ label: ' ', subject: '' }),
      { label: undefined, displayName: undefined, subject: undefined },
    ],
  ])('%s', (_, change, origin) => {
    const found = occasionIn(change).origin;
    for (const [name, value] of Object.entries(origin)) expect(found?.[name as keyof Origin], name).toBe(value);
  });

  test.each<[string, Change]>([
    ['direct messages', chat()],
    ['groups', group()],
    ['channels', { conversation: { id: 'C1', kind: 'channel' } }],
    ['what is only remembered', { ...group(), mentioned: false }],
    ['an origin alone', { ...group(), kind: 'meta', text: '' }],
    ['chat commands', { ...chat(), text: '/new' }],
  ])('A13/137, A2/14: filled for %s', (_, change) =>
    expect(occasionIn(change, { session: { dmScope: 'per-peer' } }).origin).toMatchObject({ provider: 'telegram' }),
  );

  test('A2/13: labels have a limit, and no half characters', () => {
    const { displayName } = occasionIn(group({ channel: `${'x'.repeat(246)}😀` })).origin ?? {};
    expect(displayName).toBe(`telegram:#${'x'.repeat(246)}`.slice(0, 256));
    expect(displayName?.isWellFormed()).toBe(true);
  });
});

describe('an envelope without a message (A13/138-139)', () => {
  const webhooks = { outlets: { webhooks: { telegram: { url: 'http://localhost/hook', secret: 's' } } } };
  test('A13/138: tells the origin and the way back, and asks for nothing', () => {
    const { data } = routed({ ...group({ label: 'Team' }), kind: 'meta', text: '', mentioned: true }, webhooks);
    expect(data).toMatchObject({
      type: 'record_origin',
      origin: { label: 'Team', provider: 'telegram' },
      deliverTo: { channel: 'telegram', to: '-7' },
      source: { kind: 'channel', platform: 'telegram' },
    });
    expect(data).not.toHaveProperty('message');
  });

  test('A13/138, 139: the session remembers both', () => {
    const command = routed({ ...group({ label: 'Team' }), kind: 'meta', text: '' }, webhooks);
    const { machine } = stateAfter(command);
    expect(machine.context.origin).toMatchObject({ label: 'Team' });
    expect(machine.value).toBe('idle');
  });

  test('A13/139: every label of a connector has a place in the envelope', () => {
    const labels = { label: 'ConversationLabel', subject: 'GroupSubject', channel: 'GroupChannel', space: 'GroupSpace' };
    const envelope = { id: '1', channel: 'x', ...group(labels), sender: { id: '1', name: 'SenderName' }, text: '' };
    const parsed = inboundEnvelope.parse(envelope);
    expect(parsed).toMatchObject({ conversation: labels, sender: { name: 'SenderName' } });
    expect(configSchema.parse({}).channels).toEqual({});
    expect(receivedAt).toBeGreaterThan(0);
  });
});
