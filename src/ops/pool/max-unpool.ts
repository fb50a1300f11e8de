import { fail } from '../../errors.ts'
import { maxUnpool as unpool } from '../../kernels/pool/max-unpool.ts'
import { type DataDependent, params, type RunParams, type ShapeParams } from '../../op-kit/define.ts'
import { windowDims } from '../../op-kit/pool-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { inputInts, ints, optionalInput } from '../../op-kit/sources.ts'
import { onnxWindows } from '../../op-kit/window-sources.ts'
import {
  addDims,
  type Dim,
  maxDim,
  mayMatch,
  meetDims,
  mulDims,
  printDim,
  printShape,
  subDims
} from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { lengthOf, sizesOf, unknownDims } from '../../shapes/lists.ts'
import { atLeastOne, type WindowParams } from '../../shapes/window.ts'

interface Params extends WindowParams {
  kernel: readonly number[]
  outputShape: DataDependent<readonly number[] | undefined>
}

/** Rules of {@link maxUnpool}. */
export const maxUnpoolRules = defineRules({
  name: 'MaxUnpool',
  operands: { x: 'tensor', indices: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 9, bind: { ...onnxWindows, kernel: ints('kernel_shape'), outputShape: optionalInput(inputInts(2)) } }
  ],

  shape({ x, indices }, p) {
    const pooled = sameShape(x, indices)
    const implied = unpooledShape(pooled, p)
    if (p.outputShape === undefined) return [tensorFact(x.type, implied)]
    const length = lengthOf(p.outputShape)
    if (length !== undefined && length !== implied.length) {
      fail('dims-mismatch', `output_shape has ${length} elements; the result has rank ${implied.length}`)
    }
    const given =
      p.outputShape === 'unknown' ? (unknownDims(implied.length) ?? []) : sizesOf(p.outputShape, 'output_shape')
    return [
      tensorFact(
        x.type,
        given.map((dim, i) => (i < 2 ? (meetDims(dim, implied[i]) ?? refuse(given, implied)) : dim))
      )
    ]
  }
})

/**
 * Writes the elements that MaxPool took back to their positions. Indices are counted in the shape that kernel, strides
 * and pads imply. A given output shape leaves out the pads and enlarges the output at the end of its axes, as in the
 * specification's own test (ONNX Runtime counts indices in the output shape). ONNX MaxUnpool.
 */
export const maxUnpool = /* @__PURE__ */ withKernel(maxUnpoolRules, {
  run: ({ x, indices }, p, call) => unpool(x, indices, unpooledShape(x.dims, p) as readonly number[], call.output())
})

const refuse = (given: readonly Dim[], implied: readonly Dim[]): never =>
  fail(
    'shape-mismatch',
    `output_shape is ${printShape(given)}; the data have batch and channels ${printShape(implied.slice(0, 2))}`
  )

function sameShape(x: TensorFact, indices: TensorFact): readonly Dim[] | undefined {
  const both = [x.shape, indices.shape]
  if (
    both[0] &&
    both[1] &&
    (both[0].length !== both[1].length || both[0].some((dim, i) => !mayMatch(dim, both[1]?.[i] ?? dim)))
  ) {
    fail(
      'shape-mismatch',
      `data of shape ${printShape(x.shape)} and indices of shape ${printShape(indices.shape)}; they must be the same`
    )
  }
  return both[0] ?? both[1]
}

/** The smallest shape that a pool with these attributes would have had as input. */
const unpooledShape = (pooled: readonly Dim[] | undefined, p: ShapeParams<Params> | RunParams<Params>): Dim[] =>
  windowDims(pooled, p, (dim, kernel, { stride, begin, end }, axis) => {
    const pads = p.outputShape === undefined ? begin + end : 0
    const size = subDims(addDims(mulDims(subDims(dim, 1), stride), kernel), pads)
    if (maxDim(size) < 1) fail('shape-mismatch', `the result would have ${printDim(size)} elements along axis ${axis}`)
    return atLeastOne(size)
  })
