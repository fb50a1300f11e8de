import { fail } from '../../errors.ts'
import { maskedMaxPool } from '../../kernels/pool/masked-pool.ts'
import { params } from '../../op-kit/define.ts'
import { poolAxes, pooledShape, type PoolParams } from '../../op-kit/pool-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { ints, is } from '../../op-kit/sources.ts'
import { onnxWindows } from '../../op-kit/window-sources.ts'
import { mayMatch, minDim, printDim, printShape } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { product } from '../../tensor/tensor.ts'

/** Rules of {@link maxpoolWithMask}. */
export const maxpoolWithMaskRules = defineRules({
  name: 'MaxpoolWithMask',
  operands: { x: 'tensor', mask: 'tensor' },
  params: params<PoolParams>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { ...onnxWindows, dilations: is(undefined), kernel: ints('kernel_shape'), rounding: is('floor') }
    }
  ],

  shape({ x, mask }, p) {
    const shape = pooledShape(x, p)
    const [data, own] = [x.shape, mask.shape]
    if (data && own) {
      if (data.length !== own.length)
        fail('rank-mismatch', `M has shape ${printShape(own)}; rank ${data.length}, that of X, is expected`)
      const wrong = own.findIndex((dim, i) => (i < 2 ? dim === 0 && minDim(data[i]) > 0 : !mayMatch(dim, data[i])))
      if (wrong >= 0)
        fail('dims-mismatch', `dim ${wrong} of M is ${printDim(own[wrong])}; it is ${printDim(data[wrong])} in X`)
    }
    return [tensorFact(x.type, shape)]
  }
})

/**
 * The highest element of each window where a mask is set; the lowest float32 where it is set nowhere.
 * MaxpoolWithMask-1 of com.microsoft, whose text says nothing: this follows ONNX Runtime. Along the last axis a window
 * ends at the first element whose mask is 0. The first element of a plane of two or more axes counts whatever its mask.
 * The mask of plane `i` begins at element `i * elements of a plane` modulo the number of planes of the mask, so a mask
 * of one plane serves them all.
 */
export const maxpoolWithMask = /* @__PURE__ */ withKernel(maxpoolWithMaskRules, {
  run({ x, mask }, p, call) {
    const out = call.rawOutput()
    if (out.data.length === 0) return
    const axes = poolAxes(x.dims, out.dims, p)
    const elements = product(x.dims, 2)
    const masks = product(mask.dims, 0, 2)
    return maskedMaxPool(
      x.data as Float32Array,
      mask.data as Int32Array,
      out.data as Float32Array,
      axes,
      product(x.dims, 0, 2),
      plane => (masks === 0 ? 0 : (plane * elements) % masks),
      axes.length > 1
    )
  }
})
