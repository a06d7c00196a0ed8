import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { hasCode, NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Ports } from '../../../shared/ports/index.ts';

/** Throws `NatterError('too_large')` in the words of whoever sent the request: all that it says goes into one command. */
const inOneCommand = async <T>(publish: () => Promise<T>): Promise<T> => {
  try {
    return await publish();
  } catch (cause) {
    if (!hasCode(cause, 'too_large')) throw cause;
    const problem = `body: what it says is more than ${limits.commandBytes / 1_024} kB in all; send less`;
    throw new NatterError('too_large', problem, { field: 'body', cause });
  }
};

/** Publishes a command. */
export const publishCommand = ({ commands }: Pick<Ports, 'commands'>, command: CommandEnvelope) =>
  inOneCommand(() => commands.publish(command));

/** Publishes it at a later time; see `WorkQueue`. */
export const scheduleCommand = ({ commands }: Pick<Ports, 'commands'>, name: string, command: CommandEnvelope) =>
  inOneCommand(() => commands.schedule(name, command.at, command));
