import type { ResumeRequest } from '../../domain/values/delivery.ts';
import type { ResumeRequests } from '../../ports/resume-requests.ts';
import { resumeRequestCodec } from '../../wire/records.ts';
import type { Subjects } from '../../wire/subjects.ts';
import type { Ephemera } from './ephemera.ts';

/** Requests on `<prefix>.resume`. Bytes that are none are passed over. */
export const createResumeRequests = (ephemera: Ephemera, { resume }: Pick<Subjects, 'resume'>): ResumeRequests => ({
  send: (request) => ephemera.publish(resume, resumeRequestCodec.encode(request)),
  subscribe: (receive) =>
    ephemera.subscribe(resume, (bytes) => {
      const request = requestIn(bytes);
      if (request !== null) receive(request);
    }),
});

const requestIn = (bytes: Uint8Array): ResumeRequest | null => {
  try {
    return resumeRequestCodec.decode(bytes);
  } catch {
    return null;
  }
};
