import { linkTo } from '../base/route.ts';
import { isApprover, isViewer, who } from '../base/signed-in.ts';
import { hostOf, isHost } from '../parts/host.ts';
import { actorText } from '../parts/person.ts';

/** The name of a host in the log, which leads to the process that it is in. Who may not see processes reads the name. */
export const HostLink = ({ host }: { readonly host: string }) =>
  who.value && !isApprover() && !isViewer() ? <a href={linkTo(['system', 'hosts'], { host })}>{host}</a> : <span>{host}</span>;

/** Who recorded a commit, in words. */
export const ActorName = ({ actor }: { readonly actor: string }) =>
  isHost(actor) ? (
    <>
      by the host <HostLink host={hostOf(actor)} />
    </>
  ) : (
    <span>{actorText(actor)}</span>
  );
