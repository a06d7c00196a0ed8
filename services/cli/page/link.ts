import type { LoginCode, NatterClient, Role } from '../../../shared/client/main.ts';

/** An address of the page that signs in, once, until `expiresAt` (ms). The code is in the fragment, which no server sees. */
export interface PageLink {
  readonly address: string;
  readonly expiresAt: number;
  readonly role: Role;
}

/** Asks for a link to the page. Throws `NatterApiError` where the page is off, or the role may do more than the token. */
export const pageLink = async (client: NatterClient, role?: string): Promise<PageLink> => {
  const body = role === undefined ? {} : { role };
  const { code, publicUrl = client.url, ...made } = await client.post<LoginCode>('/v1/page/codes', body);
  return { address: `${publicUrl}/#code=${code}`, expiresAt: made.expiresAt, role: made.role };
};
