import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { alignRegions, type Region } from '../../kernels/detection/roi-align.ts'
import { params, type RunParams } from '../../op-kit/define.ts'
import { regionsFact } from '../../op-kit/regions.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int, ints } from '../../op-kit/sources.ts'
import { commonType, FLOATS, numbered } from '../../op-kit/types.ts'
import { type Dim, mayMatch, meetDims, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { binsOf, checkSamples } from './roi-align.ts'

interface Params {
  /** Height and width of the result. */
  size: number
  /** Samples of a bin in each direction; 0: as many as the bin has elements. */
  samples: number
  /** Pixels of the image for one element of each map. */
  scales: readonly number[]
  /** Whether corners are shifted by half an element. */
  aligned: boolean
}

/** Rules of {@link roiFeatureExtractor}. */
export const roiFeatureExtractorRules = defineRules({
  name: 'ExperimentalDetectronROIFeatureExtractor',
  operands: { rois: 'tensor', maps: 'variadic' },
  params: params<Params>(),
  openvino: [
    {
      since: 6,
      types: { rois: FLOATS, maps: FLOATS },
      bind: {
        size: int('output_size'),
        samples: int('sampling_ratio'),
        scales: ints('pyramid_scales'),
        aligned: flag('aligned')
      }
    }
  ],

  shape({ rois, maps }, p) {
    if (maps.length === 0) fail('wrong-input-count', 'there is no feature map')
    const type = commonType({ rois, ...numbered('map', maps) })
    if (p.scales.length < maps.length)
      fail('dims-mismatch', `there are ${maps.length} feature maps and ${p.scales.length} pyramid_scales`)
    const wrong = p.scales.find(scale => scale < 1)
    if (wrong !== undefined) fail('value-out-of-range', `a scale of the pyramid is ${wrong}; expected at least 1`)
    checkSamples(p)
    let channels: Dim | undefined
    for (const map of maps) {
      regionsFact(map, rois, 4, [p.size, p.size])
      if (map.shape === undefined) continue
      if (!mayMatch(map.shape[0], 1)) fail('dims-mismatch', `a map is of ${printDim(map.shape[0])} images; expected 1`)
      const met: Dim | undefined = channels === undefined ? map.shape[1] : meetDims(channels, map.shape[1])
      channels =
        met ?? fail('dims-mismatch', `maps have ${printDim(channels ?? 0)} and ${printDim(map.shape[1])} channels`)
    }
    const count = rois.shape?.[0]
    const known = count !== undefined && channels !== undefined
    return [
      tensorFact(type, known ? [count, channels as Dim, p.size, p.size] : undefined),
      tensorFact(type, count === undefined ? undefined : [count, 4])
    ]
  }
})

/**
 * Pools regions `[x1, y1, x2, y2]` by bilinear samples, each from the map of a feature pyramid that suits its size
 * (arXiv 1612.03144, formula 1): OpenVINO ExperimentalDetectronROIFeatureExtractor-6. A region without area gives
 * zeros. The second output is the regions.
 */
export const roiFeatureExtractor = /* @__PURE__ */ withKernel(roiFeatureExtractorRules, {
  *run({ rois, maps }, p, call) {
    const corners = yield* readNumbers(rois)
    const { numbers, finish } = targetOf(call.output())
    const channels = maps[0].dims[1]
    const each = channels * p.size * p.size
    const first = new Int32Array(1)
    const pyramid: (Numbers | undefined)[] = []
    for (let r = 0; r < rois.dims[0] && each > 0; r++) {
      const level = levelOf(corners, 4 * r, maps.length)
      if (level === undefined) continue
      const [, , height, width] = maps[level].dims
      if (height * width === 0) continue
      const map = (pyramid[level] ??= yield* readNumbers(maps[level]))
      const plan = { channels, height, width, pooled: [p.size, p.size], pooling: 'average' } as const
      const out = numbers.subarray(r * each, (r + 1) * each)
      yield* alignRegions(map, [regionOf(corners, 4 * r, p.scales[level], p)], first, out, plan)
    }
    yield* finish()
    if (call.wanted(1)) call.give(1, rois)
  }
})

/** Side length in pixels of the regions that belong to level 2, by which networks are trained: that of ImageNet. */
const CANONICAL_SIDE = 224

/** The level of a region in a pyramid; undefined where the region has no area. */
function levelOf(rois: Numbers, at: number, levels: number): number | undefined {
  const round = Math.fround
  const area = round(round(rois[at + 2] - rois[at]) * round(rois[at + 3] - rois[at + 1]))
  if (!(area > 0)) return undefined
  const sides = round(round(Math.sqrt(area)) / CANONICAL_SIDE)
  const level = Math.floor(round(round(Math.log2(round(sides + round(1e-6)))) + 2))
  return Math.max(0, Math.min(levels - 1, level))
}

function regionOf(rois: Numbers, at: number, step: number, p: RunParams<Params>): Region {
  const round = Math.fround
  const scale = round(1 / step)
  const [left, top, right, bottom] = [0, 1, 2, 3].map(i => round(round(rois[at + i] * scale) - (p.aligned ? 0.5 : 0)))
  const size = [Math.max(1, round(bottom - top)), Math.max(1, round(right - left))] as const
  return { start: [top, left], ...binsOf(size, { height: p.size, width: p.size, samples: p.samples }, round) }
}
