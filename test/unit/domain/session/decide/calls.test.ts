import { describe, expect, test } from 'vitest';
import type { CommandEnvelope } from '../../../../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../../../../shared/domain/session/events.ts';
import { limits } from '../../../../../shared/kit/limits.ts';
import { command, given, stateAfter } from '../../../../support/domain/given.ts';

const callsAfter = (...history: string[]) =>
  stateAfter(...history).machine.context.turn?.calls.map(({ status, attempt, tries }) => `${status} ${attempt} ${tries}`);

describe("the policy's word on the calls of a step is in the step's commit (I6, A5/62)", () => {
  test.each<[string, string[]]>([
    ['run', ['tool_call_started m1/1 m1.1.0 #1']],
    ['run run', ['tool_call_started m1/1 m1.1.0 #1', 'tool_call_started m1/1 m1.1.1 #1']],
    ['deny', ['tool_result m1/1 m1.1.0 denied']],
    ['ask', ['approval_requested m1/1 p0']],
    ['ask ask', ['approval_requested m1/1 p0']],
    ['deny ask', ['tool_result m1/1 m1.1.0 denied', 'approval_requested m1/1 p1']],
    ['ask deny', ['tool_result m1/1 m1.1.1 denied', 'approval_requested m1/1 p0']],
    ['run ask', ['tool_call_started m1/1 m1.1.0 #1']],
    ['ask run', ['tool_call_started m1/1 m1.1.1 #1']],
    ['run deny ask', ['tool_call_started m1/1 m1.1.0 #1', 'tool_result m1/1 m1.1.1 denied']],
  ])('%s', (rulings, events) => {
    given('post m1')
      .when(`call m1/1 1 read ${rulings}`)
      .then('model_step m1/1 1 continue', ...events);
  });

  test('calls without a decision wait', () => {
    given('post m1').when('call-unruled m1/1 1 read 2').then('model_step m1/1 1 continue');
    expect(callsAfter('post m1', 'call-unruled m1/1 1 read 2')).toEqual(['pending 1 0', 'pending 1 0']);
    given('post m1', 'call-unruled m1/1 1 read 2').when('start m1/1 m1.1.1').then('tool_call_started m1/1 m1.1.1 #1');
  });

  test('a call that cannot be made at all ends as an error', () => {
    const asked = command('call m1/1 1 read deny');
    const data = { ...asked.data, rulings: [{ kind: 'deny', reason: 'no such tool', invalid: true }] };
    given('post m1')
      .when({ ...asked, data: data as CommandEnvelope['data'] })
      .then('model_step m1/1 1 continue', 'tool_result m1/1 m1.1.0 error');
  });
});

describe('a call starts once and ends once', () => {
  const running = ['post m1', 'call m1/1 1 read run run'];
  const mixed = ['post m1', 'call m1/1 1 read run ask'];

  test.each<[string, string[], string, string[]]>([
    ['results come in any order', running, 'result m1/1 m1.1.1 ok', ['tool_result m1/1 m1.1.1 ok']],
    ['a result comes twice', [...running, 'result m1/1 m1.1.0 ok'], 'result m1/1 m1.1.0 error', []],
    ['a result of an older attempt', [...running, 'resume'], 'result m1/1 m1.1.0 ok', []],
    ['a result of a stopped turn', [...running, 'stop'], 'result m1/1 m1.1.0 ok', []],
    ['a result of a call that the model has not made', running, 'result m1/1 m1.1.9 ok', []],
    ['success of what has not begun', mixed, 'result m1/1 m1.1.1 ok', []],
    ['failure of what has not begun', mixed, 'result m1/1 m1.1.1 error', ['tool_result m1/1 m1.1.1 error']],
    ['a beginning twice in one attempt', running, 'start m1/1 m1.1.0', []],
    ['a beginning after the end', [...running, 'result m1/1 m1.1.0 ok'], 'start m1/1 m1.1.0', []],
    ['a beginning after the end, in a later attempt', [...running, 'result m1/1 m1.1.0 ok', 'resume'], 'start m1/2 m1.1.0', []],
    ['a beginning in an older attempt', [...mixed, 'resume'], 'start m1/1 m1.1.1', []],
  ])('%s', (_, history, asked, events) => {
    given(...history)
      .when(asked)
      .then(...events);
  });

  test.each<[string, string[], string, string[]]>([
    ['all of them', running, 'm1.1.0:ok m1.1.1:error', ['tool_result m1/1 m1.1.0 ok', 'tool_result m1/1 m1.1.1 error']],
    ['the last', [...running, 'result m1/1 m1.1.0 ok'], 'm1.1.1:ok', ['tool_result m1/1 m1.1.1 ok']],
    ['one that is recorded', [...running, 'result m1/1 m1.1.0 ok'], 'm1.1.0:error m1.1.1:ok', ['tool_result m1/1 m1.1.1 ok']],
    ['one twice', running, 'm1.1.0:ok m1.1.1:ok m1.1.1:ok', ['tool_result m1/1 m1.1.0 ok', 'tool_result m1/1 m1.1.1 ok']],
  ])('a step brings results: %s', (_, history, results, events) => {
    given(...history)
      .when(`reply-after m1/1 2 ${results}`)
      .then(...events, 'model_step m1/1 2 stop', 'assistant_message m1/1', 'turn_completed m1/1');
  });
  test.each<[string, string[], string]>([
    ['some', running, 'm1.1.0:ok'],
    ['success of what has not begun', mixed, 'm1.1.0:ok m1.1.1:ok'],
    ['that of a call that started a run', ['post m1', 'call m1/1 1 read spawn'], 'm1.1.0:ok'],
  ])('a step that brings results too few, or wrong ones, changes nothing: %s', (_, history, results) => {
    given(...history)
      .when(`reply-after m1/1 2 ${results}`)
      .thenNothing();
  });

  test('the next step waits for the last result, a failure of the model too', () => {
    for (const step of ['reply m1/1 2', 'continue m1/1 2', 'fail m1/1 2']) {
      given(...running, 'result m1/1 m1.1.1 ok')
        .when(step)
        .thenNothing();
    }
    given(...running, 'result m1/1 m1.1.1 ok', 'result m1/1 m1.1.0 error')
      .when('reply m1/1 2')
      .then('model_step m1/1 2 stop', 'assistant_message m1/1', 'turn_completed m1/1');
  });

  test('an interrupted call starts once more under the same key, or ends as unknown', () => {
    const cutOff = [...running, 'resume'];
    expect(callsAfter(...cutOff)).toEqual(['started 1 1', 'started 1 1']);
    given(...cutOff)
      .when('start m1/2 m1.1.0')
      .then('tool_call_started m1/2 m1.1.0 #2');
    given(...cutOff)
      .when('result m1/2 m1.1.0 ok')
      .thenNothing();
    given(...cutOff)
      .when('result m1/2 m1.1.0 unknown')
      .then('tool_result m1/2 m1.1.0 unknown');
    expect(callsAfter(...cutOff, 'start m1/2 m1.1.0', 'result m1/2 m1.1.0 ok')).toEqual(['done 2 2', 'started 1 1']);
  });

  test(`a call that takes its host down each time is not repeated for ever: after ${limits.turnResumes} resumes the turn fails`, () => {
    const again = (attempt: number) => ['resume', `start m1/${attempt + 1} m1.1.0`];
    const poison = Array.from({ length: limits.turnResumes }, (_, index) => again(index + 1)).flat();
    given('post m1', 'call m1/1 1 read run', ...poison)
      .when('resume')
      .then(`turn_failed m1/${limits.turnResumes + 1} attempts_exhausted`);
  });

  test('a result gives the full number of resumes and stalls back', () => {
    const { turn } = stateAfter(...running, 'resume', 'stall m1/2', 'start m1/3 m1.1.0', 'result m1/3 m1.1.0 ok').machine.context;
    expect(turn).toMatchObject({ resumes: 0, stalls: 0, attempt: 3 });
  });
});

describe('long outputs are kept in pages (I11)', () => {
  const resulting = (text: string) => {
    const asked = command('result m1/1 m1.1.0 ok');
    return given('post m1', 'call m1/1 1 read run').when({ ...asked, data: { ...asked.data, text } as CommandEnvelope['data'] });
  };
  const pagesOf = (text: string) => {
    const [result, ...pages] = resulting(text).events as [EventOf<'tool_result'>, ...EventOf<'tool_output'>[]];
    return { result, pages: pages.map((page) => page.text) };
  };

  test(`up to ${limits.toolPageBytes} bytes are one text`, () => {
    const { result, pages } = pagesOf('x'.repeat(limits.toolPageBytes));
    expect([result.bytes, result.pages, pages]).toEqual([limits.toolPageBytes, undefined, []]);
  });

  test.each(['x', 'é', '世', '😀', 'a😀', 'ab世'])(
    'no page cuts "%s" in two, none is longer than a page, and together they are all',
    (part) => {
      const text = part.repeat(100_000 / part.length);
      const { result, pages } = pagesOf(text);
      expect(pages.join('')).toBe(text);
      expect(pages[0]).toBe(result.text);
      expect(result).toMatchObject({ pages: pages.length, bytes: Buffer.byteLength(text) });
      for (const page of pages) expect(Buffer.byteLength(page)).toBeLessThanOrEqual(limits.toolPageBytes);
    },
  );

  test.each(['x', '世', '😀'])(
    `what is beyond ${limits.toolOutputBytes} bytes of "%s" is dropped, and the last page notes it`,
    (part) => {
      const text = part.repeat(limits.toolOutputBytes + 1);
      const { result, pages } = pagesOf(text);
      const kept = pages.slice(0, -1).join('');
      expect(text.startsWith(kept)).toBe(true);
      expect(Buffer.byteLength(kept)).toBeGreaterThan(limits.toolOutputBytes - 4);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(limits.toolOutputBytes);
      expect(pages.at(-1)).toBe(`[The output was ${result.bytes} bytes; only the first ${Buffer.byteLength(kept)} were kept.]`);
      expect(result).toMatchObject({ bytes: Buffer.byteLength(text), pages: pages.length });
    },
  );
});

describe('watchdog and system prompt', () => {
  test(`B29: a turn that stalls ${limits.turnStalls} times fails, and the session is usable at once`, () => {
    const still = Array.from({ length: limits.turnStalls - 1 }, (_, index) => `stall m1/${index + 1}`);
    given('post m1', ...still.slice(0, -1))
      .when(still.at(-1) ?? '')
      .then(`turn_resumed m1/${limits.turnStalls} step 1`);
    given('post m1', 'post m2', ...still)
      .when(`stall m1/${limits.turnStalls}`)
      .then(`turn_failed m1/${limits.turnStalls} turn_stalled`, 'turn_started m2/1');
  });

  test('a stall of an attempt that is over, or of a turn that waits for a person, is none', () => {
    given('post m1', 'resume').when('stall m1/1').thenNothing();
    given('post m1', 'ask m1/1 p1').when('stall m1/1').thenNothing();
    given('post m1', 'stop').when('stall m1/1').thenNothing();
  });

  test('a step gives the full number of stalls back', () => {
    expect(stateAfter('post m1', 'stall m1/1', 'stall m1/2', 'continue m1/3 1').machine.context.turn).toMatchObject({
      stalls: 0,
    });
  });

  test('A11/124: what the prompt is made of is recorded when it changes', () => {
    given('post m1').when('prompted m1/1 1 base').then('prompt_changed base', 'model_step m1/1 1 continue');
    given('post m1', 'prompted m1/1 1 base').when('prompted m1/1 2 base').then('model_step m1/1 2 continue');
    given('post m1', 'prompted m1/1 1 base')
      .when('prompted m1/1 2 base tools')
      .then('prompt_changed base tools', 'model_step m1/1 2 continue');
    given('post m1', 'prompted m1/1 1 base').when('continue m1/1 2').then('model_step m1/1 2 continue');
    given('post m1', 'prompted m1/1 1 base', 'reset s2', 'post m2')
      .when('prompted m2/1 1 base')
      .then('prompt_changed base', 'model_step m2/1 1 continue');
  });
});
