import { fail } from '../../errors.ts'
import { blocksAlong, unblocked } from '../../op-kit/conversion-axis.ts'
import {
  asScalar,
  dimAt,
  expanded,
  joined,
  picked,
  reduced,
  restored,
  shapeOf,
  squeezed,
  transposed,
  unsqueezed,
  upTo
} from '../../op-kit/conversion-kit.ts'
import { split as splitBySizes, splitEvenly, sub } from '../../op-kit/conversion-parts.ts'
import { listParameter } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversions,
  dimsOf,
  first,
  knownSizes,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { isConcrete, normalizeAxes, normalizeAxis, productOf } from '../../shapes/dim.ts'
import { toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { constantOfShape } from './constant-of-shape.ts'
import { depthToSpace, spaceToDepth } from './depth-space.ts'
import { expand } from './expand.ts'
import { flatten } from './flatten.ts'
import { fusedLayoutRules } from './fused-conversions.ts'
import { depthSpaceToOnnx, moveRules, openSqueezeToOnnx } from './move-conversions.ts'
import { range } from './range.ts'
import { reshape } from './reshape.ts'
import { reverseSequence } from './reverse-sequence.ts'
import { shape } from './shape.ts'
import { sizeRules } from './size-conversions.ts'
import { slice } from './slice.ts'
import { unevenSizes, withoutRest } from './split-sizes.ts'
import { split } from './split.ts'
import { squeeze } from './squeeze.ts'
import { stridedSliceToOnnx } from './strided-slice-conversion.ts'
import { stridedSlice } from './strided-slice.ts'
import { tile } from './tile.ts'
import { openTransposeToOnnx } from './transpose-conversion.ts'
import { transpose } from './transpose.ts'
import { unsqueeze } from './unsqueeze.ts'

/** Axes in reverse: what both dialects do without an order, which each says in another way. */
const transposeReversed = (call: SourceCall, w: Writer): readonly Made[] | undefined => {
  const order = call.param<readonly number[] | undefined>('order')
  const reverses = order === undefined || (order.length === 0 && call.param('emptyReverses'))
  const data = call.operand('data')
  return reverses ? [transposed(w, data, upTo(rankOf(data)).reverse())] : undefined
}

function sliceToOpenvino(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const { parameters } = call
  if (parameters.steps !== undefined) return undefined
  const starts = listParameter(call, 'starts', w)
  const [count] = knownSizes('the number of axes', dimsOf(starts)[0])
  const steps = upTo(count).map(() => 1)
  return w.op(slice, { data: call.operand('data') }, { ...parameters, scalars: false, steps })
}

/** ONNX wants all lists of one type. */
function sliceToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const isGiven = (name: string): boolean => !call.knows(name) || call.param(name) !== undefined
  const list = (name: string): Made | undefined => (isGiven(name) ? listParameter(call, name, w) : undefined)
  const lists = [list('starts'), list('ends'), list('axes'), list('steps')]
  return [w.node('Slice', [call.operand('data'), ...lists])]
}

/** IR leaves listed dims that are not 1, and takes an empty list for none; ONNX is told which dims go. */
function squeezeToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const dims = dimsOf(data)
  if (!call.knows('axes')) return openSqueezeToOnnx(call, w)
  const axes = call.param<readonly number[] | undefined>('axes')
  const listed = axes === undefined || axes.length === 0 ? upTo(dims.length) : normalizeAxes(axes, dims.length)
  if (listed.some(axis => typeof dims[axis] !== 'number')) {
    const [result] = call.results
    // Where the rank is known, all that is listed goes away.
    const goAway = result.kind === 'tensor' && result.shape?.length === dims.length - new Set(listed).size
    return goAway ? [squeezed(w, data, listed)] : openSqueezeToOnnx(call, w)
  }
  return [
    squeezed(
      w,
      data,
      listed.filter(axis => dims[axis] === 1)
    )
  ]
}

function squeezeToOpenvino(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const axes = call.param<readonly number[] | undefined>('axes')
  return axes?.length === 0 ? [call.operand('data')] : w.op(squeeze, { data: call.operand('data') }, { axes })
}

/** OpenVINO refuses an Unsqueeze whose list of axes is empty, which changes nothing. */
const unsqueezeNothing = (call: SourceCall): readonly Made[] | undefined =>
  call.knows('axes') && call.param<readonly number[]>('axes').length === 0 ? [call.operand('data')] : undefined

/** ONNX wants as many repeats as dims. */
function tileToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const repeats = listParameter(call, 'repeats', w)
  const [count] = knownSizes('the number of repeats', dimsOf(repeats)[0])
  const missing = Math.max(0, rankOf(data) - count)
  const ones = w.constant(
    'int64',
    upTo(missing).map(() => 1)
  )
  const all = missing > 0 ? joined(w, [ones, repeats], 0) : repeats
  return [w.node('Tile', [unsqueezed(w, data, upTo(Math.max(0, count - rankOf(data)))), all])]
}

const tileToOpenvino = (call: SourceCall, w: Writer): readonly Made[] => {
  const { repeats } = call.parameters
  return w.op(tile, { data: call.operand('data') }, { repeats })
}

/** VariadicSplit may leave one size open. */
function splitToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  if (!call.knows('axis')) return splitAlong(call, w)
  const axis = normalizeAxis(call.param('axis'), rankOf(data))
  if (!call.knows('sizes')) {
    const sizes = withoutRest(w, data, axis, w.cast(listParameter(call, 'sizes', w), 'int64'))
    return w.nodes('Split', [data, sizes], { axis }, { outputs: call.outputCount })
  }
  const sizes = call.param<readonly number[] | undefined>('sizes')
  if (sizes === undefined) return splitEvenly(w, data, axis, call.outputCount)
  const size = dimsOf(data)[axis]
  const known = sizes.reduce((sum, one) => sum + Math.max(0, one), 0)
  if (sizes.includes(-1) && typeof size !== 'number') return openSplit(call, w, axis, sizes, known)
  const all = sizes.map(one => (one === -1 ? (size as number) - known : one))
  return splitBySizes(w, data, axis, all)
}

/** Along an axis that is known only while the model runs. */
function splitAlong(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const blocks = blocksAlong(call, w, data)
  const sizes = call.knows('sizes') ? call.param<readonly number[] | undefined>('sizes') : []
  if (sizes !== undefined) return fail('unsupported-op', 'sizes of parts along an axis that is not known')
  const parts = splitEvenly(w, blocks.data, 1, call.outputCount)
  return parts.map(part => unblocked(w, part, blocks, dimAt(w, part, 1), 1, rankOf(data)))
}

function openSplit(
  call: SourceCall,
  w: Writer,
  axis: number,
  sizes: readonly number[],
  known: number
): readonly Made[] {
  const data = call.operand('data')
  const rest = sub(w, dimAt(w, data, axis), w.constant('int64', [known]))
  const all = joined(
    w,
    sizes.map(one => (one === -1 ? rest : w.constant('int64', [one]))),
    0
  )
  return w.nodes('Split', [data, all], { axis }, { outputs: sizes.length })
}

/** Parts by sizes are VariadicSplit; equal parts of which the last is smaller have sizes, too. */
function splitToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const { outputCount: outputs } = call
  const axis = w.scalar('int64', call.param<number>('axis'))
  const given = call.param<readonly number[] | undefined>('attributeSizes')
  const isListed = given !== undefined || !call.knows('sizes') || call.param('sizes') !== undefined
  if (isListed) {
    const sizes = given ? w.constant('int64', given) : listParameter(call, 'sizes', w)
    // OpenVINO counts the outputs by the length of the list.
    const counted = typeof dimsOf(sizes)[0] === 'number' ? sizes : w.reshape(sizes, [outputs])
    return w.nodes('VariadicSplit', [data, axis, counted], {}, { outputs })
  }
  const along = normalizeAxis(call.param('axis'), rankOf(data))
  const size = dimsOf(data)[along]
  const isOpen = typeof size !== 'number'
  if (isOpen && outputs > 1 && call.param<boolean>('uneven'))
    return w.nodes('VariadicSplit', [data, axis, unevenSizes(w, data, along, outputs)], {}, { outputs })
  if (isOpen || size % outputs === 0) return w.nodes('Split', [data, axis], { num_splits: outputs }, { outputs })
  const part = Math.ceil(size / outputs)
  const sizes = upTo(outputs).map(i => (i < outputs - 1 ? part : size - part * (outputs - 1)))
  return w.nodes('VariadicSplit', [data, axis, w.constant('int64', sizes)], {}, { outputs })
}

/** Types that ONNX's Range has. */
const RANGE_TYPES = ['float32', 'float64', 'int16', 'int32', 'int64']

/**
 * ONNX Runtime refuses a range of int32 whose limit is a dim that it knows: its shape inference takes such a dim for
 * int64, also behind a Cast. So what is known is a constant, and ranges of other integers are those of int64.
 */
function rangeToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const operands = ['start', 'limit', 'delta'].map(name => {
    const operand = call.operand(name)
    const known = w.constantOf(operand)
    return known ? w.keep(known) : operand
  })
  const type = call.param<Parameters<Writer['cast']>[1] | undefined>('type') ?? typeOf(operands[0])
  const isInteger = type.startsWith('u') || type.startsWith('i')
  const isOwn = RANGE_TYPES.includes(type) && !(isInteger && operands.some(one => w.constantOf(one) === undefined))
  const own = isOwn ? type : isInteger ? 'int64' : 'float64'
  const scalars = operands.map(operand => asScalar(w, w.cast(operand, own)))
  return [w.cast(w.node('Range', scalars), type)]
}

/** A list of one is a scalar to ONNX Runtime, as in the definition of AffineGrid, and not to OpenVINO. */
function rangeToOpenvino(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const given = [call.operand('start'), call.operand('limit'), call.operand('delta')]
  if (given.every(({ fact }) => fact.kind === 'tensor' && !fact.shape?.length)) return undefined
  const operands = given.map(one => asScalar(w, one))
  return [w.node('Range', operands, { output_type: { dtype: typeOf(operands[0]) } }, { since: 4 })]
}

const shapeToOnnx = (call: SourceCall, w: Writer): readonly Made[] => [
  w.cast(w.node('Shape', [call.operand('data')]), call.param('type'))
]

function shapeToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const rank = rankOf(data)
  const clamped = (at: number): number => Math.max(0, Math.min(rank, at < 0 ? at + rank : at))
  const start = clamped(call.param('start'))
  const end = clamped(call.param<number | undefined>('end') ?? rank)
  return [picked(w, shapeOf(w, data), upTo(Math.max(0, end - start), start))]
}

function constantOfShapeToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const value = call.param<Tensor | undefined>('value')
  const type = value?.type ?? 'float32'
  const element =
    value === undefined ? 0 : type === 'int64' || type === 'uint64' ? (value.data[0] as bigint) : toNumbers(value)[0]
  const filled = w.scalar(type, type === 'bool' ? element !== 0 : element)
  return [w.node('Broadcast', [filled, listParameter(call, 'shape', w)], { mode: 'numpy' }, { since: 3 })]
}

function flattenToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const input = call.operand('input')
  const dims = dimsOf(input)
  const given = call.param<number>('axis')
  const axis = given < 0 ? given + dims.length : given
  const [rows, columns] = [dims.slice(0, axis), dims.slice(axis)]
  if (axis === 0) return [w.reshape(input, [1, -1])]
  if (axis === 1 && !dims.includes(0)) return [w.reshape(input, [0, -1])]
  if (isConcrete(dims) || (isConcrete(rows) && !rows.includes(0)))
    return [fixed(w, input, [productOf(rows) as number, isConcrete(columns) ? (productOf(columns) as number) : -1])]
  if (isConcrete(columns) && !columns.includes(0)) return [fixed(w, input, [-1, productOf(columns) as number])]
  const sizes = shapeOf(w, input)
  const product = (axes: readonly number[]): Made => reduced(w, 'ReduceProd', picked(w, sizes, axes), [0], true)
  const shapeOfMatrix = joined(w, [product(upTo(axis)), product(upTo(dims.length - axis, axis))], 0)
  return [w.node('Reshape', [input, shapeOfMatrix], { special_zero: false })]
}

const fixed = (w: Writer, x: Made, dims: readonly number[]): Made =>
  w.node('Reshape', [x, w.constant('int64', dims)], { special_zero: false })

function reverseSequenceToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const rank = rankOf(data)
  const batch = normalizeAxis(call.param('batchAxis'), rank)
  const time = normalizeAxis(call.param('timeAxis'), rank)
  const order = [batch, time, ...upTo(rank).filter(axis => axis !== batch && axis !== time)]
  const lengths = w.cast(call.operand('lengths'), 'int64')
  const turned = w.node('ReverseSequence', [transposed(w, data, order), lengths], { batch_axis: 0, time_axis: 1 })
  return [restored(w, turned, order)]
}

/** Broadcast in mode explicit: data with dims of 1 where no axis of theirs goes. */
function expandToOnnx(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.param('mode') !== 'explicit') return undefined
  const axes = call.param<readonly number[]>('axes')
  const target = listParameter(call, 'shape', w)
  const [rank] = knownSizes('the rank of the result', dimsOf(target)[0])
  const missing = upTo(rank).filter(axis => !axes.includes(axis))
  return [expanded(w, unsqueezed(w, call.operand('data'), missing), target)]
}

const hasOrder = (_from: unknown, _to: unknown, call: SourceCall): boolean =>
  call.knows('order') && (call.param<readonly number[] | undefined>('order')?.length ?? 0) > 0

/** Whether the listed axes are known to be of size 1. */
function squeezesOnes(_from: unknown, _to: unknown, call: SourceCall): boolean {
  if (!call.knows('axes')) return false
  const axes = call.param<readonly number[] | undefined>('axes')
  const dims = dimsOf(call.operand('data'))
  return axes !== undefined && axes.length > 0 && normalizeAxes(axes, dims.length).every(axis => dims[axis] === 1)
}

const always = (): boolean => true
const isRank4 = (_from: unknown, to: unknown, call: SourceCall): boolean =>
  to === undefined || rankOf(call.operand('data')) === 4

/** Operators that move elements, of one dialect in words of the other. */
export const layoutConversions: Conversions = {
  rules: [
    toOnnx(transpose, (call, w) => (call.knows('order') ? transposeReversed : openTransposeToOnnx)(call, w)),
    toOpenvino(transpose, transposeReversed),
    ...fusedLayoutRules,
    toOnnx(slice, sliceToOnnx),
    toOpenvino(slice, sliceToOpenvino),
    toOnnx(squeeze, squeezeToOnnx),
    toOpenvino(squeeze, squeezeToOpenvino),
    first(toOpenvino(unsqueeze, unsqueezeNothing)),
    toOnnx(tile, tileToOnnx),
    toOpenvino(tile, tileToOpenvino),
    toOnnx(split, splitToOnnx),
    first(toOpenvino(split, splitToOpenvino)),
    toOnnx(depthToSpace, depthSpaceToOnnx(true)),
    toOnnx(spaceToDepth, depthSpaceToOnnx(false)),
    toOnnx(range, rangeToOnnx),
    first(toOpenvino(range, rangeToOpenvino)),
    toOnnx(shape, shapeToOnnx),
    toOpenvino(shape, shapeToOpenvino),
    toOpenvino(constantOfShape, constantOfShapeToOpenvino),
    toOpenvino(flatten, flattenToOpenvino),
    toOnnx(reverseSequence, reverseSequenceToOnnx),
    toOnnx(expand, expandToOnnx),
    toOnnx(stridedSlice, stridedSliceToOnnx),
    ...moveRules,
    ...sizeRules
  ],
  leniencies: [
    { op: reshape, parameter: 'inferBesideZero', allows: always },
    { op: transpose, parameter: 'emptyReverses', allows: hasOrder },
    { op: slice, parameter: 'scalars', allows: (_from, _to, call) => rankOf(call.operand('data')) > 0 },
    { op: squeeze, parameter: 'emptyMeansAll', allows: squeezesOnes },
    { op: squeeze, parameter: 'otherDims', allows: squeezesOnes },
    { op: squeeze, parameter: 'openRank', allows: squeezesOnes },
    { op: tile, parameter: 'promote', allows: hasAllRepeats },
    { op: split, parameter: 'uneven', allows: (_from, to) => to === true },
    {
      op: split,
      parameter: 'rest',
      allows: (from, _to, call) =>
        from === false || (call.knows('sizes') && !call.param<readonly number[]>('sizes').includes(-1))
    },
    { op: depthToSpace, parameter: 'rank', allows: isRank4 },
    { op: spaceToDepth, parameter: 'rank', allows: isRank4 },
    { op: expand, parameter: 'axes', allows: (_from, _to, call) => call.param('mode') !== 'explicit' },
    { op: expand, parameter: 'mode', allows: (from, to) => from === 'numpy' && to === 'bidirectional' },
    {
      op: reverseSequence,
      parameter: 'outermost',
      allows: (from, _to, call) =>
        from === true ||
        [call.param<number>('batchAxis'), call.param<number>('timeAxis')].every(axis => axis === 0 || axis === 1)
    }
  ]
}

function hasAllRepeats(_from: unknown, _to: unknown, call: SourceCall): boolean {
  const given = call.knows('repeats') ? call.param<readonly number[]>('repeats').length : undefined
  const source = call.source('repeats')
  const count = given ?? (source && dimsOf(source)[0])
  return count === rankOf(call.operand('data'))
}
