import { testPart } from './access-matrix.ts';

testPart(4);
