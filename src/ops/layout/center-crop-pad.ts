import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { inputInts, ints, optional } from '../../op-kit/sources.ts'
import { normalizeAxes } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { shapeFrom, unknownDims } from '../../shapes/lists.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  shape: DataDependent<readonly number[]>
  /** The axes that the shape is for; undefined: all. */
  axes: readonly number[] | undefined
}

/** Crops or pads with zeros to the wanted shape, around the centre: ONNX CenterCropPad-18. */
export const centerCropPad = defineOp({
  name: 'CenterCropPad',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 18, bind: { shape: inputInts(1), axes: optional(ints('axes')) } }],
  moves: ['data'],

  shape({ data }, p) {
    const count = p.shape === 'unknown' ? undefined : p.shape.length
    if (data.shape === undefined) return [tensorFact(data.type, p.axes ? undefined : unknownDims(count))]
    const rank = data.shape.length
    const axes = normalizeAxes(p.axes ?? data.shape.map((_, i) => i), rank)
    if (count !== undefined && count !== axes.length)
      fail('dims-mismatch', `the shape has ${count} elements for ${axes.length} axes`)
    const result = [...data.shape]
    const wanted = p.shape === 'unknown' ? unknownDims(axes.length) : shapeFrom(p.shape, 'the shape')
    axes.forEach((axis, i) => {
      result[axis] = wanted?.[i] ?? result[axis]
    })
    return [tensorFact(data.type, result)]
  },

  *run({ data }, _, call) {
    const out = call.output()
    const from = stridesOf(data.dims)
    const to = stridesOf(out.dims)
    let fromStart = 0
    let toStart = 0
    const loops = data.dims.map((dim, i) => {
      const size = out.dims[i]
      fromStart += Math.floor(Math.max(0, dim - size) / 2) * from[i]
      toStart += Math.floor(Math.max(0, size - dim) / 2) * to[i]
      return { count: Math.min(dim, size), from: from[i], to: to[i] }
    })
    yield* copyStrided(data, out, loops, fromStart, toStart)
  }
})
