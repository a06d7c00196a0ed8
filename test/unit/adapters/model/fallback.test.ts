import { describe, expect, test } from 'vitest';
import { type Answer, anthropic, hang, openai, status, stream } from '../../../support/provider-server.ts';
import { modelsAt, provide, request } from './rig.ts';

const says = (text: string): Answer => stream(anthropic.begin(), anthropic.text(text), anthropic.end('stop'));
const error = (code: number): Answer => status(code, openai.error('any', 'no'));

/** `first/tiny` with `second/tiny` behind it. */
const pair = async (one: Answer, other: Answer) => {
  const [first, second] = [await provide(one), await provide(other)];
  const modelOf = modelsAt(
    { first: { dialect: openai, url: first.url }, second: { dialect: anthropic, url: second.url, windows: { tiny: 9_000 } } },
    { agent: { model: 'first/tiny', fallbacks: ['second/tiny'] }, model: { retries: 0, connectMs: 2_000 } },
  );
  const told: string[] = [];
  const outcome = await modelOf().step(request(), (text) => told.push(text), new AbortController().signal);
  return { outcome, told, modelOf, asked: second.requests.length };
};

describe('agent.fallbacks', () => {
  test.each<[string, Answer]>([
    ['a key that is refused', error(401)],
    ['too many requests', error(429)],
    ['an error of the server', error(500)],
    ['no answer in time', hang],
  ])('the next model answers after %s, and the outcome names it', async (_, trouble) => {
    const { outcome, told } = await pair(trouble, says('second here'));
    expect(outcome).toMatchObject({ kind: 'reply', text: 'second here', model: 'second/tiny' });
    expect(told).toEqual(['second here']);
  });

  test.each<[string, Answer, string]>([
    ['a fault in the request', error(400), 'model_bad_request'],
    ['a model that is not there', error(404), 'model_unknown'],
    ['a refusal', stream(openai.begin(), openai.end('refused')), 'model_refused'],
    ['a first word', stream(openai.begin(), openai.text('a'), openai.broken('server_error', 'no')), 'model_unavailable'],
  ])('nobody else is asked after %s', async (_, trouble, code) => {
    const { outcome, asked } = await pair(trouble, says('second here'));
    expect(outcome).toMatchObject({ kind: 'failed', code });
    expect(asked).toBe(0);
  });

  test('when none answers, the outcome has the first’s code and what each of them said', async () => {
    const { outcome } = await pair(error(429), error(500));
    expect(outcome).toMatchObject({
      code: 'model_rate_limited',
      message: 'first/tiny: HTTP 429: no; second/tiny: HTTP 500: Internal Server Error',
    });
  });

  test('its window is the least of all, and it is not behind itself', async () => {
    const { modelOf } = await pair(says(''), says(''));
    expect(modelOf()).toMatchObject({ name: 'first/tiny', windowTokens: 9_000 });
    expect(modelOf('second/tiny')).toMatchObject({ name: 'second/tiny', windowTokens: 9_000 });
    expect(modelOf('first/other')).toMatchObject({ name: 'first/other', windowTokens: 9_000 });
  });

  test('is checked at start-up like the model itself', () => {
    const some = { first: { dialect: openai, url: 'http://127.0.0.1:9/v1' } };
    const agent = { model: 'first/tiny', fallbacks: ['first/tiny', 'gone/model'] };
    expect(() => modelsAt(some, { agent })).toThrow(/agent\.fallbacks\.1 "gone\/model" is not known/);
  });
});
