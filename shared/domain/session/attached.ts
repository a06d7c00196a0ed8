import type { RecordedCommit } from './envelope.ts';

/** The digests of the attachments whose content Natter keeps for the messages of a commit (ADR 27). */
export const attachedIn = ({ events }: Pick<RecordedCommit, 'events'>): string[] =>
  events.flatMap((event) =>
    event.type === 'user_message' ? (event.message.attachments ?? []).flatMap(({ digest }) => digest ?? []) : [],
  );
