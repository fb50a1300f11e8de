import { f32, holdCalls, type Hostile, i32, i64, t, text, withAttributes } from './hostile.ts'

const calls: readonly Hostile[] = [
  ['Div', 14, [i32(-2147483648, 1, 7), i32(-1, 0, -2)], {}, 'value-out-of-range'],
  ['Div', 14, [i64(-9223372036854775808n, 1), i64(-1, 0)], {}, 'value-out-of-range'],
  ['Div', 14, [t('uint8', [2], 5, 7), t('uint8', [2], 0, 2)], {}, 'value-out-of-range'],
  ['Div', 14, [t('int8', [1], -128), t('int8', [1], -1)], {}, 'int8[1] -128'],
  ['Div', 14, [f32(1, -1, 0), f32(0, 0, 0)], {}, 'float32[3] Infinity -Infinity NaN'],
  ['Mod', 13, [i32(5, -2147483648), i32(0, -1)], {}, 'value-out-of-range'],
  ['Mod', 13, [i64(5), i64(0)], {}, 'value-out-of-range'],
  ['Mod', 13, [i64(-9223372036854775808n), i64(-1)], {}, 'int64[1] 0'],
  ['Mod', 13, [f32(5), f32(0)], { fmod: 1 }, 'float32[1] NaN'],
  ['Mod', 13, [i32(5), i32(0)], { fmod: 1 }, 'value-out-of-range'],
  ['Mod', 13, [f32(5), f32(2)], {}, 'unknown-attribute-value'],
  ['ov:FloorMod', 1, [i32(5), i32(0)], {}, 'value-out-of-range'],
  ['ov:FloorMod', 1, [i64(-9223372036854775808n), i64(-1)], {}, 'int64[1] 0'],
  ['ov:Mod', 1, [i32(5), i32(0)], {}, 'value-out-of-range'],
  ['ov:Divide', 1, [i32(5), i32(0)], {}, 'value-out-of-range'],
  ['ov:Divide', 1, [i32(-2147483648), i32(-1)], {}, 'int32[1] -2147483648'],
  ['Neg', 13, [i32(-2147483648)], {}, 'int32[1] -2147483648'],
  ['Neg', 13, [i64(-9223372036854775808n)], {}, 'int64[1] -9223372036854775808'],
  ['Abs', 13, [i32(-2147483648)], {}, 'int32[1] -2147483648'],
  ['Abs', 13, [i64(-9223372036854775808n)], {}, 'int64[1] -9223372036854775808'],
  ['Abs', 13, [t('int8', [1], -128)], {}, 'int8[1] -128'],
  ['Mul', 14, [i32(-2147483648), i32(-1)], {}, 'int32[1] -2147483648'],
  ['Add', 14, [i64(9223372036854775807n), i64(1)], {}, 'int64[1] -9223372036854775808'],
  [
    'BitShift',
    11,
    [t('uint32', [3], 1, 1, 1), t('uint32', [3], 31, 32, 4294967295)],
    { direction: 'LEFT' },
    'uint32[3] 2147483648 0 0'
  ],
  [
    'BitShift',
    11,
    [t('uint64', [2], 1, 8), t('uint64', [2], 64, 9223372036854775808n)],
    { direction: 'RIGHT' },
    'uint64[2] 0 0'
  ],
  ['BitShift', 11, [t('uint8', [2], 255, 255), t('uint8', [2], 8, 200)], { direction: 'RIGHT' }, 'uint8[2] 0 0'],
  ['ov:BitwiseLeftShift', 15, [i32(1, 1), i32(32, -1)], {}, 'int32[2] 0 0'],
  ['ov:BitwiseRightShift', 15, [i32(-8, 8), i32(40, -1)], {}, 'int32[2] -1 0'],
  ['BitShift', 11, [t('uint8', [1], 1), t('uint8', [1], 1)], { direction: 'UP' }, 'unknown-attribute-value'],
  ['Pow', 15, [i32(0, 2, -1), i32(-1, -1, -3)], {}, 'value-out-of-range'],
  ['Pow', 15, [i64(3), i64(9223372036854775807n)], {}, 'int64[1] -6148914691236517205'],
  ['Pow', 15, [f32(-8), f32(0.3333333432674408)], {}, 'float32[1] NaN'],
  ['Pow', 15, [i64(2), f32(0.5)], {}, 'int64[1] 1'],
  ['Pow', 15, [i32(2), f32(NaN)], {}, 'int32[1] -2147483648'],
  ['Pow', 15, [i32(2), f32(1000000000)], {}, 'int32[1] -2147483648'],
  ...withAttributes(
    'Cast',
    21,
    [f32(NaN, Infinity, -Infinity, 3000000000, -1, 100000000000000000000)],
    [
      [{ to: 6 }, 'int32[6] -2147483648 -2147483648 -2147483648 -2147483648 -1 -2147483648'],
      [
        { to: 7 },
        'int64[6] -9223372036854775808 -9223372036854775808 -9223372036854775808 3000000000 -1 -9223372036854775808'
      ],
      [{ to: 3 }, 'int8[6] 0 0 0 0 -1 0'],
      [{ to: 2 }, 'uint8[6] 0 0 0 0 255 0'],
      [{ to: 13 }, 'uint64[6] 9223372036854775808 0 9223372036854775808 3000000000 18446744073709551615 0'],
      [{ to: 12 }, 'uint32[6] 2147483648 0 2147483648 3000000000 4294967295 0'],
      [{ to: 9 }, 'bool[6] 1 1 1 1 1 1'],
      [{ to: 10 }, 'float16[6] 32256 31744 64512 31744 48128 31744'],
      [{ to: 22 }, 'int4[6] 0 0 0 0 -1 0'],
      [{ to: 8 }, 'string[6] NaN INF -INF 3e+09 -1 1e+20']
    ]
  ),
  ['Cast', 21, [text('abc')], { to: 6 }, 'value-out-of-range'],
  ['Cast', 21, [text('1e999')], { to: 6 }, 'value-out-of-range'],
  ['Cast', 21, [text('99999999999999999999')], { to: 7 }, 'value-out-of-range'],
  ['Cast', 21, [f32(1)], { to: 99 }, 'unknown-attribute-value'],
  ['Cast', 21, [f32(1)], { to: 0 }, 'unknown-attribute-value'],
  ['Cast', 21, [t('complex64', [1], 0, 0)], { to: 1 }, 'type-not-allowed'],
  ...withAttributes(
    'com.microsoft:MatMulNBits',
    1,
    [t('float32', [2, 16]), t('uint8', [1, 1, 8]), f32(1)],
    [
      [{ N: 1, block_size: 16, K: 1099511627776 }, 'dims-mismatch'],
      [{ N: 1, block_size: 16, K: -1 }, 'value-out-of-range'],
      [{ K: 16, block_size: 16, N: -1 }, 'value-out-of-range'],
      [{ K: 16, block_size: 16, N: 1099511627776 }, 'dims-mismatch'],
      [{ K: 16, N: 1, block_size: 16, bits: 0 }, 'unknown-attribute-value'],
      [{ K: 16, N: 1, block_size: 16, bits: 1099511627776 }, 'unknown-attribute-value'],
      [{ K: 16, N: 1, block_size: 0 }, 'value-out-of-range'],
      [{ K: 16, N: 1, block_size: -16 }, 'value-out-of-range'],
      [{ K: 16, N: 1, block_size: 1099511627776 }, 'value-out-of-range']
    ]
  ),
  [
    'com.microsoft:MatMulNBits',
    1,
    [t('float32', [2, 0]), t('uint8', [1, 0, 8]), t('float32', [1, 0])],
    { K: 0, N: 1, block_size: 16 },
    'float32[2,1] 0 0'
  ],
  ...withAttributes(
    'com.microsoft:MatMulBnb4',
    1,
    [t('float32', [2, 16]), t('uint8', [8]), f32(1)],
    [
      [{ N: 1, block_size: 16, quant_type: 0, K: 1099511627776 }, 'dims-mismatch'],
      [{ N: 1, block_size: 16, quant_type: 0, K: -1 }, 'value-out-of-range'],
      [{ K: 16, block_size: 16, quant_type: 0, N: 1099511627776 }, 'dims-mismatch'],
      [{ K: 16, N: 1, quant_type: 0, block_size: 0 }, 'value-out-of-range'],
      [{ K: 16, N: 1, quant_type: 0, block_size: 1099511627776 }, 'float32[2,1] 0 0'],
      [{ K: 16, N: 1, block_size: 16, quant_type: -1 }, 'unknown-attribute-value'],
      [{ K: 16, N: 1, block_size: 16, quant_type: 1099511627776 }, 'unknown-attribute-value']
    ]
  ),
  ['com.microsoft:MatMulFpQ4', 1, [t('float32', [2, 32]), t('uint8', [21]), i64(32, 1)], {}, 'float32[2,1] 0 0'],
  [
    'com.microsoft:MatMulFpQ4',
    1,
    [t('float32', [2, 32]), t('uint8', [21]), i64(32, 1099511627776)],
    {},
    'dims-mismatch'
  ],
  [
    'com.microsoft:MatMulFpQ4',
    1,
    [t('float32', [2, 32]), t('uint8', [21]), i64(1099511627776, 1)],
    {},
    'dims-mismatch'
  ],
  ['com.microsoft:MatMulFpQ4', 1, [t('float32', [2, 32]), t('uint8', [21]), i64(-32, 1)], {}, 'value-out-of-range'],
  [
    'com.microsoft:MatMulFpQ4',
    1,
    [t('float32', [2, 32]), t('uint8', [21]), i64(1099511627776, 1099511627776)],
    {},
    'dims-mismatch'
  ],
  ['com.microsoft:MatMulFpQ4', 1, [t('float32', [2, 32]), t('uint8', [21]), i64(32, 0)], {}, 'dims-mismatch'],
  ...withAttributes(
    'com.microsoft:MoE',
    1,
    [t('float32', [2, 4]), t('float32', [2, 3]), t('float32', [3, 5, 4]), undefined, t('float32', [3, 4, 5])],
    [
      [{ k: 0 }, 'value-out-of-range'],
      [{ k: -1 }, 'value-out-of-range'],
      [{ k: 1099511627776 }, 'value-out-of-range'],
      [{ swiglu_fusion: -1 }, 'unknown-attribute-value']
    ]
  ),
  [
    'com.microsoft:MoE',
    1,
    [t('float32', [2, 0]), t('float32', [2, 3]), t('float32', [3, 5, 0]), undefined, t('float32', [3, 0, 5])],
    {},
    'float32[2,0]'
  ],
  ...withAttributes(
    'com.microsoft:QMoE',
    1,
    [
      t('float32', [2, 4]),
      t('float32', [2, 3]),
      t('uint8', [3, 6, 2]),
      t('float32', [3, 6]),
      undefined,
      t('uint8', [3, 4, 3]),
      t('float32', [3, 4])
    ],
    [
      [{ k: 1099511627776 }, 'value-out-of-range'],
      [{ block_size: 1099511627776 }, 'float32[2,4] 0 0 0 0 0 0 …'],
      [{ block_size: -1099511627776 }, 'value-out-of-range'],
      [{ expert_weight_bits: 0 }, 'unknown-attribute-value'],
      [{ expert_weight_bits: 1099511627776 }, 'unknown-attribute-value']
    ]
  )
]

holdCalls(calls)
