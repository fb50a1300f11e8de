import { fail } from '../../errors.ts'
import { halvesOf, toIndices } from '../../tensor/elements.ts'
import { elementCount, stridesOf, Tensor } from '../../tensor/tensor.ts'
import { COST, inChunks } from '../core/pace.ts'
import type { Positions } from '../core/positions.ts'
import { copyUnits, type UnitArray, unitsOf } from '../core/units.ts'

/** Nanoseconds for one axis of one index. */
const AXIS_COST = COST.element

/**
 * Writes each element of `x` where its index says; the rest of `out` stays zero. Indices are flat indices into a tensor
 * of `dims`, which is placed at the beginning of `out` along every axis.
 * @throws NodewiseError `index-out-of-range`
 */
export function* maxUnpool(x: Tensor, indices: Tensor, dims: readonly number[], out: Tensor): Generator<void> {
  const { array: from, per } = unitsOf(x)
  const to = unitsOf(out).array
  const size = elementCount(dims)
  const data = indices.data as BigInt64Array
  const isSame = dims.every((dim, axis) => dim === out.dims[axis])
  const place = isSame ? undefined : placement(dims, out.dims)
  const words = indices.type === 'int64' && size < 2 ** 31 && isSame && per === 1 ? halvesOf(indices) : undefined
  yield* inChunks(
    x.data.length,
    (start, end) => {
      if (words && writeByWords(from, start, end, to, words, size)) return
      const part = toIndices(new Tensor(indices.type, data.subarray(start, end)))
      const wrong = start + firstBeyond(part, size)
      if (wrong < end)
        fail('index-out-of-range', `index ${data[wrong]} at element ${wrong} is out of range for ${size} elements`)
      writeAt(from, start, to, place ? Float64Array.from(part, (index, i) => place(index, start + i)) : part, per)
    },
    (dims.length + 1) * AXIS_COST
  )
}

/**
 * Writes elements `start <= i < end` at indices of 64 bits, given as their halves, that are below `size`.
 * @returns false at the first that is not
 */
function writeByWords(
  from: UnitArray,
  start: number,
  end: number,
  to: UnitArray,
  words: Int32Array,
  size: number
): boolean {
  for (let i = start; i < end; i++) {
    const low = words[2 * i]
    if (words[2 * i + 1] !== 0 || low < 0 || low >= size) return false
    to[low] = from[i]
  }
  return true
}

/** Where the first index lies that is not below `size`; the length where there is none. */
function firstBeyond(indices: Positions, size: number): number {
  let i = 0
  while (i < indices.length && indices[i] >= 0 && indices[i] < size) i++
  return i
}

/** Writes the elements from `start` on at `positions`. */
function writeAt(from: UnitArray, start: number, to: UnitArray, positions: Positions, per: number): void {
  if (per === 1) for (let i = 0; i < positions.length; i++) to[positions[i]] = from[start + i]
  else for (let i = 0; i < positions.length; i++) copyUnits(from, (start + i) * per, to, positions[i] * per, per)
}

/** Where an index into a tensor of `dims` lies in one of `outDims`; `i` is the element that has it. */
function placement(dims: readonly number[], outDims: readonly number[]): (index: number, i: number) => number {
  const strides = stridesOf(dims)
  const outStrides = stridesOf(outDims)
  return (index, i) => {
    let target = 0
    for (let a = 0; a < dims.length; a++) {
      const at = Math.floor(index / strides[a]) % dims[a]
      if (at >= outDims[a]) {
        fail(
          'index-out-of-range',
          `index ${index} at element ${i} is at ${at} of axis ${a}, where the result has ${outDims[a]} elements`
        )
      }
      target += at * outStrides[a]
    }
    return target
  }
}
