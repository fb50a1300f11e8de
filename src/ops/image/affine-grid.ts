import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { type DataDependent, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, inputInts } from '../../op-kit/sources.ts'
import { type Dim, mayMatch, meetDims, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { sizesOf, unknownDims } from '../../shapes/lists.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  /** `[N, C, H, W]` or `[N, C, D, H, W]`. */
  size: DataDependent<readonly number[]>
  alignCorners: boolean
}

/** Rules of {@link affineGrid}. */
export const affineGridRules = defineRules({
  name: 'AffineGrid',
  operands: { theta: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 20, bind: { size: inputInts(1), alignCorners: flag('align_corners') } }],

  shape({ theta }, { size }) {
    checkRank('theta', theta, 3)
    if (size === 'unknown') return [tensorFact(theta.type, rankOf(theta.shape))]
    if (size.length !== 4 && size.length !== 5)
      fail('dims-mismatch', `size has ${size.length} elements; expected 4 or 5`)
    const axes = size.length - 2
    const dims = sizesOf(size, 'size')
    if (theta.shape && !(mayMatch(theta.shape[1], axes) && mayMatch(theta.shape[2], axes + 1))) {
      fail(
        'dims-mismatch',
        `theta holds matrices of ${theta.shape.slice(1).map(printDim).join(' x ')}; expected ${axes} x ${axes + 1}`
      )
    }
    const batch = theta.shape
      ? (meetDims(theta.shape[0], dims[0]) ??
        fail('dims-mismatch', `theta has ${printDim(theta.shape[0])} matrices for a batch of ${printDim(dims[0])}`))
      : dims[0]
    return [tensorFact(theta.type, [batch, ...dims.slice(2), axes])]
  }
})

/**
 * A grid of points for GridSample, transformed by an affine matrix for each batch: ONNX AffineGrid-20. With aligned
 * corners the only point of an axis of size 1 is at -1, as in the specification's reference.
 */
export const affineGrid = /* @__PURE__ */ withKernel(affineGridRules, {
  *run({ theta }, { size, alignCorners }, call) {
    const out = call.rawOutput()
    // An axis may be huge though there are no points.
    if (out.data.length === 0) return
    const matrices = yield* readNumbers(theta)
    const { numbers, finish } = targetOf(out)
    const dims = size.slice(2)
    const lines = dims.map(count =>
      Float64Array.from({ length: count }, (_, i) =>
        alignCorners ? (count === 1 ? -1 : (2 * i) / (count - 1) - 1) : (2 * i + 1) / count - 1
      )
    )
    const axes = dims.length
    const width = dims[axes - 1]
    const pace = new Pace()
    const at = new Array<number>(axes - 1).fill(0)
    for (let p = 0; p < numbers.length; p += width * axes) {
      const matrix = Math.floor(p / (numbers.length / size[0])) * axes * (axes + 1)
      for (let row = 0; row < axes; row++) {
        const first = matrix + row * (axes + 1)
        // What the axes before the last one add; nothing changes by -0.
        const second = matrices[first + 1] * lines[axes - 2][at[axes - 2]]
        const third = axes === 3 ? matrices[first + 2] * lines[0][at[0]] : -0
        writeLine(numbers, p + row, axes, lines[axes - 1], matrices[first], matrices[first + axes], second, third)
      }
      for (let axis = axes - 2; axis >= 0 && ++at[axis] === dims[axis]; axis--) at[axis] = 0
      if (pace.isDue(width * axes * axes * COST.element)) yield
    }
    yield* finish()
  }
})

/** One coordinate of the points of a line: `start + factor * x + second + third`, `step` numbers apart. */
function writeLine(
  out: Numbers,
  at: number,
  step: number,
  line: Float64Array,
  factor: number,
  start: number,
  second: number,
  third: number
): void {
  for (let i = 0; i < line.length; i++, at += step) out[at] = start + factor * line[i] + second + third
}

/** Shape where `size` is unknown: matrices of 2 x 3 make grids of rank 4, those of 3 x 4 grids of rank 5. */
function rankOf(theta: readonly Dim[] | undefined): Dim[] | undefined {
  if (theta?.[1] !== 2 && theta?.[1] !== 3) return undefined
  const axes = theta[1]
  return [theta[0], ...(unknownDims(axes) ?? []), axes]
}
