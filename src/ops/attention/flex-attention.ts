import { fail } from '../../errors.ts'
import { attendHeads } from '../../kernels/attention/attention.ts'
import { headOf, type Heads, headsInBlocks } from '../../kernels/attention/heads.ts'
import { eachLine, softmaxLine } from '../../kernels/core/lines.ts'
import { doubles, readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace, type Paced } from '../../kernels/core/pace.ts'
import { gemm, matrix, transposed } from '../../kernels/matrix/gemm.ts'
import { type Body, params } from '../../op-kit/define.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, mapped, optional, optionalBody, type } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { type Dim, mayMatch, printShape, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'
import { allocate, isTensor, type Tensor, type Value } from '../../tensor/tensor.ts'

interface Params {
  /** Undefined: 1 / sqrt(depth). */
  scale: number | undefined
  /** Type of the scores and weights that bodies get; undefined: float64 for such inputs, else float32. */
  precision: DType | undefined
  scoreBody: Body | undefined
  weightBody: Body | undefined
}

/** Rules of {@link flexAttention}. */
export const flexAttentionRules = defineRules({
  name: 'FlexAttention',
  operands: { q: 'tensor', k: 'tensor', v: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'ai.onnx.preview',
      since: 1,
      bind: {
        scale: optional(float('scale')),
        precision: optional(
          mapped(type('softmax_precision'), of =>
            FLOATS.includes(of)
              ? of
              : fail('unknown-attribute-value', `softmax_precision is ${of}; a float type is expected`)
          )
        ),
        scoreBody: optionalBody('score_mod'),
        weightBody: optionalBody('prob_mod')
      }
    }
  ],

  shape({ q, k, v }, p) {
    const [batch, heads, queries, depth] = meetShape('Q', q, [unknownDim(), unknownDim(), unknownDim(), unknownDim()])
    const [, shared, keys] = meetShape('K', k, [batch, unknownDim(), unknownDim(), depth])
    const width = meetShape('V', v, [batch, shared, keys, unknownDim()])[3]
    if (typeof heads === 'number' && typeof shared === 'number' && (shared === 0 ? heads > 0 : heads % shared !== 0))
      fail('dims-mismatch', `${heads} query heads are no multiple of ${shared} heads of keys`)
    const scores = tensorFact(precisionOf(q.type, p), [batch, heads, queries, keys])
    checkBody('score_mod', p.scoreBody, scores)
    checkBody('prob_mod', p.weightBody, scores)
    return [tensorFact(q.type, [batch, heads, queries, width])]
  }
})

/**
 * Attention whose scores, and whose weights, a body may change as a whole: ONNX FlexAttention-1 (preview). Query heads
 * share keys and values in groups. All is computed in double precision; what bodies get is rounded to
 * `softmax_precision`, of all queries and keys at once.
 */
export const flexAttention = /* @__PURE__ */ withKernel(flexAttentionRules, {
  *run({ q, k, v }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const target = targetOf(out)
    const [batches] = q.dims
    const blocks = function* (tensor: Tensor): Generator<void, Heads> {
      const [, count, length, size] = tensor.dims
      return headsInBlocks(yield* readNumbers(tensor), count, length, size)
    }
    const [queries, keys, values] = [yield* blocks(q), yield* blocks(k), yield* blocks(v)]
    const results = headsInBlocks(target.numbers, queries.count, queries.length, values.size)
    const factor = factorOf(p.scale ?? 1 / Math.sqrt(queries.size))
    const pace = new Pace()
    if (!p.scoreBody && !p.weightBody) {
      const given = { batches, q: queries, k: keys, v: values, out: results, weighing: () => ({ factor }) }
      yield* attendHeads(given, pace)
    } else {
      const dims = [batches, queries.count, queries.length, keys.length]
      const scores = allocate(precisionOf(q.type, p) ?? 'float32', dims)
      yield* storeScores(queries, keys, factor, scores, pace)
      const changed = yield* changedBy('score_mod', p.scoreBody, scores)
      const weights = allocate(scores.type, dims)
      const softmax = targetOf(weights)
      const layout = { outer: batches * queries.count * queries.length, size: keys.length, inner: 1 }
      yield* eachLine(yield* readNumbers(changed), softmax.numbers, layout, softmaxLine)
      yield* softmax.finish()
      const last = yield* readNumbers(yield* changedBy('prob_mod', p.weightBody, weights))
      const own = headsInBlocks(last, queries.count, queries.length, keys.length)
      for (const [batch, head, shared] of pairs(batches, queries.count, keys.count)) {
        const [a, b, c] = [headOf(own, batch, head), headOf(values, batch, shared), headOf(results, batch, head)]
        yield* gemm(queries.length, values.size, keys.length, a, b, c, pace)
      }
    }
    yield* target.finish()
  }
})

/** A scale as the operator's function applies it: queries and keys are multiplied by its root, a float32. */
const factorOf = (scale: number): number => (scale < 0 ? scale : Math.fround(Math.sqrt(Math.fround(scale))) ** 2)

/** Each query head of each entry of a batch, with the head of keys and values that it has. */
function* pairs(batches: number, heads: number, shared: number): Generator<readonly [number, number, number]> {
  for (let batch = 0; batch < batches; batch++)
    for (let head = 0; head < heads; head++) yield [batch, head, Math.floor((head * shared) / heads)]
}

/** `scores = factor * q kᵀ`. */
function* storeScores(q: Heads, k: Heads, factor: number, scores: Tensor, pace: Pace): Generator<void> {
  const target = targetOf(scores)
  const size = q.length * k.length
  const block = doubles(size)
  for (const [batch, head, shared] of pairs(scores.dims[0], q.count, k.count)) {
    block.fill(0)
    const out = matrix(block, 0, k.length)
    yield* gemm(q.length, k.length, q.size, headOf(q, batch, head), transposed(headOf(k, batch, shared)), out, pace)
    const start = (batch * q.count + head) * size
    for (let i = 0; i < size; i++) target.numbers[start + i] = factor * block[i]
    if (pace.isDue(size * COST.element)) yield
  }
  yield* target.finish()
}

const precisionOf = (own: DType | undefined, { precision }: Pick<Params, 'precision'>): DType | undefined =>
  precision ?? (own === undefined ? undefined : own === 'float64' ? 'float64' : 'float32')

function checkBody(name: string, body: Body | undefined, scores: TensorFact): void {
  if (!body) return
  if (body.inputCount !== 1 || body.outputCount !== 1)
    fail('invalid-graph', `${name} has ${body.inputCount} inputs and ${body.outputCount} outputs; one each is expected`)
  const [result] = body.infer([scores])
  if (result.kind !== 'tensor') fail('type-mismatch', `${name} gives no tensor`)
  if (result.type && scores.type && result.type !== scores.type)
    fail('type-mismatch', `${name} gives ${result.type}; ${scores.type} is expected`)
  checkDims(name, result.shape, scores.shape)
}

function checkDims(name: string, dims: readonly Dim[] | undefined, expected: readonly Dim[] | undefined): void {
  if (!dims || !expected) return
  if (dims.length !== expected.length || !dims.every((dim, i) => mayMatch(dim, expected[i])))
    fail('dims-mismatch', `${name} gives ${printShape(dims)}; ${printShape(expected)} is expected`)
}

/** What a body makes of scores or weights. */
function* changedBy(name: string, body: Body | undefined, given: Tensor): Paced<Tensor> {
  if (!body) return given
  const [result]: (Value | undefined)[] = yield* body.run([given])
  if (!result || !isTensor(result) || result.type !== given.type)
    fail('type-mismatch', `${name} gives ${result?.type ?? 'nothing'}; ${given.type} is expected`)
  checkDims(name, result.dims, given.dims)
  return result
}
