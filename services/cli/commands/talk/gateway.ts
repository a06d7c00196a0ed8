import type { Command } from 'commander';
import { NatterApiError, type NatterClient } from '../../../../shared/client/main.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf } from '../../access.ts';
import { example } from '../../example.ts';
import { asJson, type World } from '../../terminal.ts';

/** A call may wait for a run as long as the gateway allows. */
const timeoutMs = (limits.waitSeconds + 10) * 1_000;

const paramsOf = (text: string): object => {
  const value = jsonIn(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new NatterError('invalid', `--params: ${JSON.stringify(text)} is not a JSON object; use for example '{"limit": 5}'`);
};
const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Calls a method over a new connection. */
const overSocket = async (client: NatterClient, method: string, params: object): Promise<unknown> => {
  const connection = await client.connect();
  try {
    return await connection.call(method, params, { timeoutMs });
  } finally {
    connection.close();
  }
};
const overHttp = async (client: NatterClient, method: string, params: object): Promise<unknown> =>
  (await client.post<{ result: unknown }>('/v1/rpc', { method, params }, { timeoutMs })).result;

/** A problem with a parameter says where it is given. */
const withOption = (error: unknown): unknown => {
  if (!(error instanceof NatterApiError) || error.code !== 'invalid') return error;
  const field = error.errors[0]?.field;
  if (field === undefined || field === 'method') return error;
  return new NatterError('invalid', `${error.message}, as in --params '{"${field}": …}'`);
};

/** `natter gateway call METHOD` (A12/130): one call by `POST /v1/rpc` or a WebSocket, at any gateway; prints the result as JSON. */
export const gatewayCommand = (program: Command, world: World): void => {
  program
    .command('gateway')
    .addHelpText('after', example('gateway call status'))
    .command('call')
    .argument('<method>', 'the method, such as sessions.list, chat.send or status')
    .description('call a method of the gateway and print its result')
    .option('--params <json>', 'parameters, as a JSON object', '{}')
    .option('--ws', 'use a WebSocket instead of HTTP')
    .addHelpText('after', example('gateway call sessions.list --params \'{"limit": 5}\''))
    .action(async (method: string, _: unknown, command: Command) => {
      const { params, ws, ...common } = command.optsWithGlobals<CommonOptions & { params: string; ws?: true }>();
      // Loaded only here: the other commands need none.
      const client = clientOf(world, common, ws && { WebSocket: (await import('ws')).WebSocket });
      const call = ws ? overSocket : overHttp;
      try {
        world.terminal.out(asJson(await call(client, method, paramsOf(params)), 2));
      } catch (error) {
        throw withOption(error);
      }
    });
};
