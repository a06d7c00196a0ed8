import { Failure, toldOf } from './failure.ts';

/** Addresses of OpenAI's interface that Natter does not have: their clients understand only errors in its shape. */

const families: ReadonlySet<string> = new Set([
  ...['assistants', 'audio', 'batches', 'chat', 'completions', 'containers', 'conversations', 'embeddings', 'evals', 'files'],
  ...['fine_tuning', 'images', 'models', 'moderations', 'organization', 'realtime', 'responses', 'threads', 'uploads'],
  ...['vector_stores', 'videos'],
]);

export const isOpenAiPath = (path: string): boolean => {
  const [, version, family = ''] = path.split('/');
  return version === 'v1' && families.has(family);
};

export const unknownPath = (message: string, requestId: string): object => {
  const { error } = toldOf(
    new Failure(404, 'unknown_url', `${message}; docs/integrate/openai-api.md has what there is`),
    requestId,
  );
  return { error };
};
