import { copyBytes } from '../../host.ts'
import { type AxisLayout, axisLayout } from '../../kernels/core/axis-layout.ts'
import { storeSelected } from '../../kernels/reduce/top.ts'
import type { Kernel, Op } from '../../op-kit/define.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { bytesOf } from '../../tensor/arrays.ts'
import { type DType, MAX_INT32 } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, selectorFor, staged } from '../selector.ts'
import { SCRATCH_BYTES } from '../workspace.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 10
/** Most items of a line, as in ../assembly/f32/top.ts. */
const MAX_CHOSEN = 16
/** Elements of a tile, which take some 0.05 ms. */
const TILE = 1 << 16
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8

interface Params {
  readonly k: number
  readonly axis: number
  readonly largest: boolean
  readonly nan: 'last' | 'smallest'
  readonly order: 'value' | 'index'
  readonly indexType: 'int32' | 'int64'
}

/** Types of elements: their bytes, the bits of infinity of floats, and those that make integers signed. */
type Format = readonly [width: number, infinity: bigint, flip: bigint]
const TYPES: Readonly<Partial<Record<DType, Format>>> = {
  int8: [1, 0n, 0n],
  uint8: [1, 0n, 0x80n],
  int16: [2, 0n, 0n],
  uint16: [2, 0n, 0x8000n],
  int32: [4, 0n, 0n],
  uint32: [4, 0n, 0x80000000n],
  int64: [8, 0n, 0n],
  uint64: [8, 0n, 1n << 63n],
  float16: [2, 0x7c00n, 0n],
  bfloat16: [2, 0x7f80n, 0n],
  float32: [4, 0x7f800000n, 0n],
  float64: [8, 0x7ff0000000000000n, 0n]
}
/** Bytes of an item in ../assembly/wide/top.ts. */
const ITEM = 16
/** Work of an item that is sorted, in that of an element. */
const ITEM_WORK = 8
/** Work of an element of a short line for each item. */
const COMPARISON_WORK = 4
/**
 * Elements of a line, and of these for one that is chosen, from and up to which all are sorted: by one byte after the
 * other, whose values are counted in so many bytes.
 */
const MIN_SORTED = 128
const MAX_SORTED_PER_CHOSEN = 8
const COUNTS = 1024

/**
 * Short lines, of which as many as a vector has lanes are looked at side by side: the fewest of them, the most elements
 * of one, and the most comparisons that it takes.
 */
const MIN_LINES = 4
const MAX_SHORT = 512
const MAX_COMPARISONS = 1 << 13
/** Elements below which the reference takes less time, and comparisons of a tile, which take some 0.05 ms. */
const MIN_SHORT_ELEMENTS = 1 << 5
const SHORT_TILE = 1 << 18

/** The job that selects elements of short lines, and writes these behind their positions; undefined for others. */
function shortTemplate(
  type: DType,
  indexWidth: number,
  { outer, size, inner }: AxisLayout,
  p: Params
): JobTemplate | undefined {
  const found = TYPES[type]
  if (found === undefined || size > MAX_SHORT) return undefined
  if ((inner === 1 ? outer : inner) < MIN_LINES || size * p.k > MAX_COMPARISONS || p.order === 'index') return undefined
  const [width] = found
  // The arguments are those of ShortTopArguments in ../assembly/wide/short-top.ts.
  return {
    kernel: 'shortTop',
    blocks: outer,
    blockBytes: p.k * inner * (indexWidth + width),
    tile: Math.max(1, Math.floor(SHORT_TILE / (size * p.k * inner))),
    work: outer * size * p.k * inner * COMPARISON_WORK,
    inputs: staged(1),
    args: [size, p.k, width, indexWidth, ...bitsOf(found, p), outer * inner * p.k * indexWidth, ...orderOf(p), inner]
  }
}

/** The job that selects a few elements of each line of float32. */
function fewTemplate({ outer, size, inner }: AxisLayout, p: Params): JobTemplate {
  // The arguments are those of TopArguments in ../assembly/f32/top.ts.
  return {
    kernel: 'top',
    blocks: outer,
    blockBytes: p.k * inner * 4,
    tile: Math.max(1, Math.floor(TILE / (size * inner))),
    work: outer * size * inner * ELEMENT_WORK,
    inputs: staged(1),
    args: [size, inner, p.k, ...orderOf(p), Number(p.order === 'index')]
  }
}

/** The job that selects any number of elements of any type; undefined where the scratch memory has no room for them. */
function wideTemplate(type: DType, { outer, size, inner }: AxisLayout, p: Params): JobTemplate | undefined {
  const found = TYPES[type]
  if (found === undefined) return undefined
  const [width] = found
  const isSorted = isWorthSorting(size, width, p)
  if (!isSorted && ITEM * (p.k + 1) > SCRATCH_BYTES) return undefined
  const lanes = 16 / width
  const isGrouped = inner >= lanes && ITEM * (lanes * p.k + 1) <= SCRATCH_BYTES
  // The arguments are those of WideTopArguments in ../assembly/wide/top.ts.
  return {
    kernel: 'wideTop',
    blocks: outer,
    blockBytes: p.k * inner * 4,
    tile: Math.max(1, Math.floor(TILE / (size * inner))),
    work: outer * inner * (size + ITEM_WORK * p.k) * ELEMENT_WORK,
    inputs: staged(1),
    args: [
      ...[size, inner, p.k, width, ...bitsOf(found, p), ...orderOf(p)],
      Number(p.order === 'index'),
      isSorted ? 0 : isGrouped ? lanes : 1
    ]
  }
}

/** The bits of infinity and those that are flipped, as words of 32 bits. */
const bitsOf = ([, infinity, signs]: Format, { largest }: Params): number[] =>
  [infinity, largest ? signs : ~signs].flatMap(bits => [bits, bits >> 32n].map(half => Number(BigInt.asIntN(32, half))))

/** Whether the lowest are the best, and whether NaN is better than every number. */
const orderOf = ({ largest, nan }: Params): number[] => [!largest, nan === 'smallest' && !largest].map(Number)

/** Whether to sort all elements of a line, for which scratch memory has room, rather than to keep the best ones. */
function isWorthSorting(size: number, width: number, { k, order }: Params): boolean {
  const room = COUNTS * width + 2 * size * (width === 8 ? ITEM : ITEM / 2)
  const isLong = size >= MIN_SORTED && size <= MAX_SORTED_PER_CHOSEN * k
  return isLong && order === 'value' && room <= SCRATCH_BYTES
}

/** TopK of numbers. */
export const selectTopK = selectorFor<Params>(({ op, operands: { data }, parameters: p }) => {
  if (data === undefined || p.k < 1) return undefined
  const axis = normalizeAxis(p.axis, data.dims.length)
  const layout = axisLayout(data.dims, axis)
  const { outer, size, inner } = layout
  const [elements, count] = [product(data.dims), outer * p.k * inner]
  const indexWidth = p.indexType === 'int64' ? 8 : 4
  const short = shortTemplate(data.type, indexWidth, layout, p)
  if (short && elements >= MIN_SHORT_ELEMENTS) return { kernel: shortKernel(op, short, count * indexWidth) }
  if (elements < MIN_ELEMENTS || size > MAX_INT32) return undefined
  const isFew = data.type === 'float32' && p.k <= MAX_CHOSEN
  const template = isFew ? fewTemplate(layout, p) : wideTemplate(data.type, layout, p)
  if (template === undefined) return undefined
  const kernel = attemptKernel(op, function* ({ data: x }, _out, { allocateIntegers, run }, context) {
    const positions = allocateIntegers(count)
    if (!(yield* run(template, [arrayOf(x!)], positions))) return false
    const [values, indices] = [0, 1].map(i => (context.wanted(i) ? context.output(i) : undefined))
    yield* storeSelected(x!, positions, axis, indices, values)
    return true
  })
  return { kernel }
})

/**
 * The kernel of a job that writes positions, and behind them elements.
 * @param indexBytes of all positions
 */
const shortKernel = (op: Op, template: JobTemplate, indexBytes: number): Kernel =>
  attemptKernel(op, function* ({ data: x }, _out, { allocate, run }, context) {
    const bytes = template.blocks * template.blockBytes
    const room = allocate(Math.ceil(bytes / 4))
    if (!(yield* run(template, [arrayOf(x!)], room))) return false
    const found = bytesOf(room)
    if (context.wanted(0)) copyBytes(found.subarray(indexBytes, bytes), bytesOf(arrayOf(context.rawOutput(0))))
    if (context.wanted(1)) copyBytes(found.subarray(0, indexBytes), bytesOf(arrayOf(context.rawOutput(1))))
    return true
  })
