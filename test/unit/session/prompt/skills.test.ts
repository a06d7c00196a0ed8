import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadState } from '../../../../services/session/host/load.ts';
import { execTool } from '../../../../services/session/tools/exec.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../../../shared/domain/session/events.ts';
import { reportText } from '../../../../shared/domain/session/report/report-text.ts';
import type { Message, Sender } from '../../../../shared/domain/values/types.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { noSkills, type SkillSet, setOf } from '../../../../shared/runtime/skills/explain.ts';
import type { KnownSkills } from '../../../../shared/runtime/skills/library.ts';
import { countingSkills, loadSkills } from '../../../../shared/runtime/skills/load.ts';
import { command } from '../../../support/domain/given.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { skillText, type TemporaryFolder, temporaryFolder } from '../../runtime/skills/folders.ts';
import { homeKey, post, type Rig, type RigOptions, rig } from '../rig.ts';
import { type Line, rowsOf, script } from '../script.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** The skills that are in the folder now. */
const skillsNow = async (): Promise<SkillSet> => {
  const found = await loadSkills({ roots: [{ source: 'workspace', path: folder.at('skills'), inWorkspace: 'skills' }] });
  return setOf(
    countingSkills(found).map((skill) => ({ skill })),
    new Set(['new']),
  );
};
const put = (name: string, more = '', body?: string) => folder.write(`skills/${name}/SKILL.md`, skillText(name, more, body));

/** Until no turn runs. Skills are read from a disk, for which the clock of the test does not wait. */
const rests = (made: Rig): Promise<void> =>
  vi.waitFor(
    async () => {
      await made.clock.pass(50);
      expect(made.host.turns.running).toBe(0);
    },
    { interval: 2 },
  );

/** A host whose library hands out what is in the folder, and notes what it was asked. */
const begin = (lines: readonly Line[], options: RigOptions & { keeps?: SkillSet } = {}) => {
  const asked: KnownSkills[] = [];
  const model = script(lines);
  const tools = fakeTools({ name: 'read_file' }, { name: 'deploy' }, { name: 'mail', usual: 'ask', idempotent: false });
  const take = async (known: KnownSkills): Promise<SkillSet> => {
    asked.push(known);
    return skillsNow();
  };
  const made = rig({ model: () => model, tools: () => tools, skills: { take }, ...options });
  const say = async (
    text: string,
    id: string,
    sender: Sender = { id: 'ann', role: 'owner', principal: 'ann' },
  ): Promise<void> => {
    const envelope = post(text, id);
    const message: Message = { messageId: id, text, sender };
    await made.take({ ...envelope, data: { type: 'post_message', sessionId: 's1', message } });
    await rests(made);
  };
  const told = () => made.events().filter((event): event is EventOf<'skills_changed'> => event.type === 'skills_changed');
  const names = () => told().map(({ skills }) => skills.map(({ name }) => name).join());
  const answers = () => made.events().flatMap((event) => (event.type === 'assistant_message' ? [event.text] : []));
  return { made, model, tools, say, names, told, answers, asked, rows: () => rowsOf(made.events()) };
};
let resets = 0;
const reset = (): CommandEnvelope => ({
  ...command('reset', `reset-${++resets}`),
  key: homeKey,
  data: { type: 'reset', sessionId: `s${resets + 1}`, cause: { trigger: 'command', rule: '/new' } },
});

describe('A15/166: what a session knows of its skills is in its log', () => {
  test('once, when it changes, and again after a reset', async () => {
    put('a');
    const { made, say, names, told, asked } = begin(['1', '2', '3', '4']);
    await say('one', 'm1');
    await say('two', 'm2');
    expect(names()).toEqual(['a']);
    expect(told()[0]?.skills).toEqual((await skillsNow()).refs);
    put('b');
    await say('three', 'm3');
    expect(names()).toEqual(['a', 'a,b']);
    await made.take(reset());
    await say('four', 'm4');
    expect(names()).toEqual(['a', 'a,b', 'a,b']);
    expect(asked.map(({ taken, refs }) => `${taken} ${refs.map(({ name }) => name).join()}`)).toEqual([
      ...['false ', 'true a', 'true a', 'false '],
    ]);
  });
  test('all steps of an attempt have the same, and the next turn what has changed', async () => {
    put('a');
    const { model, say, names } = begin([['deploy'], 'done', 'next'], {
      tools: () =>
        fakeTools(
          { name: 'read_file' },
          {
            name: 'deploy',
            run: async () => {
              put('b');
              return { outcome: 'ok', text: 'done' };
            },
          },
        ),
    });
    await say('go', 'm1');
    expect(names()).toEqual(['a']);
    await say('more', 'm2');
    expect(names()).toEqual(['a', 'a,b']);
    expect(model.requests.map(({ system }) => [...system.matchAll(/<name>(.)</g)].map(([, name]) => name).join(''))).toEqual([
      ...['a', 'a', 'ab'],
    ]);
  });
  test('A15/168: the system prompt has them, and its parts their cost', async () => {
    put('a');
    const { made, model, say } = begin(['1']);
    await say('one', 'm1');
    const { section, refs } = await skillsNow();
    expect(model.requests[0]?.system.endsWith(`\n\n${section}`)).toBe(true);
    const state = await loadState(made.ports, homeKey);
    expect(state.machine.context.prompt).toContainEqual({ name: 'skills', characters: section.length });
    const report = (kind: 'context_list' | 'context_detail') =>
      reportText({ kind, model: 'm', parts: [], warnings: [] }, state, 0).split('\n');
    expect(report('context_list')).toContain(
      `- skills: ${section.length} characters, about ${Math.ceil(section.length / 4)} tokens`,
    );
    expect(report('context_list')).toContain('Skills: a');
    expect(report('context_detail')).toContain(`Skills: a (${refs[0]?.digest.slice(0, 12)})`);
  });
  test('A15/168: they are not listed without a tool that can read them', async () => {
    put('a');
    const { model, say } = begin(['1'], { tools: () => fakeTools() });
    await say('one', 'm1');
    expect(model.requests[0]?.system).not.toContain('available_skills');
  });
});

describe('A15/162: programs have the keys of the skills of their session', () => {
  test.each([
    [true, 15],
    [false, 0],
  ])(
    'it has the skill: %s; characters of the key: %i; and the key is in nothing that is stored or sent',
    async (isThere, characters) => {
      put('search', 'metadata: {natter: {primaryEnv: SEARCH_KEY}}');
      const entries = { search: { apiKey: 'very-secret-key' } };
      const exec = execTool({
        ...{ exec: { enabled: true, environment: [], timeoutMs: 20_000 }, env: { PATH: process.env.PATH } },
        ...{ clock: systemClock, skills: configSchema.parse({ skills: { entries } }).skills.entries },
      });
      const call = `exec ${JSON.stringify({ command: ['sh', '-c', `echo "\${#SEARCH_KEY} $SEARCH_KEY"`] })}`;
      const { made, model, say } = begin([[call], 'done'], {
        tools: () => fakeTools({ name: 'exec', run: exec.run }),
        settings: { skills: { entries } },
        ...(!isThere && { skills: { take: async () => noSkills } }),
      });
      await say('go', 'm1');
      const said = JSON.stringify([made.events(), model.requests]);
      expect(said).toContain(`[exit code 0]\\n${characters} ${isThere ? '[secret]' : ''}`);
      expect(said).not.toContain('very-secret-key');
      expect(process.env).not.toHaveProperty('SEARCH_KEY');
    },
  );
});

describe('A15/148: a skill that a person calls', () => {
  test.each([
    ['/a-b  some words ', 'some words'],
    ['/A_B some words', 'some words'],
    ['/skill a-b some words', 'some words'],
    ['@natter /a_b some words', 'some words'],
    ['/a_b', ''],
  ])('%s: its text is the message that the model has; the log has what was written', async (text, given) => {
    put('a-b', '', 'Do it well.');
    const { made, model, say } = begin(['done', 'again'], { settings: { agent: { names: ['natter'] } } });
    await say(text, 'm1');
    const said =
      `[Do what the skill "a-b" says. Its file is skills/a-b/SKILL.md.]\n\nDo it well.\n\n[The request]\n${given}`.trimEnd();
    expect(model.requests[0]).toMatchObject({ prompt: said, messages: [{ role: 'user', text: said }] });
    expect(made.events().find((event) => event.type === 'user_message')).toMatchObject({ message: { text } });
    await say('thanks', 'm2');
    expect(model.requests[1]?.messages[0]?.text).toBe(text);
  });
  test.each([
    ['/unknown words', {}],
    ['/hidden words', {}],
    ['/new_2 words', {}],
    ['a-b', {}],
    ['/a_b', { role: 'program', id: 'agent:main:other' }],
    ['/a_b', { role: 'program', id: 'agent:main:other', onBehalfOf: 'participant' }],
  ] as const)('%s of %o is an ordinary text', async (text, sender) => {
    put('a-b');
    put('hidden', 'user-invocable: false');
    const { model, say } = begin(['done']);
    await say(text, 'm1', { id: 'ann', ...sender });
    expect(model.requests[0]?.prompt).toBe(text);
  });
  test.each([
    [true, false],
    [false, true],
  ])('A15/173: one that is pinned (%s) and was changed since is told: %s', async (isPinned, isTold) => {
    put('a', '', 'As it was read.');
    const keeps = await skillsNow();
    const entries = isPinned ? { a: { digest: keeps.refs[0]?.digest } } : {};
    put('a', '', 'Something else.');
    const { model, say } = begin(['done'], { settings: { skills: { entries } }, skills: { take: async () => keeps } });
    await say('/a', 'm1');
    expect(model.requests[0]?.prompt.includes('Something else.')).toBe(isTold);
  });
  test('A15/149: one that is not listed to the model can be called', async () => {
    put('a', 'disable-model-invocation: true', 'Do it.');
    const { model, say, names } = begin(['done']);
    await say('/a', 'm1');
    expect(model.requests[0]?.system).not.toContain('available_skills');
    expect(model.requests[0]?.prompt).toContain('Do it.');
    expect(names()).toEqual(['a']);
  });
  test('a long text is cut, with a note of where the rest is', async () => {
    put('a', '', 'x'.repeat(100_000));
    const { model, say } = begin(['done']);
    await say('/a', 'm1');
    expect(model.requests[0]?.prompt.length).toBeLessThan(25_000);
    expect(model.requests[0]?.prompt).toContain('[The rest is in skills/a/SKILL.md.]');
  });
  test('a model that answers at once does not answer for a skill', async () => {
    put('a', '', 'Do it.');
    const instant = script(['done'], {
      instantly: () => ({
        kind: 'reply',
        text: 'at once',
        model: 'm',
        usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
      }),
    });
    const { say, answers } = begin([], { model: () => instant });
    await say('hello', 'm1');
    await say('/a', 'm2');
    await say('hello, /a', 'm3');
    expect(answers()).toEqual(['at once', 'done', 'nothing more to say']);
  });
});

describe('A15/150: a command that goes straight to a tool', () => {
  const dispatching = (tool: string) => put('ship-it', `command-dispatch: tool\ncommand-tool: ${tool}`);

  test('is one call with the words as they are, and its result is the answer; no model is asked', async () => {
    dispatching('deploy');
    const { model, tools, say, rows, answers, made } = begin([]);
    await say('/ship_it  web --now "x y"', 'm1');
    expect(tools.runs.map((run) => run.arguments)).toEqual([
      { command: 'web --now "x y"', commandName: 'ship_it', skillName: 'ship-it' },
    ]);
    expect(model.requests).toEqual([]);
    expect(answers()).toEqual(['deploy is done']);
    expect(rows().filter((row) => !row.startsWith('skills_changed'))).toEqual([
      'model_step m1/1 1 continue',
      'tool_call_started m1/1 m1.1.0 #1',
      'tool_result m1/1 m1.1.0 ok',
      'model_step m1/1 2 stop',
      'assistant_message m1/1',
      'turn_completed m1/1',
    ]);
    expect(
      made
        .events()
        .filter((event) => event.type === 'model_step')
        .map(({ model: name }) => name),
    ).toEqual([...['skill-dispatch', 'skill-dispatch']]);
  });
  test('A5/62: the policy judges it as any other call', async () => {
    dispatching('deploy');
    const denied = begin([], { settings: { tools: { rules: [{ tool: 'deploy', action: 'deny' }] } } });
    await denied.say('/ship_it', 'm1');
    expect([denied.tools.effects, denied.answers()]).toEqual([[], [expect.stringMatching(/^The call is not allowed/)]]);
  });
  test('A5/62: a person is asked about it, and then it is made once', async () => {
    dispatching('mail');
    const { made, model, tools, say, answers } = begin([]);
    await say('/ship_it', 'm1');
    expect(made.events().at(-1)).toMatchObject({ type: 'approval_requested', tool: 'mail' });
    const by: Sender = { id: 'olga', role: 'owner', principal: 'olga' };
    const granted = { type: 'resolve_approval', approvalId: 'approval-1', verdict: 'granted', by } as const;
    await made.take({ ...command('stop', 'answer'), key: homeKey, at: 1_790_000_000_100, data: granted });
    await rests(made);
    expect([tools.effects, answers(), model.requests]).toEqual([['mail m1.1.0'], ['mail is done'], []]);
  });
  test('a tool that does not exist is reported', async () => {
    dispatching('nowhere');
    const { say, answers } = begin([]);
    await say('/ship_it', 'm1');
    expect(answers()).toEqual([expect.stringMatching(/^There is no tool "nowhere"/)]);
  });
  test('a host that has taken over and does not have the skill any more lets the model answer', async () => {
    dispatching('mail');
    const { made, model, say, answers } = begin(['The mail was sent.']);
    await say('/ship_it', 'm1');
    folder.remove();
    made.restart();
    const by: Sender = { id: 'olga', role: 'owner', principal: 'olga' };
    const granted = { type: 'resolve_approval', approvalId: 'approval-1', verdict: 'granted', by } as const;
    await made.take({ ...command('stop', 'answer'), key: homeKey, at: 1_790_000_000_100, data: granted });
    await rests(made);
    expect([answers(), model.requests.length]).toEqual([['The mail was sent.'], 1]);
  });
});
