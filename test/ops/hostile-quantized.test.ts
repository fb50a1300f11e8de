import { f32, holdCalls, type Hostile, i32, one, t } from './hostile.ts'

const s = (value = 1) => one(value, 'float32')
const z = (value = 0) => one(value, 'uint8')
const u8 = (...data: number[]) => t('uint8', [data.length], ...data)
const unit = t('uint8', [1, 1], 3)
/** A tensor of codes with scale and zero point. */
const quantized = (...data: number[]) => [u8(...data), s(), z()] as const
/** A tensor of codes with scale and zero point that leaves them as they are. */
const pair = [s(), z()] as const
const huge = 2 ** 40
/** Optional inputs that are left out. */
const absent = new Array<undefined>(5).fill(undefined)

const calls: readonly Hostile[] = [
  ['com.microsoft:QLinearAdd', 1, [...quantized(9), ...quantized(1), s(0), z()], {}, 'uint8[1] 255'],
  ['com.microsoft:QLinearAdd', 1, [...quantized(0), ...quantized(0), s(0), z()], {}, 'uint8[1] 0'],
  ['com.microsoft:QLinearAdd', 1, [...quantized(9), ...quantized(1), s(-1), z(20)], {}, 'uint8[1] 10'],
  ['com.microsoft:QLinearAdd', 1, [u8(9), s(NaN), z(), ...quantized(1), ...pair], {}, 'uint8[1] 0'],
  ['com.microsoft:QLinearAdd', 1, [u8(9), s(Infinity), z(), ...quantized(1), ...pair], {}, 'uint8[1] 255'],
  ['com.microsoft:QLinearAdd', 1, [u8(9), f32(), z(), ...quantized(1), ...pair], {}, 'dims-mismatch'],
  ['com.microsoft:QLinearAdd', 1, [...quantized(), ...quantized(1), ...pair], {}, 'uint8[0]'],
  ['com.microsoft:QLinearMul', 1, [...quantized(9), u8(1, 2), f32(1, 2), z(), ...pair], {}, 'dims-mismatch'],
  ['com.microsoft:QLinearMul', 1, [...quantized(1, 2), ...quantized(1, 2, 3), ...pair], {}, 'shape-mismatch'],
  [
    'com.microsoft:QLinearAveragePool',
    1,
    [t('uint8', [1, 1, 2], 1, 3), ...pair, ...pair],
    { kernel_shape: [huge] },
    'value-out-of-range'
  ],
  [
    'com.microsoft:QLinearAveragePool',
    1,
    [t('uint8', [1, 1, 2], 1, 3), ...pair, ...pair],
    { kernel_shape: [0] },
    'value-out-of-range'
  ],
  [
    'com.microsoft:QLinearAveragePool',
    1,
    [t('uint8', [1, 2, 1], 1, 3), ...pair, ...pair],
    { kernel_shape: [1], pads: [0, huge], channels_last: 1 },
    'value-out-of-range'
  ],
  [
    'com.microsoft:QLinearAveragePool',
    1,
    [t('uint8', [1, 2, 1], 1, 3), ...pair, ...pair],
    { kernel_shape: [1], strides: [0], channels_last: 1 },
    'value-out-of-range'
  ],
  ['com.microsoft:QLinearAveragePool', 1, [u8(1), ...pair, ...pair], { kernel_shape: [] }, 'value-out-of-range'],
  ['com.microsoft:QLinearGlobalAveragePool', 1, [one(1, 'uint8'), ...pair, ...pair], {}, 'rank-mismatch'],
  [
    'com.microsoft:QLinearGlobalAveragePool',
    1,
    [t('uint8', [1, 0, 2]), ...pair, ...pair],
    { channels_last: 1 },
    'uint8[1,1,2] 0 0'
  ],
  ['com.microsoft:QLinearReduceMean', 1, [u8(1), ...pair, ...pair], { axes: [huge], keepdims: 1 }, 'axis-out-of-range'],
  ['com.microsoft:QLinearReduceMean', 1, [u8(), ...pair, ...pair], { axes: [0], keepdims: 0 }, 'uint8[] 0'],
  ['com.microsoft:QLinearSoftmax', 1, [u8(), ...pair, ...pair], { opset: 13 }, 'uint8[0]'],
  ['com.microsoft:QLinearSoftmax', 1, [z(), ...pair, ...pair], { opset: 12 }, 'axis-out-of-range'],
  ['com.microsoft:QLinearSoftmax', 1, [u8(1), ...pair, ...pair], { opset: -huge, axis: -2 }, 'axis-out-of-range'],
  ['com.microsoft:QLinearSigmoid', 1, [u8(255), s(Infinity), undefined, s(0)], {}, 'uint8[1] 255'],
  ['com.microsoft:QLinearLeakyRelu', 1, [t('int8', [1], -128), s(), undefined, s()], { alpha: NaN }, 'int8[1] 0'],
  ['com.microsoft:QLinearWhere', 1, [t('bool', [0]), ...quantized(1), ...quantized(2), ...pair], {}, 'uint8[0]'],
  [
    'com.microsoft:QLinearWhere',
    1,
    [t('bool', [3], 1, 0, 1), ...quantized(1, 2), ...quantized(2), ...pair],
    {},
    'shape-mismatch'
  ],
  ['com.microsoft:QLinearConcat', 1, [...pair, ...quantized(1)], { axis: huge }, 'axis-out-of-range'],
  ['com.microsoft:QLinearConcat', 1, [...pair, z(), s(), z()], { axis: 0 }, 'axis-out-of-range'],
  ['com.microsoft:QLinearConcat', 1, [...pair, ...quantized(), ...quantized(7)], { axis: -1 }, 'uint8[1] 7'],
  ['com.microsoft:QLinearConcat', 1, [...pair, u8(1), undefined, z()], { axis: 0 }, 'wrong-input-count'],
  [
    'com.microsoft:QLinearConv',
    1,
    [t('uint8', [1, 2, 1], 1, 3), ...pair, t('uint8', [1, 1, 1], 2), ...pair, ...pair],
    { pads: [0, huge], channels_last: 1 },
    'value-out-of-range'
  ],
  [
    'com.microsoft:QLinearConv',
    1,
    [t('uint8', [1, 2, 1], 1, 3), ...pair, t('uint8', [1, 1, 1], 2), ...pair, ...pair],
    { group: 0, channels_last: 1 },
    'value-out-of-range'
  ],
  [
    'com.microsoft:QLinearConv',
    1,
    [u8(1, 3), ...pair, t('uint8', [1, 1, 1], 2), ...pair, ...pair],
    { channels_last: 1 },
    'rank-mismatch'
  ],
  ['com.microsoft:QuantizeLinear', 1, [f32(1, NaN, Infinity), s(0), z()], {}, 'uint8[3] 255 0 255'],
  ['com.microsoft:QuantizeLinear', 1, [f32(1, 2), f32(1, 2)], { axis: -huge }, 'axis-out-of-range'],
  ['com.microsoft:DequantizeLinear', 1, [i32(-2147483648), s()], { axis: 5 }, 'float32[1] -2147483648'],
  ['com.microsoft:MatMulIntegerToFloat', 1, [unit, unit, f32(1, 2), s()], {}, 'dims-mismatch'],
  ['com.microsoft:MatMulIntegerToFloat', 1, [z(), unit, s(), s()], {}, 'rank-mismatch'],
  [
    'com.microsoft:MatMulIntegerToFloat',
    1,
    [t('uint8', [huge, 0]), t('uint8', [0, huge]), s(), s()],
    {},
    'limit-exceeded'
  ],
  ['com.microsoft:MatMulIntegerToFloat', 1, [t('uint8', [2, 0]), t('uint8', [0, 1]), s(), s()], {}, 'float32[2,1] 0 0'],
  ['com.microsoft:MatMulIntegerToFloat', 1, [unit, unit, s(), t('float32', [1, 1, 1, 1], 2)], {}, 'float32[1,1] 18'],
  ['com.microsoft:DynamicQuantizeMatMul', 1, [t('float32', [1, 1], NaN), unit, s()], {}, 'float32[1,1] NaN'],
  ['com.microsoft:DynamicQuantizeMatMul', 1, [t('float32', [1, 1], Infinity), unit, s()], {}, 'float32[1,1] NaN'],
  ['com.microsoft:DynamicQuantizeMatMul', 1, [t('float32', [1, 2]), unit, s()], {}, 'shape-mismatch'],
  ['com.microsoft:QGemm', 1, [unit, ...pair, unit, ...pair, i32(1, 2)], {}, 'shape-mismatch'],
  ['com.microsoft:QGemm', 1, [unit, ...pair, unit, ...pair, t('int32', [1, 1, 1], 1)], {}, 'shape-mismatch'],
  ['com.microsoft:QGemm', 1, [unit, ...pair, unit, ...pair, i32(2147483647)], {}, 'float32[1,1] -2147483648'],
  ['com.microsoft:QGemm', 1, [unit, ...pair, unit, ...pair, undefined, f32(1, 2)], {}, 'dims-mismatch'],
  ['com.microsoft:QGemm', 1, [unit, ...pair, unit, ...pair], { alpha: Infinity }, 'float32[1,1] Infinity'],
  [
    'com.microsoft:DynamicQuantizeLSTM',
    1,
    [t('float32', [1, 1, 0]), t('uint8', [1, 0, huge]), t('uint8', [1, 1, 4]), ...absent, f32(1), u8(0), f32(1), u8(0)],
    {},
    'dims-mismatch'
  ],
  [
    'com.microsoft:DynamicQuantizeLSTM',
    1,
    [t('float32', [0, 0, 1]), t('uint8', [1, 1, 4]), t('uint8', [1, 1, 4]), ...absent, f32(1), u8(0), f32(1), u8(0)],
    {},
    'float32[0,1,0,1] | float32[1,0,1] | float32[1,0,1]'
  ],
  [
    'com.microsoft:QAttention',
    1,
    [t('uint8', [1, 1, 1]), t('int8', [1, 3]), f32(0, 0, 0), s(), s()],
    { num_heads: 0 },
    'unknown-attribute-value'
  ],
  [
    'com.microsoft:QAttention',
    1,
    [t('uint8', [0, 1, 1]), t('int8', [1, 3]), f32(0, 0, 0), s(), s()],
    { num_heads: 1 },
    'float32[0,1,1]'
  ],
  ['com.microsoft:MulInteger', 1, [u8(1, 2), undefined, u8(1, 2, 3)], {}, 'shape-mismatch'],
  ['com.microsoft:ReduceSumInteger', 1, [u8(1)], { axes: [-2], keepdims: 1 }, 'axis-out-of-range'],
  ['com.microsoft:ReduceSumInteger', 1, [u8(1, 2)], { axes: [], keepdims: 0 }, 'uint32[] 3']
]

holdCalls(calls, 'a result or an error')
