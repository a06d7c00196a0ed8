import { describe, expect, test } from 'vitest';
import { goTo, hasBrowser, usePage } from './use-page.ts';

/** What somebody stumbled over who had found the way. */

const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

describe.skipIf(!hasBrowser)('who uses the page again', () => {
  const asking = 'agent:main:asking';
  const { rig, open } = usePage({ tools: { exec: { enabled: true } } }, async ({ client: { sessions } }) => {
    await sessions.post(asking, '[[tool exec {"command": ["true"]}]] please', {});
  });

  test('reads in every view that the page denied, and who said what', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/approvals');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('The call was denied on the page by the owner.').waitFor();
    await goTo(page, '#/events');
    await page.locator('.event-text', { hasText: 'denied by you' }).waitFor();
    await page.locator('.event-text', { hasText: /^A program \(API\): / }).waitFor();
    const other = await open();
    await goTo(other.page, place(asking, 'chat'));
    await other.page.getByText('Denied on the page by the owner').waitFor();
    const { events } = await rig().client.get<{ events: readonly { type: string; by?: string }[] }>('/v1/events', {
      query: { type: 'approval_resolved' },
    });
    expect(events.map(({ by }) => by)).toEqual([expect.stringMatching(/^token:page:owner:[a-z0-9]{12}$/)]);
    expect([...faults, ...other.faults]).toEqual([]);
  });
});
