import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalKey, type KeyContext } from '../../shared/domain/keys/legacy-key.ts';
import { bareKey, parseKey, type SessionKey } from '../../shared/domain/keys/session-key.ts';
import { listedKey, shortKey, shownKey } from '../../shared/domain/keys/shown-key.ts';
import { holds } from '../support/domain/arbitraries.ts';

/** Few and dangerous words: main keys of now and before, and beginnings of other kinds of keys. */
const words = ['main', 'work', 'global', 'cron', 'hook', 'node-a', 'dm', 'group', 'telegram', 'stored', 'agent', 'x'];
const contexts = fc.record({
  agentId: fc.constantFrom('main', 'ops'),
  mainKey: fc.constantFrom('main', 'work', 'node-a', 'stored', 'cron'),
  scope: fc.constantFrom('per-sender', 'global'),
}) as fc.Arbitrary<KeyContext>;
/** A stored key, which an older configuration may have made. */
const stored = fc
  .tuple(fc.constantFrom('main', 'ops', 'agent', 'stored'), fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }))
  .map(([agentId, segments]) => `agent:${agentId}:${segments.join(':')}` as SessionKey)
  .filter((key) => parseKey(key).kind !== 'unknown');

type Show = (key: SessionKey, context: KeyContext) => string;
const reaches =
  (show: Show) =>
  ([key, context]: [SessionKey, KeyContext]): void => {
    expect(canonicalKey(show(key, context), context)).toEqual({ key });
  };
const withoutScope: Show = (key, { agentId, mainKey }) => {
  const { kind, agentId: of } = parseKey(key, mainKey);
  return of === agentId && (kind === 'main' || kind === 'global') ? 'main' : key;
};

test('D1: a shown key leads back to its session, so that no two sessions are shown alike', () => {
  holds(
    fc.tuple(stored, contexts),
    reaches(shownKey),
    {
      'the main and the global session are both main': reaches(withoutScope),
      'an earlier main session is shown by its stored key (D2)': reaches((key, context) => {
        const shown = shownKey(key, context);
        return shown.startsWith('stored:') ? key : shown;
      }),
      'other agents have no keys of their own': reaches((key, context) =>
        shownKey(key, { ...context, agentId: parseKey(key).agentId }),
      ),
      'every key is shown short': reaches((key) => bareKey(key)),
    },
    3_000,
  );
  holds(fc.tuple(stored, contexts), reaches(shortKey), { 'every key is short': reaches((key) => bareKey(key)) }, 3_000);
  holds(fc.tuple(stored, contexts), reaches(listedKey), { 'the stored key is listed (D2)': reaches((key) => key) }, 1_000);
});

test('D1, D2: what the main session and cron sessions are called', () => {
  fc.assert(
    fc.property(stored, contexts, (key, context) => {
      const { agentId, mainKey, scope } = context;
      expect(canonicalKey(`agent:ops:main`, context)).toEqual({ key: `agent:ops:${mainKey}` });
      const main = scope === 'global' ? 'global' : mainKey;
      expect(shownKey(`agent:${agentId}:${main}` as SessionKey, context)).toBe('main');
      const parsed = parseKey(key, mainKey);
      if (parsed.kind === 'cron' && parsed.agentId === agentId) expect(shownKey(key, context)).toBe(`cron:${parsed.id}`);
    }),
  );
});
