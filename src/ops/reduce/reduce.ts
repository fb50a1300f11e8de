import { reduce, type Reduction } from '../../kernels/reduce/reduce.ts'
import { type DataDependent, defineOp, type Op, type OpVersion, params, type ShapeParams } from '../../op-kit/define.ts'
import { flag, inputInts, ints, is, mapped } from '../../op-kit/sources.ts'
import { INDEX_TYPES, NUMERIC } from '../../op-kit/types.ts'
import { type Dim, hullDims, isConcrete, normalizeAxes } from '../../shapes/dim.ts'
import { integersOf } from '../../shapes/elem.ts'
import { type Elem, MAX_PARTIAL, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { add, type Int, maximum, minimum, mul } from '../../shapes/sym.ts'
import { type DType, DTYPES } from '../../tensor/dtype.ts'
import { positionOf, product } from '../../tensor/tensor.ts'

interface Params {
  axes: DataDependent<readonly number[]>
  keepDims: boolean
  /** An empty list of axes means all axes; else nothing is reduced (a sum of squares squares each element). */
  noneIsAll: boolean
}

type ReduceVersion = OpVersion<{ data: 'tensor' }, Params>

/** In ONNX `axes` moved from an attribute to an input: at version 13 for ReduceSum, at 18 for the others. */
const onnxVersions = (inputSince: number): ReduceVersion[] => [
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

const openvinoVersion = (type: string, types: readonly DType[], since = 1): ReduceVersion[] => [
  {
    type,
    since,
    types: { data: types, axes: INDEX_TYPES },
    bind: { axes: inputInts(1), keepDims: flag('keep_dims'), noneIsAll: is(false) }
  }
]

const BOOLEAN: readonly DType[] = ['bool']

/**
 * Reductions over axes. An empty list of axes means all axes in ONNX, unless `noop_with_empty_axes`, and none in IR:
 * the specification calls that the identity, yet ReduceL1 and ReduceL2 of single elements give their magnitudes, as the
 * formulas say. The mean of no elements is undefined in both specifications: it is 0, as ONNX Runtime and OpenVINO give
 * it. See `reduce` for integers, and for other reductions of no elements.
 */
export const reduceOps: readonly Op[] = [
  define('ReduceSum', 'sum', onnxVersions(13), openvinoVersion('ReduceSum', NUMERIC)),
  define('ReduceMean', 'mean', onnxVersions(18), openvinoVersion('ReduceMean', NUMERIC)),
  define('ReduceMax', 'max', onnxVersions(18), openvinoVersion('ReduceMax', NUMERIC)),
  define('ReduceMin', 'min', onnxVersions(18), openvinoVersion('ReduceMin', NUMERIC)),
  define('ReduceProd', 'prod', onnxVersions(18), openvinoVersion('ReduceProd', NUMERIC)),
  define('ReduceL1', 'l1', onnxVersions(18), openvinoVersion('ReduceL1', NUMERIC, 4)),
  define('ReduceL2', 'l2', onnxVersions(18), openvinoVersion('ReduceL2', NUMERIC, 4)),
  define('ReduceLogSum', 'logSum', onnxVersions(18), []),
  define('ReduceLogSumExp', 'logSumExp', onnxVersions(18), []),
  define('ReduceSumSquare', 'sumSquare', onnxVersions(18), []),
  define('ReduceLogicalAnd', 'and', [], openvinoVersion('ReduceLogicalAnd', BOOLEAN)),
  define('ReduceLogicalOr', 'or', [], openvinoVersion('ReduceLogicalOr', BOOLEAN))
]

function define(name: string, kind: Reduction, onnx: readonly ReduceVersion[], openvino: readonly ReduceVersion[]): Op {
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
      return reduce(kind, data, reducedAxes(axes, data.dims.length, noneIsAll), call.output())
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

/** A reduction of symbolic integers. */
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

/** Reduces small integer tensors, known or partial: exported models compute element counts of shapes that way. */
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
