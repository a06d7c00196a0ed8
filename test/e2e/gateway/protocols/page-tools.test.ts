import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { describe, expect, test } from 'vitest';
import { onceForFile } from '../../../support/afterwards.ts';
import { startWhole } from '../../system/whole.ts';
import { agentAt, endOf, typesOf } from './agui-rig.ts';
import { chatAt } from './ui-rig.ts';

/** ADR 26: tools of the page, in the AI SDK's chat and in AG-UI, with the official clients, unmodified. */

const system = onceForFile(async () => {
  const whole = await startWhole();
  return { whole, url: whole.gateways[0]?.url ?? '' };
});

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [{ name: 'get_weather', description: 'The weather of a city.', parameters }];
const asking = (city: string) => `[[tool get_weather {"city":"${city}"}]]`;

describe('the chat of the AI SDK', () => {
  test('calls the tools of the page, sends their outputs by itself, and the same message goes on', async () => {
    const { whole, url } = system();
    const { chat } = chatAt(url, 'owner', 'page-tools', {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall: { toolName, toolCallId, input } }) => {
        const { city } = input as { city: string };
        void chat.addToolOutput({ tool: toolName as never, toolCallId, output: `20 °C in ${city}` as never });
      },
    });
    await chat.sendMessage({ text: `${asking('Paris')} ${asking('Rome')} warm?` }, { body: { tools } });
    const text = () => chat.lastMessage?.parts.findLast((part) => part.type === 'text')?.text;
    await whole.until(() => expect(text()).toBe('You said: warm?\nget_weather → 20 °C in Paris\nget_weather → 20 °C in Rome'));
    await whole.until(() => expect(chat.status).toBe('ready'));
    expect([chat.messages.length, chat.error]).toEqual([2, undefined]);
    const states = chat.lastMessage?.parts.flatMap((part) => ('toolCallId' in part ? [[part.type, part.state]] : []));
    expect(states).toEqual(Array(2).fill(['tool-get_weather', 'output-available']));
  });
});

describe('AG-UI', () => {
  test('a run ends with the calls, the next one brings the results', async () => {
    const { agent, say, run } = agentAt(system().url, 'owner', 'page-tools-agui');
    const asked = await say(`${asking('Oslo')} warm?`, { tools });
    expect(typesOf(asked)).toContain('TOOL_CALL_END');
    expect(endOf(asked).outcome).toEqual({ type: 'success' });
    const calls = agent.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
    expect(calls).toMatchObject([{ function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }]);
    for (const { id } of calls) agent.addMessage({ id: `r-${id}`, role: 'tool', toolCallId: id, content: '3 °C' });
    endOf(await run({ tools }));
    expect(agent.messages.at(-1)?.content).toBe('You said: warm?\nget_weather → 3 °C');
  });
});
