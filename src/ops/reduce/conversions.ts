import { fail } from '../../errors.ts'
import { elementwise, reduced, squeezed, topOf, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { add, clamped, mul, sub } from '../../op-kit/conversion-parts.ts'
import { numberParameter, sizeList, sizeParameter } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  type Conversions,
  dimsOf,
  expands,
  first,
  type Made,
  opNamed,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { Op } from '../../op-kit/define.ts'
import { isConcrete, normalizeAxes, normalizeAxis } from '../../shapes/dim.ts'
import { type DType, isFloat } from '../../tensor/dtype.ts'
import { argOps } from './arg-max.ts'
import { cumSum } from './cum-sum.ts'
import { nonZero } from './non-zero.ts'
import { reduceOps } from './reduce.ts'
import { searchOps } from './search-sorted.ts'
import { topK } from './top-k.ts'
import { unique } from './unique.ts'

const reduction = (name: string): Op => opNamed(reduceOps, name)

/** The axes that are reduced, all of them where the list is empty and that says so. */
function axesOf(call: SourceCall): number[] {
  const axes = call.param<readonly number[]>('axes')
  const rank = rankOf(call.operand('data'))
  return axes.length === 0 && call.param('noneIsAll') ? upTo(rank) : normalizeAxes(axes, rank)
}

const keepsDims = (call: SourceCall): boolean => call.param('keepDims')

/** Where no list says which axes, all are listed. */
const listed =
  (name: Parameters<typeof reduced>[1]) =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const data = call.operand('data')
    const axes = axesOf(call)
    return axes.length === 0
      ? fail('unsupported-op', 'no axis is reduced')
      : [reduced(w, name, data, axes, keepsDims(call))]
  }

const logicalToOnnx =
  (name: 'ReduceMax' | 'ReduceMin') =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const data = call.operand('data')
    const axes = axesOf(call)
    if (axes.length === 0) return [data]
    if (axes.some(axis => dimsOf(data)[axis] === 0)) {
      const [result] = call.results
      const shape = result.kind === 'tensor' && result.shape
      if (shape && isConcrete(shape))
        return [w.node('Expand', [w.scalar('bool', name === 'ReduceMin'), w.constant('int64', shape)])]
    }
    return [w.cast(reduced(w, name, w.cast(data, 'int32'), axes, keepsDims(call)), 'bool')]
  }

/** The sum of what is reduced. */
function sumOf(call: SourceCall, w: Writer, x: Made): Made {
  const axes = axesOf(call)
  return axes.length === 0 ? x : reduced(w, 'ReduceSum', x, axes, keepsDims(call))
}

const square = (w: Writer, x: Made): Made => mul(w, x, x)
const log = (w: Writer, x: Made): Made => w.node('Log', [x])

/** IR rounds logarithms and exponentials of integers, which ONNX truncates after the last step alone. */
const inFloats = (w: Writer, x: Made): Made => (isFloat(typeOf(x)) ? x : w.cast(x, 'float64'))

function logSum(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  return [w.cast(log(w, sumOf(call, w, inFloats(w, data))), typeOf(data))]
}

/** The largest finite number of each float type. */
const LARGEST: Readonly<Partial<Record<DType, number>>> = {
  float16: 65504,
  bfloat16: (2 - 2 ** -7) * 2 ** 127,
  float32: (2 - 2 ** -23) * 2 ** 127
}

function logSumExp(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const axes = axesOf(call)
  if (axes.length === 0) return [data]
  const x = inFloats(w, data)
  const bound = LARGEST[typeOf(x)] ?? Number.MAX_VALUE
  // An infinite one is made finite, since infinities minus themselves are NaN.
  const highest = clamped(w, reduced(w, 'ReduceMax', x, axes, true), -bound, bound)
  const sum = reduced(w, 'ReduceSum', elementwise(w, 'Exp', sub(w, x, highest)), axes, keepsDims(call))
  const shift = keepsDims(call) ? highest : squeezed(w, highest, axes)
  return [w.cast(add(w, log(w, sum), shift), typeOf(data))]
}

/** The axis is always written: OpenVINO does not read the layer without it, though its specification lets it be. */
const cumSumToOpenvino = (call: SourceCall, w: Writer): readonly Made[] => {
  const axis = numberParameter(call, 'axis', w)
  const attributes = { exclusive: call.param<boolean>('exclusive'), reverse: call.param<boolean>('reverse') }
  return [w.node('CumSum', [call.operand('data'), axis], attributes)]
}

/** IR: NaN is less than every number, and the selected may be sorted by index. */
function topKToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const type = typeOf(data)
  const axis = normalizeAxis(call.param('axis'), rankOf(data))
  const isLargest = call.param<boolean>('largest')
  const k = sizeList(w, [sizeParameter(call, 'k', w)])
  const own: DType = TOPK_TYPES.includes(type) ? type : isFloat(type) ? 'float32' : 'int64'
  const keys = w.cast(data, own)
  const isReplaced = isFloat(type) && !isLargest
  const lowest = isReplaced ? elementwise(w, 'Where', w.node('IsNaN', [keys]), w.scalar(own, -Infinity), keys) : keys
  const [values, indices] = w.nodes('TopK', [lowest, k], { axis, largest: isLargest }, { outputs: 2 })
  const isByIndex = call.param('order') === 'index'
  const order = isByIndex ? w.nodes('TopK', [indices, k], { axis, largest: false }, { outputs: 2 })[0] : indices
  const isDirect = !isByIndex && !isReplaced
  const found = isDirect ? values : w.node('GatherElements', [keys, order], { axis })
  return [w.cast(found, type), w.cast(order, call.param('indexType'))]
}

/**
 * Of equal elements ONNX gives the lower index first, OpenVINO only where that is asked for. The smallest floats are
 * the largest after a change of sign, since NaN, which is the least in IR, then comes last as in ONNX.
 */
function topKToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const isTurned = !ranksNanAlike(call)
  const k = numberParameter(call, 'k', w)
  const attributes = {
    axis: normalizeAxis(call.param('axis'), rankOf(data)),
    mode: isTurned || call.param<boolean>('largest') ? 'max' : 'min',
    sort: call.param<string>('order'),
    stable: true,
    index_element_type: { dtype: call.param<DType>('indexType') }
  }
  const keys = isTurned ? elementwise(w, 'Neg', data) : data
  const [values, indices] = w.nodes('TopK', [keys, k], attributes, { outputs: 2, since: 11 })
  return [isTurned && call.wanted(0) ? elementwise(w, 'Neg', values) : values, indices].slice(0, call.outputCount)
}

/** Whether NaN is as IR has it, less than every number, where ONNX has it last. */
const ranksNanAlike = (call: SourceCall): boolean =>
  !isFloat(typeOf(call.operand('data'))) || call.param<boolean>('largest')

const TOPK_TYPES: readonly DType[] = ['float32', 'float64', 'int64', 'int32']

/** The first of several equal elements is the one that a stable TopK gives. */
const argToOpenvino =
  (mode: 'max' | 'min') =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const data = call.operand('data')
    const axis = normalizeAxis(call.param('axis'), rankOf(data))
    const size = dimsOf(data)[axis]
    const isLast = call.param<boolean>('last')
    if (isLast && typeof size !== 'number') fail('unsupported-op', 'the last of equal elements needs a known size')
    const turned = isLast ? w.node('Reverse', [data, w.constant('int64', [axis])], { mode: 'index' }) : data
    const [, indices] = topOf(w, turned, 1, axis, mode)
    const found = isLast ? sub(w, w.scalar('int64', (size as number) - 1), indices) : indices
    return [call.param('keepDims') ? found : squeezed(w, found, [axis])]
  }

const nonZeroToOnnx = (call: SourceCall, w: Writer): readonly Made[] => [
  w.cast(w.node('NonZero', [call.operand('data')]), call.param('outputType'))
]

function uniqueToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const type = typeOf(data)
  const own: DType = ['float32', 'float64', 'int64', 'int8', 'string'].includes(type)
    ? type
    : isFloat(type)
      ? 'float32'
      : 'int64'
  const axis = call.param<number | undefined>('axis')
  const outputs = w.nodes(
    'Unique',
    [w.cast(data, own)],
    { ...(axis !== undefined && { axis }), sorted: call.param<boolean>('sorted') },
    { outputs: 4 }
  )
  const [values, firsts, inverse, counts] = outputs
  const indexType = call.param<DType>('indexType')
  return [
    w.cast(values, type),
    w.cast(firsts, indexType),
    w.cast(inverse, indexType),
    w.cast(counts, call.param('countType'))
  ]
}

/** Distinct elements in the order in which they come, without where each comes first. */
function uniqueOfList(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.param<readonly string[]>('lists').length === 3) return undefined
  const [values, , inverse, counts] = w.standard('Unique', [call.operand('data')], { sorted: 0 }, 4)
  return [values, inverse, counts].slice(0, call.outputCount)
}

/** The number of boundaries that are below each value: comparisons with all of them are counted. */
function counted(w: Writer, sorted: Made, values: Made, isRight: boolean, type: DType): Made {
  const column = unsqueezed(w, values, [-1])
  const isBelow = elementwise(w, isRight ? 'LessOrEqual' : 'Less', sorted, column)
  return w.cast(reduced(w, 'ReduceSum', w.cast(isBelow, 'int64'), [rankOf(column) - 1], false), type)
}

const common = (a: DType, b: DType): DType => {
  const isFraction = isFloat(a) || isFloat(b)
  return isFraction ? (isFloat(a) && isFloat(b) && a !== 'float64' && b !== 'float64' ? 'float32' : 'float64') : 'int64'
}

function bucketizeToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [values, buckets] = [call.operand('x'), call.operand('boundaries')]
  const type = common(typeOf(values), typeOf(buckets))
  const [x, sorted] = [w.cast(values, type), w.cast(buckets, type)]
  return [counted(w, sorted, x, call.param('behindEqual'), call.param('type'))]
}

/** Each line of values is searched in its own line of sorted ones. */
function searchSortedToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [sorted, values] = [call.operand('sorted'), call.operand('x')]
  const type = common(typeOf(values), typeOf(sorted))
  const lines = w.cast(sorted, type)
  const rows = rankOf(sorted) === 1 ? lines : unsqueezed(w, lines, [-2])
  return [counted(w, rows, w.cast(values, type), call.param('behindEqual'), call.param('type'))]
}

const parts: readonly Conversion[] = [
  toOpenvino(reduction('ReduceLogSum'), logSum),
  toOpenvino(reduction('ReduceSumSquare'), (call, w) => [sumOf(call, w, square(w, call.operand('data')))]),
  toOpenvino(reduction('ReduceLogSumExp'), logSumExp),
  toOnnx(reduction('ReduceLogicalAnd'), logicalToOnnx('ReduceMin')),
  toOnnx(reduction('ReduceLogicalOr'), logicalToOnnx('ReduceMax'))
]

/** Reductions, and what sorts and counts, of one dialect in words of the other. */
export const reduceConversions: Conversions = {
  rules: [
    ...(['ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceProd', 'ReduceL1', 'ReduceL2'] as const).map(
      name => toOpenvino(reduction(name), listed(name))
    ),
    ...parts,
    toOnnx(topK, topKToOnnx),
    first(toOpenvino(topK, topKToOpenvino)),
    first(toOpenvino(cumSum, cumSumToOpenvino)),
    toOpenvino(opNamed(argOps, 'ArgMax'), argToOpenvino('max')),
    toOpenvino(opNamed(argOps, 'ArgMin'), argToOpenvino('min')),
    toOnnx(nonZero, nonZeroToOnnx),
    first(toOnnx(unique, uniqueToOnnx)),
    ...expands(unique, uniqueOfList),
    toOnnx(opNamed(searchOps, 'Bucketize'), bucketizeToOnnx),
    toOnnx(opNamed(searchOps, 'SearchSorted'), searchSortedToOnnx)
  ],
  leniencies: [
    ...reduceOps.map(op => ({
      op,
      parameter: 'noneIsAll',
      allows: (_from: unknown, _to: unknown, call: SourceCall) =>
        call.knows('axes') && call.param<readonly number[]>('axes').length > 0
    })),
    {
      op: topK,
      parameter: 'nan',
      allows: (_from, _to, call) => ranksNanAlike(call)
    }
  ]
}
