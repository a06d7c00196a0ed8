import type { ConfigInForce } from '../../../shared/client/main.ts';
import { isFor } from '../base/signed-in.ts';
import { HostLink, ProcessOfHost } from '../finding/host-link.tsx';
import { useRead } from '../parts/read.tsx';
import { commandOf, placeText } from './command-line.ts';
import type { Ending } from './ending.ts';

/** The path of the agent's workspace, as the gateway has it; `undefined` where this sign-in may not know it. */
export const useWorkspace = (): string | undefined => {
  const config = useRead<ConfigInForce>(isFor('owner') ? '/v1/config' : null);
  const folder = config.value?.keys.find(({ path }) => path === 'agent.workspace')?.value;
  return typeof folder === 'string' ? folder : undefined;
};

interface Props {
  readonly action: string;
  readonly workspace: string | undefined;
  /** The host that asked. */
  readonly host: string | undefined;
  /** How it ended, as far as it is known. Default: it waits. */
  readonly ending?: Ending | null;
}

/** Where a call runs that waits for a person, or would have run: the folder of a command, and the host. */
export const WhereItRuns = ({ action, workspace, host, ending = null }: Props) => {
  const place = commandOf(action)?.place;
  return (
    <>
      <dt>{ending?.isOver !== true ? 'Runs' : ending.begunAt === undefined ? 'Would have run' : 'Ran'}</dt>
      <dd>
        {place !== undefined && (
          <>in {place === 'the workspace' && workspace !== undefined ? <code>{workspace}</code> : placeText(place)}, </>
        )}
        on the session’s host
        {host !== undefined && (
          <>
            {' '}
            (<HostLink host={host} />
            <ProcessOfHost host={host} /> when it was asked)
          </>
        )}
      </dd>
    </>
  );
};
