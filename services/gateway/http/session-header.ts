/** The header that names a session; percent-encoded where its key is not plain ASCII. */
export const sessionHeader = 'x-natter-session';
