import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Hosts } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { client, isApprover, isViewer, who } from '../base/signed-in.ts';
import { hostOf, isHost } from '../parts/host.ts';
import { actorText } from '../parts/person.ts';

const mayKnow = (): boolean => Boolean(who.value) && !isApprover() && !isViewer();

/** The processes of hosts that run, by the names of the hosts in the log. */
const processes = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();
/** Reads the processes once for each name: a new one may be of a host that began since. */
const ask = (host: string): void => {
  if (asked.has(host)) return;
  asked.add(host);
  client.get<Hosts>('/v1/hosts').then(
    ({ processes: all }) => {
      processes.value = new Map(
        all.flatMap(({ process, services }) =>
          services.flatMap(({ member }) => (member === undefined ? [] : [[member, process]])),
        ),
      );
    },
    () => asked.delete(host),
  );
};

/** The process that a host is in, by its name in *Hosts*; nothing where it does not run any more. */
export const ProcessOfHost = ({ host }: { readonly host: string }) => {
  const isKnown = mayKnow();
  useEffect(() => {
    if (isKnown) ask(host);
  }, [host, isKnown]);
  const process = processes.value.get(host);
  return isKnown && process !== undefined ? <> of {process}</> : null;
};

/** The name of a host in the log, which leads to the process that it is in. Who may not see processes reads the name. */
export const HostLink = ({ host, children = host }: { readonly host: string; readonly children?: ComponentChildren }) =>
  mayKnow() ? (
    <a href={linkTo(['system', 'hosts'], { host })} title={host}>
      {children}
    </a>
  ) : (
    <span title={host}>{children}</span>
  );

/** Whose doing a commit is, and the host that wrote it where that is known, in words. */
export const ActorName = ({ actor, host }: { readonly actor: string; readonly host?: string | undefined }) =>
  isHost(actor) ? (
    <>
      by the host <HostLink host={hostOf(actor)} />
    </>
  ) : (
    <>
      <span>{actorText(actor)}</span>
      {host !== undefined && (
        <>
          , written by the host <HostLink host={host} />
        </>
      )}
    </>
  );
