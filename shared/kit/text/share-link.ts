/** Links to shared sessions: the token is in the fragment, which no server sees. */

export const fragmentOfLink = (token: string): string => `#share=${token}`;
export const tokenOfLink = (fragment: string): string | undefined => /^#share=(.+)$/.exec(fragment)?.[1];
