import fc from 'fast-check';
import { runs } from '../runs.ts';

// Properties that do not say how often they are tried: as often as fast-check does by itself, and more in the long tests.
fc.configureGlobal({ numRuns: runs(100) });
