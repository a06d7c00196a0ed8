import { z } from 'zod';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { limitNumber, limitParameter, sequenceParameter } from '../http/input.ts';
import { method, type Operation, operation } from '../operation/operation.ts';
import { route } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { readConfig } from './config.ts';
import { findProblems } from './doctor.ts';
import { listHosts } from './hosts.ts';
import { readLog } from './log.ts';
import { readMetricHistory } from './metric-history.ts';
import * as results from './results.ts';
import { listSkills } from './skills.ts';

/** What people look at to understand the system itself. All of it only reads. Not for MCP: it says more than a model needs to know. */

const name = z.string('give it once').min(1).max(1_024);
const nothing = z.strictObject({});
const keyQuery = z.object({ key: name.optional().describe('a session key, to learn its partition') });
const logQuery = z.object({
  after: sequenceParameter.optional(),
  limit: limitParameter(200),
  level: z.enum(results.logLevels).default('trace').describe('the lowest level'),
  text: z.string('give it once').min(1).max(256).optional().describe('only lines that contain it'),
});
const logParameters = z.strictObject({
  after: z.int().min(0).optional(),
  limit: limitNumber(200),
  level: z.enum(results.logLevels).default('trace'),
  text: z.string().min(1).max(256).optional(),
});

const process = 'up-4711-9f8e7d6c';
const session = { name: 'session', member: 'session-4711-1a2b3c4d', problems: [], warnings: [], metrics: { turns_running: 1 } };

export const inspectionOperations: readonly Operation[] = [
  operation(listHosts, {
    ...{ id: 'listHosts', tag: 'operations', changes: 'nothing' },
    summary: 'Lists the processes, and which of them holds which partition',
    http: route({
      ...{ method: 'get', path: '/v1/hosts', query: keyQuery },
      answers: { 200: results.hosts },
      examples: {
        answer: {
          processes: [{ process, version: '0.1.0', startedAt: samples.at, reportedAt: samples.at, services: [session] }],
          partitions: [{ partition: 0, process, since: samples.at, waiting: 0 }],
        },
      },
      problems: ['forbidden'],
      input: ({ query: { key } }, { config }) => ({ key: key === undefined ? undefined : keyFrom(config, key, 'key') }),
    }),
    rpc: method({
      ...{ name: 'hosts.list', parameters: z.strictObject({ key: name.optional() }) },
      input: ({ key }, { config }) => ({ key: key === undefined ? undefined : keyFrom(config, key, 'key') }),
    }),
  }),
  operation(listSkills, {
    ...{ id: 'listSkills', tag: 'operations', changes: 'nothing' },
    summary: 'Lists the skills that this gateway finds, and what each one lacks',
    http: route({
      ...{ method: 'get', path: '/v1/skills' },
      answers: { 200: results.skills },
      examples: {
        answer: {
          skills: [
            {
              ...{ name: 'pdf', description: 'Reads PDF files.', source: 'workspace', folder: '/srv/natter/skills/pdf' },
              ...{ status: 'ineligible', reasons: ['The program pdftotext is not installed.'], notes: [] },
              ...{ repair: 'natter skills install pdf', command: null },
            },
          ],
        },
      },
      problems: ['forbidden'],
      input: () => null,
    }),
    rpc: method({ name: 'skills.list', parameters: nothing, input: () => null }),
  }),
  operation(readConfig, {
    ...{ id: 'readConfig', tag: 'operations', changes: 'nothing' },
    summary: 'Returns the configuration in force, without secrets, and where each value comes from',
    http: route({
      ...{ method: 'get', path: '/v1/config' },
      answers: { 200: results.config },
      examples: {
        answer: {
          file: '/etc/natter.json',
          keys: [
            {
              path: 'gateway.port',
              value: 4600,
              origin: 'line 3',
              takesEffect: 'at_start',
              effect: 'Its port; 0: any free one.',
            },
          ],
          processes: [{ process, differsIn: ['tools'] }],
        },
      },
      problems: ['forbidden'],
      input: () => null,
    }),
    rpc: method({ name: 'config.get', parameters: nothing, input: () => null }),
  }),
  operation(findProblems, {
    ...{ id: 'findProblems', tag: 'operations', changes: 'nothing' },
    summary: 'Checks the system as `natter doctor` does, without what needs the machine itself',
    http: route({
      ...{ method: 'get', path: '/v1/doctor' },
      answers: { 200: results.findings },
      examples: {
        answer: {
          ok: true,
          findings: [
            {
              ...{ what: 'dead letters', level: 'warn', detail: '2 messages could not be processed' },
              fix: 'natter dead-letters lists them with the reason',
            },
          ],
        },
      },
      problems: ['forbidden'],
      input: () => null,
    }),
    rpc: method({ name: 'doctor.run', parameters: nothing, input: () => null }),
  }),
  operation(readMetricHistory, {
    ...{ id: 'readMetricHistory', tag: 'operations', changes: 'nothing' },
    summary: 'Returns the metrics of the process in the last fifteen minutes',
    http: route({
      ...{ method: 'get', path: '/v1/metrics/history' },
      answers: { 200: results.metricHistory },
      examples: { answer: { at: [samples.at], series: { natter_turns_running: [1] } } },
      problems: ['forbidden'],
      input: () => null,
    }),
  }),
  operation(readLog, {
    ...{ id: 'readLog', tag: 'operations', changes: 'nothing' },
    summary: 'Returns the newest lines of the log of this gateway’s process',
    http: route({
      ...{ method: 'get', path: '/v1/log', query: logQuery },
      answers: { 200: results.log },
      examples: {
        answer: {
          lines: [{ number: 41, at: samples.at, level: 'info', message: 'gateway listens', fields: { service: 'gateway' } }],
          next: 41,
        },
      },
      problems: ['forbidden'],
      input: ({ query }) => query,
    }),
    rpc: method({ name: 'log.tail', parameters: logParameters, input: (query) => query }),
  }),
];
