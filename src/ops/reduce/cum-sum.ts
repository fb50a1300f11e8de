import { cumulate, PRODUCTS, SUMS } from '../../kernels/reduce/cumulate.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { flag, inputInt } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { type Dim, normalizeAxis } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'

interface Params {
  axis: DataDependent<number>
  /** Each result leaves out its own element. */
  exclusive: boolean
  /** Starts from the end of the axis. */
  reverse: boolean
}

/** Cumulative sums along an axis; integers wrap. ONNX CumSum-11, -14; OpenVINO CumSum-3. */
export const cumSum = defineOp({
  name: 'CumSum',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 11, bind: { axis: inputInt(1), exclusive: flag('exclusive'), reverse: flag('reverse') } }],
  openvino: [
    {
      since: 3,
      types: { data: NUMERIC, axis: ['int32', 'int64'] },
      bind: { axis: inputInt(1, 0), exclusive: flag('exclusive'), reverse: flag('reverse') }
    }
  ],

  shape: ({ data }, { axis }) => [keptShape(data, axis)],
  run: ({ data }, { axis, ...options }, call) =>
    cumulate(SUMS, data, call.output(), normalizeAxis(axis, data.dims.length), options)
})

/** Cumulative products along an axis; integers wrap. ONNX CumProd-26. */
export const cumProd = defineOp({
  name: 'CumProd',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 26, bind: { axis: inputInt(1), exclusive: flag('exclusive'), reverse: flag('reverse') } }],
  shape: ({ data }, { axis }) => [keptShape(data, axis)],
  run: ({ data }, { axis, ...options }, call) =>
    cumulate(PRODUCTS, data, call.output(), normalizeAxis(axis, data.dims.length), options)
})

/** The operand's own type and shape; checks the axis. */
function keptShape({ type, shape }: TensorFact, axis: Dim): TensorFact {
  if (shape !== undefined && typeof axis === 'number') normalizeAxis(axis, shape.length)
  return tensorFact(type, shape)
}
