import { fail } from '../../errors.ts'
import { doubles } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { hashNGrams, type NGramRule, type NGramTables, type TokenRun } from '../../kernels/text/ngram-hash.ts'
import { type KernelContext, params } from '../../op-kit/define.ts'
import { checkDim, checkRank, meetShape } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int } from '../../op-kit/sources.ts'
import { type Dim, maxDim, printDim, subDims, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { exactIndex, toBigInts, toDoubles } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  /** Tokens of the longest n-gram. */
  longest: number
  /** Hashes of an n-gram of each length. */
  heads: number
  pad: number
  /** Whether a sequence begins anew after the token that ends one. */
  resets: boolean
}

const bind = {
  longest: int('max_ngram_size'),
  heads: int('n_head_per_ngram'),
  pad: int('pad_id'),
  resets: flag('reset_on_eos')
} as const

/** What both operators have. */
interface Tables<T> {
  readonly ids: T
  readonly factors: T
  readonly moduli: T
  readonly pastIds: T | undefined
  readonly offsets: T | undefined
  readonly end: T | undefined
  readonly segments: T | undefined
}

/** Rules of {@link ngramHashMapping}. */
export const ngramHashMappingRules = defineRules({
  name: 'NGramHashMapping',
  operands: {
    ids: 'tensor',
    factors: 'tensor',
    moduli: 'tensor',
    pastIds: 'optional',
    offsets: 'optional',
    end: 'optional',
    segments: 'optional'
  },
  params: params<Params>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind }],

  shape(operands, p, { outputCount }) {
    const { ids, pastIds, segments } = operands
    checkRank('input_ids', ids, 2)
    const count = checkTables(operands, p)
    const [batch, length] = ids.shape ?? [unknownDim(), unknownDim()]
    meetShape('past_ids', pastIds, [batch, p.longest - 1])
    meetShape('segment_ids', segments, [batch, length])
    const present = tensorFact(ids.type, [batch, p.longest - 1])
    return [tensorFact(ids.type, [batch, length, count]), present].slice(0, outputCount)
  }
})

/**
 * Hashes of the n-grams of 2 tokens and more that end at each token, some for each length, and the last tokens for
 * the next call. Tokens before the first, and before the last boundary, are the pad, or the token that ends a sequence
 * where that is given. com.microsoft NGramHashMapping-1.
 */
export const ngramHashMapping = /* @__PURE__ */ withKernel(ngramHashMappingRules, {
  *run(operands, p, call) {
    const [batch, length] = operands.ids.dims
    const starts = doubles(batch + 1)
    for (let i = 0; i < starts.length; i++) starts[i] = i * length
    yield* mapRuns({ ...operands, pastSegments: undefined }, p, starts, call)
  }
})

/** Rules of {@link varlenNGramHashMapping}. */
export const varlenNGramHashMappingRules = defineRules({
  name: 'VarlenNGramHashMapping',
  operands: {
    ids: 'tensor',
    factors: 'tensor',
    moduli: 'tensor',
    starts: 'tensor',
    pastIds: 'optional',
    offsets: 'optional',
    end: 'optional',
    segments: 'optional',
    pastSegments: 'optional',
    captures: 'optional'
  },
  params: params<Params & { capacity: number }>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { ...bind, capacity: int('state_update_capacity') } }],

  shape(operands, p, { outputCount }) {
    const { ids, starts, pastIds, segments, pastSegments, captures } = operands
    checkRank('input_ids', ids, 1)
    checkRank('cumulative_sequence_length', starts, 1)
    const count = checkTables(operands, p)
    const tokens = ids.shape?.[0] ?? unknownDim()
    const given = starts.shape?.[0] ?? unknownDim(2)
    if (maxDim(given) < 2) fail('dims-mismatch', `there are ${printDim(given)} sequence bounds; 2 or more are expected`)
    const batch = subDims(given, 1)
    const state = [batch, p.longest - 1]
    meetShape('past_ids', pastIds, state)
    meetShape('segment_ids', segments, [tokens])
    meetShape('past_segment_ids', pastSegments, state)
    meetShape('capture_count', captures, [batch])
    if (pastSegments && !segments) fail('wrong-input-count', 'past_segment_ids are given without segment_ids')
    if (p.capacity < 0 || (captures !== undefined) !== p.capacity > 0)
      fail(
        'unknown-attribute-value',
        `state_update_capacity is ${p.capacity}; where it is positive, capture_count is needed`
      )
    const present = tensorFact(ids.type, state)
    const update = tensorFact(ids.type, [batch, p.capacity, p.longest - 1])
    return [tensorFact(ids.type, [tokens, count]), present, tensorFact('int32', state), update].slice(0, outputCount)
  }
})

/**
 * {@link ngramHashMapping} of sequences that lie one after the other; `cumulative_sequence_length` says where each
 * begins. Results also: the last segments, and for the first tokens of each sequence, as many as `capture_count` says
 * and `state_update_capacity` allows, the last tokens after each; the rest is the pad. com.microsoft
 * VarlenNGramHashMapping-1.
 */
export const varlenNGramHashMapping = /* @__PURE__ */ withKernel(varlenNGramHashMappingRules, {
  *run(operands, p, call) {
    const starts = boundsOf(operands.starts, operands.ids.dims[0])
    const { captures } = operands
    const counts = captures ? toDoubles(captures) : []
    const store = call.wanted(3) ? storeOf(call.output(3)) : undefined
    const state = p.longest - 1
    const pad = BigInt(p.pad)
    const pace = new Pace()
    const capture = function* (index: number, { count, tokenAt }: TokenRun): Generator<void> {
      const captured = Math.min(counts[index] ?? 0, p.capacity, count)
      for (let i = 0; store && i < p.capacity; i++) {
        for (let j = 0; j < state; j++) store(i < captured ? tokenAt(i + 1 + j) : pad)
        if (pace.isDue(state * COST.element)) yield
      }
    }
    yield* mapRuns(operands, p, starts, call, capture)
    if (call.wanted(2)) lastSegments(operands, starts, state, call)
  }
})

/** The number of hashes of a token. */
function checkTables({ ids, factors, moduli, offsets, end }: Tables<TensorFact>, p: Params): Dim {
  const { longest, heads, pad } = p
  if (longest < 2) fail('unknown-attribute-value', `attribute "max_ngram_size" is ${longest}; 2 or more is expected`)
  if (heads < 1) fail('unknown-attribute-value', `attribute "n_head_per_ngram" is ${heads}; 1 or more is expected`)
  if (ids.type === 'int32' && pad !== (pad | 0))
    fail('unknown-attribute-value', `attribute "pad_id" is ${pad}, which no int32 can be`)
  const count = (longest - 1) * heads
  checkRank('multipliers', factors, 1)
  const known = factors.shape?.[0]
  if (known !== undefined && maxDim(known) < longest)
    fail('dims-mismatch', `there are ${printDim(known)} multipliers; ${longest} are expected`)
  checkRank('vocab_sizes', moduli, 1)
  checkDim('vocab_sizes', moduli, 0, count)
  meetShape('head_offsets', offsets, [count])
  checkRank('eos_token_id', end, 0)
  return count
}

/** Writes integers one after the other, in a tensor's own type. */
function storeOf({ data }: Tensor): (value: bigint) => void {
  let at = 0
  return value => {
    if (data instanceof BigInt64Array) data[at++] = value
    else (data as Int32Array)[at++] = Number(value)
  }
}

interface Runs extends Tables<Tensor> {
  readonly pastSegments: Tensor | undefined
}

/** Outputs 0 and 1. `visit` is given each sequence. */
function* mapRuns(
  operands: Runs,
  p: Params,
  starts: ArrayLike<number>,
  call: KernelContext,
  visit?: (index: number, run: TokenRun) => Generator<void>
): Generator<void> {
  const state = p.longest - 1
  const [tables, rule] = [tablesOf(operands), ruleOf(operands, p)]
  const { ids, pastIds } = operands
  const write = storeOf(call.output())
  const writePresent = call.wanted(1) ? storeOf(call.output(1)) : undefined
  const pace = new Pace()
  for (let i = 0; i + 1 < starts.length; i++) {
    const start = starts[i]
    const run: TokenRun = {
      count: starts[i + 1] - start,
      tokenAt: at =>
        at >= state ? exactIndex(ids, start + at - state) : pastIds ? exactIndex(pastIds, i * state + at) : rule.filler,
      begins: beginningsOf(operands, i, start, state)
    }
    yield* hashNGrams(run, rule, tables, write)
    for (let j = 0; writePresent && j < state; j++) writePresent(run.tokenAt(run.count + j))
    if (visit) yield* visit(i, run)
    if (pace.isDue(COST.allocation + state * COST.element)) yield
  }
}

function tablesOf({ factors, moduli, offsets }: Runs): NGramTables {
  const divisors = toBigInts(moduli)
  const bad = divisors.findIndex(value => value <= 0n)
  if (bad >= 0) fail('value-out-of-range', `vocab_sizes is ${divisors[bad]} at [${bad}]; a positive number is expected`)
  return { factors: toBigInts(factors), moduli: divisors, offsets: offsets && toBigInts(offsets) }
}

function ruleOf({ ids, end }: Runs, { longest, heads, pad, resets }: Params): NGramRule {
  const last = end && toBigInts(end)[0]
  return {
    longest,
    heads,
    filler: last ?? BigInt(pad),
    end: resets ? last : undefined,
    bits: ids.type === 'int32' ? 32 : 64
  }
}

/** Whether a segment begins at a token of a sequence, counted from the first of its past. */
function beginningsOf(
  { segments, pastSegments }: Runs,
  index: number,
  start: number,
  state: number
): TokenRun['begins'] {
  if (segments === undefined) return () => false
  const own = segments.data as Int32Array
  const before = pastSegments?.data as Int32Array | undefined
  const segmentAt = (at: number): number => (at < state ? before![index * state + at] : own[start + at - state])
  return at => (before !== undefined || at > state) && segmentAt(at) !== segmentAt(at - 1)
}

/** Where each sequence begins, and the end of the last. */
function boundsOf(starts: Tensor, tokens: number): readonly number[] {
  const bounds = [...toDoubles(starts)]
  const isAscending = bounds.every((bound, i) => i === 0 || bound > bounds[i - 1])
  if (bounds[0] !== 0 || bounds[bounds.length - 1] !== tokens || !isAscending)
    fail('value-out-of-range', `cumulative_sequence_length does not ascend from 0 to the number of tokens, ${tokens}`)
  return bounds
}

/** Output 2: the segments of the last tokens; before the first token its own where no others are given. */
function lastSegments(
  { segments, pastSegments }: Runs,
  starts: readonly number[],
  state: number,
  call: KernelContext
): void {
  if (segments === undefined) return fail('wrong-input-count', 'segments are asked for, and segment_ids are not given')
  const own = segments.data as Int32Array
  const before = pastSegments?.data as Int32Array | undefined
  const out = call.output(2).data as Int32Array
  for (let i = 0; i + 1 < starts.length; i++) {
    for (let j = 0; j < state; j++) {
      const at = starts[i + 1] - state + j
      out[i * state + j] =
        at >= starts[i] ? own[at] : before ? before[(i + 1) * state + at - starts[i]] : own[starts[i]]
    }
  }
}
