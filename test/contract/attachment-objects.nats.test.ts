import { randomBytes } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as natsTwo } from 'nats';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openAttachments } from '../../shared/adapters/nats/attachments.ts';
import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { provision } from '../../shared/adapters/nats/provision.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { type Clock, systemClock } from '../../shared/kit/clock.ts';
import type { Attachments } from '../../shared/ports/objects/attachments.ts';
import { decodeObjectRecord, objectName } from '../../shared/wire/object-record.ts';
import { chunkSubject, objectSubject, subjectsUnder } from '../../shared/wire/subjects.ts';
import { objectStoreNames, topologyOf } from '../../shared/wire/topology.ts';
import { afterwards, onceForFile } from '../support/afterwards.ts';
import { freshKey } from '../support/domain/commits.ts';
import { digestOf } from '../support/files.ts';
import { startServer } from '../support/nats.ts';

/** ADR 27: what is in the stream of attachments itself. */

const { bucket, stream } = objectStoreNames('natter');
const requestTimeoutMs = 10_000;

const broker = onceForFile(async () => {
  const server = await startServer();
  afterwards(() => server.stop());
  const connection = await openConnection({ servers: server.url, name: 'attachments test', requestTimeoutMs });
  afterwards(() => connection.close());
  await provision(connection, topologyOf(subjectsUnder('natter'), { replicas: 1, partitions: 1 }));
  const manager = await jetstreamManager(connection);
  const open = (clock: Clock = systemClock) => openAttachments({ connection, prefix: 'natter', clock, requestTimeoutMs });
  return { server, connection, manager, open, attachments: await open() };
});

/** The subjects of an object's messages, and how many each has. */
const messagesOf = async (key: SessionKey, digest: string) => {
  const counted = async (filter: string): Promise<number[]> => {
    const { state } = await broker().manager.streams.info(stream, { subjects_filter: filter });
    return Object.values(state.subjects ?? {});
  };
  const chunks = await counted(chunkSubject(bucket, key, digest, '*'));
  return { chunks, descriptions: await counted(objectSubject(bucket, objectName(key, digest))) };
};
const nothing = { chunks: [], descriptions: [] };

/** Removes what the session has, by a process that dies before its deletion number `fails`. */
const removeUntil = async (fails: number, key: SessionKey, attachments: Attachments): Promise<void> => {
  const api = Object.getPrototypeOf(broker().manager.streams);
  const { deleteMessage } = api;
  let deletions = 0;
  const spy = vi.spyOn(api, 'deleteMessage').mockImplementation(function (this: unknown, ...given) {
    deletions += 1;
    return deletions < fails ? deleteMessage.apply(this, given) : Promise.reject(new Error('died'));
  });
  onTestFinished(() => spy.mockRestore());
  const [stored] = await attachments.of(key);
  await expect(stored && attachments.remove(stored)).rejects.toThrow('died');
  spy.mockRestore();
};

describe('an object', () => {
  test('is read, listed and missed by a plain NATS client', async () => {
    const { server, attachments } = broker();
    const [key, content] = [freshKey(), randomBytes(600_000)];
    const digest = await attachments.put(key, content);
    const client = await natsTwo({ servers: server.url });
    const store = await client.jetstream().views.os(bucket);
    const name = `${key}/${digest}`;
    expect(digestOf((await store.getBlob(name)) ?? Buffer.alloc(0))).toBe(digest);
    expect(await store.info(name)).toMatchObject({ name, size: content.length, chunks: 3, deleted: false });
    expect((await store.list()).map((each) => each.name)).toContain(name);
    for (const stored of await attachments.of(key)) await attachments.remove(stored);
    expect(await store.getBlob(name)).toBeNull();
    await client.close();
  });

  test('I2: is its chunks and one description, however many store it at once; a crash before its message leaves no second one', async () => {
    const { open, attachments } = broker();
    const [key, content] = [freshKey(), randomBytes(600_000)];
    const hosts = [attachments, await open(), await open()];
    await Promise.all([...hosts, ...hosts].map((host) => host.put(key, content)));
    const digest = await attachments.put(key, content);
    expect(await messagesOf(key, digest)).toEqual({ chunks: [3], descriptions: [1] });
  });

  test('that is wanted again after an hour is noted as wanted, and is not stored again', async () => {
    const { open, attachments } = broker();
    const [key, content] = [freshKey(), randomBytes(300_000)];
    const digest = await attachments.put(key, content);
    const later = await open({ ...systemClock, now: () => systemClock.now() + 7_200_000 });
    const [before] = await attachments.of(key);
    await later.put(key, content);
    expect(await messagesOf(key, digest)).toEqual({ chunks: [2], descriptions: [2] });
    expect(before && (await attachments.remove(before))).toBe(false);
    expect(digestOf((await attachments.get(key, digest)) ?? Buffer.alloc(0))).toBe(digest);
  });

  test('of which a chunk is not what was stored is damaged, and never handed out', async () => {
    const { connection, manager, attachments } = broker();
    const [key, content] = [freshKey(), randomBytes(300_000)];
    const digest = await attachments.put(key, content);
    const last = { last_by_subj: objectSubject(bucket, objectName(key, digest)) };
    const described = await manager.streams.getMessage(stream, last);
    const { nuid = '' } = (described && decodeObjectRecord(described.data)) ?? {};
    await jetstream(connection).publish(`$O.${bucket}.C.${nuid}`, 'more');
    await expect(attachments.get(key, digest)).rejects.toMatchObject({ code: 'damaged' });
  });
});

describe('C9: a removal', () => {
  // Three chunks, then two descriptions: the object's own, and the one that says that it is gone.
  test.each([1, 2, 3, 4, 5])('that is cut off before its deletion number %s is finished by the next', async (fails) => {
    const { attachments } = broker();
    const [key, content] = [freshKey(), randomBytes(600_000)];
    const digest = await attachments.put(key, content);
    await removeUntil(fails, key, attachments);
    expect(await attachments.get(key, digest)).toBeNull();
    // An erasure lists those of the session, the sweep all that are new.
    const { stored } = await attachments.after(0);
    for (const each of stored) if (each.digest === digest) expect(await attachments.remove(each)).toBe(true);
    expect(await messagesOf(key, digest)).toEqual(nothing);
  });

  test('that is cut off keeps nobody from storing it again', async () => {
    const { attachments } = broker();
    const [key, content] = [freshKey(), randomBytes(300_000)];
    const digest = await attachments.put(key, content);
    await removeUntil(2, key, attachments);
    await attachments.put(key, content);
    expect(digestOf((await attachments.get(key, digest)) ?? Buffer.alloc(0))).toBe(digest);
    for (const stored of await attachments.of(key)) expect(await attachments.remove(stored)).toBe(true);
    expect(await messagesOf(key, digest)).toEqual(nothing);
  });

  test('that is cut off late, of what was stored long ago, is new to the sweep', async () => {
    const { open } = broker();
    const [key, content] = [freshKey(), randomBytes(10)];
    const longAgo = await open({ ...systemClock, now: () => systemClock.now() - 30 * 86_400_000 });
    const digest = await longAgo.put(key, content);
    await removeUntil(2, key, longAgo);
    expect(await longAgo.of(key)).toEqual([]);
    const [left] = (await longAgo.after(0)).stored.filter((each) => each.digest === digest).slice(-1);
    expect(left?.at).toBeGreaterThan(systemClock.now() - 3_600_000);
  });
});
