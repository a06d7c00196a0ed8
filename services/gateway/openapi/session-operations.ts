import { compactBody } from '../compacting.ts';
import { forkPlace } from '../forking.ts';
import { noQuery } from '../input.ts';
import * as control from '../routes/control.ts';
import * as events from '../routes/events.ts';
import * as messages from '../routes/messages.ts';
import { query as runQuery } from '../routes/runs.ts';
import * as sessions from '../routes/sessions.ts';
import * as answers from './answers.ts';
import type { Operation } from './operation.ts';

/** The calls about one session, and the list of all. */

const reading = ['not_found', 'quarantined'] as const;
const writing = [...reading, 'forbidden', 'precondition_failed', 'refused'] as const;
const past = [...reading, 'erased', 'history_too_long'] as const;
const conditional = ['Idempotency-Key', 'If-Match'] as const;
const taken = { 200: answers.taken, 202: answers.taken };
const at = (rest = '') => `/v1/sessions/:key${rest}`;

export const sessionOperations: readonly Operation[] = [
  {
    ...{ id: 'listSessions', method: 'get', path: '/v1/sessions', tag: 'sessions' },
    summary: 'Lists the sessions that the caller may see, newest first',
    query: sessions.listQuery,
    answers: { 200: answers.sessions },
  },
  {
    ...{ id: 'readSession', method: 'get', path: at(), tag: 'sessions' },
    summary: 'Tells of a session as it is now',
    query: noQuery,
    headers: ['If-None-Match'],
    answers: { 200: answers.session, 304: [] },
    problems: reading,
  },
  {
    ...{ id: 'patchSession', method: 'patch', path: at(), tag: 'sessions' },
    summary: 'Changes what people set for a session; null unsets',
    query: noQuery,
    headers: conditional,
    body: control.patchBody,
    answers: { 200: answers.patched, 202: answers.patched },
    problems: [...writing, 'session_unknown'],
  },
  {
    ...{ id: 'deleteSession', method: 'delete', path: at(), tag: 'sessions' },
    summary: 'Ends a session; its next message begins anew',
    query: control.deletion,
    headers: conditional,
    answers: taken,
    problems: [...writing, 'session_unknown', 'session_busy', 'session_retained'],
  },
  {
    ...{ id: 'openSession', method: 'post', path: at('/open'), tag: 'sessions' },
    summary: 'Creates a session, or makes an inactive one visible',
    query: noQuery,
    headers: conditional,
    body: control.emptyBody,
    answers: taken,
    problems: writing,
  },
  {
    ...{ id: 'stopSession', method: 'post', path: at('/stop'), tag: 'sessions' },
    summary: 'Ends the running turn and clears the queue',
    query: noQuery,
    headers: conditional,
    body: control.reasonBody,
    answers: taken,
    problems: writing,
  },
  {
    ...{ id: 'resetSession', method: 'post', path: at('/reset'), tag: 'sessions' },
    summary: 'Begins a new generation under the same key',
    query: noQuery,
    headers: conditional,
    body: control.reasonBody,
    answers: taken,
    problems: [...writing, 'session_unknown'],
  },
  {
    ...{ id: 'compactSession', method: 'post', path: at('/compact'), tag: 'sessions' },
    summary: 'Has a summary stand for what was said so far',
    query: control.waitQuery,
    headers: conditional,
    body: compactBody,
    answers: { 200: answers.begunRun, 202: answers.begunRun },
    problems: writing,
  },
  {
    ...{ id: 'checkpointSession', method: 'post', path: at('/checkpoint'), tag: 'sessions' },
    summary: 'Has what was said since the last time looked back on',
    query: noQuery,
    headers: conditional,
    body: control.emptyBody,
    answers: { 202: answers.checkpoint },
    problems: [...writing, 'session_unknown', 'introspection_disabled'],
  },
  {
    ...{ id: 'forkSession', method: 'post', path: at('/fork'), tag: 'sessions' },
    summary: 'Begins a new generation that goes on from an earlier point',
    query: noQuery,
    headers: conditional,
    body: forkPlace,
    answers: { 200: answers.forked, 202: answers.forked },
    problems: [...writing, 'session_unknown', 'fork_invalid', 'erased', 'history_too_long'],
  },
  {
    ...{ id: 'postMessage', method: 'post', path: at('/messages'), tag: 'messages' },
    summary: 'Posts a message, and waits for the answer if that is wanted',
    query: messages.postQuery,
    headers: conditional,
    body: messages.postBody,
    answers: { 200: answers.begunRun, 202: answers.begunRun },
    problems: writing,
  },
  {
    ...{ id: 'readMessages', method: 'get', path: at('/messages'), tag: 'messages' },
    summary: 'Pages what was said',
    query: messages.listQuery,
    answers: { 200: answers.messages },
    problems: reading,
  },
  {
    ...{ id: 'readRun', method: 'get', path: at('/runs/:runId'), tag: 'messages' },
    summary: 'Tells what became of a run, and waits for its end if that is wanted',
    query: runQuery,
    answers: { 200: answers.run },
    problems: reading,
  },
  {
    ...{ id: 'readCommits', method: 'get', path: at('/commits'), tag: 'sessions' },
    summary: 'Pages the log of a session as it is',
    query: sessions.commitsQuery,
    answers: { 200: answers.commits },
    problems: reading,
  },
  {
    ...{ id: 'readState', method: 'get', path: at('/state'), tag: 'sessions' },
    summary: 'Tells the state of a session, now or at a moment of its past',
    query: sessions.stateQuery,
    headers: ['If-None-Match'],
    answers: { 200: answers.state, 304: [] },
    problems: past,
  },
  {
    ...{ id: 'readDiff', method: 'get', path: at('/diff'), tag: 'sessions' },
    summary: 'Tells what became of a session between two moments',
    query: sessions.diffQuery,
    answers: { 200: answers.diff },
    problems: past,
  },
  {
    ...{ id: 'readSessionEvents', method: 'get', path: at('/events'), tag: 'events' },
    summary: 'Pages, or with `Accept: text/event-stream` follows, the events of a session',
    query: events.sessionQuery,
    headers: ['Last-Event-ID'],
    answers: { 200: [answers.events, 'text/event-stream'] },
    problems: reading,
  },
];
