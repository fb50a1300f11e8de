import { fail } from '../../errors.ts'
import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { narrowHalves, orderKeys } from '../../kernels/core/order.ts'
import { selectTop } from '../../kernels/core/select.ts'
import { storeSelected } from '../../kernels/reduce/top.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { choice, flag, inputInt, int, is, listed, mapped } from '../../op-kit/sources.ts'
import { INDEX_TYPES, NUMERIC } from '../../op-kit/types.ts'
import { asDim, type Dim, maxDim, meetDims, minDim, normalizeAxis, printDim, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  k: DataDependent<number>
  axis: number
  largest: boolean
  order: 'value' | 'index'
  nan: 'last' | 'smallest'
  indexType: 'int32' | 'int64'
}

/** Parameters that are the same in every version of ONNX. */
const ONNX = { order: is('value'), nan: is('last'), indexType: is('int64') } as const

/**
 * The k largest or smallest elements along an axis, and their indices: ONNX TopK-1, -10 (k became an input), -11
 * (smallest, integers), -24; OpenVINO TopK-1, -3, -11.
 *
 * Of equal elements the lower index comes first, as ONNX demands; OpenVINO demands it only for `stable`. Where the file
 * leaves the order open (`sorted` 0, `sort` none), it is by value. OpenVINO says that NaN is smaller than every number;
 * ONNX does not say, and here it comes last, as in ONNX Runtime. k = 0 gives empty outputs.
 */
export const topK = defineOp({
  name: 'TopK',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { k: int('k'), axis: int('axis'), largest: is(true), ...ONNX } },
    { since: 10, bind: { k: listed(inputInt(1)), axis: int('axis'), largest: is(true), ...ONNX } },
    { since: 11, bind: { k: listed(inputInt(1)), axis: int('axis'), largest: flag('largest'), ...ONNX } }
  ],
  openvino: [
    {
      since: 1,
      types: { data: NUMERIC, k: INDEX_TYPES },
      bind: {
        k: inputInt(1),
        axis: int('axis'),
        largest: mapped(choice('mode', { max: 'max', min: 'min' }), mode => mode === 'max'),
        order: choice('sort', { value: 'value', index: 'index', none: 'value' }),
        nan: is('smallest'),
        indexType: choice('index_element_type', { i32: 'int32', i64: 'int64' })
      }
    }
  ],

  shape({ data }, p) {
    if (minDim(p.k) < 0 && maxDim(p.k) < 0) fail('value-out-of-range', `k is ${printDim(p.k)}; it cannot be negative`)
    if (data.shape === undefined) return [tensorFact(data.type, undefined), tensorFact(p.indexType, undefined)]
    const axis = normalizeAxis(p.axis, data.shape.length)
    const shape = data.shape.map((dim, i) => (i === axis ? selected(p.k, dim, axis) : dim))
    return [tensorFact(data.type, shape), tensorFact(p.indexType, shape)]
  },

  *run({ data }, p, call) {
    const axis = normalizeAxis(p.axis, data.dims.length)
    const layout = axisLayout(data.dims, axis)
    const halves = yield* narrowHalves(data)
    const positions = halves
      ? yield* selectTop(halves, layout, p.k, p, 2)
      : yield* selectTop(yield* orderKeys(data), layout, p.k, p)
    const [values, indices] = [0, 1].map(index => (call.wanted(index) ? call.output(index) : undefined))
    yield* storeSelected(data, positions, axis, indices, values)
  }
})

/** k as a dim, which is at most the size of the axis. */
const selected = (k: Dim, size: Dim, axis: number): Dim =>
  meetDims(asDim(k), unknownDim(0, maxDim(size))) ??
  fail('value-out-of-range', `k is ${printDim(k)}, axis ${axis} has only ${printDim(size)} elements`)
