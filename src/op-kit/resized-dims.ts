import { asDim, type Dim, floorDivDims, maxDim, minDim, mulDims, unknownDim } from '../shapes/dim.ts'

/** Denominators tried for a scale; those of real models are 1, 2, 3 or 4. */
const DENOMINATORS = 64

/**
 * `floor(size * scale)`, the product rounded to float32 as the runtimes and the standard's own shape inference do, so
 * that `10 * 0.7` is 7.
 * @param scale unknown while it is a symbol
 */
export function scaledDim(size: Dim, scale: Dim): Dim {
  if (typeof scale !== 'number') return unknownDim()
  const scaled = (value: number): number =>
    value === Infinity ? (scale > 0 ? Infinity : 0) : Math.floor(Math.fround(value * scale))
  if (typeof size === 'number') return scaled(size)
  for (let denominator = 1; denominator <= DENOMINATORS; denominator++) {
    const numerator = scale * denominator
    if (Number.isSafeInteger(numerator)) return asDim(floorDivDims(mulDims(size, numerator), denominator))
  }
  return unknownDim(scaled(minDim(size)), scaled(maxDim(size)))
}
