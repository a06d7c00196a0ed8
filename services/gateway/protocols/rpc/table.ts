import { capabilities } from '../capabilities.ts';
import { type Methods, methodsOf } from './methods.ts';

/** All methods by name (A12/131), of RPC over HTTP and over WebSockets. */
export const methods: Methods = methodsOf(capabilities);
