import { QUANTUM } from '../../kernels/core/pace.ts'
import type { Forest } from '../../kernels/ml/forest.ts'
import { type FullVotes, fullVotesOf, targetOfEach } from '../../kernels/ml/full-votes.ts'
import type { VoteAdder } from '../../kernels/ml/walk-forest.ts'
import type { Pack, Packed } from '../../op-kit/define.ts'
import { packOfParameters } from '../../op-kit/packs.ts'
import type { DType } from '../../tensor/dtype.ts'
import { Tensor } from '../../tensor/tensor.ts'
import type { Work } from '../attempt.ts'
import { staged } from '../selector.ts'

/** Rows that walk at once. */
const GROUP = 4
export const CELL_BYTES = 16
/** Work of a step, in bytes that could be copied in the same time. */
export const STEP_WORK = 16
/** Nanoseconds of a step, and of a walk around its steps. */
const STEP = 1.5
/** Groups that walk a tree one after the other while its cells are in the cache. */
const MIN_TILE = 16
const MAX_TILE = 256
/** Sums of a block of rows, so that they stay in the cache. */
const MAX_SUMS = 1 << 15
/** Targets up to which votes of 0 are added like others, though most are 0. */
const FEW_TARGETS = 8

/** Ways to compare, by the numbers that VotesArguments in ../assembly/wide/votes.ts has for them. */
const WAYS = ['wide', 'single', 'signed'] as const
type Way = (typeof WAYS)[number]

/** How the kernel adds the votes of a forest up; undefined where it cannot. */
export interface VotePlan {
  readonly forest: Forest
  readonly targets: number
  readonly way: Way
  /** Where all leaves vote for several targets, what they vote; else it is {@link Forest.sums}. */
  readonly full?: FullVotes | undefined
  /** Where each tree votes for one of several targets, the targets of trees. */
  readonly alone?: Int32Array | undefined
}

/** @param type of the rows; those of other types than float32 and float64 are converted to the latter */
export function votePlanOf(forest: Forest, targets: number, type: DType): VotePlan | undefined {
  const isPlain = forest.features.every(feature => feature >= 0)
  const way = type === 'float32' ? (isPlain ? 'single' : 'signed') : isPlain ? 'wide' : undefined
  if (way === undefined) return undefined
  if (targets === 1) return { forest, targets, way }
  const full = fullVotesOf(forest, targets)
  if (full) return full.few && targets > FEW_TARGETS ? undefined : { forest, targets, way, full }
  const alone = targetOfEach(forest, targets)
  return alone && { forest, targets, way, alone }
}

/** Votes of a leaf. */
const votesOf = ({ targets, full }: VotePlan): number => (full ? targets : 1)

/** Packs what the kernel reads of a forest, which the parameters have. */
export const packVotes = (plan: VotePlan): Pack =>
  packOfParameters(`trees ${plan.way}`, (_, __, { allocate }) => tablesOf(plan, allocate))

type Allocate = (type: DType, dims: readonly number[]) => Tensor

function tablesOf(plan: VotePlan, allocate: Allocate): Packed {
  const { forest, alone } = plan
  const { next, roots, shortest } = forest
  const own = votesOf(plan)
  let leaves = 0
  for (let cell = 0; cell < next.length; cell++) if (next[cell] === cell) leaves++
  const cells = allocate('int32', [(next.length * CELL_BYTES) / 4])
  const votes = allocate('float64', [leaves * own])
  const trees = allocate('int32', [4 * roots.length])
  writeCells(plan, cells.data as Int32Array)
  writeVotes(plan, votes.data as Float64Array)
  const numbers = trees.data as Int32Array
  roots.forEach((root, tree) =>
    numbers.set([root * CELL_BYTES, shortest[tree], (alone?.[tree] ?? 0) * 8, own * 8], 4 * tree)
  )
  return { cells, votes, trees }
}

/** The words of a threshold of single precision, and of NaN in double precision with a number in its low word. */
const SINGLE = new Float32Array(1)
const SINGLE_BITS = new Int32Array(SINGLE.buffer)
const DOUBLE = new Float64Array(1)
const DOUBLE_BITS = new Int32Array(DOUBLE.buffer)
const NAN_HIGH = 0x7ff80000

function writeCells(plan: VotePlan, to: Int32Array): void {
  const { forest, way } = plan
  const { next, columns, thresholds, features } = forest
  const width = way === 'wide' ? 8 : 4
  const own = votesOf(plan)
  let leaves = 0
  for (let cell = 0, at = 0; cell < next.length; cell++, at += 4) {
    const isLeaf = next[cell] === cell
    const feature = isLeaf || features.length === 0 ? 0 : features[columns[cell]]
    const vote = isLeaf ? leaves++ * own * 8 : 0
    to[at] = next[cell] * CELL_BYTES
    to[at + 1] = (feature < 0 ? -1 - feature : feature) * width
    if (way === 'wide') {
      DOUBLE[0] = thresholds[cell]
      to[at + 2] = isLeaf ? vote : DOUBLE_BITS[0]
      to[at + 3] = isLeaf ? NAN_HIGH : DOUBLE_BITS[1]
    } else {
      SINGLE[0] = singleBelow(thresholds[cell])
      to[at + 2] = SINGLE_BITS[0]
      to[at + 3] = isLeaf ? vote : feature < 0 ? 1 << 31 : 0
    }
  }
}

/** The largest number of single precision up to `x`: no other one is between them. */
function singleBelow(x: number): number {
  const nearest = Math.fround(x)
  if (!(nearest > x)) return nearest
  if (nearest === Infinity) return MAX_SINGLE
  SINGLE[0] = nearest
  if (nearest === 0) return -MIN_SINGLE
  SINGLE_BITS[0] += nearest > 0 ? -1 : 1
  return SINGLE[0]
}

const MAX_SINGLE = 2 ** 128 - 2 ** 104
const MIN_SINGLE = 2 ** -149

/** In the order of the leaf cells. */
function writeVotes({ forest: { next, leafOf, sums }, targets, full }: VotePlan, to: Float64Array): void {
  let at = 0
  for (let cell = 0; cell < next.length; cell++) {
    if (next[cell] !== cell) continue
    if (full === undefined) to[at++] = sums[cell]
    else {
      const first = full.starts[leafOf[cell]]
      for (let i = 0; i < targets; i++) to[at++] = full.weights[first + i]
    }
  }
}

/** Adds votes up by jobs whose blocks are groups of rows. */
export class JobAdder implements VoteAdder {
  readonly most: number
  private readonly tables: Packed
  private sums: Float64Array | undefined

  constructor(
    private readonly plan: VotePlan,
    packed: Packed | undefined,
    private readonly work: Work
  ) {
    this.tables = packed ?? unpackedOf(plan)
    this.most = Math.max(GROUP, Math.floor(MAX_SUMS / plan.targets / GROUP) * GROUP)
  }

  *add(rows: Float32Array | Float64Array, count: number): Generator<void, Float64Array | undefined> {
    const { plan, work } = this
    const { forest, targets, way } = plan
    const groups = Math.ceil(count / GROUP)
    // The first block has most rows.
    this.sums ??= work.allocateDoubles(groups * GROUP * targets)
    const { cells, trees, votes } = this.tables
    const walks = GROUP * forest.roots.length
    const template = {
      kernel: 'votes',
      blocks: groups,
      blockBytes: GROUP * targets * 8,
      tile: tileOf(walks * (forest.deepest + 1)),
      isDivisible: true,
      work: groups * walks * STEP_WORK * Math.max(1, forest.deepest),
      inputs: staged(4),
      args: [count, (rows.length / count) * rows.BYTES_PER_ELEMENT, forest.roots.length, targets, WAYS.indexOf(way)]
    } as const
    const inputs = [rows, cells.data, trees.data, votes.data] as Float32Array[]
    const sums = this.sums.subarray(0, groups * GROUP * targets)
    return (yield* work.run(template, inputs, sums)) ? sums : undefined
  }
}

const tileOf = (steps: number): number => Math.max(MIN_TILE, Math.min(MAX_TILE, Math.floor(QUANTUM / (steps * STEP))))

/** Tables of forests that could not be packed. */
const UNPACKED = new WeakMap<Forest, Map<Way, Packed>>()

function unpackedOf(plan: VotePlan): Packed {
  const known = UNPACKED.get(plan.forest) ?? new Map<Way, Packed>()
  UNPACKED.set(plan.forest, known)
  const tables = known.get(plan.way) ?? tablesOf(plan, ordinary)
  known.set(plan.way, tables)
  return tables
}

const ordinary: Allocate = (type, dims) =>
  new Tensor(type, type === 'int32' ? new Int32Array(dims[0]) : new Float64Array(dims[0]), dims)
