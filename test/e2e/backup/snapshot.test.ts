import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveWriter, type Entry } from '../../../services/cli/backup/archive.ts';
import { makeFromSnapshot, takeSnapshot } from '../../../services/cli/backup/snapshot.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { afterwards } from '../../support/afterwards.ts';
import { broker } from './rig.ts';

const connected = async (): Promise<NatsConnection> => {
  const { url } = await broker();
  const connection = await openConnection({ servers: url, name: 'test', requestTimeoutMs: 5_000 });
  afterwards(() => connection.close());
  return connection;
};
const entriesOf = async (connection: NatsConnection, stream: string) => {
  const reader = new ArchiveReader();
  const entries: Entry[] = [];
  const snapshot = await takeSnapshot(connection, stream, async (piece) => {
    // What is read must not depend on where the pieces end.
    const middle = Math.floor(piece.length / 3);
    entries.push(...reader.push(piece.subarray(0, middle)), ...reader.push(piece.subarray(middle)));
  });
  reader.end();
  return { snapshot, entries: entries.filter(({ seq }) => seq > 0) };
};
/** Payloads as a packer meets them: empty, random, repeated near and far, long runs. */
const payloads: readonly Buffer[] = fc
  .sample(
    fc.record({
      unit: fc.uint8Array({ minLength: 0, maxLength: 400 }),
      times: fc.nat(300),
      tail: fc.uint8Array({ maxLength: 5_000 }),
    }),
    { numRuns: 200, seed: 7 },
  )
  .map(({ unit, times, tail }) => Buffer.concat([...Array<Uint8Array>(times).fill(unit), tail, unit]));

test('a snapshot of a real broker is read byte for byte, and a stream made of it is the same, with its gaps and further on', async () => {
  const connection = await connected();
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  const config = { name: 'PLAIN', subjects: ['plain.*'] };
  await manager.streams.add(config);
  for (const [n, payload] of payloads.entries()) await client.publish(`plain.${n}`, payload, { msgID: `id ${n}` });
  await manager.streams.deleteMessage('PLAIN', 7);
  const { snapshot, entries } = await entriesOf(connection, 'PLAIN');
  expect(snapshot.state).toMatchObject({ messages: payloads.length - 1, first_seq: 1, last_seq: payloads.length });
  expect(entries.map(({ seq }) => seq)).toEqual(payloads.flatMap((_, n) => (n === 6 ? [] : n + 1)));
  for (const { seq, name, header, payload } of entries) {
    expect(name).toBe(`plain.${seq - 1}`);
    expect(header.toString()).toContain(`Nats-Msg-Id: id ${seq - 1}\r\n`);
    expect(payload.equals(payloads[seq - 1] as Buffer)).toBe(true);
  }

  await manager.streams.delete('PLAIN');
  async function* pieces(): AsyncGenerator<Buffer> {
    const writer = new ArchiveWriter();
    yield writer.start(state);
    for (const entry of entries) {
      const piece = writer.add(entry);
      if (piece !== null) yield piece;
    }
    yield writer.end();
  }
  const state = { ...snapshot.state, last_seq: 10_000_000 };
  await makeFromSnapshot(connection, { config, state }, pieces());
  const again = await entriesOf(connection, 'PLAIN');
  expect(again.entries).toEqual(entries);
  expect((await client.publish('plain.new', 'after')).seq).toBe(10_000_001);
});

test('an archive that is changed, cut off or continued anywhere is refused', () => {
  const writer = new ArchiveWriter();
  const entry = (seq: number): Entry => ({
    ...{ name: `a.${seq}`, seq, timeNanos: 1_700_000_000_000_000_001n, header: Buffer.alloc(0) },
    payload: Buffer.from(`message ${seq} `.repeat(seq)),
  });
  const start = writer.start({ messages: 3, bytes: 0, first_seq: 1, last_seq: 3 });
  for (const seq of [1, 2, 3]) writer.add(entry(seq));
  const whole = Buffer.concat([start, writer.end()]);
  const read = (bytes: Buffer): Entry[] => {
    const reader = new ArchiveReader();
    const entries = reader.push(bytes);
    reader.end();
    return entries;
  };
  expect(read(whole).slice(1)).toEqual([1, 2, 3].map(entry));
  for (let length = 0; length < whole.length; length++)
    expect(() => read(whole.subarray(0, length))).toThrow(/not a|older broker/);
  // The first ten bytes name the format; a reader may skip what it does not know there.
  for (let at = 10; at < whole.length; at++) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => read(changed), `byte ${at}`).toThrow(/not a/);
  }
  expect(() => read(Buffer.concat([whole, whole.subarray(10)]))).toThrow(/not a/);
});
