import { COST, Pace, type Paced } from '../../kernels/core/pace.ts'
import type { Positions } from '../../kernels/core/positions.ts'
import { resolveIndicesPaced } from '../../kernels/gather/indices.ts'
import { countOnes } from '../../kernels/normalization/mask-counts.ts'
import { dequantized, type Quantization, quantizationOf } from '../../kernels/quantized/codes.ts'
import type { Kernel } from '../../op-kit/define.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { runJob } from '../jobs.ts'
import { arrayOf, selectorFor, type TensorOperands } from '../selector.ts'
import { rowsTemplate } from './normalization.ts'

/** Elements below which setting the job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 6
/** Position of the result that is the sum. */
const SUM = 2

/**
 * EmbedLayerNormalization of float32, and QEmbedLayerNormalization of bytes to float32. The sum of the rows is made
 * here, since it takes little of the time; the job of LayerNormalization does the rest.
 */
export const selectEmbedLayerNorm = selectorFor<{ readonly epsilon: number }>(({ op, operands, parameters, dims }) => {
  const { words, wordsScale } = operands
  if ((wordsScale ?? words)?.type !== 'float32' || product(dims) < MIN_ELEMENTS) return undefined
  const size = dims[dims.length - 1]
  const options = { hasScale: true, hasBias: true, epsilon: parameters.epsilon }
  const template = rowsTemplate('layerNorm', { count: product(dims) / size, size }, options)
  const kernel: Kernel = function* (given, params, context) {
    const tensors = given as TensorOperands
    const out = context.rawOutput()
    const sum = context.wanted(SUM) ? context.rawOutput(SUM) : out
    yield* addRows(yield* tablesOf(tensors), size, sum.data as Float32Array)
    const inputs = [arrayOf(sum), yield* floatsOf(tensors, 'gamma'), yield* floatsOf(tensors, 'beta'), arrayOf(sum)]
    if (yield* runJob(template, inputs, arrayOf(out), context.threads)) {
      if (context.wanted(1)) yield* countOnes(tensors.mask, context.output(1).data as Int32Array)
    } else yield* op.run(given, params, withOutput(withOutput(context, out), sum, SUM)) as Paced
  }
  return { kernel }
})

type Numbers = Float32Array | Uint8Array | Int8Array

/** Rows of a table whose element `x` stands for `(x - zero) * scale`. */
interface Table extends Quantization {
  readonly data: Numbers
  /** Row of each token; they begin again where there are fewer. */
  readonly rows: Positions
}

function* tablesOf(tensors: TensorOperands): Generator<void, readonly Table[]> {
  const { inputIds, segmentIds, positionIds, segments } = tensors
  const length = inputIds!.dims[1]
  const positions = positionIds ?? Int32Array.from({ length }, (_, i) => i)
  const tables = [yield* tableOf(tensors, 'words', inputIds!), yield* tableOf(tensors, 'positions', positions)]
  if (segments) tables.push(yield* tableOf(tensors, 'segments', segmentIds ?? FIRST))
  return tables
}

/** The segment of all words where there are no ids of segments. */
const FIRST = new Int32Array(1)

function* tableOf(tensors: TensorOperands, name: string, ids: Tensor | Int32Array): Generator<void, Table> {
  const table = tensors[name]!
  const rows = ids instanceof Int32Array ? ids : yield* resolveIndicesPaced(ids, table.dims[0], 0, FROM_START)
  return { data: table.data as Numbers, ...meaningOf(tensors, name), rows }
}

/** What the elements of an operand stand for: numbers stand for themselves. */
function meaningOf(tensors: TensorOperands, name: string): Quantization {
  const scale = tensors[`${name}Scale`]
  return scale ? quantizationOf(scale, tensors[`${name}Zero`]) : { scale: 1, zero: 0 }
}

function* floatsOf(tensors: TensorOperands, name: string): Generator<void, Float32Array> {
  const tensor = tensors[name]!
  if (tensor.type === 'float32') return tensor.data
  return Float32Array.from((yield* dequantized(tensor, meaningOf(tensors, name))).data)
}

/** Adds up the rows of the tables for each token, in double precision. */
function* addRows(tables: readonly Table[], size: number, out: Float32Array): Generator<void> {
  const pace = new Pace()
  const sum = new Float64Array(size)
  for (let at = 0, token = 0; at < out.length; at += size, token++) {
    sum.fill(0)
    for (const table of tables) addRow(table, token, sum)
    out.set(sum, at)
    if (pace.isDue(size * COST.multiplyAdd * tables.length)) yield
  }
}

function addRow({ data, scale, zero, rows }: Table, token: number, sum: Float64Array): void {
  const from = rows[token % rows.length] * sum.length
  for (let i = 0; i < sum.length; i++) sum[i] += (data[from + i] - zero) * scale
}
