import { expect, test } from 'vitest'
import { type Hostile, outcomeOf, t, up } from './hostile.ts'

const BIG = 2 ** 40
const q = up(1, 2, 4)
const buffer = t('float32', [1, 2, 3, 2])
const length = (value: number) => t('int32', [1], value)

const calls: readonly Hostile[] = [
  ['com.microsoft:MultiHeadAttention', 1, [q, q, q], { num_heads: 0 }, 'unknown-attribute-value'],
  ['com.microsoft:MultiHeadAttention', 1, [q, q, q], { num_heads: -2 }, 'unknown-attribute-value'],
  ['com.microsoft:MultiHeadAttention', 1, [q, q, q], { num_heads: BIG }, 'shape-mismatch'],
  [
    'com.microsoft:MultiHeadAttention',
    1,
    [t('float32', [0, 2, 4]), t('float32', [0, 2, 4]), t('float32', [0, 2, 4])],
    { num_heads: 2 },
    'float32[0,2,4]'
  ],
  [
    'com.microsoft:MultiHeadAttention',
    1,
    [q, t('float32', [1, 0, 4]), t('float32', [1, 0, 4])],
    { num_heads: 2 },
    'float32[1,2,4] 0 0 0 0 0 0 …'
  ],
  [
    'com.microsoft:MultiHeadAttention',
    1,
    [t('float32', [1, 2, 0]), t('float32', [1, 2, 0]), q],
    { num_heads: 2 },
    'float32[1,2,4] NaN NaN NaN NaN NaN NaN …'
  ],
  [
    'com.microsoft:MultiHeadAttention',
    1,
    [q, q, q, undefined, undefined, undefined, buffer, buffer, length(-1)],
    { num_heads: 2 },
    'value-out-of-range'
  ],
  [
    'com.microsoft:MultiHeadAttention',
    1,
    [q, q, q, undefined, undefined, undefined, buffer, buffer, length(2 ** 31 - 1)],
    { num_heads: 2 },
    'value-out-of-range'
  ],
  ['com.microsoft:Attention', 1, [up(1, 2, 1), up(1, 6)], { num_heads: BIG }, 'shape-mismatch'],
  ['com.microsoft:Attention', 1, [up(1, 2, 1), up(1, 6)], { num_heads: -1 }, 'unknown-attribute-value'],
  [
    'com.microsoft:Attention',
    1,
    [up(1, 2, 1), up(1, 6)],
    { num_heads: 1, qkv_hidden_sizes: [-1, -1, 8] },
    'unknown-attribute-value'
  ],
  [
    'com.microsoft:Attention',
    1,
    [up(1, 2, 1), up(1, 6)],
    { num_heads: 1, qkv_hidden_sizes: [BIG, BIG, BIG] },
    'dims-mismatch'
  ],
  [
    'com.microsoft:Attention',
    1,
    [up(1, 2, 1), up(1, 6)],
    { num_heads: 1, do_rotary: 1, rotary_embedding_dim: BIG },
    'unknown-attribute-value'
  ],
  [
    'com.microsoft:Attention',
    1,
    [up(1, 2, 1), up(1, 6)],
    { num_heads: 1, do_rotary: 1, rotary_embedding_dim: -2 },
    'unknown-attribute-value'
  ]
]

test.each([...new Set(calls.map(([type]) => type))])(
  'hostile calls of %s give what the specification says or an error',
  type => {
    for (const call of calls.filter(([own]) => own === type))
      expect(outcomeOf(call), JSON.stringify(call[3])).toBe(call[4])
  }
)
