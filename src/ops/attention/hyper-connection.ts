import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { params } from '../../op-kit/define.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, int } from '../../op-kit/sources.ts'
import { type Dim, floorDivDims, mayMatch, mulDims, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** Number of streams that lie side by side in the last axis; 0: they have an axis of their own before it. */
  branches: number
}

interface PreParams extends Params {
  /** Factor of the sum. */
  scale: number
}

const branches = int('num_branches')

/** Axes of streams: those of the tokens, the number of streams, and their size. */
interface Streams {
  readonly tokens: readonly Dim[]
  readonly count: Dim
  readonly size: Dim
}

function streamsOf(shape: readonly Dim[], { branches: count }: Params): Streams {
  if (count < 0) fail('unknown-attribute-value', `num_branches is ${count}; it is not negative`)
  const last = shape[shape.length - 1]
  if (shape.length < (count > 0 ? 1 : 2))
    fail('rank-mismatch', `streams have shape ${printShape(shape)}; more axes are expected`)
  if (count === 0) return { tokens: shape.slice(0, -2), count: shape[shape.length - 2], size: last }
  if (typeof last === 'number' && last % count !== 0)
    fail('dims-mismatch', `${last} columns of streams are no multiple of ${count} branches`)
  return { tokens: shape.slice(0, -1), count, size: floorDivDims(last, count) }
}

/**
 * Checks factors of streams: one for each, or one for each element of each.
 * @param flat elements of all streams may lie in one axis
 */
function checkMix(name: string, { shape }: TensorFact, { tokens, count, size }: Streams, flat: boolean): void {
  if (shape === undefined) return
  const forms = [[count], [count, 1], [count, size], ...(flat ? [[mulDims(count, size)]] : [])]
  const expected = forms.map(form => [...tokens, ...form])
  const fits = expected.some(dims => dims.length === shape.length && dims.every((dim, i) => mayMatch(dim, shape[i])))
  if (!fits)
    fail('dims-mismatch', `${name} has shape ${printShape(shape)}; expected ${expected.map(printShape).join(' or ')}`)
}

/** Rules of {@link hyperConnectionPreMix}. */
export const hyperConnectionPreMixRules = defineRules({
  name: 'HyperConnectionPreMix',
  operands: { streams: 'tensor', mix: 'tensor' },
  params: params<PreParams>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { branches, scale: float('reduction_scale') } }],

  shape({ streams, mix }, p) {
    if (streams.shape === undefined) return [tensorFact(streams.type, undefined)]
    const known = streamsOf(streams.shape, p)
    checkMix('pre_mix', mix, known, p.branches > 0)
    return [tensorFact(streams.type, [...known.tokens, known.size])]
  }
})

/**
 * Sums the streams of each token, each times its factor or those of its elements: com.microsoft
 * HyperConnectionPreMix-1. Streams have an axis of their own, or lie side by side in the last.
 */
export const hyperConnectionPreMix = /* @__PURE__ */ withKernel(hyperConnectionPreMixRules, {
  *run({ streams, mix }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const { count, size } = streamsOf(streams.dims, p) as { count: number; size: number }
    const [x, factors] = [yield* readNumbers(streams), yield* readNumbers(mix)]
    const step = factors.length === x.length && size !== 1 ? 1 : 0
    const target = targetOf(out)
    const pace = new Pace()
    const sums = new Float64Array(size)
    for (let token = 0; token * size < out.data.length; token++) {
      sums.fill(0)
      for (let stream = token * count; stream < (token + 1) * count; stream++) {
        for (let i = 0, at = stream * size; i < size; i++, at++) sums[i] += factors[step === 1 ? at : stream] * x[at]
      }
      for (let i = 0; i < size; i++) target.numbers[token * size + i] = p.scale * sums[i]
      if (pace.isDue((count + 1) * size * COST.element)) yield
    }
    yield* target.finish()
  }
})

/** Rules of {@link hyperConnectionPostMix}. */
export const hyperConnectionPostMixRules = defineRules({
  name: 'HyperConnectionPostMix',
  operands: { streams: 'tensor', block: 'tensor', gates: 'tensor', mix: 'optional' },
  params: params<Params>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { branches } }],

  shape({ streams, block, gates, mix }, p) {
    if (streams.shape === undefined) return [tensorFact(streams.type, undefined)]
    const known = streamsOf(streams.shape, p)
    meetShape('block_output', block, [...known.tokens, known.size])
    checkMix('post_mix', gates, known, false)
    meetShape('stream_mix', mix, [...known.tokens, known.count, known.count])
    return [tensorFact(streams.type, streams.shape)]
  }
})

/**
 * Adds what a block gives to the streams of each token, times a factor of the stream or of its elements, after the
 * streams were mixed: stream `i` is then the sum of `mix[j, i]` times stream `j`. com.microsoft
 * HyperConnectionPostMix-1.
 */
export const hyperConnectionPostMix = /* @__PURE__ */ withKernel(hyperConnectionPostMixRules, {
  *run({ streams, block, gates, mix }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const { count, size } = streamsOf(streams.dims, p) as { count: number; size: number }
    const [x, y, factors] = [yield* readNumbers(streams), yield* readNumbers(block), yield* readNumbers(gates)]
    const weights = mix && (yield* readNumbers(mix))
    const step = factors.length === x.length && size !== 1 ? 1 : 0
    const target = targetOf(out)
    const pace = new Pace()
    const row = new Float64Array(size)
    for (let stream = 0; stream * size < x.length; stream++) {
      const token = Math.floor(stream / count)
      for (let i = 0, at = stream * size; i < size; i++, at++)
        row[i] = factors[step === 1 ? at : stream] * y[token * size + i] + (weights ? 0 : x[at])
      for (let from = 0; weights && from < count; from++) {
        const weight = weights[(token * count + from) * count + (stream % count)]
        for (let i = 0, at = (token * count + from) * size; i < size; i++, at++) row[i] += weight * x[at]
      }
      target.numbers.set(row, stream * size)
      if (pace.isDue(((weights ? count : 0) + 2) * size * COST.element)) yield
    }
    yield* target.finish()
  }
})
