import type { Movable } from '../../shapes/fact.ts'
import { is64BitInteger } from '../../tensor/dtype.ts'
import { halvesOf } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import type { GatherLayout } from './gather.ts'
import { failIndex, type IndexPolicy } from './indices.ts'

/**
 * Elements of the output above which {@link gatherFew} does not serve: numbers, and strings, which have no faster
 * kernel.
 */
const FEW = 64
const FEW_STRINGS = 1 << 16

/** An array of which elements are moved one by one. */
type Elements = unknown[]

/**
 * Gathers few elements at once, without views or turns: what computes shapes does little else.
 * @returns false, with nothing done, where they are many, or none
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
    if (length > FEW_STRINGS) return false
    gatherReferences(data.data, indices, out.data as Elements, layout, axis, policy)
    return true
  }
  if (length > FEW) return false
  // A loop that sees one type of array only is several times faster, and integers of 64 bits are the most of what
  // computes shapes.
  const gather = is64BitInteger(data.type) ? gatherIntegers : gatherNumbers
  gather(data.data as never, indices, out.data as never, layout, axis, policy)
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
  // Dims may be kept as doubles, which make counters slow; no array of references is as long as 2^31.
  const [size, count] = [layout.size | 0, layout.count | 0]
  const words = wordsOf(indices)
  let target = 0
  for (let block = 0; block < batch * outer; block++) {
    const end = (Math.floor(block / outer) + 1) * count
    for (let i = end - count; i < end; i++) {
      if (inner === 1) {
        const next = moveQuickly(from, block * size, words, i, end, to, target, size)
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
 * Moves the elements that indices from `start` on name, up to one that is not small and positive; returns where that
 * is.
 */
function moveQuickly(
  from: Elements,
  base: number,
  { array, per }: Words,
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

/** Indices as words of 32 bits, `per` words each with the low one first; none where they are of another width. */
interface Words {
  readonly array: Int32Array
  readonly per: number
}

function wordsOf(indices: Tensor): Words {
  if (indices.data instanceof BigInt64Array) return { array: halvesOf(indices), per: 2 }
  return { array: indices.data instanceof Int32Array ? indices.data : NO_WORDS, per: 1 }
}

const NO_WORDS = new Int32Array(0)

function gatherIntegers(
  from: BigInt64Array,
  indices: Tensor,
  to: BigInt64Array,
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
  // Complex numbers are two.
  const inner = elements * (to.length / (batch * outer * count * elements))
  let target = 0
  for (let block = 0; block < batch * outer; block++) {
    for (let i = 0; i < count; i++) {
      const position = positionAt(indices, Math.floor(block / outer) * count + i, size, axis, policy)
      for (let k = 0; k < inner; k++, target++) {
        const at = (block * size + position) * inner + k
        const value = position < 0 ? 0 : from[at]
        // A NaN keeps its bits only when it is copied as memory.
        if (value === value) to[target] = value
        else to.set(from.subarray(at, at + 1), target)
      }
    }
  }
}

/** The position that index `at` means; -1: it is out of range, and zeros are read. */
function positionAt(indices: Tensor, at: number, size: number, axis: number, policy: IndexPolicy): number {
  // Whatever rounding does to a large index, it stays out of range.
  const given = Number(indices.data[at])
  const index = given < 0 && policy.negative === 'wrap' ? given + size : given
  if (index >= 0 && index < size) return index
  if (policy.outOfRange === 'error') failIndex(indices, at, axis, size)
  return -1
}
