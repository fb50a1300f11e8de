import { asDim, type Dim, floorDivDims, maxDim, minDim, mulDims, unknownDim } from '../shapes/dim.ts'

/** Highest denominator with which a scale is tried as a fraction; scales of real models have 1, 2, 3 or 4. */
const MAX_DENOMINATOR = 64

/**
 * `floor(size * scale)`. The product is rounded to float32, as the runtimes and ONNX's own shape inference do, so that
 * `10 * 0.7` is 7.
 * @param scale a symbol gives an unknown dim
 */
export function scaledDim(size: Dim, scale: Dim): Dim {
  if (typeof scale !== 'number') return unknownDim()
  const scaled = (value: number): number =>
    value === Infinity ? (scale > 0 ? Infinity : 0) : Math.floor(Math.fround(value * scale))
  if (typeof size === 'number') return scaled(size)
  for (let denominator = 1; denominator <= MAX_DENOMINATOR; denominator++) {
    const numerator = scale * denominator
    if (Number.isSafeInteger(numerator)) return asDim(floorDivDims(mulDims(size, numerator), denominator))
  }
  return unknownDim(scaled(minDim(size)), scaled(maxDim(size)))
}
