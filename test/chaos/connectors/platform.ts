import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listener } from '../../support/listener.ts';

/** What a person wrote in a group: the platform's own id, unique in its chat, and its place there, from 1. */
export interface Post {
  readonly id: string;
  readonly chat: string;
  readonly number: number;
  readonly text: string;
}
/** A post as it is handed over. A repeat of it is an update of its own. */
export interface Update {
  readonly updateId: number;
  readonly post: Post;
}

export interface RepeatingPlatform {
  readonly url: string;
  readonly posts: readonly Post[];
  /** Calls for updates so far. */
  calls(): number;
  /** Updates that the connector has confirmed. */
  confirmed(): number;
  /** Updates that it has and has not confirmed. */
  inHand(): number;
  /** Updates that were handed over again, because the connector had not confirmed them when it asked again. */
  handedAgain(): number;
  /** All posts and their repeats were handed over and confirmed. */
  isDone(): boolean;
  close(): Promise<void>;
}

export interface RepeatingPlatformOptions {
  readonly posts: number;
  readonly chats: number;
  /** Between two posts, over all chats. */
  readonly everyMs: number;
  /** How long after a post it comes again. */
  readonly repeatsMs: readonly number[];
}

/** Updates of one answer: so few that a life of the connector is long enough for some. */
const batch = 25;

/**
 * A chat platform that keeps updates until they are confirmed, as Telegram does: `GET /?offset=N` confirms all before update N and returns
 * the next ones, none if there are none. And each post comes again, as if the platform had forgotten that it was confirmed.
 */
export const startRepeatingPlatform = async (options: RepeatingPlatformOptions): Promise<RepeatingPlatform> => {
  const { posts: count, chats, everyMs, repeatsMs } = options;
  const posts = Array.from({ length: count }, (_, index): Post => {
    const [chat, number] = [`-100${index % chats}`, Math.floor(index / chats) + 1];
    return { id: `${number}`, chat, number, text: `${index % 10 === 0 ? '@natter ' : ''}post ${number} in ${chat}` };
  });
  const scheduled = posts
    .flatMap((post, index) => [0, ...repeatsMs].map((laterMs) => ({ post, dueMs: index * everyMs + laterMs })))
    .sort((one, other) => one.dueMs - other.dueMs);
  const began = performance.now();
  /** Updates before `confirmed` are gone, those before `handed` are in hand. */
  let [confirmed, handed, again, calls] = [0, 0, 0, 0];

  const answer = (offset: number): Update[] => {
    calls += 1;
    confirmed = Math.max(confirmed, offset);
    const now = performance.now() - began;
    const end = scheduled.findIndex(({ dueMs }) => dueMs > now);
    const given = scheduled.slice(confirmed, Math.min(end === -1 ? scheduled.length : end, confirmed + batch));
    again += Math.max(0, Math.min(handed, confirmed + given.length) - confirmed);
    handed = Math.max(handed, confirmed + given.length);
    return given.map(({ post }, index) => ({ updateId: confirmed + index, post }));
  };
  const server = createServer(
    listener(async (request, response) => {
      const offset = Number(new URL(request.url ?? '/', 'http://platform').searchParams.get('offset'));
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(offset)));
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    posts,
    calls: () => calls,
    confirmed: () => confirmed,
    inHand: () => handed - confirmed,
    handedAgain: () => again,
    isDone: () => confirmed === scheduled.length,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
