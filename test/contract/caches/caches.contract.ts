import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import type { CacheBroker } from '../../support/caches.ts';
import { answersContract } from './answers.contract.ts';
import { attachmentsContract } from './attachments.contract.ts';
import { auditLogContract } from './audit-log.contract.ts';
import { cursorsContract } from './cursors.contract.ts';
import { custodyLogContract } from './custody-log.contract.ts';
import { deadLettersContract } from './dead-letters.contract.ts';
import { leasesContract } from './leases.contract.ts';
import { liveContract } from './live.contract.ts';
import { memoryStoreContract } from './memory-store.contract.ts';
import { newCallsContract } from './new-calls.contract.ts';
import { pairingsContract } from './pairings.contract.ts';
import { presenceContract } from './presence.contract.ts';
import { resumeRequestsContract } from './resume-requests.contract.ts';
import { sessionIndexContract } from './session-index.contract.ts';
import { snapshotsContract } from './snapshots.contract.ts';
import { readMarksContract, tokensContract } from './tokens.contract.ts';

/** All ports for caches, leases and ephemera, against one kind of broker. */
export const cachesContract = (name: string, open: () => Promise<CacheBroker>): void => {
  describe(name, () => {
    let opened: CacheBroker;
    const broker = (): CacheBroker => opened;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    describe('snapshots', () => snapshotsContract(broker));
    describe('session index', () => {
      beforeEach(() => opened.emptyIndex());
      sessionIndexContract(broker);
    });
    describe('cursors', () => cursorsContract(broker));
    describe('tokens', () => tokensContract(broker));
    describe('new calls', () => newCallsContract(broker));
    describe('read marks', () => readMarksContract(broker));
    describe('pairings', () => pairingsContract(broker));
    describe('memory', () => memoryStoreContract(broker));
    describe('leases', () => leasesContract(broker));
    describe('answers', () => answersContract(broker));
    describe('live text', () => liveContract(broker));
    describe('requests to resume', () => resumeRequestsContract(broker));
    describe('custody log', () => custodyLogContract(broker));
    describe('dead letters', () => deadLettersContract(broker));
    describe('audit trail', () => auditLogContract(broker));
    describe('attachments', () => attachmentsContract(broker));
    describe('presence', () => presenceContract(broker));
  });
};
