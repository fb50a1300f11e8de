import { convertedPaced, convertPaced } from '../../kernels/core/convert-paced.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import type { Positions } from '../../kernels/core/positions.ts'
import { ADD } from '../../kernels/elementwise/binary.ts'
import { gatherBlocks } from '../../kernels/gather/gather.ts'
import { reportIndex, resolveIndicesPaced } from '../../kernels/gather/indices.ts'
import { countOnes } from '../../kernels/normalization/mask-counts.ts'
import { normalizeRows } from '../../kernels/normalization/normalize.ts'
import { type KernelContext, params, type ValuesOf } from '../../op-kit/define.ts'
import { sameDims } from '../../op-kit/embedding.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { checkRank, sharedDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { type Dim, mayMatch, minDim, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { scaleRows } from './skip-layer-normalization.ts'

interface Params {
  epsilon: number
}

/** The operands that an embedding begins with, its tables in numbers or in codes. */
export const EMBED_OPERANDS = {
  inputIds: 'tensor',
  segmentIds: 'optional',
  words: 'tensor',
  positions: 'tensor',
  segments: 'optional',
  gamma: 'tensor',
  beta: 'tensor',
  mask: 'optional'
} as const

/** Rules of {@link embedLayerNormalization}. */
export const embedLayerNormalizationRules = defineRules({
  name: 'EmbedLayerNormalization',
  operands: { ...EMBED_OPERANDS, positionIds: 'optional' },
  params: params<Params>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { epsilon: float('epsilon') } }],
  rows: { table: 'words', indices: 'inputIds', at: () => ({ axis: 0, policy: FROM_START }) },

  shape(operands, _, { outputCount }) {
    const { inputIds, segmentIds, words, positions, segments, gamma, beta, mask, positionIds } = operands
    const tables = { word_embedding: words, position_embedding: positions, segment_embedding: segments }
    const type = commonType({ ...tables, gamma, beta })
    for (const [name, fact] of Object.entries({ input_ids: inputIds, segment_ids: segmentIds, mask, ...tables }))
      checkRank(name, fact, 2)
    for (const [name, fact] of Object.entries({ gamma, beta })) checkRank(name, fact, 1)
    const size = sharedDim({
      ...Object.fromEntries(Object.entries(tables).map(([name, fact]) => [name, [fact, 1] as const])),
      gamma: [gamma, 0],
      beta: [beta, 0]
    })
    for (const [name, fact] of Object.entries({ segment_ids: segmentIds, mask }))
      if (fact) sameDims(name, fact, 'input_ids', inputIds)
    checkPositions(inputIds, positions, positionIds)
    const ids = inputIds.shape ?? [unknownDim(), unknownDim()]
    const sum = tensorFact(type, [...ids, size ?? unknownDim()])
    return [sum, tensorFact('int32', [ids[0]]), sum].slice(0, outputCount)
  },

  validate({ inputIds, segmentIds, words, positions, segments, positionIds }) {
    checkKnownIndices(inputIds, words, 0, FROM_START)
    checkKnownIndices(positionIds, positions, 0, FROM_START)
    if (segments) checkKnownIndices(segmentIds, segments, 0, FROM_START)
  }
})

/**
 * Adds the rows of a word, a position and, where there is a table of them, a segment, then normalizes, scales and
 * shifts as LayerNormalization does. Positions that are left out are 0, 1, 2 …, segments 0. Results: the normalized
 * tensor, for each batch entry the number of ones in its mask (0 without a mask), the sum that was normalized.
 * com.microsoft EmbedLayerNormalization-1; `mask_index_type` changes nothing, as in ONNX Runtime.
 */
export const embedLayerNormalization = /* @__PURE__ */ withKernel(embedLayerNormalizationRules, {
  run: (operands, { epsilon }, call) => embed(operands, epsilon, call, rows => convertedPaced(rows, 'float64'))
})

/** Their values, and the positions, where these are given. */
type EmbedOperands = ValuesOf<typeof EMBED_OPERANDS> & { readonly positionIds?: Tensor | undefined }

/** Makes numbers of rows that were looked up in a table. */
export type NumbersOf = (rows: Tensor, table: 'words' | 'positions' | 'segments') => Generator<void, Tensor<'float64'>>

/** Adds the rows of all tables and normalizes the sum; writes the results of `call`. */
export function* embed(
  { inputIds, segmentIds, words, positions, segments, gamma, beta, mask, positionIds }: EmbedOperands,
  epsilon: number,
  call: KernelContext,
  numbersOf: NumbersOf
): Generator<void> {
  const sum = yield* numbersOf(yield* lookedUp(words, inputIds), 'words')
  // Without words there may be no room for as many positions as the dims say.
  const count = sum.data.length === 0 ? 1 : inputIds.dims[1]
  const own = positionIds
    ? yield* lookedUp(positions, positionIds)
    : yield* rowsAt(
        positions,
        new Int32Array(count).map((_, i) => i),
        [1, count]
      )
  yield* binary(ADD, sum, yield* numbersOf(own, 'positions'), sum)
  if (segments) {
    const segment = segmentIds ? yield* lookedUp(segments, segmentIds) : yield* rowsAt(segments, FIRST, [1, 1])
    yield* binary(ADD, sum, yield* numbersOf(segment, 'segments'), sum)
  }
  if (call.wanted(2)) yield* convertPaced(sum, call.rawOutput(2))
  if (call.wanted(1)) yield* countOnes(mask, call.output(1).data as Int32Array)
  yield* normalizeRows(sum, epsilon, true)
  yield* scaleRows(sum, gamma, beta, call)
}

/** The segment of all words where there are no ids of segments. */
const FIRST = new Int32Array(1)

/** Positions that are left out need a row each; those that are given are for all batch entries, or for each. */
function checkPositions(inputIds: TensorFact, positions: TensorFact, positionIds: TensorFact | undefined): void {
  const length = inputIds.shape?.[1]
  if (!positionIds) {
    const rows = positions.shape?.[0]
    if (typeof rows === 'number' && length !== undefined && minDim(length) > rows)
      reportIndex(`${rows}`, [0, rows], 0, rows)
    return
  }
  checkRank('position_ids', positionIds, 2)
  sharedDim({ input_ids: [inputIds, 1], position_ids: [positionIds, 1] })
  const batch: Dim | undefined = positionIds.shape?.[0]
  if (batch === undefined || mayMatch(batch, 1)) return
  sharedDim({ input_ids: [inputIds, 0], position_ids: [positionIds, 0] })
}

function* lookedUp(table: Tensor, ids: Tensor): Generator<void, Tensor> {
  return yield* rowsAt(table, yield* resolveIndicesPaced(ids, table.dims[0], 0, FROM_START), ids.dims)
}

/** The rows of a table at positions of dims `dims`. */
function* rowsAt(table: Tensor, at: Positions, dims: readonly number[]): Generator<void, Tensor> {
  const [size, inner] = table.dims
  const rows = allocate(table.type, [...dims, inner])
  yield* gatherBlocks(table, at, rows, { batch: 1, outer: 1, size, inner, count: at.length })
  return rows
}
