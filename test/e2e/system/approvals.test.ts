import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { afterwards, pathOf } from '../gateway/setup.ts';
import { startWhole, type Whole } from './whole.ts';

/** Tools that wait for a person's word, as people meet it: asked in the chat, answered there, from the terminal or by a program (A5/62). */

const owner = 'telegram:7';
const ann = 'telegram:1';
const keyOf = (person: string) => `agent:main:telegram:default:dm:${person.slice('telegram:'.length)}`;
const writing = (content: string) => `[[tool write_file {"path":"note.md","content":"${content}"}]]`;

/** All services, and a workspace that may be written to if somebody says so. */
const startAsking = async (rule: object = {}) => {
  const workspace = mkdtempSync(join(tmpdir(), 'natter-approvals-'));
  afterwards(() => rm(workspace, { recursive: true, force: true }));
  const tools = { rules: [{ tool: 'write_file', action: 'ask', ...rule }] };
  const whole = await startWhole({ more: { agent: { owners: [owner], names: ['natter'], workspace }, tools } });
  return { ...whole, written: () => readFileSync(join(workspace, 'note.md'), 'utf8') };
};
const ask = async (whole: Whole, person: string, text: string): Promise<string> => {
  await whole.say(person, text);
  const { target, text: answer } = await whole.delivered();
  expect(`telegram:${target.to}`).toBe(person);
  return answer;
};
/** The id that a question names. */
const idIn = (question: string): string => /"\/approve (\w+)"/.exec(question)?.[1] ?? `no id in: ${question}`;

describe('in the chat', () => {
  test('A5/62: the question comes, /approve lets the call run once, and the turn goes on', async () => {
    const whole = await startAsking();
    const question = await ask(whole, owner, `${writing('one')} done?`);
    expect(question).toMatch(/^Approval needed: .*note\.md/);
    expect((await whole.as.owner('GET', pathOf(keyOf(owner)))).body.status).toBe('awaiting_approval');
    expect(() => whole.written()).toThrow();
    expect(await ask(whole, owner, `/approve ${idIn(question).toUpperCase()}`)).toMatch(/^Approved: .*note\.md/);
    expect((await whole.delivered()).text).toMatch(/^You said: done\?\nwrite_file → wrote/);
    expect(whole.written()).toBe('one');
    expect(await ask(whole, owner, `/approve ${idIn(question)}`)).toContain('was granted by telegram:7 already');
    expect(await ask(whole, owner, '/approve never')).toContain('there is no approval "never" in this session');
  });

  test('A5/62: /approve ID always: the same call is not asked about again until /new, another one is', async () => {
    const whole = await startAsking();
    const question = await ask(whole, owner, writing('one'));
    expect(await ask(whole, owner, `/approve ${idIn(question)} always`)).toMatch(/^Approved/);
    await whole.delivered();
    expect(await ask(whole, owner, writing('one'))).toMatch(/write_file → wrote/);
    const other = await ask(whole, owner, writing('two'));
    expect(other).toMatch(/^Approval needed/);
    expect(await ask(whole, owner, `/deny ${idIn(other)}`)).toMatch(/^Denied/);
    await whole.delivered();
    await ask(whole, owner, '/new');
    expect(await ask(whole, owner, writing('one'))).toMatch(/^Approval needed/);
  });

  test('A5/62: /deny with a reason, which the model is told; nothing runs', async () => {
    const whole = await startAsking();
    const question = await ask(whole, owner, writing('one'));
    expect(await ask(whole, owner, `/deny ${idIn(question)} not on Fridays`)).toMatch(/^Denied: .*note\.md/);
    expect((await whole.delivered()).text).toMatch(/write_file → denied: .*denied by telegram:7: not on Fridays/);
    expect(() => whole.written()).toThrow();
  });

  test('A5/62: a participant without the right cannot approve by typing it; the owner is told, and can from elsewhere', async () => {
    const whole = await startAsking();
    await ask(whole, owner, 'hello');
    const id = idIn(await ask(whole, ann, writing('one')));
    const [answer, told] = [await whole.delivered(), await whole.delivered()].sort((one, other) =>
      one.target.to < other.target.to ? -1 : 1,
    );
    expect(answer?.text).toMatch(/write_file → denied: A person has to allow it and was asked/);
    expect(told?.target.to).toBe('7');
    expect(told?.text).toContain(`It is for a participant in ${keyOf(ann)}; answer with: natter approvals resolve ${id}`);
    expect(await ask(whole, ann, `/approve ${id}`)).toBe(`approval ${id} is not yours to answer; ask the owner`);
    expect(() => whole.written()).toThrow();
    expect((await whole.as.ann('POST', `/v1/approvals/${id}`, { body: { verdict: 'allow-once' } })).status).toBe(403);
    expect((await whole.as.owner('POST', `/v1/approvals/${id}`, { body: { verdict: 'allow-once' } })).status).toBe(200);
    expect((await whole.delivered()).text).toContain('has allowed what was asked for earlier');
    expect(whole.written()).toBe('one');
  });

  test('A5/62: whoever asked may answer where a rule says so', async () => {
    const whole = await startAsking({ approvers: ['asker'] });
    const id = idIn(await ask(whole, ann, writing('one')));
    await whole.delivered();
    expect(await ask(whole, ann, `/approve ${id}`)).toMatch(/^Approved/);
    expect((await whole.delivered()).text).toContain('has allowed what was asked for earlier');
    expect(whole.written()).toBe('one');
  });

  test('A5/66: a rule may name somebody who is linked by any of their ids', async () => {
    const whole = await startAsking({ approvers: ['discord:2'] });
    const bob = 'telegram:2';
    const id = idIn(await ask(whole, bob, writing('one')));
    await whole.delivered();
    expect(await ask(whole, bob, `/approve ${id}`)).toMatch(/^Approved/);
  });

  test('A5/62: in a group a stranger’s question holds up nobody; what the owner allows there is done (ADR 22)', async () => {
    const whole = await startAsking({ role: 'participant' });
    const group = { conversation: { id: '-100', kind: 'group' }, mentioned: true };
    await whole.say(ann, writing('one'), group);
    const id = idIn((await whole.delivered()).text);
    expect((await whole.delivered()).text).toMatch(/write_file → denied/);
    await whole.say(owner, 'are you there?', group);
    expect((await whole.delivered()).text).toBe('You said: are you there?');
    const pending = async () => (await whole.as.owner('GET', '/v1/approvals')).body.approvals;
    const asked = { approvalId: id, sessionKey: 'agent:main:telegram:group:-100' };
    await whole.until(async () => expect(await pending()).toMatchObject([asked]));
    expect(() => whole.written()).toThrow();
    await whole.say(owner, `/approve ${id}`, group);
    expect((await whole.delivered()).text).toMatch(/^Approved/);
    expect((await whole.delivered()).text).toContain('telegram:7 has allowed what was asked for earlier');
    expect(whole.written()).toBe('one');
    await whole.until(async () => expect(await pending()).toEqual([]));
  });

  test('A5/62, 70: what is said meanwhile waits; without an id it says how to answer', async () => {
    const whole = await startAsking();
    const id = idIn(await ask(whole, owner, writing('one')));
    await whole.say(owner, 'are you there?');
    expect(await ask(whole, owner, '/approve')).toMatch(/^Nothing was approved\. Write \/approve ID/);
    expect(await ask(whole, owner, '/status')).toContain('awaiting approval');
    expect(await ask(whole, owner, `/approve ${id}`)).toMatch(/^Approved/);
    expect((await whole.delivered()).text).toMatch(/write_file → wrote/);
    expect((await whole.delivered()).text).toBe('You said: are you there?');
  });

  test('A11/125: /stop ends what waits for a person; an answer then comes too late', async () => {
    const whole = await startAsking();
    const id = idIn(await ask(whole, owner, writing('one')));
    expect(await ask(whole, owner, '/stop')).toBe('Stopped the answer.');
    expect(await ask(whole, owner, `/approve ${id}`)).toContain(`there is no approval "${id}" in this session`);
    expect(await ask(whole, owner, 'on')).toBe('You said: on');
    expect(() => whole.written()).toThrow();
  });
});
