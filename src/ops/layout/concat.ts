import { fail } from '../../errors.ts'
import { copyStrided, joinFew, joinLines } from '../../kernels/core/copy-strided.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { int } from '../../op-kit/sources.ts'
import { commonType, numbered } from '../../op-kit/types.ts'
import { addDims, type Dim, meetDims, normalizeAxis, printShape, unknownDim } from '../../shapes/dim.ts'
import { type Movable, tensorFact } from '../../shapes/fact.ts'
import { product } from '../../tensor/tensor.ts'

/**
 * Concatenates tensors of one rank along `axis`: ONNX Concat-1, -4, -11, -13, OpenVINO Concat-1. ONNX states negative
 * axes from version 11 on; they are taken in every version. In version 1 the default axis is 1.
 */
export const concat = defineOp({
  name: 'Concat',
  operands: { inputs: 'variadic' },
  params: params<{ axis: number }>(),
  onnx: [{ since: 1, bind: { axis: int('axis', 1) } }],
  openvino: [{ since: 1, bind: { axis: int('axis') } }],
  moves: ['inputs'],

  shape({ inputs }, { axis }) {
    if (inputs.length === 0) fail('wrong-input-count', 'there is nothing to join')
    return [
      tensorFact(
        commonType(numbered('input', inputs)),
        join(
          inputs.map(input => input.shape),
          axis
        )
      )
    ]
  },

  run({ inputs }, p, call) {
    const out = call.rawOutput()
    if (out.data.length === 0 || joinFew(inputs, out)) return
    const axis = normalizeAxis(p.axis, out.dims.length)
    if (!joinLines(inputs, out, axis)) return copyAll(inputs, out, axis)
  }
})

function* copyAll(inputs: readonly Movable[], out: Movable, axis: number): Generator<void> {
  const outer = product(out.dims.slice(0, axis))
  const stride = product(out.dims.slice(axis))
  let offset = 0
  for (const input of inputs) {
    const block = product(input.dims.slice(axis))
    yield* copyStrided(
      input,
      out,
      [
        { count: outer, from: block, to: stride },
        { count: block, from: 1, to: 1 }
      ],
      0,
      offset
    )
    offset += block
  }
}

/** The output shape: dims must be equal except along the axis, where they add up. */
function join(shapes: readonly (readonly Dim[] | undefined)[], given: number): Dim[] | undefined {
  const known = shapes.filter(shape => shape !== undefined)
  if (known.length === 0) return undefined
  const [first] = known
  const axis = normalizeAxis(given, first.length)
  let result: Dim[] = [...first]
  for (const shape of known.slice(1)) {
    if (shape.length !== first.length)
      fail('rank-mismatch', `inputs have ranks ${first.length} and ${shape.length}; they must be the same`)
    result = result.map((dim, i) =>
      i === axis
        ? addDims(dim, shape[i])
        : (meetDims(dim, shape[i]) ??
          fail(
            'dims-mismatch',
            `inputs of shapes ${known.map(printShape).join(' and ')} differ at dim ${i}, ` +
              `which is not the axis (${axis})`
          ))
    )
  }
  if (known.length < shapes.length) result[axis] = addDims(result[axis], unknownDim())
  return result
}
