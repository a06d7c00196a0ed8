import type { ResumeRequests } from '../../ports/resume-requests.ts';
import { resumeRequestCodec } from '../../wire/records.ts';
import type { Subjects } from '../../wire/subjects.ts';
import type { Ephemera } from './ephemera.ts';

/** Requests on `<prefix>.resume`. What is none is passed over. */
export const createResumeRequests = (ephemera: Ephemera, { resume }: Pick<Subjects, 'resume'>): ResumeRequests => ({
  send: (request) => ephemera.publish(resume, resumeRequestCodec.encode(request)),
  subscribe: (receive) =>
    ephemera.subscribe(resume, (bytes) => {
      try {
        receive(resumeRequestCodec.decode(bytes));
      } catch {}
    }),
});
