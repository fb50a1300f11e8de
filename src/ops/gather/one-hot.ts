import { fail } from '../../errors.ts'
import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import type { Positions } from '../../kernels/core/positions.ts'
import { copyUnits, fillWith, unitsOf } from '../../kernels/core/units.ts'
import { resolveIndicesPaced } from '../../kernels/gather/indices.ts'
import {
  type DataDependent,
  defineOp,
  type KernelContext,
  type Op,
  params,
  type RunParams,
  type ShapeParams
} from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { choice, inputInt, int, is } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { asDim, maxDim, normalizeAxis, printDim } from '../../shapes/dim.ts'
import { type Movable, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type DType, isInteger } from '../../tensor/dtype.ts'
import { toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  depth: DataDependent<number>
  /** Where the new axis goes, counted in the output. */
  axis: number
  /** `error`: an index below 0 is none of the classes. */
  negative: 'wrap' | 'error'
}

/** ONNX OneHot-9, -11 (negative indices), -28. Indices and depth that are no integers are cut to integers. */
const oneHotOnnx = defineOp({
  name: 'OneHot',
  operands: { indices: 'tensor', values: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 9, in: { indices: 0, values: 2 }, bind: { depth: inputInt(1), axis: int('axis'), negative: is('error') } },
    { since: 11, in: { indices: 0, values: 2 }, bind: { depth: inputInt(1), axis: int('axis'), negative: is('wrap') } }
  ],
  moves: ['values'],

  shape({ indices, values }, p) {
    checkRank('values', values, 1)
    const [count] = values.shape ?? []
    if (typeof count === 'number' && count !== 2)
      fail('dims-mismatch', `values have ${count} elements; [off, on] are expected`)
    return [shapeOf(indices, values.type, p)]
  },

  run: ({ indices, values }, p, call) => oneHot(indices, { tensor: values, at: 1 }, { tensor: values, at: 0 }, p, call)
})

/** OpenVINO OneHot-1, whose text leaves negative indices open: no class, as in OneHot-16 by default; OneHot-16. */
const oneHotOpenvino = defineOp({
  name: 'OneHot',
  operands: { indices: 'tensor', on: 'tensor', off: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 1,
      in: { indices: 0, on: 2, off: 3 },
      types: { indices: ['int32', 'int64'], depth: ['int32', 'int64'] },
      bind: { depth: inputInt(1), axis: int('axis'), negative: is('error') }
    },
    {
      since: 16,
      in: { indices: 0, on: 2, off: 3 },
      types: { indices: ['int32', 'int64'], depth: ['int32', 'int64'] },
      bind: {
        depth: inputInt(1),
        axis: int('axis'),
        negative: choice('negative_indices_mode', {
          ignore_negative: 'error',
          'ignore-negative': 'error',
          normalize: 'wrap'
        })
      }
    }
  ],

  shape({ indices, on, off }, p) {
    checkRank('on_value', on, 0)
    checkRank('off_value', off, 0)
    return [shapeOf(indices, commonType({ on_value: on, off_value: off }), p)]
  },

  run: ({ indices, on, off }, p, call) => oneHot(indices, { tensor: on, at: 0 }, { tensor: off, at: 0 }, p, call)
})

/** ONNX OneHot-9 and -11; OpenVINO OneHot-1 and -16. */
export const oneHotOps: readonly Op[] = [oneHotOnnx, oneHotOpenvino]

/** The dims of the indices with the classes as a new axis. */
function shapeOf(indices: TensorFact, type: DType | undefined, p: ShapeParams<Params>): TensorFact {
  const depth = typeof p.depth === 'number' ? Math.trunc(p.depth) : p.depth
  if (maxDim(depth) < 0) fail('value-out-of-range', `depth is ${printDim(depth)}; it cannot be negative`)
  if (indices.shape === undefined) return tensorFact(type, undefined)
  const axis = normalizeAxis(p.axis, indices.shape.length + 1)
  return tensorFact(type, [...indices.shape.slice(0, axis), asDim(depth), ...indices.shape.slice(axis)])
}

/** One element of a tensor. */
interface Picked {
  readonly tensor: Movable
  readonly at: number
}

function* oneHot(
  indices: Tensor,
  on: Picked,
  off: Picked,
  p: RunParams<Params>,
  call: Pick<KernelContext<Movable>, 'output'>
): Generator<void> {
  const out = call.output()
  if (out.data.length === 0) return
  fillWith(out, off.tensor, off.at)
  yield
  const { outer, size, inner } = axisLayout(out.dims, normalizeAxis(p.axis, out.dims.length))
  const positions = yield* classesOf(indices, size, p.negative)
  const { array: from, per } = unitsOf(on.tensor)
  const to = unitsOf(out).array
  const pace = new Pace()
  for (let o = 0, t = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++, t++) {
      if (positions[t] >= 0) copyUnits(from, on.at * per, to, ((o * size + positions[t]) * inner + i) * per, per)
      if (pace.isDue(COST.element)) yield
    }
  }
}

/** The class that each index names, -1 for none. */
function* classesOf(indices: Tensor, depth: number, negative: Params['negative']): Generator<void, Positions> {
  if (isInteger(indices.type)) return yield* resolveIndicesPaced(indices, depth, 0, { negative, outOfRange: 'zero' })
  const lowest = negative === 'wrap' ? -depth : 0
  return Float64Array.from(toNumbers(indices), value => {
    const index = Math.trunc(value)
    return index >= lowest && index < depth ? (index < 0 ? index + depth : index) : -1
  })
}
