/** What a shape function of a caller's own operator needs. */
export {
  addDims,
  asDim,
  broadcastShapes,
  ceilDivDims,
  floorDivDims,
  hullDims,
  meetDims,
  mulDims,
  normalizeAxes,
  normalizeAxis,
  printDim,
  printShape,
  subDims,
  unknownDim
} from './dim.ts'
export type { Dim } from './dim.ts'
export { mapFact, tensorFact } from './fact.ts'
export type { Fact, MapFact, OptionalFact, SequenceFact, TensorFact } from './fact.ts'
