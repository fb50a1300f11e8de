import { copyStrided, type Loop } from '../../kernels/core/copy-strided.ts'
import { tapsOf } from '../../kernels/core/windows.ts'
import { maxPool as highest } from '../../kernels/pool/pool.ts'
import { params } from '../../op-kit/define.ts'
import { onnxPool, poolAxes, pooledShape, type PoolParams } from '../../op-kit/pool-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import type { Dim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { allocate, product, type Tensor } from '../../tensor/tensor.ts'

/** Rules of {@link nhwcMaxPool}. */
export const nhwcMaxPoolRules = defineRules({
  name: 'NhwcMaxPool',
  operands: { x: 'tensor' },
  params: params<PoolParams>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: onnxPool }],

  shape({ x }, p) {
    const [batch, channels, ...counts] = pooledShape(tensorFact(x.type, x.shape && channelsFirst(x.shape)), p)
    return [tensorFact(x.type, [batch, ...counts, channels])]
  }
})

/**
 * The highest element of each window of 8-bit data whose channels come last, `[batch, …spatial, channels]`.
 * NhwcMaxPool-1 of com.microsoft.
 */
export const nhwcMaxPool = /* @__PURE__ */ withKernel(nhwcMaxPoolRules, {
  *run({ x }, p, call) {
    const out = call.rawOutput()
    if (out.data.length === 0) return
    const planes = allocate(x.type, channelsFirst(x.dims))
    const pooled = allocate(x.type, channelsFirst(out.dims))
    yield* copyStrided(x, planes, loopsOf(planes))
    yield* highest(planes, pooled, tapsOf(poolAxes(planes.dims, pooled.dims, p)))
    yield* copyStrided(
      pooled,
      out,
      loopsOf(pooled).map(({ count, from, to }) => ({ count, from: to, to: from }))
    )
  }
})

/** Dims with the channels after the batch; a shape of fewer than two dims stays, as it is refused anyway. */
const channelsFirst = <D extends Dim>(dims: readonly D[]): readonly D[] =>
  dims.length < 2 ? dims : [dims[0], dims[dims.length - 1], ...dims.slice(1, -1)]

/** Copies data whose channels come last to planes. */
function loopsOf({ dims }: Tensor): Loop[] {
  const [batch, channels] = dims
  const elements = product(dims, 2)
  return [
    { count: batch, from: channels * elements, to: channels * elements },
    { count: channels, from: 1, to: elements },
    { count: elements, from: channels, to: 1 }
  ]
}
