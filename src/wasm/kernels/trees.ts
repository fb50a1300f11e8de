import { copyBytes } from '../../host.ts'
import type { Aggregate } from '../../kernels/ml/collector.ts'
import type { Forest } from '../../kernels/ml/forest.ts'
import { rowsAndFeatures } from '../../kernels/ml/rows.ts'
import { answersOf, classifyByTrees, type TreeClasses } from '../../kernels/ml/tree-classes.ts'
import { regressByTrees, type TreeTargets } from '../../kernels/ml/tree-targets.ts'
import { columnsOf, type LeafFinder, type Means } from '../../kernels/ml/walk-forest.ts'
import type { Kernel, KernelContext, Packed, Selection } from '../../op-kit/define.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type Work, workFor } from '../attempt.ts'
import { arrayOf, selectorFor, staged, type TensorOperands } from '../selector.ts'
import { CELL_BYTES, JobAdder, packVotes, STEP_WORK, votePlanOf } from './tree-votes.ts'

/** Walks below which setting jobs up costs more than it gains. */
const MIN_WALKS = 1 << 8
/** Cells for each walk above which copying them takes longer than what is gained. */
const MAX_CELLS = 8
/** Leaf cells of a block of rows, which should stay in the second cache. */
const MAX_LEAVES = 1 << 17

/** TreeEnsembleClassifier of rows that are worth jobs. */
export const selectTreeClassifier = selectorFor<{ readonly model: TreeClasses }>(({ operands, parameters }) => {
  const { model } = parameters
  const answers = operands.x && answersOf(model, operands.x.type)
  const walked = answers ? { forest: answers.forest, targets: 1 } : model
  return treeSelection(operands, walked, 'SUM', (_, x, context, means) => {
    const labels = context.rawOutput(0).data
    return classifyByTrees(model, x, { labels, scores: arrayOf(context.rawOutput(1)) as Float32Array }, means)
  })
})

/** TreeEnsembleRegressor and TreeEnsemble-5 of rows that are worth jobs. */
export const selectTreeRegressor = selectorFor<{ readonly model: TreeTargets }>(({ operands, parameters }) =>
  treeSelection(operands, parameters.model, parameters.model.aggregate, (model, x, context, means) =>
    regressByTrees(model, x, context.rawOutput(), means)
  )
)

type WalkTrees<M> = (model: M, x: Tensor, context: KernelContext, means: Means) => Generator<void>

function treeSelection<M extends { readonly forest: Forest; readonly targets: number }>(
  { x: rows }: TensorOperands,
  model: M,
  aggregate: Aggregate,
  walk: WalkTrees<M>
): Selection | undefined {
  const { forest, targets } = model
  if (rows === undefined || forest.next.length * CELL_BYTES >= 2 ** 31) return undefined
  const walks = rowsAndFeatures(rows.dims)[0] * forest.roots.length
  if (walks < MIN_WALKS) return undefined
  const isSum = aggregate === 'SUM' || aggregate === 'AVERAGE'
  const plan = isSum ? votePlanOf(forest, targets, rows.type) : undefined
  if (plan)
    return {
      kernel: withMeans(model, walk, (work, packed) => ({ adder: new JobAdder(plan, packed, work) })),
      pack: packVotes(plan)
    }
  if (forest.next.length > walks * MAX_CELLS) return undefined
  return { kernel: withMeans(model, walk, work => ({ finder: new Finder(forest, work) })) }
}

type MeansOf = (work: Work, packed: Packed | undefined) => Means

const withMeans = <M>(model: M, walk: WalkTrees<M>, meansOf: MeansOf): Kernel =>
  function* (given, _, context) {
    const work = workFor(context)
    try {
      yield* walk(model, (given as { readonly x: Tensor }).x, context, meansOf(work, context.packed))
    } finally {
      work.free()
    }
  }

/** Finds leaves by jobs whose blocks are trees. The cells lie on the heap until they are given back. */
class Finder implements LeafFinder {
  readonly most: number
  private cells: Float32Array | undefined
  private leaves: Int32Array | undefined

  constructor(
    private readonly forest: Forest,
    private readonly work: Work
  ) {
    this.most = Math.max(4, Math.floor(MAX_LEAVES / forest.roots.length))
  }

  *find(values: Float64Array, count: number): Generator<void, Int32Array | undefined> {
    const { forest, work } = this
    const { cells, trees } = tablesOf(forest)
    const columns = columnsOf(forest)
    const rows = Math.ceil(count / 4) * 4
    const size = forest.roots.length * rows
    this.cells ??= this.copied(cells)
    // The first block has most rows.
    this.leaves ??= work.allocateIntegers(size)
    const leaves = this.leaves.subarray(0, size)
    // The arguments are those of TreesArguments in ../assembly/wide/trees.ts.
    const template = {
      kernel: 'trees',
      blocks: forest.roots.length,
      blockBytes: rows * 4,
      work: leaves.length * STEP_WORK * forest.deepest,
      inputs: staged(3),
      args: [rows, columns * 8]
    } as const
    const padded = rows * columns <= values.length ? values.subarray(0, rows * columns) : grown(values, rows * columns)
    return (yield* work.run(template, [this.cells, padded, trees], leaves)) ? leaves : undefined
  }

  private copied(bytes: Uint8Array): Float32Array {
    const copy = this.work.allocate(bytes.length / 4)
    copyBytes(bytes, new Uint8Array(copy.buffer, copy.byteOffset, copy.byteLength))
    return copy
  }
}

function grown(values: Float64Array, length: number): Float64Array {
  const result = new Float64Array(length)
  result.set(values)
  return result
}

interface Tables {
  readonly cells: Uint8Array
  readonly trees: Int32Array
}

const TABLES = new WeakMap<Forest, Tables>()

/** What the kernel reads of a forest, which is made when it is first asked for. */
function tablesOf(forest: Forest): Tables {
  const known = TABLES.get(forest)
  if (known) return known
  const { next, columns, thresholds, roots, shortest } = forest
  const cells = new Uint8Array(next.length * CELL_BYTES)
  const words = new Int32Array(cells.buffer)
  const numbers = new Float64Array(cells.buffer)
  for (let i = 0; i < next.length; i++) {
    words[4 * i] = next[i] * CELL_BYTES
    words[4 * i + 1] = columns[i] * 8
    numbers[2 * i + 1] = thresholds[i]
  }
  const trees = new Int32Array(2 * roots.length)
  roots.forEach((root, tree) => trees.set([root * CELL_BYTES, shortest[tree]], 2 * tree))
  const tables = { cells, trees }
  TABLES.set(forest, tables)
  return tables
}
