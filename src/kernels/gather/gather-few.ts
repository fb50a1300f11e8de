import type { Movable } from '../../shapes/fact.ts'
import { is64BitInteger } from '../../tensor/dtype.ts'
import { halvesOf, isFew } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import type { BigInts } from '../core/numbers.ts'
import type { GatherLayout } from './gather.ts'
import { failIndex, type IndexPolicy } from './indices.ts'

/** Most elements of an output that {@link gatherFew} serves. For strings there is no faster kernel. */
const MAX_NUMBERS = 64
const MAX_STRINGS = 1 << 16

/** Strings, or symbols of a partial tensor. */
type Elements = unknown[]

/**
 * Gather of few elements without views, generators or position arrays: graphs that compute shapes run hundreds of them.
 * @returns false, with nothing done, where the output has many elements, or none
 * @throws NodewiseError `index-out-of-range`, naming the first offender in row-major order
 */
export function gatherFew(
  data: Movable,
  indices: Tensor,
  out: Movable,
  layout: GatherLayout,
  axis: number,
  policy: IndexPolicy
): boolean {
  const { length } = out.data
  if (length === 0) return false
  if (Array.isArray(data.data)) {
    if (length > MAX_STRINGS) return false
    gatherReferences(data.data, indices, out.data as Elements, layout, axis, policy)
    return true
  }
  if (length > MAX_NUMBERS) return false
  // A loop that meets one type of array is several times faster, and shapes are mostly 64-bit integers.
  if (is64BitInteger(data.type))
    gatherIntegers(data.data as BigInts, indices, out.data as BigInts, layout, axis, policy)
  else gatherNumbers(data.data as Float64Array, indices, out.data as Float64Array, layout, axis, policy)
  return true
}

function gatherReferences(
  from: Elements,
  indices: Tensor,
  to: Elements,
  layout: GatherLayout,
  axis: number,
  policy: IndexPolicy
): void {
  const { batch, outer, inner } = layout
  // V8 may hold dims as doubles, which make loop counters slow. No array of references is as long as 2^31.
  const [size, count] = [layout.size | 0, layout.count | 0]
  const halves = halvesFor(indices)
  let target = 0
  for (let block = 0; block < batch * outer; block++) {
    const end = (Math.floor(block / outer) + 1) * count
    for (let i = end - count; i < end; i++) {
      if (inner === 1) {
        const next = moveSmall(from, block * size, halves, i, end, to, target, size)
        target += next - i
        i = next
        if (i === end) break
      }
      const position = positionAt(indices, i, size, axis, policy)
      if (position >= 0)
        for (let k = 0, at = (block * size + position) * inner; k < inner; k++) to[target + k] = from[at + k]
      target += inner
    }
  }
}

/**
 * Moves the elements that indices from `start` on name, up to an index that is negative or out of range.
 * @param base offset of the block in `from`
 * @returns where in the indices that index is; `end` if there is none
 */
function moveSmall(
  from: Elements,
  base: number,
  { array, per }: Halves,
  start: number,
  end: number,
  to: Elements,
  target: number,
  size: number
): number {
  let i = start
  for (; i < end; i++, target++) {
    const low = array[i * per]
    if (!(low >= 0 && low < size) || (per === 2 && array[2 * i + 1] !== 0)) break
    to[target] = from[base + low]
  }
  return i
}

/**
 * Indices as 32-bit integers, `per` for each index, its low half first; empty for indices of another width, and for few
 * of 64 bits.
 */
interface Halves {
  readonly array: Int32Array
  readonly per: number
}

function halvesFor(indices: Tensor): Halves {
  if (indices.data instanceof BigInt64Array) return isFew(indices) ? NO_HALVES : { array: halvesOf(indices), per: 2 }
  return { array: indices.data instanceof Int32Array ? indices.data : NONE, per: 1 }
}

const NONE = new Int32Array(0)
const NO_HALVES: Halves = { array: NONE, per: 1 }

function gatherIntegers(
  from: BigInts,
  indices: Tensor,
  to: BigInts,
  layout: GatherLayout,
  axis: number,
  policy: IndexPolicy
): void {
  const { batch, outer, size, inner, count } = layout
  let target = 0
  for (let block = 0; block < batch * outer; block++) {
    for (let i = 0; i < count; i++) {
      const at = positionAt(indices, Math.floor(block / outer) * count + i, size, axis, policy)
      for (let k = 0; k < inner; k++) to[target++] = at < 0 ? 0n : from[(block * size + at) * inner + k]
    }
  }
}

function gatherNumbers(
  from: Float64Array,
  indices: Tensor,
  to: Float64Array,
  layout: GatherLayout,
  axis: number,
  policy: IndexPolicy
): void {
  const { batch, outer, size, inner: elements, count } = layout
  // A complex element is two numbers.
  const inner = elements * (to.length / (batch * outer * count * elements))
  let target = 0
  for (let block = 0; block < batch * outer; block++) {
    for (let i = 0; i < count; i++) {
      const position = positionAt(indices, Math.floor(block / outer) * count + i, size, axis, policy)
      for (let k = 0; k < inner; k++, target++) {
        const at = (block * size + position) * inner + k
        const value = position < 0 ? 0 : from[at]
        // Only a copy as memory keeps the bits of a NaN.
        if (value === value) to[target] = value
        else to.set(from.subarray(at, at + 1), target)
      }
    }
  }
}

/** The position that index `at` means; -1 where it is out of range and the policy gives zeros. */
function positionAt(indices: Tensor, at: number, size: number, axis: number, policy: IndexPolicy): number {
  // A large 64-bit index may be rounded, but it stays out of range.
  const given = Number(indices.data[at])
  const index = given < 0 && policy.negative === 'wrap' ? given + size : given
  if (index >= 0 && index < size) return index
  if (policy.outOfRange === 'error') failIndex(indices, at, axis, size)
  return -1
}
