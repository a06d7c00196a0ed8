import { useEffect, useRef, useState } from 'preact/hooks';
import type { KeptAttachment } from '../../../shared/domain/values/attachment.ts';
import { problemOf } from '../base/signed-in.ts';
import { contentOf } from './content.ts';
import { fileName } from './file-words.ts';

let last: Promise<unknown> = Promise.resolve();
/** One after the other: for each the gateway looks through the session's log. */
const inTurn = <T,>(work: () => Promise<T>): Promise<T> => {
  const done = last.then(work);
  last = done.catch(() => {});
  return done;
};

interface PreviewProps {
  readonly sessionKey: string;
  readonly file: KeptAttachment;
}

/** A picture of a message, read once it comes into sight. Its type is one of four, which no browser runs. */
export const Preview = ({ sessionKey, file }: PreviewProps) => {
  const [url, setUrl] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const { digest, type } = file;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let made: string | null = null;
    const read = async (): Promise<void> => {
      signal.throwIfAborted();
      const content = await contentOf(sessionKey, digest, signal);
      signal.throwIfAborted();
      made = URL.createObjectURL(new Blob([content], { type }));
      setUrl(made);
    };
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      inTurn(read).catch((error: unknown) => {
        if (!signal.aborted) setProblem(problemOf(error));
      });
    });
    if (frame.current) observer.observe(frame.current);
    return () => {
      controller.abort();
      observer.disconnect();
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [sessionKey, digest, type]);
  if (problem !== null) return <p class="file-problem">{problem}</p>;
  return (
    <div class="file-preview" ref={frame}>
      {url !== null && (
        <img src={url} alt={fileName(file)} onError={() => setProblem('This picture cannot be shown; save it to look at it.')} />
      )}
    </div>
  );
};
