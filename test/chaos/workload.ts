import { type SessionKey, sessionKey } from '../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../shared/domain/session/commands.ts';
import type { Random } from '../sim/random.ts';

/** Keys of all shapes: depths 1 to 6, dots, at signs, other scripts, and pairs of which one is the other's beginning. */
const shapes: readonly ((number: number) => string)[] = [
  (number) => `agent:main:telegram:group:-100${number}`,
  (number) => `agent:main:whatsapp:dm:49.170.${number}@s.whatsapp.net`,
  (number) => `agent:main:matrix:channel:#raum-${number}:example.org`,
  (number) => `agent:main:signal:dm:Grüße-世界-${number}`,
  (number) => `agent:work-${number}:main`,
  (number) => `hook:${number}`,
  (number) => `agent:main:discord:channel:${number}:topic:${number}`,
  (number) => `solo-${number}`,
];
const prefixes = ['agent', 'agent:main', 'agent:main:telegram', 'agent:main:telegram:group', 'hook'];

export const keysFor = (count: number): SessionKey[] => {
  const made = Array.from(
    { length: count },
    (_, index) => shapes[index % shapes.length]?.(Math.floor(index / shapes.length)) ?? '',
  );
  return [...prefixes, ...made].slice(0, count).map((text) => sessionKey.parse(text));
};

/** What a message asks the offline model for: most are answered at once, some take time and steps so that a fault finds turns running. */
const directives = {
  '': 62,
  '[[think 30]] ': 14,
  '[[steps 2]] ': 8,
  '[[think 120]] [[steps 2]] ': 10,
  '[[think 400]] [[steps 2]] ': 6,
};

/** What to ask of a session next. `known`: it exists already, so that a reset has something to reset. */
export const commandFrom = (random: Random, id: string, known: boolean): SessionCommand => {
  const sessionId = `chaos:${id}`;
  const sender = { id: 'chaos', name: 'Käthe' };
  const kind = random.weighted({ post: 82, append: 15, stop: known ? 2 : 0, reset: known ? 1 : 0 });
  switch (kind) {
    case 'stop':
      return { type: 'stop', reason: 'chaos' };
    case 'reset':
      return { type: 'reset', sessionId, cause: { trigger: 'api', rule: 'chaos' } };
    case 'append':
      return { type: 'append_message', sessionId, message: { messageId: id, text: `note ${id}`, sender } };
    case 'post': {
      const text = `${random.weighted(directives)}question ${id} — 世界`;
      return { type: 'post_message', sessionId, message: { messageId: id, text, sender } };
    }
  }
};
