import { z } from 'zod';
import { channelNameOf } from '../../../shared/domain/values/channel-name.ts';
import { method, type Operation, operation } from '../operation/operation.ts';
import { route } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { approvePairing, denyPairing, listPairings, revokePairing } from './pairing.ts';
import * as results from './results.ts';

/** Pairing, for the owner. Not for MCP: a model must not let anybody in. */

const channel = z.string().min(1).max(64).overwrite(channelNameOf);
const codeBody = z.strictObject({ channel, code: z.string().min(1).max(64) });
const senderBody = z.strictObject({ channel, senderId: z.string().min(1).max(256) });

const { channel: from, senderId, code } = samples.pairingRequest;
const decision = { body: { channel: from, code } };

export const pairingOperations: readonly Operation[] = [
  operation(listPairings, {
    ...{ id: 'listPairings', tag: 'access', changes: 'nothing' },
    summary: 'Lists strangers who wait for approval, and senders who were approved',
    http: route({
      ...{ method: 'get', path: '/v1/pairing' },
      answers: { 200: results.pairingList },
      examples: { answer: { requests: [samples.pairingRequest], paired: [samples.pairedSender] } },
      problems: ['forbidden'],
      input: () => null,
    }),
    rpc: method({ name: 'pairing.list', parameters: z.strictObject({}), input: () => null }),
  }),
  operation(approvePairing, {
    ...{ id: 'approvePairing', tag: 'access', changes: 'sessions' },
    summary: 'Lets the stranger with this code write direct messages',
    http: route({
      ...{ method: 'post', path: '/v1/pairing/approve', body: codeBody },
      answers: { 200: results.approvedSender },
      examples: { ...decision, answer: samples.pairedSender },
      problems: ['forbidden', 'not_found', 'overloaded'],
      input: ({ body }) => body,
    }),
    rpc: method({ name: 'pairing.approve', parameters: codeBody, input: (given) => given }),
  }),
  operation(denyPairing, {
    ...{ id: 'denyPairing', tag: 'access', changes: 'sessions' },
    summary: 'Denies the stranger with this code, who gets no other code while it would be valid',
    http: route({
      ...{ method: 'post', path: '/v1/pairing/deny', body: codeBody },
      answers: { 200: results.deniedOrRevoked },
      examples: { ...decision, answer: { channel: from, senderId } },
      problems: ['forbidden', 'not_found', 'overloaded'],
      input: ({ body }) => body,
    }),
    rpc: method({ name: 'pairing.deny', parameters: codeBody, input: (given) => given }),
  }),
  operation(revokePairing, {
    ...{ id: 'revokePairing', tag: 'access', changes: 'sessions' },
    summary: 'Takes back that a sender was approved',
    http: route({
      ...{ method: 'post', path: '/v1/pairing/revoke', body: senderBody },
      answers: { 200: results.deniedOrRevoked },
      examples: { body: { channel: from, senderId }, answer: { channel: from, senderId } },
      problems: ['forbidden', 'not_found'],
      input: ({ body }) => body,
    }),
    rpc: method({ name: 'pairing.revoke', parameters: senderBody, input: (given) => given }),
  }),
];
