import { fail } from '../errors.ts'
import { axisLayout } from '../kernels/core/axis-layout.ts'
import { copyUnits, unitsOf } from '../kernels/core/units.ts'
import { ceilDivDims, type Dim, mayMatch, normalizeAxis, printDim, printShape } from '../shapes/dim.ts'
import { allocate, type Tensor, withDims } from '../tensor/tensor.ts'

/** How scales and zero points belong to the data: see {@link checkGranularity}. */
export interface Granularity {
  /** Axis along which scales lie; undefined: there is one for all. */
  readonly axis: number | undefined
  /** Number of elements along the axis that share a scale; 0: each position has its own. */
  readonly blockSize: number
}

/**
 * Checks the dims of a scale and a zero point: a single element; a list with an element for each position along the
 * axis; or, with a block size, the dims of the data with one position for each block along the axis.
 * @throws NodewiseError `shape-mismatch`, `axis-out-of-range`, `unknown-attribute-value`
 */
export function checkGranularity(
  data: readonly Dim[] | undefined,
  scale: readonly Dim[] | undefined,
  zero: readonly Dim[] | undefined,
  { axis, blockSize }: Granularity
): void {
  if (blockSize < 0) fail('unknown-attribute-value', `block_size is ${blockSize}; expected 0 or more`)
  if (scale && zero && !alike(scale, zero)) {
    fail(
      'shape-mismatch',
      `the zero point has dims ${printShape(zero)} and the scale ${printShape(scale)}; they must be the same`
    )
  }
  if (data === undefined || scale === undefined || scale.length === 0 || isOne(scale)) return
  if (axis === undefined)
    fail('shape-mismatch', `the scale has dims ${printShape(scale)}; this version takes one for all`)
  const along = normalizeAxis(axis, data.length)
  const expected =
    blockSize > 0 ? data.map((dim, i) => (i === along ? ceilDivDims(dim, blockSize) : dim)) : [data[along]]
  if (expected.length !== scale.length || expected.some((dim, i) => !mayMatch(dim, scale[i]))) {
    const forAxis = `axis ${along} of size ${printDim(data[along])}`
    fail('shape-mismatch', `the scale has dims ${printShape(scale)}; expected ${printShape(expected)} for ${forAxis}`)
  }
}

/** Whether shapes may be equal; a scalar equals a list of one element. */
const alike = (a: readonly Dim[], b: readonly Dim[]): boolean =>
  (a.length === b.length && a.every((dim, i) => mayMatch(dim, b[i]))) || (mayBeOne(a) && mayBeOne(b))

const mayBeOne = (shape: readonly Dim[]): boolean => shape.length <= 1 && shape.every(dim => mayMatch(dim, 1))
const isOne = (shape: readonly Dim[]): boolean => shape.every(dim => dim === 1) && shape.length <= 1

/** A scale or zero point with dims that can be broadcast to those of the data. */
export function spreadParameter(parameter: Tensor, dims: readonly number[], { axis, blockSize }: Granularity): Tensor {
  if (isOne(parameter.dims) || axis === undefined) return withDims(parameter, [])
  const along = normalizeAxis(axis, dims.length)
  if (blockSize === 0)
    return withDims(
      parameter,
      dims.map((_, i) => (i === along ? parameter.dims[0] : 1))
    )
  const { outer, size, inner } = axisLayout(dims, along)
  const blocks = parameter.dims[along]
  const spread = allocate(parameter.type, dims)
  if (spread.data.length === 0) return spread
  const from = unitsOf(parameter).array
  const to = unitsOf(spread).array
  for (let block = 0; block < outer; block++) {
    for (let i = 0; i < size; i++) {
      copyUnits(from, (block * blocks + Math.floor(i / blockSize)) * inner, to, (block * size + i) * inner, inner)
    }
  }
  return spread
}
