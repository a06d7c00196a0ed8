import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { limits } from '../../../shared/kit/limits.ts';

/** Pending approvals, and a person's answer to one of them (A5/62). */

/** The sessions of recent approvals, including answered ones, so that a late answer learns who was first. */
export class RecentApprovals {
  readonly #sessions = new LRUCache<string, SessionKey>({ max: limits.askedApprovals });

  take({ key, events }: RecordedCommit): void {
    for (const event of events) {
      const isAsked = event.type === 'approval_requested' || event.type === 'approval_resolved';
      if (isAsked) this.#sessions.set(event.approvalId, key);
    }
  }

  sessionOf(approvalId: string): SessionKey | undefined {
    return this.#sessions.get(approvalId);
  }
}
