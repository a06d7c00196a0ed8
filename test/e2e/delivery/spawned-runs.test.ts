import { describe, expect, test } from 'vitest';
import { sessionOutlet } from '../../../services/delivery/outlets/session.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { plan } from '../../../shared/runtime/outgoing/plan.ts';
import { pathOf } from '../gateway/setup.ts';
import { startWhole, type Whole } from '../system/whole.ts';

/** Sub-agents from end to end: begun by a model, ended by an answer, a failure, a person or time (A11/125, A13/138, B3). */

const owner = 'telegram:7';
const parent = 'agent:main:telegram:default:dm:7';

/** What the owner says to have a sub-agent begin. */
const begin = (task: string, more: object = {}): string => `[[tool sessions_spawn ${JSON.stringify({ task, ...more })}]] begun`;

/** The owner has a sub-agent begin, and is told so. Resolves with the run as it was recorded before it began. */
const spawn = async (whole: Whole, task: string, more?: object): Promise<{ key: string; runId: string }> => {
  await whole.say(owner, begin(task, more));
  expect((await whole.delivered()).text).toMatch(/^You said: begun\nsessions_spawn → \{"status":"accepted"/);
  const [call] = (await whole.eventsOf(parent, 'tool_call_started')).slice(-1);
  if (call?.spawn === undefined) throw new Error('no run was recorded');
  return call.spawn;
};
const runs = async (whole: Whole, { key }: { key: string }): Promise<unknown> =>
  whole.until(async () => expect((await whole.as.owner('GET', pathOf(key))).body).toMatchObject({ status: 'running' }));
/** What the session that began a run was told of its end. */
const resultsOf = async (whole: Whole, runId: string) =>
  (await whole.eventsOf(parent, 'user_message')).filter(({ message }) => message.answers === runId);
const stopped = async (whole: Whole): Promise<string> => {
  await whole.say(owner, '/stop');
  return (await whole.delivered()).text;
};
const nothingRuns = 'Nothing was running.';

describe('the answer of a sub-agent', () => {
  test('A13/138, B3: is heard by the session that began it, which tells the person who asked', async () => {
    const whole = await startWhole();
    const { key, runId } = await spawn(whole, 'count to three', { label: 'counter' });
    const told = await whole.delivered();
    expect(told.target).toMatchObject({ channel: 'telegram', to: '7' });
    expect(told.text).toBe('From the sub-agent: You said: count to three');
    expect(await resultsOf(whole, runId)).toMatchObject([{ message: { sender: { id: key, role: 'program' } } }]);
    expect(key).toMatch(/^agent:main:subagent:[0-9a-f]{24}-[0-9a-f]{24}$/);
    const { body } = await whole.as.owner('GET', pathOf(key));
    expect(body).toMatchObject({
      source: { kind: 'subagent', ids: { parent, person: owner } },
      settings: { displayName: 'counter' },
    });
    expect(await stopped(whole)).toBe(nothingRuns);
  });

  test('A6/78: nothing to say begins no turn, and the run is over', async () => {
    const whole = await startWhole();
    const { runId } = await spawn(whole, '[[silent]]');
    await whole.until(async () => expect(await resultsOf(whole, runId)).toHaveLength(1));
    const [result] = await resultsOf(whole, runId);
    expect(result?.message.text).toMatch(/has ended without an answer/);
    expect(result?.turnId).toBeUndefined();
    expect(await stopped(whole)).toBe(nothingRuns);
  });

  test.each([
    ['a failure', '[[fail busy]]', {}, /the run has failed: .*\(busy\)/],
    ['time that is up', '[[think 600000]] x', { timeoutSeconds: 1 }, /the run was stopped: no answer within 1 s/],
  ])('I1: %s is told too', async (_, task, more, expected) => {
    const whole = await startWhole();
    await spawn(whole, task, more);
    expect((await whole.delivered()).text).toMatch(expected);
    expect(await stopped(whole)).toBe(nothingRuns);
  });

  test('I1: and that a person has stopped it', async () => {
    const whole = await startWhole();
    const run = await spawn(whole, '[[think 600000]] x');
    await runs(whole, run);
    await whole.as.owner('POST', pathOf(run.key, '/stop'));
    expect((await whole.delivered()).text).toMatch(/There is no answer, the run was stopped/);
    expect(await stopped(whole)).toBe(nothingRuns);
  });

  test('A9/98: a rule about sending does not keep it from the session that waits for it', async () => {
    const whole = await startWhole({
      session: { sendPolicy: { rules: [{ action: 'deny', match: { keyPrefix: 'subagent:' } }] } },
    });
    await spawn(whole, 'hello');
    expect((await whole.delivered()).text).toMatch(/You said: hello$/);
  });

  test('I2, I9: delivered once more it changes nothing', async () => {
    const whole = await startWhole();
    const { key, runId } = await spawn(whole, 'hello');
    await whole.delivered();
    await whole.settled();
    const ports = whole.memory.portsFor('once-more');
    const outlet = sessionOutlet({ config: () => whole.config, ...ports });
    const results = (await whole.commitsOf(key)).flatMap((commit) => plan(commit, whole.config.session.sendPolicy));
    expect(results).toHaveLength(1);
    const before = await whole.commitsOf(parent);
    for (const result of results) expect(await outlet.send(result, new AbortController().signal)).toEqual({ kind: 'sent' });
    await whole.settled();
    expect(await whole.commitsOf(parent)).toEqual(before);
    expect(await resultsOf(whole, runId)).toHaveLength(1);
  });
});

describe('/stop', () => {
  test('A11/125: ends the runs that the session has begun, on whichever host, and tells how many', async () => {
    const whole = await startWhole();
    const run = await spawn(whole, '[[think 600000]] x');
    await runs(whole, run);
    expect(await stopped(whole)).toMatch(/^Stopped 1 sub-agent run\b/);
    await whole.until(async () => expect(await whole.eventsOf(run.key, 'turn_aborted')).toHaveLength(1));
    await whole.settled();
    expect(await resultsOf(whole, run.runId)).toEqual([]);
  });

  test('A11/125: also those that these have begun', async () => {
    const whole = await startWhole({ more: { tools: { spawn: { depth: 2 } } } });
    const run = await spawn(whole, begin('[[think 600000]] x'));
    const told = async () => (await whole.eventsOf(parent, 'user_message')).at(-1);
    await whole.until(async () => expect((await told())?.message.sender.id).toBe(run.key));
    expect((await told())?.message.text).toContain(`[The sub-agent ${run.key} goes on.]\nYou said: begun`);
    expect((await told())?.turnId).toBeUndefined();
    const inner = async () => (await whole.eventsOf(run.key, 'tool_call_started')).flatMap(({ spawn: own }) => own ?? []);
    await whole.until(async () => expect(await inner()).toHaveLength(1));
    const [child] = await inner();
    if (child === undefined) throw new Error('nothing was begun');
    expect(child.key).toMatch(new RegExp(`^${run.key}:[0-9a-f]{24}$`));
    await runs(whole, child);
    expect(await stopped(whole)).toMatch(/^Stopped 1 sub-agent run\b/);
    await whole.until(async () => expect(await whole.eventsOf(child.key, 'turn_aborted')).toHaveLength(1));
  });

  test('C9: deleting the session ends them too, and nothing of theirs brings it back', async () => {
    const whole = await startWhole();
    const run = await spawn(whole, '[[think 600000]] x');
    await runs(whole, run);
    expect(await whole.as.owner('DELETE', pathOf(parent, '?mode=key'))).toMatchObject({ status: 200 });
    await whole.until(async () => expect(await whole.eventsOf(run.key, 'turn_aborted')).toHaveLength(1));
    await whole.settled();
    expect((await whole.commitsOf(parent)).at(-1)?.events.at(-1)).toMatchObject({ type: 'session_deleted' });
    expect((await whole.as.owner('GET', pathOf(parent))).status).toBe(404);
  });
});

describe('how many', () => {
  test('B3: no more at a time than configured, and no deeper; the others are refused and begin nothing', async () => {
    const whole = await startWhole({ more: { tools: { spawn: { count: 1 } } } });
    const long = { task: '[[think 600000]] x' };
    const call = `[[tool sessions_spawn ${JSON.stringify(long)}]]`;
    await whole.say(owner, `${call} ${call} both`);
    const { text } = await whole.delivered();
    expect(text).toMatch(/"status":"accepted".*sessions_spawn → error: 1 sub-agents are at work already/s);
    expect((await whole.eventsOf(parent, 'tool_call_started')).filter(({ spawn: own }) => own)).toHaveLength(1);
    expect(await stopped(whole)).toMatch(/^Stopped 1 sub-agent run\b/);
    const deep = await spawn(whole, begin('too deep'));
    expect((await whole.delivered()).text).toMatch(/There is no tool "sessions_spawn"/);
    expect(await whole.eventsOf(deep.key, 'tool_call_started')).toEqual([]);
  });
});

describe('a question for a person', () => {
  const asking = (role: 'owner' | 'program') => ({
    more: { tools: { rules: [{ tool: 'sessions_list', role, action: 'ask' }] } },
  });

  test('A5/62: goes where the answer goes, with the way to answer it', async () => {
    const whole = await startWhole(asking('owner'));
    await whole.say(owner, '[[tool sessions_list {}]] looked');
    const { text, kind } = await whole.delivered();
    const [question] = await whole.eventsOf(parent, 'approval_requested');
    const id = question?.approvalId;
    expect([kind, text.split('\n').slice(0, 2)]).toEqual([
      'notice',
      ['Approval needed: list sessions', `Answer "/approve ${id}", "/approve ${id} always" or "/deny ${id}" and a reason.`],
    ]);
    expect(text).toMatch(/\nThe owner may answer, until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/);
    await whole.say(owner, `/approve ${id}`);
    const answers = [(await whole.delivered()).text, (await whole.delivered()).text];
    expect(answers.join()).toMatch(/Approved: list sessions.*You said: looked/s);
  });

  test('A5/62: of a sub-agent goes to the person who talks to the session that began it', async () => {
    const whole = await startWhole(asking('program'));
    const { key } = await spawn(whole, '[[tool sessions_list {}]] looked');
    const { text, target } = await whole.delivered();
    const [question] = await whole.eventsOf(key, 'approval_requested');
    expect(target).toMatchObject({ channel: 'telegram', to: '7' });
    expect(text).toContain(`It is the sub-agent's ${key}; answer with: natter approvals resolve ${question?.approvalId}`);
    expect((await whole.eventsOf(parent, 'notice')).map(({ notice }) => notice.code)).toEqual(['spawned_run']);
  });
});

test('B4: a sub-agent sees its own session and nothing else of the tree above it', async () => {
  const whole = await startWhole();
  const list = `[[tool sessions_history ${JSON.stringify({ sessionKey: parent })}]] looked`;
  const run = await spawn(whole, list);
  const { text } = await whole.delivered();
  expect(text).toMatch(/sessions_history → error: sessionKey: there is no such session, or it is out of reach here/);
  expect((await whole.commitsOf(run.key as SessionKey)).length).toBeGreaterThan(0);
});
