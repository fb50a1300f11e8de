import { fail } from '../../errors.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { reportIndex } from '../../kernels/gather/indices.ts'
import { params } from '../../op-kit/define.ts'
import { checkDim, checkRank, sharedDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { int, optional } from '../../op-kit/sources.ts'
import { maxDim, minDim, printDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { Tensor } from '../../tensor/tensor.ts'

/** Sizes that the operands must have; undefined: any. */
interface Params {
  filters: number | undefined
  window: number | undefined
  width: number | undefined
}

/** Rules of {@link wordConvEmbedding}. */
export const wordConvEmbeddingRules = defineRules({
  name: 'WordConvEmbedding',
  operands: { words: 'tensor', filters: 'tensor', bias: 'tensor', table: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        filters: optional(int('embedding_size')),
        window: optional(int('conv_window_size')),
        width: optional(int('char_embedding_size'))
      }
    }
  ],

  shape({ words, filters, bias, table }, p) {
    checkRank('Sequence', words, 2)
    checkRank('W', filters, 4)
    checkRank('B', bias, 1)
    checkRank('C', table, 2)
    checkDim('W', filters, 1, 1)
    for (const [axis, size] of [p.filters, 1, p.window, p.width].entries())
      if (size !== undefined && size !== -1) checkDim('W', filters, axis, size)
    sharedDim({ W: [filters, 3], C: [table, 1] })
    const count = sharedDim({ W: [filters, 0], B: [bias, 0] })
    checkWindow(words, filters)
    return [tensorFact(filters.type, words.shape && count !== undefined ? [words.shape[0], count] : undefined)]
  }
})

/**
 * A vector for each word, a row of ids of characters: the rows of the characters in a table are convolved along the
 * word and biased; of the tanh of that the greatest along the word is taken. The length of a word is the number of its
 * positive ids, at least that of the window; a word that begins with no positive id has zeros. com.microsoft
 * WordConvEmbedding-1.
 */
export const wordConvEmbedding = /* @__PURE__ */ withKernel(wordConvEmbeddingRules, {
  *run({ words, filters, bias, table }, _, call) {
    const out = call.output().data as Float32Array
    const ids = words.data as Int32Array
    const [w, b, c] = [yield* readNumbers(filters), yield* readNumbers(bias), yield* readNumbers(table)]
    const [count, length] = words.dims
    const [filterCount, , window, width] = filters.dims
    const pace = new Pace()
    for (let word = 0; word < count; word++) {
      const start = word * length
      const end = start + Math.max(window, wordLength(ids, start, length))
      if (length === 0 || ids[start] <= 0) continue
      checkIds(words, start, end, table.dims[0])
      for (let f = 0; f < filterCount; f++) {
        let best = -Infinity
        for (let at = start; at + window <= end; at++) {
          let sum = b[f]
          for (let k = 0; k < window; k++) {
            const [row, filter] = [ids[at + k] * width, (f * window + k) * width]
            for (let e = 0; e < width; e++) sum += c[row + e] * w[filter + e]
          }
          best = Math.max(best, Math.tanh(sum))
          if (pace.isDue(COST.transcendental + window * width * COST.multiplyAdd)) yield
        }
        out[word * filterCount + f] = best
      }
    }
  }
})

function checkWindow({ shape: words }: TensorFact, { shape: filters }: TensorFact): void {
  const [length, window] = [words?.[1], filters?.[2]]
  if (length === undefined || window === undefined || minDim(window) <= maxDim(length)) return
  fail('dims-mismatch', `words have ${printDim(length)} ids; a window of W has ${printDim(window)}`)
}

function wordLength(ids: Int32Array, start: number, length: number): number {
  let count = 0
  for (let i = start; i < start + length; i++) if (ids[i] > 0) count++
  return count
}

function checkIds({ data, dims }: Tensor, start: number, end: number, rows: number): void {
  const ids = data as Int32Array
  for (let i = start; i < end; i++)
    if (ids[i] < 0 || ids[i] >= rows) reportIndex(`${ids[i]}`, [Math.floor(i / dims[1]), i % dims[1]], 0, rows)
}
