import { pino } from 'pino';
import type { GatewayContext } from '../../../services/gateway/context.ts';
import { buildServer } from '../../../services/gateway/server.ts';
import { configOf } from './access-rig.ts';
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

/**
 * Routes, and methods by name, that are about no session, or several, or name one in a way of their own: whom they let in is tested where
 * they are tested, that they want a token in `access-routes.test.ts`. All others are in the access matrix.
 */
export const ofNoSession: ReadonlySet<string> = new Set([
  ...['/livez', '/readyz', '/metrics', '/v1/openapi.json', '/v1/asyncapi.json'],
  ...['/v1/sessions', '/v1/events', '/v1/approvals', '/v1/inbound', '/v1/ws', '/mcp', '/v1/tickets', '/v1/audit'],
  ...['/v1/tokens', '/v1/tokens/:id', '/v1/tokens/:id/rotate', '/v1/memory', '/v1/memory/:id'],
  ...['/v1/models', '/v1/models*', '/v1/chat/completions', '/v1/responses', '/v1/responses/:id'],
  ...['status', 'sessions.list', 'approvals.list', 'approvals.resolve', 'memory.list', 'memory.get', 'memory.forget'],
]);
