import { defineOp, params } from '../../op-kit/define.ts'
import { choice, int, is, optional } from '../../op-kit/sources.ts'
import { type Dim, toInt, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { sliceRange } from '../../shapes/slice.ts'
import { MAX_RANK } from '../../tensor/tensor.ts'

interface Params {
  start: number
  end: number | undefined
  type: 'int64' | 'int32'
}

/**
 * The dims of `data`, from axis `start` to before `end` (ONNX Shape-15; both clamped to the rank); OpenVINO ShapeOf-1,
 * -3.
 */
export const shape = defineOp({
  name: 'Shape',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { start: is(0), end: is(undefined), type: is('int64') } },
    { since: 15, bind: { start: int('start'), end: optional(int('end')), type: is('int64') } }
  ],
  openvino: [
    { type: 'ShapeOf', since: 1, bind: { start: is(0), end: is(undefined), type: is('int64') } },
    {
      type: 'ShapeOf',
      since: 3,
      bind: { start: is(0), end: is(undefined), type: choice('output_type', { i64: 'int64', i32: 'int32' }) }
    }
  ],

  shape({ data }, p) {
    return [tensorFact(p.type, [data.shape ? cut(data.shape, p).length : unknownDim(0, MAX_RANK)])]
  },

  value({ data }, p) {
    return data.shape && cut(data.shape, p).map(toInt)
  },

  run({ data }, p, call) {
    const out = call.output()
    cut(data.dims, p).forEach((dim, i) => {
      out.data[i] = p.type === 'int64' ? BigInt(dim) : dim
    })
  }
})

function cut<D extends Dim>(dims: readonly D[], { start, end }: Params): readonly D[] {
  const { first, count } = sliceRange(dims.length, start, end ?? dims.length, 1)
  return dims.slice(first, first + count)
}
