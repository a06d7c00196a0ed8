import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { withFilesIf } from '../../../shared/domain/prompt/given-files.ts';
import type { ModelFile, ModelMessage } from '../../../shared/domain/prompt/model-request.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Attachments } from '../../../shared/ports/objects/attachments.ts';

/** The contents of attachments that a host's turns show to models. The steps of a turn read each of them once. */
export class FileContents {
  readonly #attachments: Pick<Attachments, 'get'>;
  readonly #cache = new LRUCache<string, Uint8Array>({
    maxSize: limits.cachedFileBytes,
    sizeCalculation: (content) => content.length,
    ttl: limits.cachedFileMs,
  });

  constructor(attachments: Pick<Attachments, 'get'>) {
    this.#attachments = attachments;
  }

  /** The messages with the contents of their files. They say which are gone. Rejects with `unavailable`. */
  async of(key: SessionKey, messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]> {
    const contents = new Map<string, Uint8Array | null>();
    for (const message of messages)
      for (const { digest } of filesOf(message))
        if (!contents.has(digest)) contents.set(digest, await this.#contentOf(key, digest));
    if (contents.size === 0) return messages;
    return messages.map((message) => {
      if (filesOf(message).length === 0) return message;
      const there = withFilesIf(message, ({ digest }) => (contents.get(digest) ? null : 'it is no longer there'));
      return { ...there, ...(filesOf(there).length > 0 && { files: filesOf(there).map((file) => loaded(file, contents)) }) };
    });
  }

  async #contentOf(key: SessionKey, digest: string): Promise<Uint8Array | null> {
    const name = `${key}/${digest}`;
    const content = this.#cache.get(name) ?? (await this.#attachments.get(key, digest).catch(orDamaged));
    if (content !== null) this.#cache.set(name, content);
    return content;
  }
}

const filesOf = (message: ModelMessage): readonly ModelFile[] => (message.role === 'user' ? (message.files ?? []) : []);

const loaded = (file: ModelFile, contents: ReadonlyMap<string, Uint8Array | null>): ModelFile => {
  const content = contents.get(file.digest);
  return content ? { ...file, content } : file;
};

/** What is damaged is as good as gone: the rest of the message can be answered. */
const orDamaged = (error: unknown): null => {
  if (hasCode(error, 'damaged')) return null;
  throw error;
};
