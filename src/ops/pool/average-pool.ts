import { tapsOf } from '../../kernels/core/windows.ts'
import { cellCounter, averagePool as mean } from '../../kernels/pool/pool.ts'
import { params } from '../../op-kit/define.ts'
import { onnxPool, openvinoPool, poolAxes, pooledShape, type PoolParams } from '../../op-kit/pool-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, is, mapped } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params extends PoolParams {
  /**
   * Whether padding counts as zeros. Cells beyond the padding count in windows of OpenVINO's `ceil` where there is
   * padding; in those of `ceil_torch` they do not, as in PyTorch (OpenVINO's CPU plugin counts them).
   */
  withPadding: boolean
  /** Whether the mean of a window without elements is 0, as in OpenVINO's core and CPU plugin; else NaN. */
  emptyIsZero: boolean
}

/** Rules of {@link averagePool}. */
export const averagePoolRules = defineRules({
  name: 'AveragePool',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 1, bind: { ...onnxPool, withPadding: flag('count_include_pad', false), emptyIsZero: is(false) } }],
  openvino: [
    {
      type: 'AvgPool',
      since: 1,
      types: { x: NUMERIC },
      bind: {
        ...openvinoPool,
        withPadding: mapped(flag('exclude-pad'), excluded => !excluded),
        emptyIsZero: is(true)
      }
    }
  ],
  shape: ({ x }, p) => [tensorFact(x.type, pooledShape(x, p))]
})

/**
 * The mean of each window. ONNX AveragePool, OpenVINO AvgPool. Means of integers are rounded, ties to even, as in
 * OpenVINO.
 */
export const averagePool = /* @__PURE__ */ withKernel(averagePoolRules, {
  *run({ x }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const axes = poolAxes(x.dims, out.dims, p)
    yield* mean(x, out, tapsOf(axes), axes.map(cellCounter(axes, p)))
  }
})
