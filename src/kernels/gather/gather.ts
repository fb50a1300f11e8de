import { copyBytes } from '../../host.ts'
import type { Movable } from '../../shapes/fact.ts'
import { bytesOf } from '../../tensor/arrays.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { chunkSize, COST, inChunks, Pace } from '../core/pace.ts'
import type { Positions } from '../core/positions.ts'
import { type BlockUnits, blockUnitsOf, copyUnits, SHORT, type UnitArray } from '../core/units.ts'
import { type IndexPolicy, ravelPositions, resolveIndicesPaced, resolveTuplesPaced } from './indices.ts'

/** How Gather sees its data: `[batch, outer, size, inner]`, and its indices: `[batch, count]`. */
export interface GatherLayout {
  readonly batch: number
  readonly outer: number
  readonly size: number
  readonly inner: number
  readonly count: number
}

/**
 * The layout of a Gather.
 * @param axis from 0
 * @param batchDims counts from the end of the indices' dims when negative
 */
export function gatherLayout(
  dataDims: readonly number[],
  indicesDims: readonly number[],
  axis: number,
  batchDims: number
): GatherLayout {
  if (batchDims < 0) batchDims += indicesDims.length
  return {
    batch: product(dataDims, 0, batchDims),
    outer: product(dataDims, batchDims, axis),
    size: dataDims[axis],
    inner: product(dataDims, axis + 1),
    count: product(indicesDims, batchDims)
  }
}

/**
 * Gather: `out[b, o, i, …] = data[b, o, indices[b, i], …]`.
 * @param axis along which the indices count, only for the message
 * @throws NodewiseError `index-out-of-range`, naming the first offender in row-major order
 */
export function* gatherAlong(
  data: Movable,
  indices: Tensor,
  out: Movable,
  layout: GatherLayout,
  axis: number,
  policy: IndexPolicy
): Generator<void> {
  yield* gatherBlocks(data, yield* resolveIndicesPaced(indices, layout.size, axis, policy), out, layout)
}

/**
 * GatherElements: each output element is read at its own coordinates, the one on `axis` replaced by its index; off the
 * axis the indices may be smaller than the data.
 * @throws NodewiseError `index-out-of-range`, naming the first offender in row-major order
 */
export function* gatherElementsAlong(
  data: Movable,
  indices: Tensor,
  out: Movable,
  axis: number,
  policy: IndexPolicy
): Generator<void> {
  const offsets = yield* resolveIndicesPaced(indices, data.dims[axis], axis, policy, product(data.dims))
  yield* ravelPositions(offsets, indices.dims, data.dims, axis)
  yield* gatherOffsets(data, offsets, out, 1)
}

/** How GatherND sees its data: `[batches, ...sizes, inner]`; each index tuple has a component for each of `sizes`. */
export interface TupleLayout {
  readonly batches: number
  readonly sizes: readonly number[]
  readonly inner: number
}

/** The layout of a GatherND whose tuples are the last dim of the indices. */
export function tupleLayout(
  dataDims: readonly number[],
  indicesDims: readonly number[],
  batchDims: number
): TupleLayout {
  const end = batchDims + indicesDims[indicesDims.length - 1]
  return {
    batches: product(dataDims, 0, batchDims),
    sizes: dataDims.slice(batchDims, end),
    inner: product(dataDims, end)
  }
}

/**
 * GatherND: the slices that index tuples name, the first component of a tuple along axis `batchDims`.
 * @throws NodewiseError `index-out-of-range`, naming the first offending component in row-major order
 */
export function* gatherTuples(
  data: Movable,
  indices: Tensor,
  out: Movable,
  batchDims: number,
  policy: IndexPolicy
): Generator<void> {
  const { batches, sizes, inner } = tupleLayout(data.dims, indices.dims, batchDims)
  yield* gatherOffsets(data, yield* resolveTuplesPaced(indices, batches, sizes, batchDims, policy), out, inner)
}

/** Most units of a block that a loop copies in less time than a call: of 64 words it takes 1.6 times as long. */
const LONGEST_LOOPED = 40

/** Nanoseconds that finding a block takes, beside {@link COST.copy} for each of its units. */
const COST_OF_BLOCK = 20

/**
 * `out[b, o, i, …] = data[b, o, positions[b, i], …]`. Where a position is -1, `out` gets zeros. Elements of a plain
 * array (strings, symbols) are left as they are there, so `out` must hold the empty strings or zeros of a fresh output.
 */
export function* gatherBlocks(
  data: Movable,
  positions: Positions,
  out: Movable,
  layout: GatherLayout
): Generator<void> {
  const { batch, outer, size, inner, count } = layout
  if (out.data.length === 0) return
  const units = blockUnitsOf(data, out, inner)
  const cost = COST_OF_BLOCK + COST.copy * units.block
  const { from, to, block } = units.block > LONGEST_LOOPED ? inBytes(units) : units
  const chunk = chunkSize(cost)
  if (batch === 1 && (block === 1 || outer > 1) && count * block <= FEW && from instanceof Int32Array) {
    const typed = to as Int32Array
    const units = block === 1 ? positions : unitPositions(positions, count, block)
    return yield* inChunks(
      outer,
      (first, end) => moveFew(from, size * block, units, count * block, typed, first, end),
      count * cost
    )
  }
  const pace = new Pace()
  let target = 0
  for (let b = 0; b < batch; b++) {
    for (let o = 0; o < outer; o++) {
      const base = (b * outer + o) * size
      for (let start = 0; start < count; start += chunk) {
        const end = Math.min(count, start + chunk)
        moveBlocks(from, base, positions, b * count + start, b * count + end, to, target, block)
        target += (end - start) * block
        if (pace.isDue((end - start) * cost)) yield
      }
    }
  }
}

/** Blocks as bytes, which are copied by their place among all; those of a plain array as they are. */
const inBytes = (units: BlockUnits): BlockUnits => {
  const { from, to, block } = units
  if (Array.isArray(from) || Array.isArray(to)) return units
  return { from: bytesOf(from), to: bytesOf(to), block: block * from.BYTES_PER_ELEMENT }
}

/**
 * `out[t] = data[offsets[t]]` for blocks of `inner` elements; offsets count blocks, -1 is as in {@link gatherBlocks}.
 */
export const gatherOffsets = (data: Movable, offsets: Positions, out: Movable, inner: number): Generator<void> =>
  gatherBlocks(data, offsets, out, { batch: 1, outer: 1, size: 0, inner, count: offsets.length })

/** The positions of the units of some blocks. */
function unitPositions(positions: Positions, count: number, block: number): Positions {
  const units = new Float64Array(count * block)
  for (let i = 0; i < units.length; i++) {
    const position = positions[Math.floor(i / block)]
    units[i] = position < 0 ? -1 : position * block + (i % block)
  }
  return units
}

/** Units of a row up to which {@link moveFew} takes less time: less than a call for each row. */
const FEW = 16

/** Copies the units at a few positions of each row from `first` to `end`. */
function moveFew(
  from: Int32Array,
  size: number,
  positions: Positions,
  count: number,
  to: Int32Array,
  first: number,
  end: number
): void {
  if (count <= 3 && areGiven(positions, count)) return moveUpToThree(from, size, positions, count, to, first, end)
  for (let row = first, target = first * count; row < end; row++) {
    const base = row * size
    for (let i = 0; i < count; i++, target++) {
      const position = positions[i]
      to[target] = position >= 0 ? from[base + position] : 0
    }
  }
}

function areGiven(positions: Positions, count: number): boolean {
  for (let i = 0; i < count; i++) if (positions[i] < 0) return false
  return true
}

/** {@link moveFew} without a loop over positions, all of which there are: it takes a quarter of the time. */
function moveUpToThree(
  from: Int32Array,
  size: number,
  positions: Positions,
  count: number,
  to: Int32Array,
  first: number,
  end: number
): void {
  const [a, b, c] = [positions[0], positions[1], positions[2]]
  let target = first * count
  let base = first * size
  if (count === 1) for (let row = first; row < end; row++, base += size) to[row] = from[base + a]
  else if (count === 2)
    for (let row = first; row < end; row++, base += size, target += 2) {
      to[target] = from[base + a]
      to[target + 1] = from[base + b]
    }
  else
    for (let row = first; row < end; row++, base += size, target += 3) {
      to[target] = from[base + a]
      to[target + 1] = from[base + b]
      to[target + 2] = from[base + c]
    }
}

/** Copies the blocks at `base + positions[start … end-1]` to `target`, one after the other. */
function moveBlocks(
  from: UnitArray,
  base: number,
  positions: Positions,
  start: number,
  end: number,
  to: UnitArray,
  target: number,
  block: number
): void {
  if (block === 1 && !Array.isArray(from)) {
    const typed = to as Int32Array
    for (let i = start; i < end; i++, target++) {
      const position = positions[i]
      typed[target] = position >= 0 ? from[base + position] : 0
    }
  } else if (block === 2 && !Array.isArray(from)) {
    const typed = to as Int32Array
    for (let i = start; i < end; i++, target += 2) {
      const position = positions[i]
      const at = 2 * (base + position)
      typed[target] = position >= 0 ? from[at] : 0
      typed[target + 1] = position >= 0 ? from[at + 1] : 0
    }
  } else if (block <= SHORT && from instanceof Int32Array) {
    moveWords(from, base, positions, start, end, to as Int32Array, target, block)
  } else if (block > SHORT && from instanceof Uint8Array) {
    moveLong(from, base, positions, start, end, to as Uint8Array, target, block)
  } else {
    for (let i = start; i < end; i++, target += block) {
      const position = positions[i]
      if (position >= 0) copyUnits(from, (base + position) * block, to, target, block)
      else if (!Array.isArray(to)) to.fill(0, target, target + block)
    }
  }
}

/** Blocks that are read from before they are copied; see {@link touch}. */
const AHEAD = 16

/** {@link moveBlocks} for blocks of `width` bytes, each of which is worth a call. */
function moveLong(
  from: Uint8Array,
  base: number,
  positions: Positions,
  start: number,
  end: number,
  to: Uint8Array,
  target: number,
  width: number
): void {
  for (let i = start; i < end; i++, target += width) {
    if ((i - start) % AHEAD === 0) touch(from, base, positions, i, Math.min(end, i + AHEAD), width)
    const position = positions[i]
    const at = (base + position) * width
    if (position >= 0) copyBytes(from, to, target, at, at + width)
    else to.fill(0, target, target + width)
  }
}

/** What {@link touch} has read: the compiler leaves out loads that nobody uses. */
const TOUCHED = new Uint8Array(1)

/**
 * Reads the first and the last byte of some blocks, so that the processor waits for their cache misses at once, where
 * each copy would wait for its own: 0.83 to 0.9 of the time of blocks of 3 and 8 KB that come from memory.
 */
function touch(from: Uint8Array, base: number, positions: Positions, start: number, end: number, width: number): void {
  let read = 0
  for (let i = start; i < end; i++) {
    const at = (base + Math.max(0, positions[i])) * width
    read |= from[at] | from[at + width - 1]
  }
  TOUCHED[0] = read
}

/** {@link moveBlocks} for short blocks of 32-bit words: a loop that meets one type of array is several times faster. */
function moveWords(
  from: Int32Array,
  base: number,
  positions: Positions,
  start: number,
  end: number,
  to: Int32Array,
  target: number,
  block: number
): void {
  for (let i = start; i < end; i++, target += block) {
    const at = (base + positions[i]) * block
    if (positions[i] < 0) to.fill(0, target, target + block)
    else for (let j = 0; j < block; j++) to[target + j] = from[at + j]
  }
}
