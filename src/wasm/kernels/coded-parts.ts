import { copyBytes } from '../../host.ts'
import { bytesOf } from '../../tensor/arrays.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { heapAllocate, heapFree, isOnHeap } from '../heap.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { stageWhole } from '../staging.ts'
import { bindCoded, type CodedArrays, type CodedProduct } from './coded.ts'

/** Bytes of a part of C: they are in the second cache when they are copied. */
const PART_BYTES = 1 << 20
/** Columns of a part are a multiple of it: whole panels, whole groups of packed rows, whole bytes of zero points. */
const STEP = 64

/**
 * Whether C is computed by parts: it lies elsewhere than on the heap, and is so large that it should not lie there a
 * second time. The logits of a prompt may be as large as a fifth of a model.
 */
export const isByParts = (out: NumericArray): boolean => !isOnHeap(out) && out.byteLength > PART_BYTES

/** Columns of a part, so that its rows fit into {@link PART_BYTES} where they can. */
export const columnsOfPart = (m: number, n: number): number =>
  Math.min(n, Math.max(STEP, Math.floor(PART_BYTES / (4 * m) / STEP) * STEP))

/**
 * Computes a product some columns at a time in a small part of the heap, from where they are copied to C. Weights are
 * read once, as for the whole product.
 * @param isPacked as in {@link bindCoded}
 * @returns false where the heap is full
 */
export function* productByParts(
  found: CodedProduct,
  arrays: CodedArrays,
  isPacked: boolean,
  out: NumericArray,
  threads: number
): Generator<void, boolean> {
  const { m, n } = found
  const columns = columnsOfPart(m, n)
  const part = heapAllocate(4 * m * columns, { zero: false })
  const copy = isOnHeap(arrays.a) ? undefined : stageWhole({ staging: 'whole' }, arrays.a)
  try {
    if (part === undefined || (copy === undefined && !isOnHeap(arrays.a))) return false
    const a = copy ? new Float32Array(copy.buffer, copy.byteOffset, arrays.a.length) : arrays.a
    const kept = remembered<JobTemplate>()
    for (let from = 0; from < n; from += columns) {
      const end = Math.min(n, from + columns)
      const of = { ...found, n: end - from }
      const { template, inputs } = bindCoded(
        of,
        { ...columnsFrom(found, arrays, isPacked, from, end), a },
        isPacked,
        end === n ? undefined : kept
      )
      const result = new Float32Array(part.buffer, part.byteOffset, m * (end - from))
      if (!(yield* runJob(template, inputs, result, threads))) return false
      copyColumns(bytesOf(result), m, bytesOf(out), n, from)
    }
    return true
  } finally {
    for (const block of [part, copy]) if (block) heapFree(block)
  }
}

/** Arrays of columns `from … end - 1` of C, `from` being a multiple of {@link STEP}. */
function columnsFrom(
  { n, k, blockSize, rowBytes, zeros: kind }: CodedProduct,
  { a, codes, scales, zeros, bias, table }: CodedArrays,
  isPacked: boolean,
  from: number,
  end: number
): CodedArrays {
  const blocks = Math.ceil(k / blockSize)
  // The last group of packed rows is whole: its padding belongs to the last part.
  const cut = <A extends NumericArray>(array: A, perColumn: number): A =>
    array.subarray(from * perColumn, end === n ? undefined : end * perColumn) as A
  // Packed codes of zero points take a byte each.
  const perColumn = kind.kind === 'codes' && !isPacked ? kind.rowBits / 8 : blocks
  const ofScales = cut(scales.data as NumericArray, blocks)
  return {
    a,
    codes: cut(codes, rowBytes / codes.BYTES_PER_ELEMENT),
    scales: new Tensor(scales.type, ofScales, [ofScales.length]),
    zeros: zeros && cut(zeros, perColumn),
    bias: bias && cut(bias, 1),
    ...(table && { table })
  }
}

/** Copies a matrix of float32 to columns `from …` of one that has `n`. */
function copyColumns(matrix: Uint8Array, m: number, to: Uint8Array, n: number, from: number): void {
  const width = matrix.length / m
  for (let row = 0; row < m; row++) copyBytes(matrix, to, 4 * (row * n + from), row * width, (row + 1) * width)
}
