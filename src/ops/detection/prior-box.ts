import { fail } from '../../errors.ts'
import { type Centers, type Grid, placePriors, type Prior } from '../../kernels/detection/priors.ts'
import { type DataDependent, type KernelContext, params, type RunParams } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { type AttributeSource, flag, float, floats, inputInts, is, mapped } from '../../op-kit/sources.ts'
import { INDEX_TYPES } from '../../op-kit/types.ts'
import { mulDims, printDim, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, sizesOf } from '../../shapes/lists.ts'

interface Shared {
  /** `[height, width]` of the grid, and of the image in pixels. */
  grid: DataDependent<readonly number[]>
  image: DataDependent<readonly number[]>
  clip: boolean
  offset: number
  variance: readonly number[]
}

/** The variances; an empty list stands for 0.1. */
const variance: AttributeSource<readonly number[]> = mapped(floats('variance'), list => {
  if (list.length !== 0 && list.length !== 1 && list.length !== 4)
    fail('unknown-attribute-value', `variance has ${list.length} elements; expected 0, 1 or 4`)
  return list.length === 0 ? [0.1] : list
})
const shared = {
  grid: inputInts(0),
  image: inputInts(1),
  clip: flag('clip'),
  offset: float('offset'),
  variance
} as const
const types = { grid: INDEX_TYPES, image: INDEX_TYPES }

interface PriorBox extends Shared {
  minSizes: readonly number[]
  maxSizes: readonly number[]
  ratios: readonly number[]
  flip: boolean
  step: number
  scaleAll: boolean
  fixedRatios: readonly number[]
  fixedSizes: readonly number[]
  densities: readonly number[]
  /** Whether the box of the maximum size comes before those of other ratios. */
  maxFirst: boolean
}

const priorBoxSources = {
  ...shared,
  minSizes: floats('min_size'),
  maxSizes: floats('max_size'),
  ratios: floats('aspect_ratio'),
  flip: flag('flip'),
  step: float('step'),
  scaleAll: flag('scale_all_sizes'),
  fixedRatios: floats('fixed_ratio'),
  fixedSizes: floats('fixed_size'),
  densities: floats('density')
} as const

/** Rules of {@link priorBox}. */
export const priorBoxRules = defineRules({
  name: 'PriorBox',
  operands: {},
  params: params<PriorBox>(),
  openvino: [
    { since: 1, types, bind: { ...priorBoxSources, maxFirst: is(true) } },
    { since: 8, types, bind: { ...priorBoxSources, maxFirst: flag('min_max_aspect_ratios_order') } }
  ],

  shape: (_, p) => [boxesFact(p.grid, p.image, priorsOf(p, 1).length)]
})

/**
 * Boxes of several sizes and ratios around every cell of a grid: OpenVINO PriorBox-1, -8 (order of the boxes). Without
 * `scale_all_sizes`, sizes and step are fractions of the image's height, and maximum sizes are ignored. With step 0 the
 * grid fills the image and boxes are centred in its cells.
 */
export const priorBox = /* @__PURE__ */ withKernel(priorBoxRules, {
  *run(_, p, call) {
    const grid = gridOf(p)
    const unit = p.scaleAll ? 1 : grid.imageHeight
    const step = p.scaleAll || p.step !== -1 ? p.step * unit : grid.imageHeight / grid.height
    const centers =
      step === 0
        ? { stepX: grid.imageWidth / grid.width, stepY: grid.imageHeight / grid.height, offset: 0.5 }
        : { stepX: step, stepY: step, offset: p.offset }
    yield* place(p, grid, centers, priorsOf(p, unit), call)
  }
})

interface Clustered extends Shared {
  widths: readonly number[]
  heights: readonly number[]
  step: number
  stepX: number
  stepY: number
}

/** Rules of {@link priorBoxClustered}. */
export const priorBoxClusteredRules = defineRules({
  name: 'PriorBoxClustered',
  operands: {},
  params: params<Clustered>(),
  openvino: [
    {
      since: 1,
      types,
      bind: {
        ...shared,
        widths: floats('width'),
        heights: floats('height'),
        step: float('step'),
        stepX: float('step_w'),
        stepY: float('step_h')
      }
    }
  ],

  shape(_, p) {
    if (p.widths.length !== p.heights.length)
      fail('dims-mismatch', `there are ${p.widths.length} widths and ${p.heights.length} heights; they must agree`)
    return [boxesFact(p.grid, p.image, p.widths.length)]
  }
})

/** Boxes of given widths and heights around every cell of a grid: OpenVINO PriorBoxClustered-1. */
export const priorBoxClustered = /* @__PURE__ */ withKernel(priorBoxClusteredRules, {
  *run(_, p, call) {
    const grid = gridOf(p)
    const [stepX, stepY] = [p.stepX === 0 ? p.step : p.stepX, p.stepY === 0 ? p.step : p.stepY]
    const fills = stepX === 0 && stepY === 0
    const centers = {
      stepX: fills ? grid.imageWidth / grid.width : stepX,
      stepY: fills ? grid.imageHeight / grid.height : stepY,
      offset: p.offset
    }
    yield* place(
      p,
      grid,
      centers,
      p.widths.map((width, i) => centered(width, p.heights[i])),
      call
    )
  }
})

function boxesFact(grid: DataDependentList, image: DataDependentList, priors: number): TensorFact {
  for (const [name, list] of Object.entries({ output_size: grid, image_size: image })) {
    if (list !== 'unknown' && list.length !== 2)
      fail('dims-mismatch', `${name} has ${list.length} elements; expected height and width`)
  }
  if (grid === 'unknown') return tensorFact('float32', [2, unknownDim()])
  const [height, width] = sizesOf(grid, 'output_size')
  return tensorFact('float32', [2, mulDims(mulDims(height, width), 4 * priors)])
}

function gridOf({ grid, image }: RunParams<Shared>): Grid {
  const wrong = image.find(size => size < 1)
  if (wrong !== undefined) fail('value-out-of-range', `image_size holds ${printDim(wrong)}; expected at least 1`)
  return { height: grid[0], width: grid[1], imageHeight: image[0], imageWidth: image[1] }
}

function* place(
  p: RunParams<Shared>,
  grid: Grid,
  centers: Centers,
  priors: readonly Prior[],
  call: KernelContext
): Generator<void> {
  yield* placePriors(call.output().data as Float32Array, grid, centers, priors, p.variance, p.clip)
}

/** A prior in the middle of its cell. */
export const centered = (width: number, height: number): Prior => ({
  dx: 0,
  dy: 0,
  halfWidth: width / 2,
  halfHeight: height / 2,
  cut: false
})

/**
 * The boxes of a cell.
 * @param unit factor on the sizes
 */
export function priorsOf(p: Boxes, unit: number): Prior[] {
  const ratios = ratiosOf(p.ratios, p.flip)
  const sizes = p.minSizes.map(size => size * unit)
  const fixed = p.fixedSizes.flatMap((size, s) => fixedPriors(p, size, Math.trunc(p.densities[s] ?? 1), ratios))
  const shaped = (size: number): Prior[] =>
    ratios.map(ratio => centered(size * Math.sqrt(ratio), size / Math.sqrt(ratio)))
  const rest = sizes.flatMap((size, i) => {
    const maximum =
      p.scaleAll && i < p.maxSizes.length ? [Math.sqrt(size * p.maxSizes[i])].map(side => centered(side, side)) : []
    const others = p.scaleAll ? shaped(size) : i === sizes.length - 1 ? shaped(sizes[0]) : []
    return [centered(size, size), ...(p.maxFirst ? [...maximum, ...others] : [...others, ...maximum])]
  })
  return [...fixed, ...rest]
}

/** The parameters that are known before the graph runs. */
export type Boxes = Omit<PriorBox, 'grid' | 'image'>

const same = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6

/** The distinct ratios other than 1; with `flip` also their inverses. */
function ratiosOf(given: readonly number[], flip: boolean): number[] {
  const ratios = [1]
  for (const ratio of given) {
    if (!(ratio > 0)) fail('value-out-of-range', `aspect_ratio holds ${ratio}; expected more than 0`)
    if (!ratios.some(known => same(known, ratio))) ratios.push(ratio, ...(flip ? [1 / ratio] : []))
  }
  return ratios.filter(ratio => !same(ratio, 1))
}

/** Limit on the boxes of one size along one direction. */
const MAX_DENSITY = 256

/** `density` x `density` boxes of a size, shifted over the square that the size takes. */
function fixedPriors({ fixedRatios }: Boxes, size: number, density: number, ratios: readonly number[]): Prior[] {
  if (density < 1 || density > MAX_DENSITY)
    fail('value-out-of-range', `a density is ${density}; expected 1..${MAX_DENSITY}`)
  const whole = Math.trunc(size)
  const shift = Math.trunc(size / density)
  const first = shift / 2 - Math.floor(whole / 2)
  const shapes =
    fixedRatios.length > 0
      ? fixedRatios.map(ratio => [(size / 2) * Math.sqrt(ratio), size / 2 / Math.sqrt(ratio)])
      : [[whole / 2, whole / 2], ...ratios.map(ratio => [(size / 2) * Math.sqrt(ratio), size / 2 / Math.sqrt(ratio)])]
  return shapes.flatMap(([halfWidth, halfHeight]) =>
    Array.from({ length: density * density }, (_, i) => ({
      dx: first + (i % density) * shift,
      dy: first + Math.floor(i / density) * shift,
      halfWidth,
      halfHeight,
      cut: true
    }))
  )
}
