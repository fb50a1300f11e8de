import { fail } from '../../errors.ts'
import { blockMask } from '../../kernels/attention/block-mask.ts'
import { type CacheRows, type Coding, extendCache, residentRows } from '../../kernels/attention/cache.ts'
import { grouped, type Places, placesOf, preparedHeads, type Preparing } from '../../kernels/attention/grouped.ts'
import { type Heads, headsInRows } from '../../kernels/attention/heads.ts'
import { maskReader } from '../../kernels/attention/masks.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { type DataDependent, defineOp, params, type RunParams } from '../../op-kit/define.ts'
import { cacheType, type GroupedOperands, type GroupedParams, groupedSizes, type Scales } from '../../op-kit/grouped.ts'
import { choice, flag, float, inputInt, int, is, mapped } from '../../op-kit/sources.ts'
import { mulDims } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { indexReader, toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params extends GroupedParams {
  /** 0: 1 / sqrt(depth). */
  scale: number
  softcap: number
  interleaved: boolean
  /** A hidden key of score 0 takes part in softmax. */
  smooth: boolean
  /** What result 3 holds. */
  shown: 'nothing' | 'biased' | 'weights'
  epsilon: number
  /** What is added to the lengths to get numbers of valid keys. */
  counted: 0 | 1
  /** The largest number of valid keys. */
  total: DataDependent<number>
}

const SCALES: Readonly<Record<string, Scales>> = { NONE: 'none', PER_TENSOR: 'tensor', PER_CHANNEL: 'channel' }
const SHOWN = ['nothing', 'biased', 'weights'] as const

const common = {
  heads: int('num_heads'),
  shared: int('kv_num_heads'),
  scale: float('scale', 0),
  rotates: flag('do_rotary', false),
  interleaved: flag('rotary_interleaved', false)
}

/**
 * Attention whose query heads share keys and values in groups, over a cache: com.microsoft GroupQueryAttention-1 and,
 * over the blocks of a mask only, SparseAttention-1. Results: the attended values, the caches with the fresh keys and
 * values, and scores or weights. Fresh keys come first where there are as many as keys at all, else they are the last
 * of the valid keys of their entry of the batch. Rows of the caches beyond are zeros, those of SparseAttention the ones
 * of the past. Caches may hold codes, of the fresh ones too, and then attention is over what the codes stand for. A
 * sliding cache holds the last positions only. Where position_ids are given, the first alone counts in a first prompt,
 * as in ONNX Runtime. Norms of queries and keys, before rotation, are those of the operator's text.
 */
export const groupQueryAttention = defineOp({
  name: 'GroupQueryAttention',
  operands: {
    query: 'tensor',
    key: 'optional',
    value: 'optional',
    pastKey: 'optional',
    pastValue: 'optional',
    lengths: 'tensor',
    cos: 'optional',
    sin: 'optional',
    positions: 'optional',
    bias: 'optional',
    sinks: 'optional',
    keyScale: 'optional',
    valueScale: 'optional',
    queryNorm: 'optional',
    keyNorm: 'optional',
    blockRows: 'optional',
    blockColumns: 'optional'
  },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      in: {
        query: 0,
        key: 1,
        value: 2,
        pastKey: 3,
        pastValue: 4,
        lengths: 5,
        cos: 7,
        sin: 8,
        positions: 9,
        bias: 10,
        sinks: 11,
        keyScale: 12,
        valueScale: 13,
        queryNorm: 14,
        keyNorm: 15
      },
      bind: {
        ...common,
        total: inputInt(6),
        causal: flag('causal'),
        window: int('local_window_size'),
        softcap: float('softcap', 0),
        smooth: mapped(int('smooth_softmax'), value => value > 0),
        shown: mapped(
          int('qk_output'),
          value => SHOWN[value] ?? fail('unknown-attribute-value', `qk_output is ${value}; expected 0, 1 or 2`)
        ),
        bits: int('kv_cache_bit_width', 0),
        keyScales: choice('k_quant_type', SCALES),
        valueScales: choice('v_quant_type', SCALES),
        slides: flag('sliding_window_cache'),
        epsilon: float('qk_norm_epsilon'),
        block: is(0),
        counted: is(1)
      }
    },
    {
      type: 'SparseAttention',
      domain: 'com.microsoft',
      since: 1,
      in: {
        query: 0,
        key: 1,
        value: 2,
        pastKey: 3,
        pastValue: 4,
        blockRows: 5,
        blockColumns: 6,
        lengths: 8,
        cos: 9,
        sin: 10
      },
      bind: {
        ...common,
        total: inputInt(7),
        block: mapped(int('sparse_block_size'), size =>
          size > 0 ? size : fail('unknown-attribute-value', `sparse_block_size is ${size}; expected 1 or more`)
        ),
        causal: is(true),
        window: is(-1),
        softcap: is(0),
        smooth: is(false),
        shown: is('nothing'),
        bits: is(0),
        keyScales: is('none'),
        valueScales: is('none'),
        slides: is(false),
        epsilon: is(0),
        counted: is(0)
      }
    }
  ],

  shape(x, p, { outputCount }) {
    const { query } = x
    const type = cacheType(query, x.pastKey, p)
    if (p.shown === 'nothing' && outputCount > 3)
      fail('unknown-attribute-value', 'qk_output is 0; output_qk has nothing to show')
    if (query.shape === undefined) {
      const types = [query.type, type, type, query.type]
      return types.slice(0, outputCount).map(own => tensorFact(own, undefined))
    }
    const { batch, fresh, size, present } = groupedSizes(x, p, p.total)
    const cache = [batch, p.shared, present, x.pastKey?.shape?.[3] ?? (p.bits === 4 ? undefined : size)]
    const known = cache.every(dim => dim !== undefined) ? cache : undefined
    return [
      tensorFact(query.type, [batch, fresh, mulDims(size, p.heads)]),
      tensorFact(type, known),
      tensorFact(type, known),
      tensorFact(query.type, [batch, p.heads, fresh, p.total])
    ].slice(0, outputCount)
  },

  *run(x, p, call) {
    const [batches, fresh] = x.query.dims
    const lengths = toNumbers(x.lengths)
    const places = placesOf(
      Array.from({ length: batches }, (_, i) => lengths[i] + p.counted),
      fresh,
      p.total
    )
    const pace = new Pace()
    const { q, k, v } = yield* inputsOf(x, p, places, pace)
    const target = targetOf(call.output())
    const wanted = (i: number): boolean => i < call.outputCount && call.wanted(i)
    const { rows, first } = cacheRows(x.pastKey, places, fresh, p)
    const attended: Heads[] = []
    for (const [i, heads] of [k, v].entries()) {
      const [past, scales] = i === 0 ? [x.pastKey, x.keyScale] : [x.pastValue, x.valueScale]
      const coding = scales && p.bits !== 0 ? { type: codeType(past, p.bits), scales: toNumbers(scales) } : undefined
      const side = { fresh: heads, past, present: wanted(i + 1) ? call.output(i + 1) : undefined, coding }
      attended.push(yield* extendCache(side, rows, batches, pace))
    }
    const shown = wanted(3) && p.shown !== 'nothing' ? targetOf(call.output(3)) : undefined
    yield* grouped(
      {
        batches,
        q,
        k: attended[0],
        v: attended[1],
        first,
        places,
        out: headsInRows(target.numbers, p.heads, fresh, q.size),
        scale: p.scale,
        softcap: p.softcap,
        causal: p.causal,
        window: p.window,
        bias: x.bias && maskReader(x.bias, [batches, p.heads], fresh, p.total),
        hideBlocks: x.blockRows && x.blockColumns && blockMask(x.blockRows, x.blockColumns, p.block),
        sinks: x.sinks ? toNumbers(x.sinks) : p.smooth ? new Float64Array(p.heads) : undefined,
        shown: shown && { numbers: shown.numbers, total: p.total, stage: p.shown as 'biased' | 'weights' }
      },
      pace
    )
    yield* target.finish()
    if (shown) yield* shown.finish()
  }
})

type Given = GroupedOperands<Tensor>

/** Queries, keys and values as heads, normalized and rotated. */
function* inputsOf(
  x: Given,
  p: RunParams<Params>,
  { past }: Places,
  pace: Pace
): Generator<void, { q: Heads; k: Heads; v: Heads }> {
  const [batches, fresh, columns] = x.query.dims
  const [query, key, value] = [
    yield* readNumbers(x.query),
    x.key && (yield* readNumbers(x.key)),
    x.value && (yield* readNumbers(x.value))
  ]
  const size = columns / (key ? p.heads : p.heads + 2 * p.shared)
  const part = (count: number, before: number): Heads => headsInRows(query, count, fresh, size, columns, before * size)
  const own = x.positions && indexReader(x.positions)
  const inPrompt = fresh === p.total
  const angles =
    p.rotates && x.cos && x.sin ? { cos: yield* readNumbers(x.cos), sin: yield* readNumbers(x.sin) } : undefined
  const half = x.cos?.dims[1] ?? 0
  const how = (norm: Tensor | undefined): Preparing => ({
    norm: norm && { factors: toNumbers(norm), epsilon: p.epsilon },
    angles: angles && { ...angles, half, interleaved: p.interleaved },
    positions: x.cos?.dims[0] ?? 0,
    position: (batch, row) => {
      if (!own) return past[batch] + row
      return inPrompt ? own(0) + row : own(batch * fresh + row)
    }
  })
  return {
    q: yield* preparedHeads(part(p.heads, 0), batches, how(x.queryNorm), pace),
    k: yield* preparedHeads(
      key ? headsInRows(key, p.shared, fresh, size) : part(p.shared, p.heads),
      batches,
      how(x.keyNorm),
      pace
    ),
    v: value ? headsInRows(value, p.shared, fresh, size) : part(p.shared, p.heads + p.shared)
  }
}

/** The type of the codes of a cache. */
const codeType = (past: Tensor | undefined, bits: number): Coding['type'] =>
  bits === 4 ? 'uint8' : past?.type === 'float8e4m3fn' ? 'float8e4m3fn' : 'int8'

/** Which rows the caches have, and the position of the first row of each entry of the batch. */
function cacheRows(
  cache: Tensor | undefined,
  { past, valid }: Places,
  fresh: number,
  { total, slides, window, block }: RunParams<Params>
): { rows: CacheRows; first: readonly number[] } {
  const capacity = cache?.dims[2] ?? 0
  if (!slides) {
    past.forEach((count, batch) => {
      if (count > capacity)
        fail(
          'value-out-of-range',
          `entry ${batch} has ${count} keys before the fresh ones; the past has ${capacity} rows`
        )
    })
    const kept = (batch: number): number => (block > 0 ? capacity : past[batch])
    const rows = { attended: Math.max(total, capacity), kept, fresh: (batch: number) => past[batch] }
    return { rows, first: past.map(() => 0) }
  }
  const resident = past.map(count => residentRows(count, capacity, window))
  const left = (batch: number): number => residentRows(valid[batch], capacity, window)
  const slide = {
    rows: capacity,
    from: (batch: number) => resident[batch] + valid[batch] - past[batch] - left(batch),
    count: left
  }
  const own = (batch: number): number => resident[batch]
  return {
    rows: { attended: capacity + fresh, kept: own, fresh: own, slides: slide },
    first: past.map((count, batch) => count - resident[batch])
  }
}
