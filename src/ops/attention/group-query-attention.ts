import { fail } from '../../errors.ts'
import { grouped } from '../../kernels/attention/grouped.ts'
import { type DataDependent, params } from '../../op-kit/define.ts'
import { type GroupedRunParams, runGrouped } from '../../op-kit/grouped-run.ts'
import { cacheType, groupedSizes, type Scales } from '../../op-kit/grouped.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, flag, float, inputInt, int, is, mapped } from '../../op-kit/sources.ts'
import { mulDims } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params extends Omit<GroupedRunParams, 'total'> {
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

/** Rules of {@link groupQueryAttention}. */
export const groupQueryAttentionRules = defineRules({
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
      requires: ['pastKey', 'pastValue', 'blockRows', 'blockColumns'],
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

  grows: { 1: 'pastKey', 2: 'pastValue' }
})

/**
 * Attention whose query heads share keys and values in groups, over a cache: com.microsoft GroupQueryAttention-1 and,
 * over the blocks of a mask only, SparseAttention-1. Results: the attended values, the caches with the fresh keys and
 * values, and scores or weights. Fresh keys come first where there are as many as keys at all, else they are the last
 * of the valid keys of their entry of the batch. Rows of the caches beyond are zeros, those of SparseAttention the ones
 * of the past. Caches may hold codes, of the fresh ones too, and then attention is over what the codes stand for. A
 * sliding cache holds the last positions only; one that is not may be extended in place (`grows`), and its rows
 * beyond then stay what they are. Where position_ids are given, the first alone counts in a first prompt, as in ONNX
 * Runtime. Norms of queries and keys, before rotation, are those of the operator's text.
 */
export const groupQueryAttention = /* @__PURE__ */ withKernel(groupQueryAttentionRules, {
  run: (x, p, call) => runGrouped(x, p, call, grouped)
})
