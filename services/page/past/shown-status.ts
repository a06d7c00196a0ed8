import { signal } from '@preact/signals';
import type { Status } from '../parts/status.tsx';

/** The status at the moment that the time machine shows, for the head of the session; `null`: it shows none. */
export const shownStatus = signal<{ readonly status: Status; readonly hasFailed: boolean } | null>(null);
