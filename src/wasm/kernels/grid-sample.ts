import type { Padding } from '../../kernels/image/grid-sample.ts'
import { product } from '../../tensor/tensor.ts'
import { selectorFor, staged, tileOfFlops, workOfFlops } from '../selector.ts'
import { orSampled } from './points.ts'
import { LINE_FLOPS } from './resample.ts'

/** Elements of the output below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 5
/** Most elements of an axis, whose number is one of float32, and of a plane. */
const MAX_SIZE = 1 << 24
const MAX_PLANE = 1 << 28
/** Columns that the kernel of mode cubic reads at once. */
const CUBIC_COLUMNS = 4

/**
 * Kernels of the modes, points of a chunk (as in ../assembly/f32/grid.ts and beside it), and the work of a point and of
 * its sum in one plane, in multiplications and additions that could be made in the same time.
 */
const MODES = {
  linear: { kernel: 'sampleGrid', chunk: 1 << 10, pointFlops: 200, flops: 4 * LINE_FLOPS },
  cubic: { kernel: 'sampleCubic', chunk: 1 << 8, pointFlops: 400, flops: 60 },
  nearest: { kernel: 'sampleNearest', chunk: 1 << 10, pointFlops: 150, flops: 15 }
} as const

/** Numbers of the paddings in ../assembly/f32/grid.ts. */
const PADDINGS: Readonly<Record<Padding, number>> = { zeros: 0, border: 1, reflection: 2 }

interface Params {
  readonly mode: 'nearest' | 'linear' | 'cubic'
  readonly padding: Padding
  readonly alignCorners: boolean
  readonly movesPoints: boolean
}

/** GridSample of float32 with two spatial axes, or three where the mode is not cubic. */
export const selectGridSample = selectorFor<Params>(call => {
  const { operands, parameters: p, dims } = call
  const { x, grid } = operands
  if (x?.type !== 'float32' || grid?.type !== 'float32' || !isServed(x.dims.length, p)) return undefined
  if (p.mode === 'linear' && p.padding === 'reflection' && !p.movesPoints) return undefined
  if (product(dims) < MIN_ELEMENTS || product(x.dims) === 0) return undefined
  const [batches, channels, ...sizes] = x.dims
  const [depth, height, width] = sizes.length > 2 ? sizes : [0, ...sizes]
  if (Math.max(...sizes) > MAX_SIZE || product(sizes) > MAX_PLANE) return undefined
  if (p.mode === 'cubic' && width < CUBIC_COLUMNS) return undefined
  const { kernel, pointFlops, flops } = MODES[p.mode]
  // Of linear interpolation in a volume, twice as many neighbours of half as many points.
  const chunk = depth > 0 && p.mode === 'linear' ? MODES.linear.chunk / 2 : MODES[p.mode].chunk
  const points = product(dims, 2)
  const chunks = Math.ceil(points / chunk)
  const blockFlops = Math.min(points, chunk) * (pointFlops + channels * flops)
  const blocks = batches * chunks
  return orSampled(call as never, ['x', 'grid'], {
    kernel,
    blocks,
    blockBytes: (4 * product(dims)) / blocks,
    tile: tileOfFlops(blockFlops, blocks),
    work: workOfFlops(blockFlops * blocks),
    inputs: staged(2),
    // Those of GridArguments in ../assembly/f32/grid.ts.
    args: [
      ...[channels, height, width, points, chunks, PADDINGS[p.padding]],
      ...[p.alignCorners, p.movesPoints].map(Number),
      depth
    ]
  })
})

const isServed = (rank: number, { mode }: Params): boolean => rank === 4 || (rank === 5 && mode !== 'cubic')
