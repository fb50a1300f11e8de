import { fail } from '../../errors.ts'
import { dequantized, quantizationOf } from '../../kernels/quantized/codes.ts'
import { params } from '../../op-kit/define.ts'
import { checkQuantization } from '../../op-kit/quantized.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float } from '../../op-kit/sources.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { embed, EMBED_OPERANDS, embedLayerNormalizationRules } from '../normalization/embed-layer-normalization.ts'

/** Rules of {@link qembedLayerNormalization}. */
export const qembedLayerNormalizationRules = defineRules({
  name: 'QEmbedLayerNormalization',
  operands: {
    ...EMBED_OPERANDS,
    wordsScale: 'tensor',
    positionsScale: 'tensor',
    segmentsScale: 'optional',
    gammaScale: 'tensor',
    betaScale: 'tensor',
    wordsZero: 'tensor',
    positionsZero: 'tensor',
    segmentsZero: 'optional',
    gammaZero: 'tensor',
    betaZero: 'tensor'
  },
  params: params<{ epsilon: number }>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { epsilon: float('epsilon') } }],
  rows: { table: 'words', indices: 'inputIds', at: () => ({ axis: 0, policy: FROM_START }) },

  shape({ inputIds, segmentIds, words, positions, segments, gamma, beta, mask, ...parts }, p, call) {
    checkQuantization('word_embedding', parts.wordsScale, parts.wordsZero)
    checkQuantization('position_embedding', parts.positionsScale, parts.positionsZero)
    if (segments) {
      if (!parts.segmentsScale) fail('missing-input', 'segment_embedding is given without its scale')
      checkQuantization('segment_embedding', parts.segmentsScale, parts.segmentsZero)
    }
    checkQuantization('gamma', parts.gammaScale, parts.gammaZero)
    checkQuantization('beta', parts.betaScale, parts.betaZero)
    const numbers = ({ shape }: TensorFact): TensorFact => tensorFact(parts.wordsScale.type, shape)
    const tables = { words, positions, gamma, beta, ...(segments && { segments }) }
    const facts = Object.fromEntries(Object.entries(tables).map(([name, fact]) => [name, numbers(fact)]))
    return embedLayerNormalizationRules.shape({ inputIds, segmentIds, mask, ...facts }, p, call)
  },

  validate: (operands, p, call) => embedLayerNormalizationRules.validate?.(operands, p, call)
})

/**
 * EmbedLayerNormalization with tables, scale and shift of 8-bit codes, each with a scale and a zero point of its own:
 * QEmbedLayerNormalization-1 of com.microsoft. Only the rows that are looked up are dequantized.
 */
export const qembedLayerNormalization = /* @__PURE__ */ withKernel(qembedLayerNormalizationRules, {
  *run(operands, { epsilon }, call) {
    const { gamma, gammaScale, gammaZero, beta, betaScale, betaZero } = operands
    const { wordsScale, wordsZero, positionsScale, positionsZero, segmentsScale, segmentsZero } = operands
    const quantizations = {
      words: quantizationOf(wordsScale, wordsZero),
      positions: quantizationOf(positionsScale, positionsZero),
      segments: segmentsScale && quantizationOf(segmentsScale, segmentsZero)
    }
    const floats = {
      gamma: yield* dequantized(gamma, quantizationOf(gammaScale, gammaZero)),
      beta: yield* dequantized(beta, quantizationOf(betaScale, betaZero))
    }
    // Where there are segments, `shape` has seen their scale.
    yield* embed({ ...operands, ...floats }, epsilon, call, (rows, table) => dequantized(rows, quantizations[table]!))
  }
})
