import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { inputInts, optional, tensor } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { shapeFrom } from '../../shapes/lists.ts'
import { elementCount, type Tensor } from '../../tensor/tensor.ts'

interface Params {
  shape: DataDependent<readonly number[]>
  /** The element; undefined: float32 0. */
  value: Tensor | undefined
}

/** A tensor filled with one value: ONNX ConstantOfShape-9. */
export const constantOfShape = defineOp({
  name: 'ConstantOfShape',
  operands: {},
  params: params<Params>(),
  onnx: [{ since: 9, bind: { shape: inputInts(0), value: optional(tensor('value')) } }],

  shape(_, { shape, value }) {
    if (value && elementCount(value.dims) !== 1) {
      fail('unknown-attribute-value', `attribute "value" has dims [${value.dims.join(', ')}]; one element is expected`)
    }
    return [tensorFact(value?.type ?? 'float32', shape === 'unknown' ? undefined : shapeFrom(shape, 'the shape'))]
  },

  *run(_, { value }, call) {
    // Without a value, zeros.
    const out = value ? call.rawOutput() : call.output()
    if (value) yield* copyStrided(value, out, [{ count: elementCount(out.dims), from: 0, to: 1 }])
  }
})
