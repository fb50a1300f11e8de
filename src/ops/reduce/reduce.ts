import { positionOf } from '../../kernels/gather/indices.ts'
import { reduce, type Reduction } from '../../kernels/reduce/reduce.ts'
import { type DataDependent, defineOp, type Op, type OpVersion, params, type ShapeParams } from '../../op-kit/define.ts'
import { flag, inputInts, ints, is, mapped } from '../../op-kit/sources.ts'
import { INDEX_TYPES, NUMERIC } from '../../op-kit/types.ts'
import { type Dim, hullDims, isConcrete, normalizeAxes } from '../../shapes/dim.ts'
import { integersOf } from '../../shapes/elem.ts'
import { type Elem, MAX_PARTIAL, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { add, type Int, maximum, minimum, mul } from '../../shapes/sym.ts'
import { type DType, DTYPES } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'

interface Params {
  axes: DataDependent<readonly number[]>
  keepDims: boolean
  /** No axes mean all of them; else nothing is reduced, and a sum of squares is the square of each element. */
  noneIsAll: boolean
}

type ReduceRow = OpVersion<{ data: 'tensor' }, Params>

/** In ONNX `axes` moved from an attribute to an input: at version 13 for ReduceSum, at 18 for the others. */
const onnxRows = (inputSince: number): ReduceRow[] => [
  { since: 1, bind: { axes: ints('axes', []), keepDims: flag('keepdims'), noneIsAll: is(true) } },
  {
    since: inputSince,
    bind: {
      axes: inputInts(1, []),
      keepDims: flag('keepdims'),
      noneIsAll: mapped(flag('noop_with_empty_axes'), noop => !noop)
    }
  }
]

const openvinoRow = (type: string, types: readonly DType[], since = 1): ReduceRow[] => [
  {
    type,
    since,
    types: { data: types, axes: INDEX_TYPES },
    bind: { axes: inputInts(1), keepDims: flag('keep_dims'), noneIsAll: is(false) }
  }
]

const BOOLEAN: readonly DType[] = ['bool']

/**
 * Reductions over axes. No axes: all of them in ONNX unless `noop_with_empty_axes`; none in IR, where the pages call
 * that the
 * identity, yet ReduceL1 and ReduceL2 of single elements are their magnitudes, as their formula says. A mean of
 * nothing, undefined
 * in both, is NaN (ONNX) or what OpenVINO gives, 0. See the kernel for the rest about nothing and integers.
 */
export const reduceOps: readonly Op[] = [
  define('ReduceSum', 'sum', onnxRows(13), openvinoRow('ReduceSum', NUMERIC)),
  define('ReduceMean', 'mean', onnxRows(18), openvinoRow('ReduceMean', NUMERIC)),
  define('ReduceMax', 'max', onnxRows(18), openvinoRow('ReduceMax', NUMERIC)),
  define('ReduceMin', 'min', onnxRows(18), openvinoRow('ReduceMin', NUMERIC)),
  define('ReduceProd', 'prod', onnxRows(18), openvinoRow('ReduceProd', NUMERIC)),
  define('ReduceL1', 'l1', onnxRows(18), openvinoRow('ReduceL1', NUMERIC, 4)),
  define('ReduceL2', 'l2', onnxRows(18), openvinoRow('ReduceL2', NUMERIC, 4)),
  define('ReduceLogSum', 'logSum', onnxRows(18), []),
  define('ReduceLogSumExp', 'logSumExp', onnxRows(18), []),
  define('ReduceSumSquare', 'sumSquare', onnxRows(18), []),
  define('ReduceLogicalAnd', 'and', [], openvinoRow('ReduceLogicalAnd', BOOLEAN)),
  define('ReduceLogicalOr', 'or', [], openvinoRow('ReduceLogicalOr', BOOLEAN))
]

function define(name: string, kind: Reduction, onnx: readonly ReduceRow[], openvino: readonly ReduceRow[]): Op {
  return defineOp<{ data: 'tensor' }, Params>({
    name,
    operands: { data: 'tensor' },
    params: params<Params>(),
    onnx,
    openvino,

    shape: ({ data }, p) => [tensorFact(data.type, data.shape && reducedShape(data.shape, p))],

    value({ data }, p) {
      const fold = FOLDS[kind]
      if (fold === undefined || !data.shape || !isConcrete(data.shape) || p.axes === 'unknown' || !isConcrete(p.axes))
        return undefined
      return foldElements(data, data.shape, reducedAxes(p.axes, data.shape.length, p.noneIsAll), fold)
    },

    run({ data }, { axes, noneIsAll }, call) {
      return reduce(
        kind,
        data,
        reducedAxes(axes, data.dims.length, noneIsAll),
        call.output(),
        call.dialect === 'openvino' ? 0 : NaN
      )
    }
  })
}

function reducedAxes(axes: readonly number[], rank: number, noneIsAll: boolean): number[] {
  return axes.length === 0 && noneIsAll ? Array.from({ length: rank }, (_, i) => i) : normalizeAxes(axes, rank)
}

function reducedShape(
  shape: readonly Dim[],
  { axes, keepDims, noneIsAll }: ShapeParams<Params>
): readonly Dim[] | undefined {
  if (axes !== 'unknown' && isConcrete(axes)) {
    const reduced = new Set(reducedAxes(axes, shape.length, noneIsAll))
    return keepDims ? shape.map((dim, i) => (reduced.has(i) ? 1 : dim)) : shape.filter((_, i) => !reduced.has(i))
  }
  if (keepDims) return shape.map(dim => hullDims(dim, 1))
  if (axes === 'unknown' || axes.length > shape.length) return undefined
  return Array.from({ length: shape.length - axes.length }, (_, i) =>
    shape.slice(i, i + axes.length + 1).reduce(hullDims)
  )
}

interface Fold {
  readonly start?: Int
  readonly step: (a: Int, b: Int) => Int
}

const FOLDS: Readonly<Partial<Record<Reduction, Fold>>> = {
  sum: { start: 0n, step: add },
  prod: { start: 1n, step: mul },
  max: { step: maximum },
  min: { step: minimum }
}

/**
 * Reductions of small integer tensors, known or partial: the element count that a chain of exported nodes computes from
 * a shape.
 */
function foldElements(
  data: TensorFact,
  dims: readonly number[],
  axes: readonly number[],
  { start, step }: Fold
): readonly Elem[] | undefined {
  const elements = integersOf(data)
  if (elements === undefined || elements.length > MAX_PARTIAL || data.type === undefined) return undefined
  const results = new Map<number, Int>()
  const keptDims = dims.map((dim, i) => (axes.includes(i) ? 1 : dim))
  const count = product(keptDims)
  if (start !== undefined) for (let i = 0; i < count; i++) results.set(i, start)
  elements.forEach((element, at) => {
    const position = positionOf(at, dims)
    const target = keptDims.reduce((offset, dim, i) => offset * dim + (dim === 1 ? 0 : position[i]), 0)
    const before = results.get(target)
    results.set(target, before === undefined ? element : step(before, element))
  })
  if (results.size !== count) return undefined
  const { type } = data
  return Array.from({ length: count }, (_, i) => wrapped(results.get(i) as Int, type))
}

function wrapped(value: Int, type: DType): Elem {
  if (typeof value !== 'bigint') return value
  const { kind, bits } = DTYPES[type]
  return kind === 'int' ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)
}
