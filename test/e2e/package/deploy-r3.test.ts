import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { canConfine, compose, openPlace, port, probe, program, read, root, said, variables } from './deployed.ts';

/** Three brokers and Natter of compose-r3.yaml as processes: each container has an address of its own on the loopback network. */
const { services, volumes, configs } = compose('compose-r3.yaml');
const { natter: service, ...brokers } = services;
const names = Object.keys(brokers);
const network = `127.${1 + (process.pid % 250)}.${1 + (Math.floor(process.pid / 250) % 250)}`;
const addressOf = (name: string): string => `${network}.${1 + Object.keys(services).indexOf(name)}`;
/** A text of a container's as it holds on this machine: names and addresses, and the folders of the image. */
const here = (text: string, name: string, folders: Readonly<Record<string, string>>): string => {
  const addressed = text
    .replaceAll(/0\.0\.0\.0|127\.0\.0\.1/g, addressOf(name))
    .replaceAll(/(?<=\/)nats-\d(?=:\d)/g, (other) => addressOf(other));
  return Object.entries(folders).reduce((said, [inImage, folder]) => said.replaceAll(inImage, folder), addressed);
};

let place: Awaited<ReturnType<typeof openPlace>>;
const cli = (...args: string[]) =>
  spawnSync(place.natter, args, { env: { ...place.path, HOME: place.folder }, encoding: 'utf8' }).stdout;
beforeAll(async () => {
  place = await openPlace();
  writeFileSync(join(place.folder, 'natter-account.conf'), cli('broker', 'config', '--users', join(place.folder, 'users')));
});
afterAll(() => place.close());

/** Starts a container; its probe says whether it is healthy. */
const start = (name: string) => {
  const given = services[name]!;
  const container = place.container(name);
  const folders = {
    '/etc/natter/users': join(place.folder, 'users'),
    '/etc/natter': join(place.folder, name),
    '/data': container.data,
  };
  for (const { source, target } of given.configs as { source: string; target: string }[]) {
    const { file } = configs[source]!;
    const text = file.includes('account') ? readFileSync(join(place.folder, file), 'utf8') : here(read(file), name, folders);
    writeFileSync(here(target, name, folders), text);
  }
  const env = Object.fromEntries(
    Object.entries({ ...variables, ...given.environment }).map(([variable, value]) => [
      variable,
      here(String(value), name, folders),
    ]),
  );
  const words = given.entrypoint ? [...given.entrypoint, ...given.command] : program;
  const running = container.run(
    env,
    words.map((word: string) => here(word, name, folders)),
  );
  const [, ...asking] = (given.healthcheck?.test ?? ['CMD', ...probe]).map((word: string) =>
    here(word, name, folders),
  ) as string[];
  const isHealthy = () => spawnSync(asking[0]!, asking.slice(1), { env: place.path }).status === 0;
  return { ...container, running, isHealthy };
};

describe('three brokers', () => {
  test('are containers of the image without rights, each with a store of its own, reached by Natter alone', () => {
    expect(names).toEqual(['nats-1', 'nats-2', 'nats-3']);
    for (const each of Object.values(services)) {
      expect(each).toMatchObject({ read_only: true, init: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect([each.mem_limit, each.pids_limit]).toEqual(['2g', 200]);
      expect(join('docs/examples/deploy', each.build.context, each.build.dockerfile)).toBe('docs/examples/deploy/Dockerfile');
    }
    for (const name of names) {
      expect(brokers[name]).toMatchObject({
        command: ['--name', name],
        volumes: [`${name}:${said('VOLUME')[0]}`],
        networks: ['broker'],
      });
      expect(brokers[name]!.ports).toBeUndefined();
    }
    expect(Object.keys(volumes)).toEqual([...names, 'natter']);
    expect(service!.depends_on).toEqual(Object.fromEntries(names.map((name) => [name, { condition: 'service_healthy' }])));
    expect(service!.ports).toEqual([`127.0.0.1:${port}:${port}`]);
  });

  test('have the limits of the managed one', () => {
    const limitsIn = (text: string) => text.match(/^(max|write|ping)_\w+: .*$/gm);
    expect(limitsIn(read('nats-r3.conf'))).toEqual(limitsIn(readFileSync(join(root, 'nats.conf'), 'utf8')));
  });

  test('no seed gets into the image or the repository', () => {
    const [, folder = ''] = /^#.*--users \.\/(\S+)/m.exec(read('compose-r3.yaml')) ?? [];
    expect(service!.volumes).toContain(`./${folder}:${service!.environment.NATS_USERS_DIR}:ro`);
    expect(read('Dockerfile.dockerignore').split('\n')).toContain(`**/${folder}`);
    expect(readFileSync(join(root, '.gitignore'), 'utf8').split('\n')).toContain(`docs/examples/deploy/${folder}/`);
  });

  test('healthy, they let Natter start; it answers, also when one of them is killed, and each stream is there three times', async () => {
    const started = names.map(start);
    expect(started[0]!.isHealthy()).toBe(false);
    for (const { isHealthy } of started) await vi.waitFor(() => expect(isHealthy()).toBe(true), { timeout: 30_000 });
    expect([started[0]!.data, dirname(started[0]!.data)].map(started[0]!.mayWrite)).toEqual([true, !canConfine]);

    const natter = start('natter');
    const file = join(natter.data, 'gateway.json');
    await vi.waitFor(() => readFileSync(file), { timeout: 60_000 });
    const { token } = JSON.parse(readFileSync(file, 'utf8')) as { token: string };
    await vi.waitFor(() => expect(natter.isHealthy()).toBe(true), { timeout: 60_000 });
    const url = `http://${addressOf('natter')}:${port}`;
    const say = async (text: string): Promise<string> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': text };
      const body = JSON.stringify({ text });
      return (await fetch(`${url}/v1/sessions/main/messages?wait=20`, { method: 'POST', headers, body })).text();
    };
    expect(await say('hello')).toContain('You said: hello');
    const states = await fetch(`http://${addressOf('nats-1')}:8222/jsz?accounts=1&streams=1&config=1`);
    const { account_details: accounts } = (await states.json()) as { account_details: { stream_detail: { config: object }[] }[] };
    const streams = accounts.flatMap((account) => account.stream_detail ?? []);
    expect(streams.length).toBeGreaterThan(0);
    for (const { config } of streams) expect(config).toMatchObject({ num_replicas: 3 });

    started[2]!.running.kill('SIGKILL');
    await once(started[2]!.running, 'exit');
    await vi.waitFor(async () => expect(await say('again')).toContain('You said: again'), { timeout: 60_000 });
    natter.running.kill('SIGTERM');
    expect(await once(natter.running, 'exit')).toEqual([0, null]);
  }, 240_000);
});
