import { describe, expect, test, vi } from 'vitest';
import type { WaitingDelivery } from '../../../../shared/domain/values/delivery.ts';
import { afterwards } from '../setup.ts';
import { goTo, hasBrowser, usePage } from './use-page.ts';

/** What the page says where a gateway is away, an answer is stopped, or a message waits. */

const soon = { timeout: 30_000, interval: 50 };
const place = (key: string): string => `#/sessions/${encodeURIComponent(key)}/chat`;

describe.skipIf(!hasBrowser)('who is interrupted', () => {
  const kept = 'agent:main:kept';
  const { rig, open } = usePage({ tools: { exec: { enabled: true } } }, async ({ client: { sessions } }) => {
    await sessions.post(kept, 'hello', { wait: 30 });
    await sessions.patch(kept, { displayName: 'The allotment' });
  });
  const field = 'Message';

  test('reads why a message waits, whose it is, what it says, and when it is tried next; and nothing false where none does', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/deliveries');
    await page.getByRole('heading', { name: 'No message waits or has failed' }).waitFor();
    const waiting: WaitingDelivery = {
      ...{ channel: 'hook', to: 'ann', state: 'waiting', until: Date.now() + 60_000 },
      ...{ detail: 'fetch failed (ECONNREFUSED)', sessionKey: kept, text: 'It is **done**.' },
    };
    const { presence } = rig().ports;
    const service = { name: 'delivery', problems: [], warnings: [], metrics: {}, waiting: [waiting] };
    const at = Date.now();
    await presence.tell({ v: 1, process: 'delivery-1', version: '0', startedAt: at, at, services: [service] });
    afterwards(() => presence.leave('delivery-1'));
    const card = page.locator('.item', { hasText: 'hook ann' });
    await card.getByText(/^fetch failed \(ECONNREFUSED\)\. Next try at .*\d/).waitFor();
    await card.getByText('“It is done.”').waitFor();
    await card.getByRole('link', { name: 'The allotment' }).waitFor();
    expect(faults).toEqual([]);
  });
});
