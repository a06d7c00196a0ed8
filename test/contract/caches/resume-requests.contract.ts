import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ResumeRequest } from '../../../shared/domain/values/delivery.ts';
import { type CacheBroker, subjects } from '../../support/caches.ts';

export const resumeRequestsContract = (broker: () => CacheBroker): void => {
  test('whoever listens hears each request, and nothing after it has stopped or that is none', async () => {
    const [asker, hearer] = [(await broker().host()).resumeRequests, (await broker().host()).resumeRequests];
    const heard: ResumeRequest[] = [];
    const end = hearer.subscribe((request) => heard.push(request));
    const [all, one] = [{ channel: `all-${randomUUID()}` }, { channel: 'telegram', accountId: randomUUID() }];
    // A subscription takes a moment to be there.
    await vi.waitFor(() => {
      asker.send(all);
      expect(heard).toContainEqual(all);
    }, 10_000);
    broker().ephemera.publish(subjects.resume, Buffer.from('resume'));
    asker.send(one);
    await vi.waitFor(() => expect(heard).toContainEqual(one), 10_000);
    end();
    const [before, again] = [heard.length, vi.fn()];
    onTestFinished(hearer.subscribe(again));
    await vi.waitFor(() => {
      asker.send(all);
      expect(again).toHaveBeenCalled();
    }, 10_000);
    expect(heard).toHaveLength(before);
  });
};
