import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { shiftPriors } from '../../kernels/detection/prior-grid.ts'
import { params } from '../../op-kit/define.ts'
import { checkDim, checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, float, int } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { type Dim, maxDim, meetDims, mulDims, printDim, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { unknownDims } from '../../shapes/lists.ts'

interface Params {
  /** Whether the result is a list of boxes; otherwise `[height, width, priors, 4]`. */
  flat: boolean
  /** Cells of the grid; 0: those of the feature map. */
  height: number
  width: number
  /** Pixels from cell to cell; 0: the cells fill the image. */
  stepX: number
  stepY: number
}

/** Rules of {@link priorGridGenerator}. */
export const priorGridGeneratorRules = defineRules({
  name: 'ExperimentalDetectronPriorGridGenerator',
  operands: { priors: 'tensor', map: 'tensor', image: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 6,
      types: { priors: FLOATS, map: FLOATS, image: FLOATS },
      bind: {
        flat: flag('flatten'),
        height: int('h'),
        width: int('w'),
        stepX: float('stride_x'),
        stepY: float('stride_y')
      }
    }
  ],

  shape({ priors, map, image }, p) {
    const type = commonType({ priors, feature_map: map, im_data: image })
    checkRank('priors', priors, 2)
    checkRank('feature_map', map, 4)
    checkRank('im_data', image, 4)
    checkDim('priors', priors, 1, 4)
    if (map.shape && image.shape && meetDims(map.shape[0], image.shape[0]) === undefined) {
      const [maps, images] = [map.shape[0], image.shape[0]].map(printDim)
      fail('dims-mismatch', `feature_map has batch size ${maps} and im_data ${images}; they must agree`)
    }
    const [, , height, width] = map.shape ?? unknownDims(4)
    checkCells('h', p.height, height)
    checkCells('w', p.width, width)
    checkStep('stride_x', p.stepX)
    checkStep('stride_y', p.stepY)
    const count = priors.shape?.[0] ?? unknownDim()
    return [tensorFact(type, p.flat ? [mulDims(mulDims(height, width), count), 4] : [height, width, count, 4])]
  }
})

/**
 * Places prior boxes at the centre of every cell of a grid: OpenVINO ExperimentalDetectronPriorGridGenerator-6. The
 * feature map and the image matter only by their sizes.
 *
 * - The result has room for all cells of the feature map; a grid of fewer cells fills its start, and the rest is zero
 *   (the specification leaves it open).
 * - Where `flatten` is left out the result is not flat, as in OpenVINO (its specification says that it is).
 */
export const priorGridGenerator = /* @__PURE__ */ withKernel(priorGridGeneratorRules, {
  *run({ priors, map, image }, p, call) {
    const [height, width] = [p.height || map.dims[2], p.width || map.dims[3]]
    const { numbers, finish } = targetOf(call.output())
    yield* shiftPriors(yield* readNumbers(priors), numbers, {
      height,
      width,
      stepX: p.stepX || image.dims[3] / width,
      stepY: p.stepY || image.dims[2] / height
    })
    yield* finish()
  }
})

function checkCells(name: string, cells: number, most: Dim): void {
  if (cells < 0 || cells > maxDim(most))
    fail('value-out-of-range', `${name} is ${cells}; expected 0..${printDim(most)}, the cells of the feature map`)
}

function checkStep(name: string, step: number): void {
  if (!(step >= 0)) fail('value-out-of-range', `${name} is ${step}; it cannot be negative`)
}
