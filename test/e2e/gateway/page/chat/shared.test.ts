import { describe, expect, test } from 'vitest';
import { fragmentOfLink } from '../../../../../shared/kit/text/share-link.ts';
import { goTo, hasBrowser, usePage } from '../use-page.ts';

const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

describe.skipIf(!hasBrowser)('a page that is open by a link to a session', () => {
  const { rig, openTab } = usePage({}, async () => {});

  test.each(['chat', 'transcript', 'time'])('shows nothing of it (%s) once the session is deleted', async (tab) => {
    const { client, url } = rig();
    const key = `agent:main:shared-${tab}`;
    await client.sessions.post(key, 'a robin', { wait: 30 });
    const { token } = await client.post<{ token: string }>('/v1/tokens', { role: 'viewer', sessionKey: key });
    const { page, faults } = await openTab();
    await page.goto(`${url}/${fragmentOfLink(token)}`);
    await page.locator('.said', { hasText: 'a robin' }).first().waitFor();
    await goTo(page, place(key, tab));
    await page
      .locator({ chat: '.said', transcript: '.line', time: '.moment .happened' }[tab] ?? '')
      .first()
      .waitFor();
    await client.sessions.delete(key);
    await page.getByText('This link to a shared session no longer works').waitFor();
    expect(await page.getByText('robin').count()).toBe(0);
    expect(await page.locator('.session').count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
