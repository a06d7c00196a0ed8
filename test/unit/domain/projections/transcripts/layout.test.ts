import { basename, join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exportStore, storeOf, transcriptName } from '../../../../../shared/domain/projections/transcript-layout.ts';
import { keyOf } from '../../../../support/domain/commits.ts';
import { runs } from '../../../../support/runs.ts';

const main = keyOf('agent:main:main');
const topic = (id: string) => keyOf(`agent:main:telegram:group:-100:topic:${id}`);

describe('names of transcripts', () => {
  test.each([
    ['A2/9', main, '0198c5c5-1f0a-7d9c-b1d7-1f0a7d9cb1d7', '0198c5c5-1f0a-7d9c-b1d7-1f0a7d9cb1d7.jsonl'],
    ['A2/9', main, 'telegram:2026-03-04-1a2b', 'telegram%3A2026-03-04-1a2b.jsonl'],
    ['A2/9', main, 'cli:work#2', 'cli%3Awork#2.jsonl'],
    ['A2/10', topic('42'), 's1', 's1-topic-42.jsonl'],
    ['A2/10', topic('a/b'), 's1', 's1-topic-a%2Fb.jsonl'],
    ['A2/10', main, 's1-topic-42', 's1%2Dtopic-42.jsonl'],
    ['A2/9', main, '../../etc/passwd', '%2E.%2F..%2Fetc%2Fpasswd.jsonl'],
    ['A2/9', main, '..', '%2E..jsonl'],
    ['A2/9', main, 'a\\b\0c\n', 'a%5Cb%00c%0A.jsonl'],
    ['A2/9', main, 'Ünï', '%C3%9Cn%C3%AF.jsonl'],
    ['A2/9', main, '', '%.jsonl'],
  ])('%s: of %s with id %j it is %s', (_, key, sessionId, name) => {
    expect(transcriptName(key, sessionId)).toBe(name);
  });

  const id = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 140 }),
    fc.string({ unit: fc.constantFrom('-topic-', '-', 'topic-', '.', '/', '%', '~', 'a', 'A', ':', '2D'), maxLength: 40 }),
  );
  const place = fc.record({ sessionId: id, thread: fc.option(fc.stringMatching(/^[aA./~-]{1,4}(-topic-[a1])?$/)) });
  const nameOf = ({ sessionId, thread }: { sessionId: string; thread: string | null }) =>
    transcriptName(thread === null ? main : topic(thread), sessionId);

  test('A2/9–10: a name is one file of the folder, whatever the id is, and no two ids share one, even where capitals do not count', () => {
    fc.assert(
      fc.property(place, place, (one, other) => {
        const name = nameOf(one);
        expect(basename(resolve('/store', name))).toBe(name);
        expect(join('/store', name)).toBe(`/store/${name}`);
        expect(name).toMatch(/^[a-z0-9%~_@+=#,-][A-Za-z0-9%~._@+=#,-]*\.jsonl$/);
        expect(name.length).toBeLessThanOrEqual(255);
        const same = one.sessionId === other.sessionId && one.thread === other.thread;
        expect(nameOf(other).toLowerCase() === name.toLowerCase()).toBe(same);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('A2/9: an id of usual length can be read from its name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 8 }), (sessionId) => {
        fc.pre(sessionId !== '');
        expect(decodeURIComponent(transcriptName(main, sessionId).replace(/\.jsonl$/, ''))).toBe(sessionId);
      }),
    );
  });
});

describe('session.store', () => {
  test.each([
    ['/m/{agentId}/sessions/sessions.json', 'main', '/m/main/sessions', '/m/main/sessions/sessions.json'],
    ['/m/{agentId}', 'main', '/m/main', '/m/main/sessions.json'],
    ['/m/{agentId}', 'v1.json', '/m/v1.json', '/m/v1.json/sessions.json'],
    ['/m/all.json', 'main', '/m', '/m/all.json'],
    ['/m/{agentId}/x', '../..', '/m/%2E.%2F../x', '/m/%2E.%2F../x/sessions.json'],
    ['/m/{agentId}', '', '/m/%', '/m/%/sessions.json'],
    ['/m/{agentId}', '$&', '/m/%24%26', '/m/%24%26/sessions.json'],
  ])('A2/19: %s of agent %j is the folder %s', (store, agentId, folder, map) => {
    expect(storeOf(store, agentId)).toEqual({ folder, map });
  });

  test('A2/8, C12: an export has the layout of the store', () => {
    expect(storeOf(exportStore('/out'), 'main').map).toBe('/out/agents/main/sessions/sessions.json');
  });
});
