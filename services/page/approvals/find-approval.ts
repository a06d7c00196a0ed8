import { useEffect, useState } from 'preact/hooks';
import type { EventPage, NatterEvent } from '../../../shared/client/main.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import { client, isApprover, problemOf } from '../base/signed-in.ts';
import { type Answered, answeredIn } from './answered.ts';

/** A question that was asked at some time, and its answer, if it has one. */
export interface FoundApproval {
  readonly asked: NatterEvent & EventOf<'approval_requested'>;
  readonly answer: Answered | undefined;
}

const pageEvents = 1_000;

/** Looks for an approval in the log, from its end backwards; `null`: it is not there. */
const findApproval = async (approvalId: string, signal: AbortSignal): Promise<FoundApproval | null> => {
  const about: NatterEvent[] = [];
  const type = ['approval_requested', 'approval_resolved'];
  for (let before = 'end'; ; ) {
    const query = { before, limit: pageEvents, type };
    const { events, next, more } = await client.get<EventPage>('/v1/events', { query, signal });
    about.push(...events.filter((event) => 'approvalId' in event && event.approvalId === approvalId));
    const asked = about.find((event) => event.type === 'approval_requested');
    if (asked !== undefined) return { asked, answer: answeredIn(about)[0] };
    if (!more) return null;
    before = next;
  }
};

type Search =
  | { readonly state: 'looking' | 'unseen' }
  | { readonly state: 'done'; readonly found: FoundApproval | null }
  | { readonly state: 'problem'; readonly text: string };

/** The search for an approval that does not wait. Who may only approve reads no log: `unseen`. */
export const useFoundApproval = (approvalId: string): Search => {
  const [search, set] = useState<Search>({ state: 'looking' });
  useEffect(() => {
    if (isApprover()) return set({ state: 'unseen' });
    const controller = new AbortController();
    const { signal } = controller;
    set({ state: 'looking' });
    findApproval(approvalId, signal).then(
      (found) => set({ state: 'done', found }),
      (error: unknown) => {
        if (!signal.aborted) set({ state: 'problem', text: problemOf(error) });
      },
    );
    return () => controller.abort();
  }, [approvalId]);
  return search;
};
