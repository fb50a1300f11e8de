import { elementwise, extreme, reduced, swappedLast, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { add, byRootMeanSquare, mul, multiplied, times, widened } from '../../op-kit/conversion-parts.ts'
import { reshapedBy, type Size, sizesOf } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  knownSizes,
  type Made,
  rankOf,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { engramGate } from './engram-gate.ts'
import { hyperConnectionPostMix, hyperConnectionPreMix } from './hyper-connection.ts'
import { linearAttentionGate } from './linear-attention-gate.ts'

/** `decay = scale * softplus(a + bias)` and `beta = sigmoid(b)`. */
function expandGate(call: SourceCall, w: Writer): readonly Made[] {
  const [a, bias, scale] = ['a', 'bias', 'scale'].map(name => widened(w, call.operand(name)))
  const own = typeOf(call.operand('a'))
  const decay = mul(w, elementwise(w, 'Softplus', add(w, a, bias)), scale)
  const results = [decay, ...(call.outputCount > 1 ? [elementwise(w, 'Sigmoid', widened(w, call.operand('b')))] : [])]
  return results.map(each => w.cast(each, own))
}

/** A shared value times a gate for each branch: the sigmoid of a signed root of a product. */
function expandEngram(call: SourceCall, w: Writer): readonly Made[] {
  const epsilon = call.param<number>('epsilon')
  const normalized = (name: string): Made => {
    const x = widened(w, call.operand(name))
    return mul(w, byRootMeanSquare(w, x, 3, epsilon), widened(w, call.operand(`${name}Scale`)))
  }
  const key = call.operand('key')
  const [size] = knownSizes('the size of keys', dimsOf(key)[3])
  const products = reduced(w, 'ReduceSum', mul(w, normalized('key'), normalized('query')), [3], true)
  const product = times(w, products, 1 / Math.sqrt(size))
  const root = elementwise(
    w,
    'Sqrt',
    extreme(w, 'Max', elementwise(w, 'Abs', product), w.scalar(typeOf(product), 1e-6))
  )
  const gate = elementwise(w, 'Sigmoid', mul(w, elementwise(w, 'Sign', product), root))
  const gated = mul(w, gate, unsqueezed(w, widened(w, call.operand('value')), [2]))
  const results = [gated]
  if (call.outputCount > 1)
    results.push(mul(w, byRootMeanSquare(w, gated, 3, epsilon), widened(w, call.operand('outScale'))))
  return results.map(each => w.cast(each, typeOf(key)))
}

/** Streams with an axis of their own, `[tokens..., streams, size]`, and factors for them. */
function streamsOf(
  call: SourceCall,
  w: Writer
): { streams: Made; factors(name: string): Made; sizes: readonly Size[] } {
  const given = widened(w, call.operand('streams'))
  const sizes = sizesOf(w, given)
  const branches = call.param<number>('branches')
  const ofOne = (): number => knownSizes('the size of streams', sizes.at(-1))[0] / branches
  const apart = branches > 0 ? [...sizes.slice(0, -1), branches, ofOne()] : sizes
  const streams = branches > 0 ? reshapedBy(w, given, apart) : given
  const rank = rankOf(streams)
  const count = dimsOf(streams)[rank - 2]
  const factors = (name: string): Made => {
    const mix = widened(w, call.operand(name))
    const dims = dimsOf(mix)
    if (dims.length === rank) return mix
    // Factors of the elements of all streams lie in one axis, those of streams in another.
    return dims.at(-1) === count ? unsqueezed(w, mix, [rank - 1]) : reshapedBy(w, mix, apart)
  }
  return { streams, factors, sizes }
}

function expandPreMix(call: SourceCall, w: Writer): readonly Made[] {
  const { streams, factors } = streamsOf(call, w)
  const sum = reduced(w, 'ReduceSum', mul(w, factors('mix'), streams), [rankOf(streams) - 2], false)
  return [w.cast(times(w, sum, call.param('scale')), typeOf(call.operand('streams')))]
}

function expandPostMix(call: SourceCall, w: Writer): readonly Made[] {
  const { streams, factors, sizes } = streamsOf(call, w)
  const rank = rankOf(streams)
  const block = unsqueezed(w, widened(w, call.operand('block')), [rank - 2])
  const mix = call.optional('mix')
  // Stream i is the sum of mix[j, i] times stream j.
  const mixed = mix ? multiplied(w, swappedLast(w, widened(w, mix)), streams) : streams
  const sum = add(w, mul(w, factors('gates'), block), mixed)
  return [w.cast(reshapedBy(w, sum, sizes), typeOf(call.operand('streams')))]
}

/** Gates and streams beside attention. */
export const streamRules: readonly Conversion[] = [
  ...expands(linearAttentionGate, expandGate),
  ...expands(engramGate, expandEngram),
  ...expands(hyperConnectionPreMix, expandPreMix),
  ...expands(hyperConnectionPostMix, expandPostMix)
]
