import { describe, expect, test } from 'vitest';
import { keyOf, post, rig } from '../rig.ts';

const [one, two, three] = [keyOf('one'), keyOf('two'), keyOf('three')];

describe('the sessions a host holds', () => {
  test('are loaded once however many commands ask at the same time', async () => {
    const { host, take } = rig();
    await Promise.all([take('post a', one), take('post b', one), take('append c', one)]);
    expect(host.counts.loads).toBe(1);
    expect(host.residents).toBe(1);
  });

  test('leave memory longest unused first, with a snapshot, and come back as they were (I4)', async () => {
    const { host, take, ports } = rig({ residents: 2 });
    await take('post a', one);
    await take('post b', two);
    await take('append c', one);
    await take('post d', three);
    expect(host.residents).toBe(2);
    expect(await ports.snapshots.get(two)).toMatchObject({ status: 'idle', position: { rev: 1 } });
    expect(await ports.snapshots.get(one)).toBeNull();
    expect(await take('append e', two)).toEqual({ kind: 'recorded' });
    expect(host.counts.commits).toBe(5);
  });

  test('stay while their turn runs; a host full of them refuses others for now (I11)', async () => {
    const { host, take, clock } = rig({ residents: 2 });
    await take(post('[[think 1000]]', 'a', one));
    await take('post b', two);
    await take(post('[[think 1000]]', 'c', three));
    expect(host.residents).toBe(2);
    await expect(take('post d', two)).rejects.toMatchObject({ code: 'overloaded' });
    await clock.pass(2_000);
    expect(await take('post d', two)).toEqual({ kind: 'recorded' });
    expect(host.residents).toBe(2);
  });

  test('are forgotten at once when their partition is lost; their turns stop (A11)', async () => {
    const { host, take, clock, events } = rig();
    await take(post('[[think 1000]]', 'a', one));
    await clock.pass(10);
    host.lose((key) => key === one);
    await clock.pass(5_000);
    expect(host.residents).toBe(0);
    expect(host.turns.running).toBe(0);
    expect(events(one).map(({ type }) => type)).not.toContain('turn_completed');
  });

  test('never act when their partition is lost while they are being loaded', async () => {
    const made = rig();
    await made.take(post('[[think 1000]]', 'a', one));
    made.restart();
    const recovering = made.host.recover(one);
    made.host.lose(() => true);
    await recovering;
    await made.clock.pass(5_000);
    expect(made.host.residents).toBe(0);
    expect(made.events(one).map(({ type }) => type)).not.toContain('turn_resumed');
  });
});

describe('the mailbox of a session', () => {
  test('takes commands in the order they came (A5/70)', async () => {
    const { take, events } = rig();
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => take(`append ${name}`)));
    const said = events().flatMap((event) => (event.type === 'user_message' ? [event.message.messageId] : []));
    expect(said).toEqual(['a', 'b', 'c', 'd']);
  });

  test('is bounded: too many waiting commands are refused for now, none is lost (I11)', async () => {
    const { take } = rig();
    await take('open');
    const outcomes = await Promise.allSettled(Array.from({ length: 300 }, (_, index) => take(`append m${index}`)));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(300 - 256);
    expect(refused[0]).toMatchObject({ reason: { code: 'overloaded' } });
  });
});
