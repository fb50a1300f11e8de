import { copyBytes } from '../../host.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import type { Paced } from '../../kernels/core/pace.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { bytesOf } from '../../tensor/arrays.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { heapAllocate, heapFree, isOnHeap } from '../heap.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { arrayOf, listOf, selectorFor, type TensorOperands, widthOf } from '../selector.ts'
import { isElementWidth, stridedTemplate } from './strided.ts'
import { linesTemplate } from './transpose.ts'

/** Bytes below which setting jobs up costs more than it gains. */
const MIN_BYTES = 1 << 12
/** Bytes of a line from which the reference copies it as fast, where arrays lie apart from the heap. */
const MAX_LINE_BYTES = 1 << 10
/** Bytes of a result that is made part by part as a whole, and of what else a cache holds beside what it is made of. */
const MAX_WHOLE_BYTES = 1 << 23
const CACHED_BYTES = 1 << 18
/** Bytes of a part of longer lines from which they are copied here, and of pieces of lines, which threads share. */
const MIN_LONG_BYTES = 1 << 16
const PIECE_BYTES = { least: 1 << 11, most: 1 << 15 }

interface AxisParams {
  readonly axis: number
}

/** Concat of tensors whose lines along the axis are short, or which lie on the heap. */
export const selectConcat = selectorFor<AxisParams>(({ op, operands, parameters, dims }) => {
  const inputs = listOf(operands)
  const outer = outerOf(dims, parameters)
  const given = inputs.filter(({ data }) => data.length > 0)
  if (given.length === 0 || !given.every(isWhole)) return undefined
  const bytes = product(dims) * widthOf(given[0])
  const isShort = areShort(bytes, outer * given.length)
  if (!isShort && bytes / given.length < MIN_LONG_BYTES) return undefined
  return {
    *kernel(given, own, context): Paced {
      const inputs = listOf(given as TensorOperands)
      const out = context.rawOutput()
      const array = arrayOf(out)
      const isServed = isShort || areHere([out, ...inputs])
      const isHere = isOnHeap(array)
      const lineBytes = array.byteLength / outer
      // One thread makes what the cache holds of all parts before it goes on: each of them writes into all of it.
      const isInTurn = isShort && context.threads === 1 && array.byteLength > MAX_WHOLE_BYTES
      const most = isInTurn ? Math.ceil(CACHED_BYTES / lineBytes) : outer
      const memory = (): Uint8Array | undefined =>
        isHere ? bytesOf(array) : heapAllocate(most * lineBytes, { zero: false })
      const target = isServed ? memory() : undefined
      if (target === undefined) {
        const rest = op.run(given, own, withOutput(context, out))
        if (rest) yield* rest
        return
      }
      try {
        const step = product(dims) / outer
        for (let first = 0; first < outer; first += most) {
          const lines = Math.min(most, outer - first)
          const at = first * lineBytes
          const to = isHere ? target.subarray(at) : target
          let before = 0
          for (const part of inputs) {
            const line = product(part.dims) / outer
            const bytes = line * widthOf(part)
            const layout = { outer: lines, line, fromStart: 0, fromStep: line, toStart: before, toStep: step }
            const from = bytesOf(arrayOf(part)).subarray(first * bytes, (first + lines) * bytes)
            if (line > 0) yield* moveLines(from, to, widthOf(part), layout, context.threads)
            before += line
          }
          if (!isHere) copyBytes(target, bytesOf(array), at, 0, lines * lineBytes)
        }
      } finally {
        if (!isHere) heapFree(target)
      }
    },
    looksAt: []
  }
})

/**
 * Split into parts whose lines along the axis are short, or of what lies on the heap. The reference serves where some
 * parts are not wanted.
 */
export const selectSplit = selectorFor<AxisParams>(({ op, operands, parameters }) => {
  const { data } = operands
  if (data === undefined || !isWhole(data)) return undefined
  const outer = outerOf(data.dims, parameters)
  const bytes = arrayOf(data).byteLength
  const isShort = areShort(bytes, 2 * outer)
  if (!isShort && bytes < 2 * MIN_LONG_BYTES) return undefined
  return {
    *kernel(given, own, context): Paced {
      const { data } = given as { readonly data: Tensor }
      const count = context.outputCount
      const areWanted = Array.from({ length: count }, (_, i) => context.wanted(i)).every(Boolean)
      const source = areWanted && (isShort || areHere([data])) ? onHeap(data) : undefined
      if (source === undefined) {
        const rest = op.run(given, own, context)
        if (rest) yield* rest
        return
      }
      try {
        const step = product(data.dims) / outer
        let before = 0
        for (let i = 0; i < count; i++) {
          const part = context.rawOutput(i)
          const line = product(part.dims) / outer
          const layout = { outer, line, fromStart: before, fromStep: step, toStart: 0, toStep: line }
          if (line > 0) yield* moveLines(source, bytesOf(arrayOf(part)), widthOf(part), layout, context.threads)
          before += line
        }
      } finally {
        if (!isOnHeap(arrayOf(data))) heapFree(source)
      }
    },
    looksAt: []
  }
})

/** Elements of all dims before the axis: as many lines has each part. */
const outerOf = (dims: readonly number[], { axis }: AxisParams): number =>
  product(dims, 0, normalizeAxis(axis, dims.length))

/** Whether elements have bytes of their own, as strings do not. */
const isWhole = (tensor: Tensor): boolean => tensor.type !== 'string' && Number.isInteger(widthOf(tensor))

const areShort = (bytes: number, lines: number): boolean => bytes >= MIN_BYTES && bytes / lines <= MAX_LINE_BYTES

/**
 * Whether all tensors lie on the heap, where WebAssembly copies in about 0.6 of the time: to
 * JavaScript it is memory that threads share.
 */
const areHere = (tensors: readonly Tensor[]): boolean =>
  tensors.every(tensor => tensor.data.length === 0 || isOnHeap(arrayOf(tensor)))

/** The bytes of a tensor on the heap, a copy where it lies elsewhere; undefined where the heap is full. */
function onHeap(tensor: Tensor): Uint8Array | undefined {
  const bytes = bytesOf(arrayOf(tensor))
  if (isOnHeap(bytes)) return bytes
  const copy = heapAllocate(bytes.byteLength, { zero: false })
  if (copy) copyBytes(bytes, copy)
  return copy
}

/** Lines, and where they lie in the array that is read and in the one that is written, in elements. */
interface LineLayout {
  readonly outer: number
  readonly line: number
  readonly fromStart: number
  readonly fromStep: number
  readonly toStart: number
  readonly toStep: number
}

/**
 * Copies lines.
 * @param to on the heap, or the whole of an array into which no more than these lines go
 */
function* moveLines(
  from: Uint8Array,
  to: Uint8Array,
  width: number,
  { outer, line, fromStart, fromStep, toStart, toStep }: LineLayout,
  threads: number
): Generator<void> {
  const template = linesJob(outer, line * width, fromStep * width, toStep * width)
  const target = to.subarray(toStart * width)
  const inputs = [from.subarray(fromStart * width)]
  if (yield* runJob(template, inputs, target, threads)) return
  const loops = [
    { count: outer, from: fromStep * width, to: toStep * width },
    { count: line * width, from: 1, to: 1 }
  ]
  const flat = (data: Uint8Array): Tensor => new Tensor('uint8', data, [data.length])
  yield* copyStrided(flat(from), flat(to), loops, fromStart * width, toStart * width)
}

/** Lines of the bytes of one element that are to lie side by side are elements that lie apart. */
function linesJob(outer: number, bytes: number, fromStep: number, toStep: number): JobTemplate {
  const lines = { size: outer, xStep: fromStep, yStep: toStep }
  if (bytes === toStep && isElementWidth(bytes)) return stridedTemplate([lines], outer * bytes, bytes)
  const piece = pieceOf(bytes)
  if (piece < bytes) {
    const pieces = { size: bytes / piece, xStep: piece, yStep: piece }
    return linesTemplate([lines, pieces, { size: piece, xStep: 1, yStep: 1 }], outer * bytes)
  }
  return linesTemplate([lines, { size: bytes, xStep: 1, yStep: 1 }], outer * bytes)
}

/** The most bytes of equal pieces of a line that threads share evenly; all of it where no such pieces make it up. */
function pieceOf(line: number): number {
  for (let count = Math.ceil(line / PIECE_BYTES.most); count > 1 && line / count >= PIECE_BYTES.least; count++)
    if (line % count === 0) return line / count
  return line
}
