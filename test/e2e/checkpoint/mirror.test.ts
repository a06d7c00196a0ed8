import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { seenAt } from '../../support/domain/commits.ts';
import { filesUnder, openHouse, until } from './mirror-rig.ts';

const main = 'agent:main:main';
const topic = 'agent:main:telegram:group:-100:topic:42';
const folder = 'agents/main/sessions';
const transcripts = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).filter(([name]) => name.endsWith('.jsonl')));
const linesIn = (text = ''): any[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const textsIn = (text?: string): string[] => linesIn(text).flatMap(({ content }) => content?.[0].text ?? []);

const reset = (key: string, sessionId: string) =>
  [key, { type: 'reset', sessionId, cause: { trigger: 'api', rule: 'asked' } }] as const;

describe('the mirror', () => {
  test('A2/8–12, 16, 19: it is what `natter export` writes, with answers, topics and resets', async () => {
    const { mirrored, home, startMirror, say, send, call, natterExport, settled } = await openHouse();
    const mirror = await startMirror();
    await call('POST', `/v1/sessions/${main}/messages?wait=5`, { body: { text: 'hello', messageId: 'm' } });
    await say(topic, 'in a topic', 'telegram:2026-03-04-x');
    await send(...reset(main, 'second'));
    await say(main, 'anew');
    await say('agent:Other/../x:main', 'elsewhere', '../../escape');
    await settled(mirror);

    const files = filesUnder(mirrored);
    const first = Object.keys(files).find((name) => /sessions\/api%3A[0-9a-f-]+\.jsonl$/.test(name)) ?? '';
    expect(Object.keys(files).sort()).toEqual(
      [
        first,
        `${folder}/second.jsonl`,
        `${folder}/telegram%3A2026-03-04-x-topic-42.jsonl`,
        `${folder}/sessions.json`,
        'agents/%4Fther%2F..%2Fx/sessions/%2E.%2F..%2Fescape.jsonl',
        'agents/%4Fther%2F..%2Fx/sessions/sessions.json',
      ].sort(),
    );
    expect(linesIn(files[first])).toMatchObject([
      { type: 'session', key: main, generation: 1 },
      { type: 'message', role: 'user', content: [{ type: 'text', text: 'hello' }] },
      { type: 'message', role: 'assistant', usage: { totalTokens: expect.any(Number) } },
    ]);
    expect(linesIn(files[`${folder}/second.jsonl`])).toMatchObject([{ generation: 2, sessionId: 'second' }, { role: 'user' }]);
    const map = JSON.parse(files[`${folder}/sessions.json`] ?? '');
    expect(Object.keys(map)).toEqual([main, topic]);
    expect(map[main]).toMatchObject({ sessionId: 'second', updatedAt: expect.any(Number), totalTokens: 0, generation: 2 });

    const out = join(home, 'export');
    const report = JSON.parse(await natterExport('--out', out, '--json'));
    expect(report).toEqual({ folder: out, sessions: 3, lines: 9, skipped: [] });
    const exported = filesUnder(out);
    expect(transcripts(exported)).toEqual(transcripts(files));
    const relocated = (files[`${folder}/sessions.json`] ?? '').replaceAll(mirrored, out);
    expect(exported[`${folder}/sessions.json`]).toBe(relocated);
    await natterExport('--out', out);
    expect(filesUnder(out), 'an export again into the same folder').toEqual(exported);
  });

  test('A2/16: one session, or one generation of it, on standard output; what is not there is said', async () => {
    const { say, send, natterExport } = await openHouse();
    await say(main, 'one', 'a');
    await send(...reset(main, 'b'));
    await say(main, 'two');
    expect(textsIn(await natterExport(main))).toEqual(['one', 'two']);
    const second = linesIn(await natterExport(main, '--generation', '2'));
    expect(second.map(({ sessionId, role }) => sessionId ?? role)).toEqual(['b', 'user']);
    await expect(natterExport(main, '--generation', '3')).rejects.toMatchObject({ code: 'not_found' });
    await expect(natterExport('agent:main:nobody')).rejects.toMatchObject({ code: 'not_found' });
    await expect(natterExport('--generation', '1')).rejects.toMatchObject({ code: 'invalid' });
  });

  test('A2/8, 16: one session has the same files under its short key as under its stored one', async () => {
    const { home, say, natterExport } = await openHouse();
    await say(main, 'one', 'a');
    const [short, stored] = [join(home, 'short'), join(home, 'stored')];
    await natterExport('main', '--out', short);
    await natterExport(main, '--out', stored);
    expect(Object.keys(filesUnder(short))).toEqual([`${folder}/a.jsonl`]);
    expect(filesUnder(short)).toEqual(filesUnder(stored));
  });

  test('B20: one session as Markdown, on standard output or in a new file', async () => {
    const { home, say, natterExport } = await openHouse();
    await say(main, 'one', 'a');
    const text = await natterExport('main', '--markdown');
    expect(text).toMatch(/^# main\n\nSession `agent:main:main`\n\n## ann, \d{4}-[^\n]*Z\n\none\n$/i);
    const file = join(home, 'chat.md');
    await natterExport('main', '--markdown', '--out', file);
    expect(readFileSync(file, 'utf8')).toBe(text);
    await expect(natterExport('main', '--markdown', '--out', file)).rejects.toMatchObject({ code: 'invalid' });
    await expect(natterExport('--markdown')).rejects.toMatchObject({ code: 'invalid' });
  });

  test('A2/9: folders and files are the user’s alone', async () => {
    const { mirrored, startMirror, say, settled } = await openHouse();
    const mirror = await startMirror();
    await say(main, 'private');
    await settled(mirror);
    for (const name of Object.keys(filesUnder(mirrored))) {
      const path = join(mirrored, name);
      expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
    }
  });

  test('A2/12, 16: after restarts, crashes before the cursor was written, and a torn line nothing is missing or twice', async () => {
    const { mirrored, startMirror, say, ports, memory, settled, natterExport } = await openHouse();
    const path = join(mirrored, folder, 'a.jsonl');
    const early = await startMirror();
    await say(main, 'one', 'a');
    await settled(early);
    await early.stop(2_000);
    await say(main, 'two');

    // The files are written and the process dies before the position is. Other readers write theirs.
    const all = memory.portsFor('crash').cursors;
    const put: typeof all.put = async (name, seen) =>
      name.startsWith('checkpoint-mirror') ? Promise.reject(new Error('killed')) : all.put(name, seen);
    const cursors = { ...all, put };
    const crashing = await startMirror({ cursors });
    await until(() => expect(textsIn(readFileSync(path, 'utf8'))).toEqual(['one', 'two']));
    await until(() => expect(crashing.metrics().mirror_healthy).toBe(0));
    expect(crashing.problems(), 'a copy that cannot be written leaves the system ready').toEqual([]);
    await crashing.stop(2_000);
    appendFileSync(path, '{"type":"message","id":"99.0","content":[{"text":"half a li');
    await say(main, 'three');

    const again = await startMirror();
    await settled(again);
    await again.stop(2_000);
    expect(textsIn(readFileSync(path, 'utf8'))).toEqual(['one', 'two', 'three']);
    expect(readFileSync(path, 'utf8')).toBe(await natterExport(main));

    // The positions are lost, as with the bucket they are in.
    const from0 = { ...ports.cursors, get: async () => seenAt(0) };
    const fresh = await startMirror({ cursors: from0 });
    await say(main, 'four');
    await settled(fresh);
    expect(readFileSync(path, 'utf8')).toBe(await natterExport(main));
  });

  test('A4/56, 59: a file or map that somebody removes changes nothing in Natter and comes back whole', async () => {
    const { mirrored, startMirror, say, settled, call, natterExport } = await openHouse();
    const path = join(mirrored, folder, 'a.jsonl');
    const mirror = await startMirror();
    await say(main, 'one', 'a');
    await settled(mirror);
    rmSync(mirrored, { recursive: true });
    expect((await call('GET', `/v1/sessions/${main}/messages`)).body.messages).toHaveLength(1);
    await say(main, 'two');
    await settled(mirror);
    expect(textsIn(readFileSync(path, 'utf8'))).toEqual(['one', 'two']);
    expect(readFileSync(path, 'utf8')).toBe(await natterExport(main));
    expect(JSON.parse(readFileSync(join(mirrored, folder, 'sessions.json'), 'utf8'))).toHaveProperty([main]);
  });

  test('A4/56, A2/12, C9: a deleted key leaves the map, its transcript stays, and the next message begins anew', async () => {
    const { mirrored, startMirror, say, settled, call } = await openHouse();
    const mirror = await startMirror();
    const map = () => JSON.parse(readFileSync(join(mirrored, folder, 'sessions.json'), 'utf8'));
    await say(main, 'one', 'a');
    await say(topic, 'other', 'b');
    await settled(mirror);
    expect((await call('DELETE', `/v1/sessions/${main}?mode=key`)).status).toBe(200);
    await settled(mirror);
    expect(Object.keys(map())).toEqual([topic]);
    expect(textsIn(readFileSync(join(mirrored, folder, 'a.jsonl'), 'utf8'))).toEqual(['one']);
    await say(main, 'two', 'a');
    await settled(mirror);
    expect(map()[main]).toMatchObject({ sessionId: 'a#2', generation: 2 });
    const written = Object.values(transcripts(filesUnder(mirrored))).flatMap(textsIn);
    expect(written.sort()).toEqual(['one', 'other', 'two']);
  });

  test('C9, A2/9: erasure removes every transcript of the key and of no other, also where ids are the same', async () => {
    const { mirrored, startMirror, say, send, settled, ports, memory } = await openHouse();
    const other = 'agent:main:cli:other';
    const mirror = await startMirror();
    await say(main, 'canary one', 'same');
    await say(other, 'stays', 'same');
    await send(...reset(main, 'b'));
    await say(main, 'canary two');
    await settled(mirror);
    expect(Object.keys(transcripts(filesUnder(mirrored)))).toHaveLength(3);
    writeFileSync(join(mirrored, folder, 'notes.jsonl'), 'not ours');

    const erase = () => send(main, { type: 'delete_session', mode: 'erased', reason: 'asked' });
    await erase();
    await settled(mirror);
    const files = filesUnder(mirrored);
    expect(Object.values(files).join()).not.toContain('canary');
    expect(textsIn(Object.entries(files).find(([name]) => name.includes('same'))?.[1])).toEqual(['stays']);
    expect(files[`${folder}/notes.jsonl`]).toBe('not ours');
    expect(Object.keys(JSON.parse(files[`${folder}/sessions.json`] ?? ''))).toEqual([other]);

    // What came and was erased while nobody looked is not written at all; what comes after it is.
    await mirror.stop(2_000);
    await say(main, 'canary three', 'c');
    await erase();
    await memory.eraser.erase(main as SessionKey, (await ports.events.last(main as SessionKey))?.seq ?? 0);
    await say(main, 'after', 'c');
    const next = await startMirror({ cursors: { ...ports.cursors, get: async () => seenAt(0) } });
    await settled(next);
    const after = filesUnder(mirrored);
    expect(Object.values(after).join()).not.toContain('canary');
    const begunAfter = Object.entries(after).find(([name]) => name.startsWith(`${folder}/c`))?.[1];
    expect(textsIn(begunAfter)).toEqual(['after']);
  });

  test('A2/8: many sessions at once, more than there may be open files', async () => {
    const { mirrored, startMirror, say, settled } = await openHouse();
    const names = [...Array(80).keys()].map((number) => `agent:main:cli:n${number}`);
    for (const name of names) await say(name, 'hello', name.slice(11));
    const mirror = await startMirror();
    await settled(mirror);
    expect(Object.keys(transcripts(filesUnder(mirrored)))).toHaveLength(80);
    expect(mirror.metrics()).toMatchObject({ mirror_lines_total: 160, mirror_healthy: 1, mirror_active: 1 });
  });
});
