import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { startGateway } from '../../../../services/gateway/main.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { HealthProblem } from '../../../../shared/kit/health-problem.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import { fixed } from '../../../../shared/runtime/config/reload.ts';
import { startMiniHost } from '../../../support/mini-host.ts';
import { afterwards, callerOf, config, openBroker, openGateway, pathOf, ready, startWorld, token } from '../setup.ts';

const post = pathOf('agent:main:main', '/messages?wait=5');

/** Ports whose broker can be away: every call that would need it fails as the real ones do. */
const cuttable = (ports: Ports) => {
  let away = false;
  const fail = () => new NatterError('unavailable', 'the broker does not answer');
  const guarded = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (object, name) => {
        const member = Reflect.get(object, name);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]) => (away ? Promise.reject(fail()) : member.apply(object, given));
      },
    });
  const cut: Ports = {
    ...ports,
    events: guarded(ports.events),
    commands: guarded(ports.commands),
    inbound: guarded(ports.inbound),
    index: guarded(ports.index),
    problems: () => (away ? [new HealthProblem('broker_away', 'the broker is away')] : []),
  };
  const set = (value: boolean): void => {
    away = value;
  };
  return { ports: cut, set };
};

describe('trouble', () => {
  test('starts without the broker, answers 503 with Retry-After, and recovers by itself', async () => {
    const memory = openBroker();
    const host = await startMiniHost(memory.portsFor('host'));
    afterwards(() => host.close());
    const broker = cuttable(memory.portsFor('gateway'));
    broker.set(true);
    const gateway = await openGateway(broker.ports);
    const call = callerOf(gateway.url);
    expect((await call('GET', '/livez')).status).toBe(200);
    const notReady = await call('GET', '/readyz');
    expect(notReady).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { status: 'unavailable' } });
    expect(notReady.body.problems).toEqual([
      'the broker is away',
      expect.stringContaining('event feed: '),
      expect.stringContaining('session index: '),
    ]);
    for (const [method, path] of [
      ['POST', post],
      ['GET', '/v1/sessions'],
      ['GET', '/v1/events'],
    ] as const) {
      const { status, body, headers } = await call(method, path, method === 'POST' ? { body: { text: 'x' } } : {});
      expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
      expect(headers['retry-after']).toBe('1');
    }
    broker.set(false);
    await ready(call);
    expect((await call('POST', post, { body: { text: 'hello' } })).body.status).toBe('ok');

    broker.set(true);
    expect((await call('POST', post, { body: { text: 'x' } })).status).toBe(503);
    expect((await call('GET', '/readyz')).status).toBe(503);
    broker.set(false);
    await ready(call);
    expect((await call('POST', post, { body: { text: 'again' } })).body.status).toBe('ok');
  });

  test('refuses an address that others can reach, unless told so', async () => {
    const options = { ports: openBroker().portsFor('gateway'), log: pino({ level: 'silent' }), token, version: '0' };
    const at = (host: string, allowPublicBind = false) =>
      startGateway({ ...options, config: fixed({ ...config, gateway: { ...config.gateway, host, allowPublicBind } }) });
    for (const host of ['0.0.0.0', '::', '192.168.1.1', 'example.org', '127.0.0.1.example.org']) {
      await expect(at(host)).rejects.toMatchObject({ code: 'invalid', field: 'gateway.host' });
    }
    const open = await at('0.0.0.0', true);
    await open.stop(1_000);
    await expect(startGateway({ ...options, config: fixed(config), token: '' })).rejects.toMatchObject({
      code: 'invalid',
      field: 'gateway.token',
    });
  });

  test('says when its port is taken', async () => {
    const { gateway, ports } = await startWorld();
    const taken = { ...config, gateway: { ...config.gateway, port: Number(new URL(gateway.url).port) } };
    const starting = startGateway({ config: fixed(taken), ports, log: pino({ level: 'silent' }), token, version: '0' });
    await expect(starting).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('gateway.port') });
  });

  test('stops while a call waits: the call is answered and the turn goes on', async () => {
    const { call, gateway, host, ports } = await startWorld();
    host.hold();
    const waiting = call('POST', pathOf('agent:main:main', '/messages?wait=60'), { body: { text: 'hello' } });
    await vi.waitFor(async () => expect((await ports.events.info()).lastSeq).toBe(1));
    await gateway.stop(5_000);
    expect((await waiting).body).toMatchObject({ status: 'timeout' });
    await host.release();
    await vi.waitFor(async () => expect((await ports.events.info()).lastSeq).toBe(2));
  });

  test('shows the numbers of all services on one page', async () => {
    const memory = openBroker();
    const service = (sessions: number) => ({
      name: 'session',
      problems: () => [],
      metrics: () => ({ sessions_resident: sessions, commits_total: 2 }),
      stop: async () => {},
    });
    const gateway = await openGateway(memory.portsFor('gateway'), [service(3), service(4)]);
    const call = callerOf(gateway.url);
    await ready(call);
    const { text, headers } = await call('GET', '/metrics');
    expect(headers['content-type']).toContain('text/plain');
    expect(text).toContain('natter_sessions_resident{service="session"} 7');
    expect(text).toContain('# TYPE natter_commits_total counter\nnatter_commits_total{service="session"} 4');
    expect(text).toMatch(/natter_http_request_duration_seconds_count\{route="\/readyz",method="GET",status="200"\} \d+/);
    expect((await call('GET', '/metrics')).text).toContain('natter_commits_total{service="session"} 4');
  });
});
