import { expect, test } from 'vitest';
import { OfflineModel } from '../../../../../shared/adapters/model/offline.ts';
import { systemClock } from '../../../../../shared/kit/clock.ts';
import { onceForFile } from '../../../../support/afterwards.ts';
import { startWhole } from '../../../system/whole.ts';
import { clientFor } from '../openai-rig.ts';

/** A response that ended with calls of the program's tools, while the response to their results is under way in the same turn. */

/** Its first step calls what the message names, its second one goes on until it is stopped. */
class SlowSecondStep extends OfflineModel {
  override instantly = (): null => null;
  override step(...[request, onText, signal]: Parameters<OfflineModel['step']>): ReturnType<OfflineModel['step']> {
    if (request.step === 1) return super.step(request, onText, signal);
    return systemClock.sleep(600_000, signal).then(() => super.step(request, onText, signal));
  }
}
const system = onceForFile(async () => {
  const whole = await startWhole({ model: new SlowSecondStep(systemClock) });
  return { whole, openai: clientFor(whole.gateways[0]?.url ?? '') };
});
const tools = [{ type: 'function' as const, name: 'get_weather', parameters: { type: 'object' }, strict: false }];

const twoResponses = async (conversation: string) => {
  const { openai, whole } = system();
  const input = '[[tool get_weather {"city":"Rome"}]] warm?';
  const first = await openai.responses.create({ model: 'natter', input, conversation, tools });
  const call = first.output.find((item) => item.type === 'function_call');
  const results = [{ type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: '20 °C' }];
  const second = await openai.responses.create({ model: 'natter', input: results, conversation, tools, background: true });
  expect([first.status, second.status]).toEqual(['completed', 'in_progress']);
  return { openai, whole, first, second };
};

test('is not stopped in its place', async () => {
  const conversation = 'agent:main:api:cancelled-late';
  const { openai, whole, first, second } = await twoResponses(conversation);
  expect(await openai.responses.cancel(first.id)).toMatchObject({ status: 'completed', output: first.output });
  expect(await whole.eventsOf(conversation, 'turn_aborted')).toEqual([]);
  expect((await openai.responses.cancel(second.id)).status).toBe('cancelled');
});

test('is streamed again to its end, and does not wait for the other one', async () => {
  const { openai, first, second } = await twoResponses('agent:main:api:streamed-late');
  const headers = { Prefer: 'wait=1' };
  const types: string[] = [];
  for await (const event of await openai.responses.retrieve(first.id, { stream: true }, { headers })) types.push(event.type);
  expect(types.at(-1)).toBe('response.completed');
  await openai.responses.cancel(second.id);
});
