import { MAX_INT32 } from '../../tensor/dtype.ts'

/** Positions along an axis, or offsets into data; -1 stands for an element that is zero. */
export type Positions = Int32Array | Float64Array

/** An array for `count` positions of up to `limit`. */
export const positionsArray = (count: number, limit: number): Positions =>
  limit > MAX_INT32 ? new Float64Array(count) : new Int32Array(count)
