import { drain, Pace } from '../../kernels/core/pace.ts'
import { eachRun, type Taps, tapsOf } from '../../kernels/core/windows.ts'
import { blockAxes, planeSizes, type WindowParams } from '../../shapes/window.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { jobSelection, type Selector, selectorFor, staged } from '../selector.ts'

/** Elements of the blocks below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Most runs, which are kept with the template, and most elements of a plane of blocks. */
const MAX_RUNS = 1 << 16
const MAX_BLOCK = 1 << 28
/** Elements of a tile, which take some 0.05 ms. */
const TILE = 1 << 16

interface Params extends WindowParams {
  readonly block: readonly number[]
}

/** Col2Im of float32. */
export const selectCol2Im: Selector = selectorFor<Params>(({ op, operands, parameters: { block, ...p }, dims }) => {
  const { x } = operands
  if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS || product(dims) === 0) return undefined
  const axes = blockAxes(dims, block, p)
  const { elements, windows, taps } = planeSizes(axes)
  if (windows * taps > MAX_BLOCK || elements > MAX_BLOCK) return undefined
  const reads = tapsOf(axes)
  const runs = runsOf(reads, windows)
  if (runs === undefined) return undefined
  const planes = product(dims) / elements
  // The arguments are those of FoldArguments in ../assembly/f32/fold.ts.
  const template: JobTemplate = {
    kernel: 'fold',
    blocks: planes,
    blockBytes: 4 * elements,
    tile: Math.max(1, Math.floor(TILE / (windows * taps))),
    work: 8 * planes * windows * taps,
    inputs: staged(2),
    args: [windows * taps, elements, runs.length / 3, reads.elementSteps.at(-1)!]
  }
  return jobSelection(op, template, ['x', runs])
})

/** What each run adds: the place of its first window among the blocks, that of its element, and how many there are. */
function runsOf(reads: Taps, windows: number): Int32Array | undefined {
  const rows = reads.axes.slice(0, -1).map(taps => taps.reduce((sum, { count }) => sum + count, 0))
  if (product(rows) * reads.axes.at(-1)!.length > MAX_RUNS) return undefined
  const runs: number[] = []
  drain(eachRun(reads, new Pace(), (tap, window, element, count) => runs.push(tap * windows + window, element, count)))
  return Int32Array.from(runs)
}
