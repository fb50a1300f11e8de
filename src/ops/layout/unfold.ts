import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { int } from '../../op-kit/sources.ts'
import { addDims, asDim, type Dim, floorDivDims, maxDim, normalizeAxis, printDim, subDims } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  axis: number
  /** Elements of a window, and from the start of one to that of the next. */
  size: number
  step: number
}

/** All windows along an axis; their elements are a new last axis. com.microsoft UnfoldTensor-1. */
export const unfoldTensor = defineOp({
  name: 'UnfoldTensor',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { axis: int('dim'), size: int('size'), step: int('step') } }],
  moves: ['data'],

  shape({ data }, { axis, size, step }) {
    for (const [name, value] of Object.entries({ size, step }))
      if (value < 1) fail('unknown-attribute-value', `attribute "${name}" is ${value}; 1 or more is expected`)
    if (data.shape === undefined) return [tensorFact(data.type, undefined)]
    const at = normalizeAxis(axis, data.shape.length)
    const count = windowCount(data.shape[at], size, step)
    return [tensorFact(data.type, [...data.shape.map((dim, i) => (i === at ? count : dim)), size])]
  },

  *run({ data }, { axis, size, step }, call) {
    const out = call.output()
    const from = stridesOf(data.dims)
    const to = stridesOf(out.dims)
    const at = normalizeAxis(axis, data.dims.length)
    yield* copyStrided(data, out, [
      ...data.dims.map((_, i) => ({ count: out.dims[i], from: from[i] * (i === at ? step : 1), to: to[i] })),
      { count: size, from: from[at], to: 1 }
    ])
  }
})

function windowCount(dim: Dim, size: number, step: number): Dim {
  if (maxDim(dim) < size) fail('dims-mismatch', `windows of ${size} do not fit into an axis of size ${printDim(dim)}`)
  return addDims(floorDivDims(asDim(subDims(dim, size)), step), 1)
}
