import { fail } from '../../errors.ts'
import { copyStrided, type Loop } from '../../kernels/core/copy-strided.ts'
import { type DataDependent, defineOp, params, type ShapeParams } from '../../op-kit/define.ts'
import { inputInts, ints, optionalInput } from '../../op-kit/sources.ts'
import { INDEX_TYPES } from '../../op-kit/types.ts'
import type { Dim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, limitRank, partOf, sameLengths } from '../../shapes/lists.ts'
import { sliceDim, sliceRange } from '../../shapes/slice.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  begin: DataDependent<readonly number[]>
  end: DataDependent<readonly number[]>
  /** Undefined: all 1. */
  strides: DataDependent<readonly number[] | undefined>
  beginMask: readonly number[]
  endMask: readonly number[]
  newAxisMask: readonly number[]
  shrinkAxisMask: readonly number[]
  ellipsisMask: readonly number[]
}

/**
 * OpenVINO StridedSlice-1: NumPy's `data[begin:end:stride, newaxis, index, …]`. Entry i of begin, end and strides is,
 * by the masks and in this order of precedence: an ellipsis, a new dim of 1, an index that removes its dim, or a slice
 * of the next dim. Masks may be shorter or longer than the lists. Where the specification contradicts itself, NumPy
 * decides, as in OpenVINO: `begin == end` selects nothing, and a masked end with a negative stride includes the first
 * element. For an index only `begin` counts; an index out of range is an error.
 */
export const stridedSlice = defineOp({
  name: 'StridedSlice',
  operands: { data: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 1,
      types: { begin: INDEX_TYPES, end: INDEX_TYPES, strides: INDEX_TYPES },
      bind: {
        begin: inputInts(1),
        end: inputInts(2),
        strides: optionalInput(inputInts(3)),
        beginMask: ints('begin_mask'),
        endMask: ints('end_mask'),
        newAxisMask: ints('new_axis_mask'),
        shrinkAxisMask: ints('shrink_axis_mask'),
        ellipsisMask: ints('ellipsis_mask')
      }
    }
  ],
  moves: ['data'],

  shape({ data }, p) {
    sameLengths({ begin: p.begin, end: p.end, strides: p.strides })
    const length = [p.begin, p.end, p.strides ?? ('unknown' as const)].find(list => list !== 'unknown')?.length
    if (data.shape === undefined) return [tensorFact(data.type, undefined)]
    if (length === undefined) return [tensorFact(data.type, keepsRank(p) ? data.shape.map(partOf) : undefined)]
    limitRank(length)
    const { shape } = data
    const dims = entriesOf(length, shape.length, p).flatMap(step => {
      if (step.kind === 'new') return [1]
      const size = shape[step.axis]
      return step.kind === 'all'
        ? [size]
        : step.kind === 'index'
          ? checkIndex(p, step, size)
          : [slicedDim(p, step, size)]
    })
    return [tensorFact(data.type, dims)]
  },

  *run({ data }, p, call) {
    const out = call.rawOutput()
    const strides = stridesOf(data.dims)
    const targets = stridesOf(out.dims)
    const loops: Loop[] = []
    let offset = 0
    for (const step of entriesOf(p.begin.length, data.dims.length, p)) {
      const to = targets[loops.length]
      if (step.kind === 'new') loops.push({ count: 1, from: 0, to })
      else if (step.kind === 'all') loops.push({ count: data.dims[step.axis], from: strides[step.axis], to })
      else if (step.kind === 'index')
        offset += positionOf(startOf(p, step.at) as number, step, data.dims[step.axis]) * strides[step.axis]
      else {
        const [start, end, stride] = endsOf(p, step.at) as [number, number, number]
        const { first, count } = sliceRange(data.dims[step.axis], start, end, stride)
        offset += first * strides[step.axis]
        loops.push({ count, from: stride * strides[step.axis], to })
      }
    }
    yield* copyStrided(data, out, loops, offset)
  }
})

/** The effect of one entry of the lists, and the axis of the data that it is for. */
type Entry =
  | { readonly kind: 'new' }
  | { readonly kind: 'all'; readonly axis: number }
  | { readonly kind: 'index' | 'slice'; readonly axis: number; readonly at: number }

const isSet = (mask: readonly number[], at: number): boolean => mask[at] === 1

const keepsRank = ({ newAxisMask, shrinkAxisMask }: ShapeParams<Params>): boolean =>
  !newAxisMask.includes(1) && !shrinkAxisMask.includes(1)

/** One entry for each item of the lists; dims after the last are taken whole. */
export function entriesOf(
  length: number,
  rank: number,
  p: Pick<Params, 'newAxisMask' | 'shrinkAxisMask' | 'ellipsisMask'>
): Entry[] {
  const kindOf = (at: number): Entry['kind'] =>
    isSet(p.ellipsisMask, at)
      ? 'all'
      : isSet(p.newAxisMask, at)
        ? 'new'
        : isSet(p.shrinkAxisMask, at)
          ? 'index'
          : 'slice'
  const entries = Array.from({ length }, (_, at) => ({ at, kind: kindOf(at) }))
  if (entries.filter(({ kind }) => kind === 'all').length > 1)
    fail('unknown-attribute-value', 'ellipsis_mask has more than one 1')
  const used = entries.filter(({ kind }) => kind === 'index' || kind === 'slice').length
  if (used > rank) fail('rank-mismatch', `${used} dims are sliced; the data have rank ${rank}`)
  const result: Entry[] = []
  let axis = 0
  const takeWhole = (count: number): void => {
    for (let i = 0; i < count; i++) result.push({ kind: 'all', axis: axis++ })
  }
  for (const { kind, at } of entries) {
    if (kind === 'all') takeWhole(rank - used)
    else if (kind === 'new') result.push({ kind })
    else result.push({ kind, at, axis: axis++ })
  }
  takeWhole(rank - axis)
  return result
}

type SliceEntry = Extract<Entry, { kind: 'index' | 'slice' }>

const FAR = Number.MAX_SAFE_INTEGER

/** Start, end and stride of entry `at`, undefined where not known; a masked end is beyond every size. */
function endsOf(p: ShapeParams<Params>, at: number): [Dim | undefined, Dim | undefined, Dim | undefined] {
  const entry = (list: DataDependentList): Dim | undefined => (list === 'unknown' ? undefined : list[at])
  const stride = p.strides === undefined ? 1 : entry(p.strides)
  if (stride === 0) fail('value-out-of-range', `stride ${at} is 0`)
  const isBackward = typeof stride === 'number' && stride < 0
  const start = isSet(p.beginMask, at) ? (isBackward ? -1 : 0) : entry(p.begin)
  const end = isSet(p.endMask, at) ? (isBackward ? -FAR : FAR) : entry(p.end)
  return [start, end, stride]
}

function slicedDim(p: ShapeParams<Params>, { at }: SliceEntry, size: Dim): Dim {
  const [start, end, stride] = endsOf(p, at)
  return start === undefined || end === undefined || stride === undefined
    ? partOf(size)
    : sliceDim(size, start, end, stride)
}

/** The index that entry `at` names, where it is known. */
const startOf = (p: Pick<ShapeParams<Params>, 'begin' | 'beginMask'>, at: number): Dim | undefined =>
  isSet(p.beginMask, at) ? 0 : p.begin === 'unknown' ? undefined : p.begin[at]

/** Checks an index; it adds no dim to the output. */
function checkIndex(p: ShapeParams<Params>, step: SliceEntry, size: Dim): [] {
  const index = startOf(p, step.at)
  if (typeof index === 'number' && typeof size === 'number') positionOf(index, step, size)
  return []
}

function positionOf(index: number, { at, axis }: SliceEntry, size: number): number {
  if (index < -size || index >= size) {
    fail('index-out-of-range', `begin ${index} at [${at}] is out of range for axis ${axis} of size ${size}`, {
      index: `${index}`,
      position: [at],
      axis,
      size
    })
  }
  return index < 0 ? index + size : index
}
