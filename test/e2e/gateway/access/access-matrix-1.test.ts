import { testPart } from './access-matrix.ts';

testPart(1);
