import { fail } from '../../errors.ts'
import { nothingToFinish, readNumbers, readReals, targetOf } from '../../kernels/core/numbers.ts'
import { sumPoints } from '../../kernels/core/point-sums.ts'
import { storeWhole } from '../../kernels/core/whole.ts'
import { gatherBlocks } from '../../kernels/gather/gather.ts'
import { type GridPlan, nearestOffsets, type Padding, sampleFiltered } from '../../kernels/image/grid-sample.ts'
import { cubic, LINEAR } from '../../kernels/image/resize-taps.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, flag, is } from '../../op-kit/sources.ts'
import { FLOATS, NUMERIC } from '../../op-kit/types.ts'
import { type Dim, mayMatch, meetDims, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { DTYPES, isFloat } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { elementCount } from '../../tensor/tensor.ts'

interface Params {
  mode: 'nearest' | 'linear' | 'cubic'
  padding: Padding
  alignCorners: boolean
  movesPoints: boolean
  /** Whether the data may have any number of spatial axes; otherwise two. */
  anyRank: boolean
}

const padding = choice<Padding>('padding_mode', { zeros: 'zeros', border: 'border', reflection: 'reflection' })
const alignCorners = flag('align_corners')
const planarMode = choice<Params['mode']>('mode', { bilinear: 'linear', nearest: 'nearest', bicubic: 'cubic' })

const planar = { mode: planarMode, padding, alignCorners, movesPoints: is(true), anyRank: is(false) } as const

/** Rules of {@link gridSample}. */
export const gridSampleRules = defineRules({
  name: 'GridSample',
  operands: { x: 'tensor', grid: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 16, bind: planar },
    { domain: 'com.microsoft', since: 1, bind: { ...planar, movesPoints: is(false) } },
    {
      since: 20,
      bind: {
        mode: choice<Params['mode']>('mode', { linear: 'linear', nearest: 'nearest', cubic: 'cubic' }),
        padding,
        alignCorners,
        movesPoints: is(true),
        anyRank: is(true)
      }
    }
  ],
  openvino: [
    {
      since: 9,
      types: { x: NUMERIC, grid: FLOATS },
      bind: { mode: planarMode, padding, alignCorners, movesPoints: is(false), anyRank: is(false) }
    }
  ],

  shape({ x, grid }, { mode, anyRank }) {
    if (mode !== 'nearest' && (x.type === 'string' || x.type === 'bool')) {
      fail('type-not-allowed', `x has type ${x.type}, which mode ${mode} cannot interpolate; only mode nearest can`)
    }
    const rank = checkRanks(x.shape, grid.shape, anyRank)
    if (x.shape === undefined && grid.shape === undefined) return [tensorFact(x.type, undefined)]
    const xs = x.shape
    const gs = grid.shape
    if (gs && !mayMatch(gs[rank - 1], rank - 2))
      fail(
        'dims-mismatch',
        `points of the grid have ${printDim(gs[rank - 1])} coordinates; the data have ${rank - 2} spatial axes`
      )
    if (xs === undefined || gs === undefined) return [tensorFact(x.type, undefined)]
    const batch =
      meetDims(xs[0], gs[0]) ??
      fail('dims-mismatch', `the batch has size ${printDim(xs[0])} in x and ${printDim(gs[0])} in the grid`)
    return [tensorFact(x.type, [batch, xs[1], ...gs.slice(1, -1)])]
  }
})

/**
 * Samples data at the points of a grid: ONNX GridSample-16, -20 (any number of spatial axes; modes renamed), -22;
 * com.microsoft GridSample-1; OpenVINO GridSample-9.
 *
 * A point outside the data is moved inside before its neighbours are found in ONNX; in OpenVINO and com.microsoft each
 * neighbour is moved. That differs for `border` in mode cubic alone, where neighbours are moved in ONNX, too: so do
 * PyTorch, whose operator this is, and ONNX Runtime, where the specification's reference moves the point. Integers are
 * truncated, as the specification says.
 */
export const gridSample = /* @__PURE__ */ withKernel(gridSampleRules, {
  *run({ x, grid }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const dims = x.dims.slice(2)
    const plan: GridPlan = {
      dims,
      batch: x.dims[0],
      points: elementCount(grid.dims.slice(1, -1)),
      alignCorners: p.alignCorners,
      padding: p.padding,
      movesPoints: p.movesPoints && (p.mode !== 'cubic' || p.padding !== 'border'),
      round: grid.type === 'float64' ? value => value : Math.fround
    }
    const elements = elementCount(dims)
    if (elements === 0) {
      if (p.padding !== 'zeros')
        fail('value-out-of-range', `there are no elements to pad with: the data have dims [${x.dims.join(', ')}]`)
      return
    }
    if (p.mode === 'nearest') {
      return yield* gatherBlocks(x, nearestOffsets(yield* readNumbers(grid), plan), out, {
        batch: plan.batch,
        outer: x.dims[1],
        size: elements,
        inner: 1,
        count: plan.points
      })
    }
    const { slots } = DTYPES[x.type]
    const numbers = slots > 1 ? (x.data as Numbers) : yield* readReals(x)
    const filter = p.mode === 'linear' ? LINEAR : cubic(-0.75)
    const sum = call.sumPoints ?? sumPoints
    if (slots === 1 && !isFloat(x.type)) {
      const sums = new Float64Array(out.data.length)
      yield* sampleFiltered(numbers, yield* readNumbers(grid), sums, x.dims[1], slots, filter, plan, sum)
      return yield* storeWhole(sums, out, Math.trunc)
    }
    const target = slots === 1 ? targetOf(out) : { numbers: out.data as Numbers, finish: nothingToFinish }
    yield* sampleFiltered(numbers, yield* readNumbers(grid), target.numbers, x.dims[1], slots, filter, plan, sum)
    yield* target.finish()
  }
})

/** The common rank. @throws NodewiseError `rank-mismatch` */
function checkRanks(x: readonly Dim[] | undefined, grid: readonly Dim[] | undefined, anyRank: boolean): number {
  const rank = x?.length ?? grid?.length ?? 4
  if (anyRank ? rank < 3 : rank !== 4)
    fail('rank-mismatch', `the data have rank ${rank}; expected ${anyRank ? 'at least 3' : 4}`)
  if (grid !== undefined && grid.length !== rank)
    fail('rank-mismatch', `the grid has rank ${grid.length} and x rank ${rank}; they must be the same`)
  return rank
}
