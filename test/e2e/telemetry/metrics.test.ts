import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { keyOf } from '../../support/domain/commits.ts';
import { fakeTools } from '../../support/fake-tools.ts';
import { startWhole, type Whole } from '../system/whole.ts';

/** The page for Prometheus, and what `docs/operate/metrics.md` says of it. */
const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

const pageOfGateway = async (whole: Whole): Promise<string> => (await whole.as.owner('GET', '/metrics')).text;

interface Series {
  readonly name: string;
  readonly labels: readonly string[];
  readonly line: string;
}
/** The series of a page; a histogram's parts go by its name. */
const seriesOf = (page: string): Series[] =>
  page
    .split('\n')
    .filter((line) => line.startsWith('natter_'))
    .map((line) => {
      const [, name = '', labels = ''] = /^(\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label).filter((label) => label !== 'le');
      return { name, labels: names, line };
    });
const typesOf = (page: string): Map<string, string> =>
  new Map([...page.matchAll(/^# TYPE (natter_\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]));
const helpsOf = (page: string): Map<string, string> =>
  new Map([...page.matchAll(/^# HELP (natter_\w+) (.*)$/gm)].map(([, name = '', help = '']) => [name, help]));

/** The rows of the tables of `docs/operate/metrics.md`. */
const documented = (): { name: string; type: string; labels: string[]; help: string }[] =>
  [...read('docs/operate/metrics.md').matchAll(/^\| `(natter_\w+)` \| (\w+) \| (.*?) \| (.*?) \|$/gm)].map(
    ([, name = '', type = '', labels = '', help = '']) => ({
      ...{ name, type, help },
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
    }),
  );

const tools = () => fakeTools({ name: 'look' }, { name: 'ask', usual: 'ask' });
/** A system in which something of everything has happened. */
const lived = async (): Promise<Whole> => {
  const whole = await startWhole({ tools: tools() });
  await whole.say('telegram:7', '[[tool look]] hello');
  await whole.delivered();
  await whole.say('telegram:7', '[[fail busy]] oh');
  await whole.delivered();
  await whole.say('telegram:7', '[[tool ask]] may I?');
  await whole.until(async () => {
    const page = await pageOfGateway(whole);
    expect(page).toContain('natter_approvals_pending 1');
    expect(page).toContain('natter_deliveries_total{channel="telegram",state="delivered"} 3');
  });
  return whole;
};
/** Told only where hosts are processes of their own, a mirror is kept, or sessions are introspected. */
const elsewhere = /^natter_(hosts_ready|host_restarts_total|mirror_\w+|introspection_\w+)$/;

test('docs/operate/metrics.md has what is exposed, and nothing else: names, types, labels and meanings', async () => {
  const whole = await lived();
  const page = await pageOfGateway(whole);
  const rows = documented();
  const exposed = [...typesOf(page)].map(([name, type]) => `${name} ${type}`);
  const promised = rows.filter(({ name }) => !elsewhere.test(name)).map(({ name, type }) => `${name} ${type}`);
  expect(exposed.sort()).toEqual(promised.sort());
  const helps = helpsOf(page);
  for (const { name, help } of rows) if (!elsewhere.test(name)) expect(helps.get(name)).toBe(help);
  const labels = new Map(rows.map((row) => [row.name, row.labels.filter((label) => label !== 'host').sort()]));
  for (const series of seriesOf(page))
    expect([series.name, [...series.labels].sort()]).toEqual([series.name, labels.get(series.name)]);
});

test('names are as Prometheus wants them: what grows ends in _total, what is measured in its unit', async () => {
  for (const { name, type } of documented()) {
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
  }
});

test('turns, steps, tools, tokens, commits, deliveries and approvals are counted', async () => {
  const whole = await lived();
  const page = await pageOfGateway(whole);
  const has = (line: string | RegExp) => (typeof line === 'string' ? expect(page).toContain(line) : expect(page).toMatch(line));
  has('natter_turns_ended_total{outcome="completed",code=""} 1');
  has('natter_turns_ended_total{outcome="failed",code="busy"} 1');
  has('natter_turn_duration_seconds_count{outcome="completed"} 1');
  has('natter_model_step_duration_seconds_count{model="offline",outcome="continue"} 2');
  has('natter_tool_call_duration_seconds_count{tool="look",outcome="ok"} 1');
  has(/natter_tokens_total\{model="offline",direction="input"\} [1-9]/);
  has(/natter_commit_duration_seconds_count\{result="stored"\} [1-9]/);
  has('natter_deliveries_total{channel="telegram",state="delivered"} 3');
  has(/natter_delivery_duration_seconds_count\{channel="telegram",state="delivered"\} [1-9]/);
  has('natter_queue_messages{queue="commands"} 0');
  has(/natter_approval_oldest_age_seconds \d/);
  has('natter_dead_letters 0');
  has(/natter_http_request_duration_seconds_count\{route="\/v1\/inbound",method="POST",status="202"\} 3/);
});

test('a thousand sessions, and what people make up, are no new series (I11)', async () => {
  const whole = await startWhole({ tools: tools() });
  const { commands, clock } = whole.memory.portsFor('a program');
  const visit = async (from: number, to: number): Promise<void> => {
    for (let number = from; number < to; number++) {
      const [id, key] = [`c${number}`, keyOf(`agent:main:s${number}`)];
      const data = { type: 'post_message', sessionId: id, message: { messageId: id, text: 'hello', sender: { id } } } as const;
      await commands.publish({ ...{ id, key, at: clock.now(), correlationId: id, causationId: id, actor: id }, data });
      if (number % 50 !== 0) continue;
      await whole.as.owner('POST', `/v1/sessions/${encodeURIComponent(key)}/messages`, { body: { text: 'hello' } });
      await whole.as.owner('GET', `/made-up-${number}`);
    }
    await whole.settled();
    await pageOfGateway(whole);
  };
  await visit(0, 1);
  const before = seriesOf(await pageOfGateway(whole)).length;
  await visit(1, 1_001);
  const page = await pageOfGateway(whole);
  expect(page).toMatch(/natter_turns_ended_total\{outcome="completed",code=""\} 1022/);
  expect(seriesOf(page).length).toBe(before);
  expect(page).not.toMatch(/agent:main|made-up/);
});

test('the example of alerts asks for metrics that there are', () => {
  const known = new Set(documented().map(({ name }) => name));
  const { groups } = parse(read('docs/examples/alerts.yaml')) as { groups: { rules: { alert: string; expr: string }[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr } of rules) {
    const names = (expr.match(/natter_\w+/g) ?? []).map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    expect([alert, names.filter((name) => !known.has(name))]).toEqual([alert, []]);
    expect(names.length).toBeGreaterThan(0);
  }
});
