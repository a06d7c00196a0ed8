import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { connect as natsThree } from '@nats-io/transport-node';
import { Agent, tool as agentTool, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import { embed, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { EventSource } from 'eventsource';
import { unpack } from 'msgpackr';
import { connect as natsTwo } from 'nats';
import { zodResponseFormat } from 'openai/helpers/zod';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { createModels } from '../../../../shared/adapters/model/create.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { Embeddings } from '../../../../shared/ports/models/embeddings.ts';
import { onceForFile } from '../../../support/afterwards.ts';
import { commitTo, keyOf, userMessage } from '../../../support/domain/commits.ts';
import { startServer } from '../../../support/nats.ts';
import { startProvider, stream, openai as wire } from '../../../support/provider-server.ts';
import { portsOn, provisionFor } from '../../../support/system.ts';
import { startWhole } from '../../system/whole.ts';
import { secretOf } from '../access/access-rig.ts';
import { agentAt, endOf } from '../protocols/agui-rig.ts';
import { overHttp, overHttpBefore, use } from '../protocols/mcp-rig.ts';
import { clientFor, readChunks, user } from '../protocols/openai-rig.ts';
import { chatAt } from '../protocols/ui-rig.ts';
import { afterwards } from '../setup.ts';

/** What each official client is made to do here, unmodified. `docs/integrate/compatibility.md` is the table of what passed. */

setTracingDisabled(true);

const system = onceForFile(async () => {
  const embeddings: Embeddings = { embed: async ({ inputs }) => ({ vectors: inputs.map(() => [0.5, 1]), inputTokens: 1 }) };
  const { gateways } = await startWhole({ embeddings });
  const url = gateways[0]?.url ?? '';
  return { url, openai: clientFor(url) };
});
/** A broker with one commit in the log, as programs without Natter's own code read it. */
const broker = onceForFile(async () => {
  const server = await startServer();
  afterwards(() => server.stop());
  await provisionFor(server, { partitions: 1 });
  const opened = portsOn(server, configSchema.parse({ nats: { partitions: 1 } }));
  const ports = await opened.as('tester');
  const key = keyOf('agent:main:compatible');
  expect((await ports.events.append(commitTo(key, { rev: 1, events: [userMessage('hi', 'm-1')] }), 0)).kind).toBe('stored');
  await opened.close();
  return { server, key };
});
/** As docs/integrate/wire.md has it: the next message of the log, by a request. */
const nextCommit = async (connection: {
  request(subject: string, payload: string): Promise<{ data: Uint8Array; headers?: { get(name: string): string } | undefined }>;
  close(): Promise<void>;
}) => {
  const query = JSON.stringify({ seq: 1, next_by_subj: 'natter.event.>' });
  const { data, headers } = await connection.request('$JS.API.DIRECT.GET.NATTER_EVENTS', query);
  await connection.close();
  const { key, events } = unpack(Buffer.from(data)) as { key: string; events: { type: string }[] };
  const at = Number(headers?.get('Nats-Sequence'));
  expect([key, at > 0, events.map(({ type }) => type)]).toEqual([broker().key, true, ['user_message']]);
};
const inbox = { inboxPrefix: '_INBOX_reader' };

/** The same with a model of a provider, which answers with JSON and notes what it was asked. */
const provided = onceForFile(async () => {
  const provider = await startProvider(stream(wire.begin(), wire.text('{"city":', '"Paris"}'), wire.end('stop')));
  afterwards(() => provider.close());
  const model = { providers: { fake: { kind: 'openai-compatible', baseUrl: provider.url } } };
  const config = configSchema.parse({ agent: { model: 'fake/tiny' }, model });
  const { gateways } = await startWhole({ model: createModels(config, {}, systemClock)() });
  const url = gateways[0]?.url ?? '';
  return { url, openai: clientFor(url), lastRequest: () => provider.requests.at(-1)?.body };
});

const asking = (city: string) => `[[tool get_weather {"city":"${city}"}]] warm?`;
const answered = (city: string) => `You said: warm?\nget_weather → 20 °C in ${city}`;
const about = { name: 'get_weather', description: 'The weather of a city.' };
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const place = z.object({ city: z.string() });
const weatherIn = ({ city }: { city: string }) => `20 °C in ${city}`;
const runnable = { type: 'function', function: { ...about, parameters, parse: JSON.parse, function: weatherIn } };
const langchain = (url: string, useResponsesApi: boolean) =>
  new ChatOpenAI({
    ...{ model: 'natter', apiKey: secretOf('owner'), configuration: { baseURL: `${url}/v1` }, useResponsesApi, maxRetries: 0 },
  });
const aiSdk = (url: string) =>
  createOpenAICompatible({
    ...{ name: 'natter', baseURL: `${url}/v1`, apiKey: secretOf('owner'), supportsStructuredOutputs: true },
  })('natter');

type Job = readonly [client: string, what: string, run: () => Promise<void>];
const agentsSdk = (useResponses: boolean, isStreamed: boolean) => async () => {
  const modelProvider = new OpenAIProvider({ openAIClient: system().openai as never, useResponses });
  const execute = async (given: { city: string }) => weatherIn(given);
  const agent = new Agent({
    name: 'a',
    instructions: 'Be brief.',
    model: 'natter',
    tools: [agentTool({ ...about, parameters: place, execute })],
  });
  const runner = new Runner({ modelProvider });
  if (!isStreamed) return expect((await runner.run(agent, asking('Paris'))).finalOutput).toBe(answered('Paris'));
  const result = await runner.run(agent, asking('Rome'), { stream: true });
  await result.completed;
  expect(result.finalOutput).toBe(answered('Rome'));
};
const bound = (useResponsesApi: boolean) => async () => {
  const weather = langchainTool(weatherIn, { ...about, schema: place });
  const model = langchain(system().url, useResponsesApi).bindTools([weather]);
  const asked = [new HumanMessage(asking('Paris'))];
  const called = await model.invoke(asked);
  const results = await Promise.all((called.tool_calls ?? []).map((call) => weather.invoke({ ...call, type: 'tool_call' })));
  expect((await model.invoke([...asked, called, ...results])).text).toContain(answered('Paris').split('\n')[1]);
};
const runTools = (isStreamed: boolean) => async () => {
  const messages = [user(asking('Paris'))];
  const runner = system().openai.chat.completions.runTools({
    model: 'natter',
    messages,
    stream: isStreamed,
    tools: [runnable],
  } as never);
  expect(await runner.finalContent()).toBe(answered('Paris'));
};

const jobs: Job[] = [
  [
    'openai',
    'models: list, retrieve',
    async () => {
      const { openai } = system();
      expect((await openai.models.list()).data[0]).toEqual(await openai.models.retrieve('natter'));
    },
  ],
  [
    'openai',
    'chat completions: whole, streamed',
    async () => {
      const body = { model: 'natter', messages: [user('hi')] };
      const { choices } = await system().openai.chat.completions.create(body);
      const { text } = await readChunks(await system().openai.chat.completions.create({ ...body, stream: true }));
      expect([choices[0]?.message.content, text]).toEqual(['You said: hi', 'You said: hi']);
    },
  ],
  ['openai', 'chat completions: `runTools`', runTools(false)],
  ['openai', 'chat completions: `runTools`, streamed', runTools(true)],
  [
    'openai',
    'chat completions: `response_format`, `parse`',
    async () => {
      const { openai, lastRequest } = provided();
      const response_format = zodResponseFormat(place, 'place');
      const { choices } = await openai.chat.completions.parse({ model: 'natter', messages: [user('where?')], response_format });
      expect(choices[0]?.message.parsed).toEqual({ city: 'Paris' });
      expect(lastRequest().response_format).toMatchObject({ type: 'json_schema', json_schema: { name: 'place', strict: true } });
    },
  ],
  [
    'openai',
    'chat completions: settings of the model',
    async () => {
      const { openai, lastRequest } = provided();
      const settings = {
        temperature: 0.5,
        top_p: 0.9,
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
        seed: 7,
        max_tokens: 50,
        stop: ['.'],
        logit_bias: { 1734: -100 },
      };
      const tools = [{ type: 'function' as const, function: { ...about, parameters } }];
      const choice = { tool_choice: 'required' as const, parallel_tool_calls: false };
      await openai.chat.completions.create({ model: 'natter', messages: [user('x')], tools, ...settings, ...choice });
      expect(lastRequest()).toMatchObject({ ...settings, ...choice, tools: [{ function: about }] });
      expect(lastRequest().tools).toHaveLength(1);
    },
  ],
  [
    'openai',
    'responses: whole, streamed, `retrieve`',
    async () => {
      const { openai } = system();
      const body = { model: 'natter', input: 'hi' };
      const whole = await openai.responses.create(body);
      expect((await openai.responses.retrieve(whole.id)).output).toEqual(whole.output);
      expect((await openai.responses.stream(body).finalResponse()).output_text).toBe('You said: hi');
    },
  ],
  [
    'openai',
    'responses: `previous_response_id`, `conversation`',
    async () => {
      const { openai } = system();
      const first = await openai.responses.create({ model: 'natter', input: 'one' });
      const next = await openai.responses.create({ model: 'natter', input: 'two', previous_response_id: first.id });
      const last = await openai.responses.create({ model: 'natter', input: 'three', conversation: first.conversation?.id ?? '' });
      expect(new Set([first, next, last].map(({ conversation }) => conversation?.id)).size).toBe(1);
    },
  ],
  [
    'openai',
    'responses: `text.format`',
    async () => {
      const { openai, lastRequest } = provided();
      const format = { type: 'json_schema', name: 'place', schema: parameters, strict: true } as const;
      expect((await openai.responses.create({ model: 'natter', input: 'where?', text: { format } })).output_text).toBe(
        '{"city":"Paris"}',
      );
      expect(lastRequest().response_format.json_schema.schema).toEqual(parameters);
    },
  ],
  [
    'openai',
    'responses: `cancel`, `inputItems.list`, `delete`, `store: false`, `background`',
    async () => {
      const { responses } = system().openai;
      const { id } = await responses.create({ model: 'natter', input: 'hi' });
      expect((await responses.cancel(id)).status).toBe('completed');
      expect((await responses.inputItems.list(id)).data).toMatchObject([{ content: [{ text: 'hi' }] }]);
      await responses.delete(id);
      await expect(responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
      const unstored = await responses.create({ model: 'natter', input: 'hi', store: false });
      await expect(responses.retrieve(unstored.id)).rejects.toMatchObject({ status: 404 });
      const begun = await responses.create({ model: 'natter', input: 'hi', background: true });
      await expect.poll(async () => (await responses.retrieve(begun.id)).output_text).toBe('You said: hi');
    },
  ],
  [
    'openai',
    'conversations: create, retrieve, update, delete; items: create, list, retrieve',
    async () => {
      const { conversations, responses } = system().openai;
      const { id } = await conversations.create({ metadata: { topic: 'x' }, items: [{ role: 'user', content: 'hi' }] });
      await responses.create({ model: 'natter', input: 'and you?', conversation: id });
      expect((await conversations.update(id, { metadata: { topic: 'y' } })).metadata).toEqual({ topic: 'y' });
      const { data } = await conversations.items.list(id, { order: 'asc' });
      expect(data).toHaveLength(3);
      expect(await conversations.items.retrieve(data[0]?.id ?? '', { conversation_id: id })).toEqual(data[0]);
      expect((await conversations.retrieve(id)).id).toBe(id);
      expect((await conversations.delete(id)).deleted).toBe(true);
    },
  ],
  [
    'openai',
    'embeddings: of a text, of tokens, of lists of either',
    async () => {
      const given: [string | string[] | number[] | number[][], number][] = [
        ['hi', 1],
        [[15339, 11], 1],
        [['hi', 'there'], 2],
        [[[15339], [11, 1917]], 2],
      ];
      for (const [input, vectors] of given) {
        const { data } = await system().openai.embeddings.create({ model: 'text-embedding-3-small', input });
        expect(data.map(({ embedding }) => embedding)).toEqual(Array.from({ length: vectors }, () => [0.5, 1]));
      }
    },
  ],
  ['@openai/agents', 'an agent with tools, by responses', agentsSdk(true, false)],
  ['@openai/agents', 'an agent with tools, by responses, streamed', agentsSdk(true, true)],
  ['@openai/agents', 'an agent with tools, by chat completions', agentsSdk(false, false)],
  ['@openai/agents', 'an agent with tools, by chat completions, streamed', agentsSdk(false, true)],
  ['@langchain/openai', '`bindTools`, by chat completions', bound(false)],
  ['@langchain/openai', '`bindTools`, by responses', bound(true)],
  [
    '@langchain/openai',
    '`withStructuredOutput`',
    async () => {
      expect(
        await langchain(provided().url, false).withStructuredOutput(place, { method: 'jsonSchema' }).invoke('where?'),
      ).toEqual({ city: 'Paris' });
    },
  ],
  [
    'ai with @ai-sdk/openai-compatible',
    '`generateText` with tools',
    async () => {
      const weather = tool({
        description: about.description,
        inputSchema: jsonSchema<{ city: string }>(parameters as never),
        execute: async (given) => weatherIn(given),
      });
      const { text } = await generateText({
        model: aiSdk(system().url),
        prompt: asking('Paris'),
        tools: { get_weather: weather },
        stopWhen: stepCountIs(3),
      });
      expect(text).toBe(answered('Paris'));
    },
  ],
  [
    'ai with @ai-sdk/openai-compatible',
    '`streamText`',
    async () => {
      expect(await streamText({ model: aiSdk(system().url), prompt: 'hi' }).text).toBe('You said: hi');
    },
  ],
  [
    'ai with @ai-sdk/openai-compatible',
    '`Output.object`',
    async () => {
      const { output } = await generateText({
        model: aiSdk(provided().url),
        prompt: 'where?',
        output: Output.object({ schema: place }),
      });
      expect(output).toEqual({ city: 'Paris' });
    },
  ],
  [
    'ai with @ai-sdk/openai',
    '`streamText`, by chat completions; `embed`',
    async () => {
      const provider = createOpenAI({ baseURL: `${system().url}/v1`, apiKey: secretOf('owner') });
      expect(await streamText({ model: provider.chat('natter'), prompt: 'hi' }).text).toBe('You said: hi');
      expect((await embed({ model: provider.embedding('text-embedding-3-small'), value: 'hi' })).embedding).toEqual([0.5, 1]);
    },
  ],
  [
    'ai with @ai-sdk/openai',
    'responses: tools, and a next turn that refers to the answers before it',
    async () => {
      const asked: { input: { type: string }[] }[] = [];
      const noting: typeof fetch = (url, init) => {
        asked.push(JSON.parse(String(init?.body)));
        return fetch(url, init);
      };
      const model = createOpenAI({ baseURL: `${system().url}/v1`, apiKey: secretOf('owner'), fetch: noting })('natter');
      const get_weather = tool({ inputSchema: jsonSchema<{ city: string }>(parameters as never), execute: weatherIn });
      const said = [{ role: 'user' as const, content: asking('Oslo') }];
      const first = await generateText({ model, messages: said, tools: { get_weather }, stopWhen: stepCountIs(3) });
      expect(first.text).toBe(answered('Oslo'));
      const next = [...said, ...first.response.messages, { role: 'user' as const, content: 'thanks' }];
      const second = await generateText({ model, messages: next });
      expect(second.text).toBe('You said: thanks');
      expect(asked.at(-1)?.input.map(({ type }) => type)).toContain('item_reference');
      const sessions = [first, second].map(({ response }) => response.headers?.['x-natter-session']);
      expect(sessions[1]).toBe(sessions[0]);
    },
  ],
  [
    'ai, its chat',
    'messages of a chat that is loaded again, `regenerate`, an edited message',
    async () => {
      const { chat } = chatAt(system().url, 'owner', 'compatible-again');
      await chat.sendMessage({ text: 'hi' });
      await chat.regenerate();
      await chat.sendMessage({ text: 'ho', messageId: chat.messages[0]?.id ?? '' });
      const path = `${system().url}/v1/ui/chat/compatible-again/messages`;
      const loaded = await fetch(path, { headers: { authorization: `Bearer ${secretOf('owner')}` } });
      const { messages } = (await loaded.json()) as { messages: { id: string }[] };
      expect(messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    },
  ],
  [
    'ai, its chat',
    'a message and its stream',
    async () => {
      const { chat } = chatAt(system().url, 'owner', 'compatible');
      await chat.sendMessage({ text: 'hi' });
      expect(chat.lastMessage?.parts.findLast((part) => part.type === 'text')?.text).toBe('You said: hi');
    },
  ],
  [
    '@ag-ui/client',
    'a run and its events; messages of a thread that is loaded again',
    async () => {
      const { agent, say } = agentAt(system().url, 'owner', 'compatible-agui');
      endOf(await say('hi'));
      expect(agent.messages.at(-1)?.content).toBe('You said: hi');
      const page = agentAt(system().url, 'owner', 'compatible-agui');
      endOf(await page.run());
      expect(page.agent.messages).toEqual(agent.messages);
    },
  ],
];

const others: readonly Job[] = [
  [
    'eventsource',
    'events by name, and as plain messages (`event=message`)',
    async () => {
      const authorization = `Bearer ${secretOf('owner')}`;
      const withToken: typeof fetch = (url, init) => fetch(url, { ...init, headers: { ...init?.headers, authorization } });
      const open = (more: string) => new EventSource(`${system().url}/v1/events?after=0${more}`, { fetch: withToken as never });
      const [named, plain] = [open(''), open('&event=message')];
      afterwards(async () => {
        for (const source of [named, plain]) source.close();
      });
      const heard = [
        new Promise<string>((resolve) => named.addEventListener('user_message', ({ lastEventId }) => resolve(lastEventId))),
        new Promise<string>((resolve) => {
          plain.onmessage = ({ data, lastEventId }) => JSON.parse(data).type === 'user_message' && resolve(lastEventId);
        }),
      ];
      await system().openai.responses.create({ model: 'natter', input: 'hi' });
      const [one, other] = await Promise.all(heard);
      expect(one).toBe(other);
    },
  ],
  [
    'ws',
    'a connection and its greeting',
    async () => {
      const socket = new WebSocket(`${system().url.replace('http', 'ws')}/v1/ws`, {
        headers: { authorization: `Bearer ${secretOf('owner')}` },
      });
      afterwards(async () => socket.terminate());
      const next = async () => JSON.parse(String((await once(socket, 'message'))[0]));
      expect(await next()).toMatchObject({ type: 'hello' });
    },
  ],
  [
    '@modelcontextprotocol/client',
    'tools: list, call',
    async () => {
      const client = await overHttp(system().url, secretOf('owner'));
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('sessions_list');
      expect(await use(client, 'sessions_list')).toHaveProperty('sessions');
    },
  ],
  [
    '@modelcontextprotocol/sdk',
    'tools: list, call, with the protocol before',
    async () => {
      const client = await overHttpBefore(system().url, secretOf('owner'));
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('sessions_list');
      expect(await use(client, 'sessions_list')).toHaveProperty('sessions');
    },
  ],
  ['nats', 'the event log, read by a program', async () => nextCommit(await natsTwo({ servers: broker().server.url, ...inbox }))],
  [
    '@nats-io/transport-node',
    'the event log, read by a program',
    async () => nextCommit(await natsThree({ servers: broker().server.url, ...inbox })),
  ],
];
jobs.push(...others);

const passed = new Set<Job>();
describe('official clients', () => {
  test.each(jobs.map((job) => [`${job[0]}: ${job[1]}`, job] as const))('%s', async (_, job) => {
    await job[2]();
    passed.add(job);
  });

  test('docs/integrate/compatibility.md is what was done here', async () => {
    expect(jobs.filter((job) => !passed.has(job)).map(([client, what]) => `${client}: ${what}`)).toEqual([]);
    const rows = jobs.map(([client, what]) => `| ${client} | ${versionOf(client)} | ${what} |`);
    const page = [
      '<!-- Generated from the code by `npx vitest run test/e2e/gateway/documents/compatibility.test.ts -u`. Do not edit. -->',
      '',
      '# Compatibility',
      '',
      'Official clients, as they are, and what a test makes each of them do with Natter on every run of the gate. What they do',
      'besides, and what they are refused, is in [the interface of OpenAI](openai-api.md) and [streams for user interfaces](ui-streams.md).',
      '',
      '| Client | Version | Does |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n');
    await expect(page).toMatchFileSnapshot('../../../../docs/integrate/compatibility.md');
  });
});

/** The major and minor version of the package that a row begins with. */
const versionOf = (client: string): string => {
  const [name = ''] = client.split(/[ ,]/);
  const manifest = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string };
  return manifest.version.split('.').slice(0, 2).join('.');
};
