import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { onceForFile } from '../../../support/afterwards.ts';
import { startWhole } from '../../system/whole.ts';
import { clientFor, failureOf, readChunks, user } from './openai-rig.ts';

/** ADR 26: tools that a program brings along, with the official clients, unmodified. The offline model calls what the message names. */

// Each test has sessions of its own.
const system = onceForFile(async () => {
  const whole = await startWhole();
  const url = whole.gateways[0]?.url ?? '';
  return { whole, url, openai: clientFor(url) };
});

const weather = (name = 'get_weather') => ({
  type: 'function' as const,
  function: {
    name,
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
});
const asking = (city: string) => `[[tool get_weather {"city":"${city}"}]]`;
const keyIn = ({ headers }: Response): string => decodeURIComponent(headers.get('x-natter-session') ?? '');

describe('chat completions', () => {
  test('a call ends the answer, the turn waits in the log, and the results continue it in the same session', async () => {
    const { whole, openai } = system();
    const messages: OpenAI.ChatCompletionMessageParam[] = [user(`${asking('Paris')} ${asking('Rome')} warm?`)];
    const first = await openai.chat.completions.create({ model: 'natter', tools: [weather()], messages }).withResponse();
    const key = keyIn(first.response);
    const [choice] = first.data.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'step 1 of 2',
        tool_calls: [
          { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
          { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
        ],
      },
    });
    const calls = choice?.message.tool_calls ?? [];
    expect(await whole.eventsOf(key, 'client_results_awaited')).toMatchObject([{ calls: calls.map(({ id }) => id) }]);
    if (choice) messages.push(choice.message);
    for (const [index, { id }] of calls.entries()) messages.push({ role: 'tool', tool_call_id: id, content: `${20 + index} °C` });
    const ask = () => openai.chat.completions.create({ model: 'natter', tools: [weather()], messages }).withResponse();
    const second = await ask();
    expect(second.data.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'You said: warm?\nget_weather → 20 °C\nget_weather → 21 °C' },
    });
    expect(keyIn(second.response)).toBe(key);
    // The same results again are the same run, and are not recorded twice.
    const again = await ask();
    expect([again.data.id, again.data.choices]).toEqual([second.data.id, second.data.choices]);
    expect(await whole.eventsOf(key, 'tool_result')).toHaveLength(2);
    // The conversation goes on in this session, whose history the program sends along.
    if (second.data.choices[0]) messages.push(second.data.choices[0].message, user('and now?'));
    expect(keyIn((await ask()).response)).toBe(key);
    expect((await whole.eventsOf(key, 'user_message')).map(({ message }) => message.text)).toHaveLength(2);
  });

  test('streamed: the chunks have the calls', async () => {
    const { openai } = system();
    const stream = await openai.chat.completions.create({
      ...{ model: 'natter', stream: true, tools: [weather()] },
      messages: [user(`[[think 30]] ${asking('Oslo')} warm?`)],
    });
    const { chunks, text } = await readChunks(stream);
    expect(text).toBe('step 1 of 2');
    expect(chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])).toMatchObject([
      { index: 0, type: 'function', id: expect.any(String), function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
    ]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  test.each([false, true])('runTools runs the loop by itself, streamed: %s', async (stream) => {
    const { openai } = system();
    const cities: string[] = [];
    const runnable = {
      ...weather(),
      function: {
        ...weather().function,
        parse: JSON.parse,
        function: ({ city }: { city: string }) => {
          cities.push(city);
          return `20 °C in ${city}`;
        },
      },
    };
    const messages = [user(`${asking('Paris')} [[then]] ${asking('Rome')} warm?`)];
    const runner = openai.chat.completions.runTools({ model: 'natter', stream, messages, tools: [runnable] } as never);
    expect(await runner.finalContent()).toBe('You said: warm?\nget_weather → 20 °C in Paris\nget_weather → 20 °C in Rome');
    expect(cities).toEqual(['Paris', 'Rome']);
  });

  test('a tool that is called like one of the agent is refused by name; so are a choice and a list that make no sense', async () => {
    const { openai } = system();
    const ask = (more: object) => failureOf(openai.chat.completions.create({ model: 'natter', messages: [user('x')], ...more }));
    expect(await ask({ tools: [weather('sessions_list')] })).toMatchObject({
      ...{ status: 400, code: 'tool_name_taken', param: 'tools', message: expect.stringContaining('sessions_list') },
    });
    expect(await ask({ tools: [weather(), weather()] })).toMatchObject({ status: 400, param: 'tools[1]' });
    expect(await ask({ tool_choice: 'required' })).toMatchObject({ status: 400, param: 'tool_choice' });
    expect(await ask({ tools: [{ type: 'web_search' }] })).toMatchObject({ status: 400, param: 'tools[0].type' });
  });

  test('results that leave out a call are refused; results of calls made elsewhere are told as text', async () => {
    const { openai } = system();
    const messages: OpenAI.ChatCompletionMessageParam[] = [user(`${asking('Paris')} ${asking('Rome')} warm?`)];
    const { choices } = await openai.chat.completions.create({ model: 'natter', tools: [weather()], messages });
    const [call] = choices[0]?.message.tool_calls ?? [];
    const result = { role: 'tool', content: '20 °C', tool_call_id: call?.id ?? '' } as const;
    const refused = openai.chat.completions.create({ model: 'natter', messages: [...messages, result] });
    expect(await failureOf(refused)).toMatchObject({ status: 400, code: 'results_incomplete' });
    const foreign = [user('warm?'), { ...result, tool_call_id: 'call_from_elsewhere' }] as const;
    const told = await openai.chat.completions.create({ model: 'natter', messages: [...foreign] });
    expect(told.choices[0]?.message.content).toContain('"tool_call_id":"call_from_elsewhere"');
  });
});

describe('responses', () => {
  const tool = { type: 'function' as const, ...weather().function, strict: null };

  test('a call is an item; its output continues the response that it names', async () => {
    const { openai } = system();
    const first = await openai.responses.create({ model: 'natter', tools: [tool], input: `${asking('Paris')} warm?` });
    expect(first).toMatchObject({ status: 'completed', tools: [{ name: 'get_weather' }] });
    const call = first.output.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ name: 'get_weather', arguments: '{"city":"Paris"}', status: 'completed' });
    const output = { type: 'function_call_output', call_id: call?.call_id ?? '', output: '20 °C' } as const;
    const second = await openai.responses.create({ model: 'natter', previous_response_id: first.id, input: [output] });
    expect(second.output_text).toBe('You said: warm?\nget_weather → 20 °C');
    expect((await openai.responses.retrieve(first.id)).output).toEqual(first.output);
    expect((await openai.responses.retrieve(second.id)).output).toEqual(second.output);
  });

  test("streamed, with the client's own helper", async () => {
    const { openai } = system();
    const stream = openai.responses.stream({ model: 'natter', tools: [tool], input: `${asking('Rome')} warm?` });
    const response = await stream.finalResponse();
    expect(response.output.map(({ type }) => type)).toEqual(['message', 'function_call']);
  });
});

describe('allowed tools: those alone are offered, and the mode is the choice', () => {
  const named = (...names: string[]) => names.map((name) => ({ type: 'function' as const, function: { name } }));
  const flat = (...names: string[]) => names.map((name) => ({ type: 'function' as const, name }));
  const tools = ['one', 'two', 'three'].map(weather);
  const offered = async (response: Response) => {
    const [said] = await system().whole.eventsOf(keyIn(response), 'user_message');
    return [said?.message.client?.tools?.map(({ name }) => name), said?.message.client?.toolChoice];
  };

  test.each([
    ['auto' as const, undefined],
    ['required' as const, 'required'],
  ])('%s', async (mode, choice) => {
    const { openai } = system();
    const inChat = { type: 'allowed_tools' as const, allowed_tools: { mode, tools: named('three', 'one') } };
    const chat = openai.chat.completions.create({ model: 'natter', messages: [user('hi')], tools, tool_choice: inChat });
    expect(await offered((await chat.withResponse()).response)).toEqual([['one', 'three'], choice]);
    const asked = {
      model: 'natter',
      input: 'hi',
      tools: tools.map((tool) => ({ type: 'function' as const, ...tool.function, strict: null })),
    };
    const response = openai.responses.create({
      ...asked,
      tool_choice: { type: 'allowed_tools', mode, tools: flat('three', 'one') },
    });
    expect(await offered((await response.withResponse()).response)).toEqual([['one', 'three'], choice]);
  });

  test.each([
    ['a tool that is not there', { mode: 'auto', tools: named('later') }, 'no tool "later"'],
    ['no tool', { mode: 'auto', tools: [] }, 'allowed_tools'],
    ['another mode', { mode: 'none', tools: named('one') }, 'allowed_tools'],
  ])('%s is refused', async (_, allowed, said) => {
    const tool_choice = { type: 'allowed_tools', allowed_tools: allowed } as never;
    const asked = { model: 'natter', messages: [user('hi')], tools, tool_choice };
    const refused = await failureOf(system().openai.chat.completions.create(asked));
    expect(refused).toMatchObject({ status: 400, param: 'tool_choice', message: expect.stringContaining(said) });
  });
});
