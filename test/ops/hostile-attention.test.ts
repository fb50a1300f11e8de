import type { Tensor } from '../../src/tensor/tensor.ts'
import { holdCalls, type Hostile, i64, outcomeOf, t, up, withAttributes, withInputs } from './hostile.ts'

const BIG = 2 ** 40
const q = up(1, 2, 4)
const buffer = t('float32', [1, 2, 3, 2])
const length = (value: number) => t('int32', [1], value)

const grouped = (last: number, total: number): (Tensor | undefined)[] => [
  q,
  q,
  q,
  buffer,
  buffer,
  length(last),
  t('int32', [], total)
]
const sparse = (total: number): (Tensor | undefined)[] => [
  q,
  q,
  q,
  buffer,
  buffer,
  t('int32', [1, 2], 0, 1),
  t('int32', [1, 1], -1),
  t('int32', [], total),
  length(2)
]

const biased = (table: Tensor, size: number, attributes: Hostile[3], expected: string): Hostile => [
  'com.microsoft:RelativePositionBias',
  1,
  [table, i64(size), i64(size)],
  attributes,
  expected
]

/** What comes of the same call without a window. */
const WINDOWLESS = outcomeOf([
  'com.microsoft:GroupQueryAttention',
  1,
  grouped(2, 3),
  { num_heads: 2, kv_num_heads: 2 },
  ''
])

/** Inputs of AttnLSTM up to the memory, without what it may be given of the state before. */
const attended: Hostile[2] = [
  ...[up(1, 1, 1), up(1, 4, 2), up(1, 4, 1), undefined, undefined, undefined, undefined, undefined],
  ...[up(1, 1, 1), up(1, 1, 1), up(1, 1), up(1, 1, 1)]
]

const calls: readonly Hostile[] = [
  ['com.microsoft:MultiHeadAttention', 1, [q, q, q], { num_heads: 0 }, 'unknown-attribute-value'],
  ['com.microsoft:MultiHeadAttention', 1, [q, q, q], { num_heads: -2 }, 'unknown-attribute-value'],
  ['com.microsoft:MultiHeadAttention', 1, [q, q, q], { num_heads: BIG }, 'shape-mismatch'],
  ...withInputs('com.microsoft:MultiHeadAttention', 1, { num_heads: 2 }, [
    [[t('float32', [0, 2, 4]), t('float32', [0, 2, 4]), t('float32', [0, 2, 4])], 'float32[0,2,4]'],
    [[q, t('float32', [1, 0, 4]), t('float32', [1, 0, 4])], 'float32[1,2,4] 0 0 0 0 0 0 …'],
    [[t('float32', [1, 2, 0]), t('float32', [1, 2, 0]), q], 'float32[1,2,4] NaN NaN NaN NaN NaN NaN …'],
    [[q, q, q, undefined, undefined, undefined, buffer, buffer, length(-1)], 'value-out-of-range'],
    [[q, q, q, undefined, undefined, undefined, buffer, buffer, length(2 ** 31 - 1)], 'value-out-of-range'],
    [[t('float32', [BIG, 1, 0]), t('float32', [BIG, 1, 0]), t('float32', [BIG, 1, 0])], `float32[${BIG},1,0]`]
  ]),
  ...withAttributes(
    'com.microsoft:Attention',
    1,
    [up(1, 2, 1), up(1, 6)],
    [
      [{ num_heads: BIG }, 'shape-mismatch'],
      [{ num_heads: -1 }, 'unknown-attribute-value'],
      [{ num_heads: 1, qkv_hidden_sizes: [-1, -1, 8] }, 'unknown-attribute-value'],
      [{ num_heads: 1, qkv_hidden_sizes: [BIG, BIG, BIG] }, 'dims-mismatch'],
      [{ num_heads: 1, do_rotary: 1, rotary_embedding_dim: BIG }, 'unknown-attribute-value'],
      [{ num_heads: 1, do_rotary: 1, rotary_embedding_dim: -2 }, 'unknown-attribute-value']
    ]
  ),
  [
    'com.microsoft:RotaryEmbedding',
    1,
    [q, t('int64', [1], 0), up(3, 1), up(3, 1)],
    { num_heads: BIG },
    'shape-mismatch'
  ],
  [
    'com.microsoft:RotaryEmbedding',
    1,
    [q, t('int64', [1], 0), up(3, 1), up(3, 1)],
    { num_heads: 1, rotary_embedding_dim: BIG },
    'dims-mismatch'
  ],
  ['com.microsoft:RotaryEmbedding', 1, [q, t('int64', [1], 2n ** 62n), up(3, 2), up(3, 2)], {}, 'index-out-of-range'],
  [
    'com.microsoft:RotaryEmbedding',
    1,
    [q, t('int64', [1], 0), t('float32', [3, 0]), t('float32', [3, 0])],
    {},
    'dims-mismatch'
  ],
  [
    'com.microsoft:RotaryEmbedding',
    1,
    [t('float32', [0, BIG, 4]), t('int64', [0, BIG]), up(3, 2), up(3, 2)],
    {},
    `float32[0,${BIG},4]`
  ],
  [
    'com.microsoft:MRotaryEmbedding',
    1,
    [q, t('int64', [3, 1, 2]), up(3, 2), up(3, 2)],
    { mrope_section: [BIG, BIG, -BIG] },
    'unknown-attribute-value'
  ],
  [
    'com.microsoft:MRotaryEmbedding',
    1,
    [q, t('int64', [3, 1, 2]), up(3, 2), up(3, 2)],
    { mrope_section: [] },
    'unknown-attribute-value'
  ],
  ...withInputs('com.microsoft:GroupQueryAttention', 1, { num_heads: 2, kv_num_heads: 2 }, [
    [grouped(0, 2 ** 31 - 1), 'value-out-of-range'],
    [grouped(0, -1), 'value-out-of-range'],
    [grouped(2 ** 31 - 1, 3), 'value-out-of-range']
  ]),
  ...withAttributes('com.microsoft:GroupQueryAttention', 1, grouped(2, 3), [
    [{ num_heads: 0, kv_num_heads: 2 }, 'unknown-attribute-value'],
    [{ num_heads: 2, kv_num_heads: 0 }, 'unknown-attribute-value'],
    [{ num_heads: BIG, kv_num_heads: 1 }, 'shape-mismatch'],
    [{ num_heads: 2, kv_num_heads: 2, local_window_size: BIG }, WINDOWLESS],
    [{ num_heads: 2, kv_num_heads: 2, qk_output: -1 }, 'unknown-attribute-value'],
    [
      {
        num_heads: 2,
        kv_num_heads: 2,
        kv_cache_bit_width: BIG,
        k_quant_type: 'PER_TENSOR',
        v_quant_type: 'PER_TENSOR'
      },
      'unknown-attribute-value'
    ]
  ]),
  [
    'com.microsoft:GroupQueryAttention',
    1,
    grouped(2, 2 ** 31 - 1),
    { num_heads: 2, kv_num_heads: 2, sliding_window_cache: 1, local_window_size: BIG },
    'dims-mismatch'
  ],
  [
    'com.microsoft:GroupQueryAttention',
    1,
    grouped(2 ** 31 - 2, 2 ** 31 - 1),
    { num_heads: 2, kv_num_heads: 2, sliding_window_cache: 1, local_window_size: 2, qk_output: 1 },
    WINDOWLESS
  ],
  [
    'com.microsoft:SparseAttention',
    1,
    sparse(2),
    { num_heads: 2, kv_num_heads: 2, sparse_block_size: BIG },
    'float32[1,2,4] 0 0 0 0 0 0 …'
  ],
  [
    'com.microsoft:SparseAttention',
    1,
    sparse(2),
    { num_heads: 2, kv_num_heads: 2, sparse_block_size: -1 },
    'unknown-attribute-value'
  ],
  [
    'com.microsoft:SparseAttention',
    1,
    sparse(2 ** 31 - 1),
    { num_heads: 2, kv_num_heads: 2, sparse_block_size: 1 },
    'value-out-of-range'
  ],
  [
    'com.microsoft:Attention',
    1,
    [t('float32', [BIG, 1, 0]), t('float32', [0, 0]), t('float32', [0])],
    { num_heads: 1 },
    `float32[${BIG},1,0]`
  ],
  ['com.microsoft:CausalConvWithState', 1, [up(1, 1, 3), up(1, 1, 2)], { dilation: BIG }, 'limit-exceeded'],
  ['com.microsoft:CausalConvWithState', 1, [up(1, 1, 3), up(1, 1, 2)], { dilation: -1 }, 'unknown-attribute-value'],
  ['com.microsoft:HyperConnectionPreMix', 1, [up(2, 4), up(2, 4)], { num_branches: BIG }, 'dims-mismatch'],
  [
    'com.microsoft:HyperConnectionPostMix',
    1,
    [t('float32', [BIG, 0]), t('float32', [BIG, 0]), t('float32', [BIG, 0])],
    { num_branches: 1 },
    'dims-mismatch'
  ],
  [
    'com.microsoft:BifurcationDetector',
    1,
    [t('int64', [2], 1, 2), t('int64', [1], 2), t('int64', [], 0)],
    { max_ngram_size: BIG },
    'int64[1] 2 | int64[] 2'
  ],
  [
    'com.microsoft:BifurcationDetector',
    1,
    [t('int64', [2], 1, 2), t('int64', [1], 2), t('int64', [], -(2n ** 62n)), t('int64', [1], 2)],
    {},
    'value-out-of-range'
  ],
  [
    'com.microsoft:LinearAttention',
    1,
    [up(1, 2, 4), up(1, 2, 4), up(1, 2, 4)],
    { q_num_heads: BIG, kv_num_heads: 1, update_rule: 'linear' },
    'shape-mismatch'
  ],
  ['ai.onnx.preview:FlexAttention', 1, [up(1, 1, 2, 2), up(1, 0, 2, 2), up(1, 0, 2, 2)], {}, 'dims-mismatch'],
  [
    'ai.onnx.preview:FlexAttention',
    1,
    [t('float32', [BIG, 1, 0, 1]), t('float32', [BIG, 1, 0, 1]), t('float32', [BIG, 1, 0, 1])],
    {},
    `float32[${BIG},1,0,1]`
  ],
  ['com.microsoft:AttnLSTM', 1, [...attended, t('int32', [1], -1)], { hidden_size: 1 }, 'value-out-of-range'],
  ['com.microsoft:AttnLSTM', 1, attended, { hidden_size: BIG }, 'dims-mismatch'],
  biased(up(4, 2), BIG, { max_distance: 9 }, 'limit-exceeded'),
  biased(t('float32', [4, 0]), BIG, { max_distance: 9 }, `float32[1,0,${BIG},${BIG}]`),
  biased(t('float32', [BIG, 0]), 2, { max_distance: 2 * BIG }, 'float32[1,0,2,2]'),
  biased(t('float32', [0, BIG]), 0, { max_distance: 9 }, 'dims-mismatch'),
  biased(up(4, 2), -BIG, { max_distance: 9 }, 'value-out-of-range'),
  biased(up(4, 1), 2, { max_distance: BIG }, 'float32[1,1,2,2] 1 1 2 1'),
  biased(up(4, 1), 2, { max_distance: 2 ** 62 }, 'float32[1,1,2,2] 1 1 2 1'),
  biased(up(4, 1), 2, { max_distance: -BIG }, 'unknown-attribute-value')
]

holdCalls(calls)
