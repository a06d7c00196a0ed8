import type { ConfigInForce } from '../../../shared/client/main.ts';
import { HostLink, ProcessOfHost } from '../finding/host-link.tsx';
import { useRead } from '../parts/read.tsx';
import type { ApprovalStory } from './approval-story.ts';
import { commandOf, placeText } from './command-line.ts';

/** The path of the agent's workspace, as the gateway has it; `undefined` where this sign-in may not know it. */
export const useWorkspace = (): string | undefined => {
  const config = useRead<ConfigInForce>('/v1/config');
  const folder = config.value?.keys.find(({ path }) => path === 'agent.workspace')?.value;
  return typeof folder === 'string' ? folder : undefined;
};

interface Props {
  readonly action: string;
  readonly workspace: string | undefined;
  /** The host that asked. */
  readonly host: string | undefined;
  /** How it was answered, if it was. */
  readonly verdict?: NonNullable<ApprovalStory['answer']>['verdict'] | undefined;
}

/** Where a call runs that waits for a person, or would have run: the folder of a command, and the host. */
export const WhereItRuns = ({ action, workspace, host, verdict }: Props) => {
  const place = commandOf(action)?.place;
  return (
    <>
      <dt>{verdict === 'denied' || verdict === 'expired' ? 'Would have run' : 'Runs'}</dt>
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
