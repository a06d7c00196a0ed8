import type { Command } from 'commander';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, gatewayOf } from '../access.ts';
import { callOverSocket } from '../socket-call.ts';
import { asJson, type World } from '../terminal.ts';

/** A call may wait for a run as long as the gateway lets it. */
const timeoutMs = (limits.waitSeconds + 10) * 1_000;

const paramsOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new NatterError('invalid', `--params: ${JSON.stringify(text)} is not JSON; use for example '{"limit": 5}'`);
  }
};

/** `natter gateway call METHOD` (A12/130): one call by `POST /v1/rpc` or a WebSocket, here or at a remote gateway; prints its result as JSON. */
export const gatewayCommand = (program: Command, world: World): void => {
  program
    .command('gateway')
    .description('talk to the gateway')
    .command('call')
    .argument('<method>', 'such as sessions.list, chat.send or status')
    .description('call a method of the gateway and print its result')
    .option('--params <json>', 'its parameters, as a JSON object', '{}')
    .option('--ws', 'over a WebSocket instead of HTTP')
    .action(async (method: string, _: unknown, command: Command) => {
      const { params, ws, ...common } = command.optsWithGlobals<CommonOptions & { params: string; ws?: true }>();
      const body = { method, params: paramsOf(params) };
      const result = ws
        ? await callOverSocket(gatewayOf(world, common), body, { timeoutMs })
        : (await clientOf(world, common).post<{ result: unknown }>('/v1/rpc', body, { timeoutMs })).result;
      world.terminal.out(asJson(result, 2));
    });
};
