import { elementwise, expanded, gathered, transposed, upTo } from '../../op-kit/conversion-kit.ts'
import { looped } from '../../op-kit/conversion-loops.ts'
import { add, mul, multiplied, sub, times, widened } from '../../op-kit/conversion-parts.ts'
import { sizeAt, sizeList, sizeScalar } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  knownSizes,
  type Made,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { linearAttention } from './linear-attention.ts'

/** `[batch, tokens, heads * size]` as `[tokens, batch, heads, rows, columns]`, token by token. */
function byToken(w: Writer, x: Made, heads: number, dims: readonly [number, number]): Made {
  return transposed(w, w.reshape(x, [0, 0, heads, ...dims]), [1, 0, 2, 3, 4])
}

/** Heads of a value that others share, once for each that reads them. */
const shared = (w: Writer, x: Made, index: readonly number[], axis: number): Made =>
  index.every((from, i) => from === i) && dimsOf(x)[axis] === index.length
    ? x
    : gathered(w, x, w.constant('int64', index), axis)

const columnsOf = (x: Made): number => knownSizes('the columns of heads', dimsOf(x)[2])[0]

/** Token by token: the state decays, what the token writes is added, and the queries read it. */
function expandLinear(call: SourceCall, w: Writer): readonly Made[] {
  const [queryHeads, heads] = [call.param<number>('queryHeads'), call.param<number>('valueHeads')]
  const { decays, corrects } = call.param<{ readonly decays: boolean; readonly corrects: boolean }>('rule')
  const [query, key, value] = ['query', 'key', 'value'].map(name => widened(w, call.operand(name)))
  const [depth, width] = [columnsOf(query) / queryHeads, columnsOf(value) / heads]
  const keyHeads = columnsOf(key) / depth
  const all = Math.max(queryHeads, heads)
  const [readers, spread] = [all / heads, all / queryHeads]
  const keys = shared(
    w,
    byToken(w, key, keyHeads, [1, depth]),
    upTo(heads).map(i => Math.floor((i * keyHeads) / heads)),
    2
  )
  const queries = shared(
    w,
    byToken(w, query, queryHeads, [1, depth]),
    upTo(all).map(i => Math.floor(i / spread)),
    2
  )
  const values = byToken(w, value, heads, [1, width])
  const rates = decays ? decayOf(call, w, heads, depth) : undefined
  const beta = corrects ? widened(w, call.operand('beta')) : undefined
  const betas = beta && byToken(w, beta, columnsOf(beta), [1, 1])
  const past = call.optional('past')
  const type = typeOf(query)
  const initial = past
    ? widened(w, past)
    : expanded(w, w.scalar(type, 0), sizeList(w, [sizeAt(w, query, 0), heads, depth, width]))
  const factor = call.param<number>('scale') || 1 / Math.sqrt(depth)
  const count = sizeScalar(w, sizeAt(w, query, 1))
  const { carried, stacked } = looped(w, { count }, [initial], (inner, token, [state]) => {
    const at = (x: Made): Made => gathered(inner, x, token, 0)
    const decayed = rates ? mul(inner, state, at(rates)) : state
    const k = at(keys)
    const v = at(values)
    const written = betas ? mul(inner, at(betas), sub(inner, v, multiplied(inner, k, decayed))) : v
    const after = add(inner, decayed, mul(inner, transposed(inner, k, [0, 1, 3, 2]), written))
    const read = shared(
      inner,
      after,
      upTo(all).map(i => Math.floor(i / readers)),
      1
    )
    return { next: [after], stacked: [multiplied(inner, at(queries), read)] }
  })
  // [tokens, batch, heads, 1, width]
  const y = w.reshape(transposed(w, stacked[0], [1, 0, 2, 3, 4]), [0, 0, all * width])
  const types = call.results.map(fact => (fact.kind === 'tensor' ? fact.type : undefined))
  return [times(w, y, factor), carried[0]].slice(0, call.outputCount).map((each, i) => w.cast(each, types[i] ?? type))
}

/** What the state is multiplied with: a number for each head, or for each row of its state. */
function decayOf(call: SourceCall, w: Writer, heads: number, depth: number): Made {
  const decay = elementwise(w, 'Exp', widened(w, call.operand('decay')))
  return byToken(w, decay, heads, [columnsOf(decay) === heads ? 1 : depth, 1])
}

/** Linear attention as a loop over the tokens. */
export const linearRules: readonly Conversion[] = expands(linearAttention, expandLinear)
