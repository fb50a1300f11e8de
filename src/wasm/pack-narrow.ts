import type { PackContext } from '../op-kit/pack-context.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { type MatrixLayout, packByJob, panelsJob } from './pack.ts'
import { PANEL } from './workspace.ts'

/** Storage of 16-bit floats in panels: codes of float16, or bfloat16; see assembly/f32/few-halves.ts. */
export type NarrowType = 'uint16' | 'bfloat16'

/** Elements that are looked at between two chances to yield: a few nanoseconds each. */
const CHUNK = 1 << 20
/** Elements below which a matrix stays in a cache, where float32 is read faster than 16 bits are widened. */
const MIN_ELEMENTS = 1 << 19
/**
 * Bits of a float32 that 16-bit floats do not have, and the bits of the least and the greatest magnitude but 0: for
 * float16 those from 2^-24 to less than 128.
 */
const CODES = {
  uint16: { lost: 0x1fff, least: 103 << 23, most: (134 << 23) - 1 },
  bfloat16: { lost: 0xffff, least: 0, most: 0x7fffffff }
} as const

/**
 * The 16-bit floats of which a matrix of float32 is made: all its numbers are such numbers. Weights that a file has in
 * 16 bits come here widened, whether by a node of the file or for a kernel.
 * @returns undefined where there is none, few elements, or a number of float16 of 128 and more
 */
export function* narrowTypeOf({ data }: Tensor): Generator<void, NarrowType | undefined> {
  const { buffer, byteOffset, length } = data as Float32Array
  if (length < MIN_ELEMENTS) return undefined
  const bits = new Int32Array(buffer, byteOffset, length)
  for (const type of ['uint16', 'bfloat16'] as const) if (yield* isMadeOf(bits, type)) return type
  return undefined
}

function* isMadeOf(bits: Int32Array, type: NarrowType): Generator<void, boolean> {
  for (let at = 0; at < bits.length; at += CHUNK) {
    if (at > 0) yield
    if (!haveCodes(bits, at, Math.min(bits.length, at + CHUNK), type)) return false
  }
  return true
}

/** Whether 16 bits hold all numbers from `at` to `end`. Within a generator the loop would take twice as long. */
function haveCodes(bits: Int32Array, at: number, end: number, type: NarrowType): boolean {
  const { lost, least, most } = CODES[type]
  for (let i = at; i < end; i++) {
    const own = bits[i]
    const magnitude = own & 0x7fffffff
    if ((own & lost) !== 0 || (magnitude !== 0 && (magnitude < least || magnitude > most))) return false
  }
  return true
}

/**
 * A matrix whose numbers are of a type of 16 bits in panels of that type.
 * @returns undefined when the heap is full
 */
export function packNarrow(
  matrix: Tensor,
  layout: MatrixLayout,
  type: NarrowType,
  { allocate, threads }: PackContext
): Generator<void, Tensor | undefined> {
  const job = panelsJob(layout, 'packHalfPanels', [Number(type === 'bfloat16')])
  return packByJob(job, [matrix], allocate(type, [job.blocks, layout.k, PANEL]), threads)
}
