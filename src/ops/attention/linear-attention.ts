import { fail } from '../../errors.ts'
import { decayState, readState, writeState } from '../../kernels/attention/linear-attention.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank, sizeOfHeads } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, float, int, is, mapped } from '../../op-kit/sources.ts'
import { type Dim, mayMatch, meetDims, mulDims, printDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'

/** The update rule of the state. */
interface Rule {
  /** The state decays before a token is written. */
  readonly decays: boolean
  /** What is written is the difference between the value and what the state gives for the key (the delta rule). */
  readonly corrects: boolean
}

interface Params {
  queryHeads: number
  valueHeads: number
  /** 0 stands for 1 / sqrt(depth). */
  scale: number
  rule: Rule
  /** There may be more heads of values than of queries or keys, which several states then share. */
  inverse: boolean
}

interface Facts {
  readonly query: TensorFact
  readonly key: TensorFact
  readonly value: TensorFact
  readonly past: TensorFact | undefined
  readonly decay: TensorFact | undefined
  readonly beta: TensorFact | undefined
}

const common = {
  queryHeads: int('q_num_heads'),
  valueHeads: int('kv_num_heads'),
  scale: float('scale'),
  rule: choice('update_rule', {
    linear: { decays: false, corrects: false },
    gated: { decays: true, corrects: false },
    delta: { decays: false, corrects: true },
    gated_delta: { decays: true, corrects: true }
  })
}

/** Rules of {@link linearAttention}. */
export const linearAttentionRules = defineRules({
  name: 'LinearAttention',
  operands: { query: 'tensor', key: 'tensor', value: 'tensor', past: 'optional', decay: 'optional', beta: 'optional' },
  params: params<Params>(),
  onnx: [
    { since: 27, bind: { ...common, inverse: is(false) } },
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        ...common,
        inverse: mapped(int('state_window'), window => {
          if (window !== 0) fail('unknown-attribute-value', `state_window is ${window}; only 0 is supported`)
          return true
        })
      }
    }
  ],

  shape(facts, p, { outputCount }) {
    demandOperand('decay', facts.decay, p.rule.decays)
    demandOperand('beta', facts.beta, p.rule.corrects)
    const shapes = resultShapes(facts, p)
    const { query, past = query } = facts
    return [tensorFact(query.type, shapes?.[0]), tensorFact(past.type, shapes?.[1])].slice(0, outputCount)
  }
})

/**
 * Linear attention, by a state of fixed size: each token is written into the state of its head, which the query heads
 * that share it then read. Computed token by token in double precision; `chunk_size` makes no difference. Outputs: what
 * was read, and the state, of the past state's type or, without one, of the query's. ONNX LinearAttention-27;
 * com.microsoft LinearAttention-1, where several heads of values may share a head of queries and one of keys, too.
 */
export const linearAttention = /* @__PURE__ */ withKernel(linearAttentionRules, {
  *run({ query, key, value, past, decay, beta }, { queryHeads, valueHeads, scale, rule }, call) {
    const [read, last] = [call.output(), call.outputCount > 1 ? call.output(1) : undefined]
    if (read.data.length === 0 && !last?.data.length) return
    const [batch, tokens, columns] = query.dims
    const depth = columns / queryHeads
    const width = value.dims[2] / valueHeads
    const outHeads = Math.max(queryHeads, valueHeads)
    const [readers, spread] = [outHeads / valueHeads, outHeads / queryHeads]
    const factor = scale === 0 ? 1 / Math.sqrt(depth) : scale
    const [queries, keys, values] = [yield* readNumbers(query), yield* readNumbers(key), yield* readNumbers(value)]
    const [before, decays, rates] = [
      past && (yield* readNumbers(past)),
      decay && (yield* readNumbers(decay)),
      beta && (yield* readNumbers(beta))
    ]
    const keyHeads = key.dims[2] / depth
    const perRow = decay !== undefined && decay.dims[2] !== valueHeads
    const [out, present] = [targetOf(read), last && targetOf(last)]
    const size = depth * width
    const row = new Float64Array(width)
    const pace = new Pace()
    for (let head = 0; head < batch * valueHeads; head++) {
      const state = Float64Array.from({ length: size }, (_, i) => (before ? before[head * size + i] : 0))
      const [sample, own] = [Math.floor(head / valueHeads), head % valueHeads]
      for (let t = sample * tokens; t < (sample + 1) * tokens; t++) {
        const at = t * valueHeads + own
        if (rule.decays && decays) decayState(state, depth, width, decays, perRow ? at * depth : at, perRow)
        const rate = rule.corrects && beta && rates ? rates[beta.dims[2] === 1 ? t : at] : undefined
        writeState(
          {
            state,
            depth,
            width,
            keys,
            key: (t * keyHeads + Math.floor((own * keyHeads) / valueHeads)) * depth,
            values,
            value: at * width
          },
          rate,
          row
        )
        for (let reader = own * readers; reader < (own + 1) * readers; reader++) {
          readState(
            state,
            depth,
            width,
            queries,
            (t * queryHeads + Math.floor(reader / spread)) * depth,
            factor,
            out.numbers,
            (t * outHeads + reader) * width
          )
        }
        if (pace.isDue(size * (readers + 3) * COST.multiplyAdd)) yield
      }
      present?.numbers.set(state, head * size)
    }
    yield* out.finish()
    if (present) yield* present.finish()
  }
})

function demandOperand(name: string, fact: TensorFact | undefined, needed: boolean): void {
  if (needed && fact === undefined) fail('missing-input', `the update rule needs ${name}`)
  if (!needed && fact !== undefined) fail('unexpected-input', `the update rule has no use for ${name}`)
}

function resultShapes(
  { query, key, value, past, decay, beta }: Facts,
  { queryHeads, valueHeads, inverse }: Params
): readonly (readonly Dim[])[] | undefined {
  const whole = queryHeads % valueHeads === 0 || (inverse && valueHeads % queryHeads === 0)
  if (queryHeads < 1 || valueHeads < 1 || !whole) {
    fail(
      'unknown-attribute-value',
      `q_num_heads is ${queryHeads} and kv_num_heads ${valueHeads}; expected a positive multiple`
    )
  }
  for (const [name, fact] of Object.entries({ query, key, value, decay, beta })) checkRank(name, fact, 3)
  if (!query.shape || !key.shape || !value.shape) return undefined
  const depth = sizeOfHeads('query', query.shape[2], queryHeads)
  const width = sizeOfHeads('value', value.shape[2], valueHeads)
  const tokens = query.shape
    .slice(0, 2)
    .map((dim, i) =>
      [key, value, decay, beta].reduce((known, fact) => meetToken(known, fact?.shape?.[i] ?? known), dim)
    )
  const keyColumns = key.shape[2]
  if (!inverse) demandColumns('key', keyColumns, [mulDims(valueHeads, depth)])
  else if (typeof keyColumns === 'number' && typeof depth === 'number') {
    const heads = keyColumns / depth
    if (!Number.isInteger(heads) || heads < 1 || valueHeads % heads !== 0)
      fail('shape-mismatch', `key has ${keyColumns} columns; expected those of heads of ${depth} that values share`)
  }
  if (decay?.shape) demandColumns('decay', decay.shape[2], [valueHeads, mulDims(valueHeads, depth)])
  if (beta?.shape) demandColumns('beta', beta.shape[2], [1, valueHeads])
  const state = [tokens[0], valueHeads, depth, width]
  const fits =
    past?.shape === undefined || (past.shape.length === 4 && past.shape.every((dim, i) => mayMatch(dim, state[i])))
  if (!fits) fail('shape-mismatch', `past_state has shape ${printShape(past?.shape)}; expected ${printShape(state)}`)
  return [[...tokens, mulDims(Math.max(queryHeads, valueHeads), width)], state]
}

const meetToken = (a: Dim, b: Dim): Dim =>
  meetDims(a, b) ??
  fail('shape-mismatch', `batch sizes and lengths must be equal; they are ${printDim(a)} and ${printDim(b)}`)

function demandColumns(name: string, columns: Dim, allowed: readonly Dim[]): void {
  if (allowed.some(dim => mayMatch(dim, columns))) return
  fail('shape-mismatch', `${name} has ${printDim(columns)} columns; expected ${allowed.map(printDim).join(' or ')}`)
}
