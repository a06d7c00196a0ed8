import { NatterApiError } from '../../../shared/client/main.ts';
import { client } from '../base/signed-in.ts';

/** What is in a file that came with a message. Throws with words for people where it is gone. */
export const contentOf = async (key: string, digest: string, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> => {
  try {
    return new Uint8Array(await client.sessions.attachment(key, digest, { signal }));
  } catch (error) {
    if (error instanceof NatterApiError && error.code === 'not_found')
      throw new Error('This file is gone: it was erased, or its message was withdrawn.', { cause: error });
    throw error;
  }
};
