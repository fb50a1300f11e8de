import { expect, test } from 'vitest'
import type { Tensor } from '../../src/tensor/tensor.ts'
import { f32, type Hostile, i64, one, outcomeOf, t, up } from './hostile.ts'

const HUGE = 2 ** 40
/** An empty tensor. */
const none = (...dims: number[]): Tensor => t('float32', dims)

const calls: readonly Hostile[] = [
  ['com.microsoft:BranchwiseRMSNorm', 1, [up(2, 4)], { num_branches: HUGE }, 'dims-mismatch'],
  ['com.microsoft:BranchwiseRMSNorm', 1, [up(2, 4)], { num_branches: -HUGE }, 'unknown-attribute-value'],
  ['com.microsoft:BranchwiseRMSNorm', 1, [none(HUGE, 0, 4)], { num_branches: 4 }, `float32[${HUGE},0,4]`],
  ['com.microsoft:BranchwiseRMSNorm', 1, [none(0, HUGE)], { num_branches: HUGE }, `float32[0,${HUGE}]`],
  ['com.microsoft:GatedRMSNorm', 1, [none(0, HUGE), none(0), none(0, HUGE)], {}, 'dims-mismatch'],
  [
    'com.microsoft:EmbedLayerNormalization',
    1,
    [t('int32', [0, HUGE]), undefined, none(1, 0), none(HUGE, 0), undefined, none(0), none(0)],
    {},
    `float32[0,${HUGE},0]`
  ],
  [
    'com.microsoft:SkipLayerNormalization',
    1,
    [none(0, HUGE, 2), none(0, HUGE, 2), f32(1, 1)],
    {},
    `float32[0,${HUGE},2]`
  ],
  ['Crop', 1, [up(1, 1, 2, 2)], { border: [HUGE, 0, 0, 0] }, 'dims-mismatch'],
  ['Crop', 1, [up(1, 1, 2, 2)], { border: [0, 0, 0, 0], scale: [HUGE, 1] }, 'dims-mismatch'],
  ['Crop', 1, [none(1, 0, HUGE, 2)], { border: [0, 1, 1, 0] }, `float32[1,0,${HUGE - 1},1]`],
  ['ImageScaler', 1, [none(1, HUGE, 0, 2)], { bias: [1] }, 'dims-mismatch'],
  ['ImageScaler', 1, [none(1, HUGE, 0, 2)], {}, `float32[1,${HUGE},0,2]`],
  ['DynamicSlice', 1, [up(3), i64(-HUGE), i64(HUGE)], {}, 'float32[3] 1 2 3'],
  ['com.microsoft:Pad', 1, [up(3), i64(HUGE, 0)], {}, 'limit-exceeded'],
  ['com.microsoft:Pad', 1, [up(3), i64(-HUGE, 0)], {}, 'shape-mismatch'],
  ['com.microsoft:Range', 1, [one(0), one(HUGE)], {}, 'limit-exceeded'],
  ['com.microsoft:Range', 1, [one(0, 'float32'), one(Infinity, 'float32')], {}, 'value-out-of-range'],
  ['com.microsoft:ExpandDims', 1, [up(3), t('int32', [], -(2 ** 31))], {}, 'axis-out-of-range'],
  ['com.microsoft:Trilu', 1, [up(1, 2), one(HUGE)], {}, 'float32[1,2] 0 0'],
  ['Affine', 1, [f32(1, -1, 0)], { alpha: Infinity, beta: 0 }, 'float32[3] Infinity -Infinity NaN'],
  ['ParametricSoftplus', 1, [f32(1, -1)], { alpha: 1, beta: 1e38 }, 'float32[2] 9.999999680285692e+37 0']
]

test.each([...new Set(calls.map(([type]) => type))])(
  'hostile calls of %s give what ONNX Runtime gives or an error',
  type => {
    for (const call of calls.filter(([own]) => own === type))
      expect(outcomeOf(call), JSON.stringify(call[3])).toBe(call[4])
  }
)
