import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { maxPoolRegions, samplePoolRegions } from '../../kernels/detection/roi-pool.ts'
import { params } from '../../op-kit/define.ts'
import { imagesOf, regionsFact } from '../../op-kit/regions.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, float, int, ints, is, mapped } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'

interface Params {
  pooled: readonly [height: number, width: number]
  scale: number
  method: 'max' | 'bilinear'
}

const pooledHeight = int('pooled_h')
const pooledWidth = int('pooled_w')

/** Rules of {@link roiPooling}. */
export const roiPoolingRules = defineRules({
  name: 'ROIPooling',
  operands: { x: 'tensor', rois: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      type: 'MaxRoiPool',
      since: 1,
      bind: {
        pooled: mapped(ints('pooled_shape'), list =>
          list.length === 2
            ? ([list[0], list[1]] as const)
            : fail('unknown-attribute-value', `pooled_shape has ${list.length} elements; expected 2`)
        ),
        scale: float('spatial_scale'),
        method: is('max')
      }
    }
  ],
  openvino: [
    {
      since: 2,
      types: { x: FLOATS, rois: FLOATS },
      bind: {
        pooled: derive(node => [node.get(pooledHeight) ?? 1, node.get(pooledWidth) ?? 1] as const),
        scale: float('spatial_scale'),
        method: choice<Params['method']>('method', { max: 'max', bilinear: 'bilinear' })
      }
    }
  ],

  shape({ x, rois }, { pooled }) {
    commonType({ x, rois })
    return [regionsFact(x, rois, 5, pooled)]
  }
})

/**
 * Pools regions `[image, x1, y1, x2, y2]`: ONNX MaxRoiPool-1, -22; OpenVINO ROIPooling-2. Method `max` scales and
 * rounds corners and includes both, as OpenVINO's and ONNX Runtime's code does (OpenVINO's specification says neither);
 * method `bilinear` takes corners normalized to 0 … 1.
 */
export const roiPooling = /* @__PURE__ */ withKernel(roiPoolingRules, {
  *run({ x, rois }, { pooled, scale, method }, call) {
    const [images, channels, height, width] = x.dims
    const boxes = yield* readNumbers(rois)
    const imageOf = imagesOf(boxes, rois.dims[0], images)
    const out = call.output()
    if (out.data.length === 0) return
    const { numbers, finish } = targetOf(out)
    yield* (method === 'max' ? maxPoolRegions : samplePoolRegions)(yield* readNumbers(x), boxes, imageOf, numbers, {
      channels,
      height,
      width,
      pooled,
      scale
    })
    yield* finish()
  }
})
