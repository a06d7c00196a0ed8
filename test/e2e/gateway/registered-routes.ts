import { pino } from 'pino';
import type { GatewayContext } from '../../../services/gateway/context/gateway-context.ts';
import { buildServer } from '../../../services/gateway/server/server.ts';
import { configOf } from './access/access-rig.ts';
import { openBroker } from './setup.ts';

/** Every route there is, as the server itself lists them. */

export interface RegisteredRoute {
  readonly method: string;
  readonly url: string;
}

/** The server's own tree: a line is as deep as its branch, and continues the address of the line above that is less deep. */
const routesIn = (tree: string): RegisteredRoute[] => {
  const parts: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, branch = '', part = '', methods] = /^([│ ]*[├└]── )(\S*)(?: \(([A-Z, ]+)\))?/.exec(line) ?? [];
    if (branch === '') return [];
    parts.splice(branch.length / 4 - 1, parts.length, part);
    return (methods?.split(', ') ?? []).map((method) => ({ method, url: parts.join('') }));
  });
};

/** Routes are registered without anything being asked of what they work with. */
export const registeredRoutes = async (): Promise<RegisteredRoute[]> => {
  const parts = { config: configOf(), log: pino({ level: 'silent' }), ports: openBroker().portsFor('gateway') };
  const app = buildServer(parts as unknown as GatewayContext);
  await app.ready();
  return routesIn(app.printRoutes({ commonPrefix: false })).filter(({ method }) => !['HEAD', 'OPTIONS'].includes(method));
};
