import { openMemoryCaches } from '../support/caches.ts';
import { cachesContract } from './caches.contract.ts';

cachesContract('caches in memory', openMemoryCaches);
