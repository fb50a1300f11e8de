import type { Tensor } from '../../src/tensor/tensor.ts'
import { f32, holdCalls, type Hostile, i32, i64, one, t, text, up } from './hostile.ts'

const HUGE = 2 ** 40
const HALF = 2 ** 39
const LARGE = 2 ** 30
const TOKENS = { mark: 0, mincharnum: 6000, pad_value: '' }
/** A hash of one token. */
const NGRAMS = [t('int32', [1, 1], 1), i32(1, 2), i32(3)]
const GROUPS = { groups: 2, activation: 1 }
const GRAMS = { max_ngram_size: 2, n_head_per_ngram: 1, pad_id: 0 }
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
  ['com.microsoft:GroupNorm', 1, [up(1, 1, 1, 4), up(4), up(4)], { ...GROUPS, groups: HUGE }, 'shape-mismatch'],
  [
    'com.microsoft:GroupNorm',
    1,
    [up(1, 1, 1, 4), up(4), up(4)],
    { ...GROUPS, groups: -HUGE },
    'unknown-attribute-value'
  ],
  [
    'com.microsoft:GroupNorm',
    1,
    [up(1, 1, 1, 4), up(4), up(4)],
    { ...GROUPS, activation: HUGE },
    'unknown-attribute-value'
  ],
  ['com.microsoft:GroupNorm', 1, [none(0, HUGE, HUGE, 4), up(4), up(4)], GROUPS, `float32[0,${HUGE},${HUGE},4]`],
  ['com.microsoft:GroupNorm', 1, [none(1, HUGE, 0, 4), up(4), up(4)], GROUPS, `float32[1,${HUGE},0,4]`],
  ['com.microsoft:GroupNorm', 1, [none(HUGE, 0, 2, 4), up(4), up(4)], GROUPS, 'limit-exceeded'],
  ['com.microsoft:GroupNorm', 1, [none(2, HUGE, 2, 0), none(0), none(0)], GROUPS, `float32[2,${HUGE},2,0]`],
  [
    'com.microsoft:SkipGroupNorm',
    1,
    [none(0, HUGE, 2, 4), up(4), up(4), none(0, 4)],
    { ...GROUPS, channels_last: 1 },
    `float32[0,${HUGE},2,4] | float32[0,${HUGE},2,4]`
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
  ['com.microsoft:UnfoldTensor', 1, [up(3)], { size: HUGE }, 'dims-mismatch'],
  ['com.microsoft:UnfoldTensor', 1, [up(3)], { size: 1, step: HUGE }, 'float32[1,1] 1'],
  ['com.microsoft:UnfoldTensor', 1, [up(3)], { size: 1, step: -HUGE }, 'unknown-attribute-value'],
  ['com.microsoft:UnfoldTensor', 1, [none(HUGE, 0)], { dim: 0, size: HALF }, `float32[${HALF + 1},0,${HALF}]`],
  ['com.microsoft:UnfoldTensor', 1, [none(2 ** 20)], { size: 2 ** 19 }, 'limit-exceeded'],
  ['com.microsoft:CDist', 1, [none(HUGE, 0), none(HUGE, 0)], {}, 'limit-exceeded'],
  ['com.microsoft:CDist', 1, [none(0, HUGE), none(0, HUGE)], {}, 'float32[0,0]'],
  ['com.microsoft:CropAndResize', 1, [up(1, 1, 2, 2), up(1, 4), i32(0), i32(LARGE, LARGE)], {}, 'limit-exceeded'],
  [
    'com.microsoft:CropAndResize',
    1,
    [up(1, 1, 2, 2), none(0, 4), i32(), i32(LARGE, LARGE)],
    {},
    `float32[0,1,${LARGE},${LARGE}]`
  ],
  [
    'com.microsoft:CropAndResize',
    1,
    [up(1, 1, 2, 2), t('float32', [1, 4], NaN, 0, 1, 1), i32(0), i32(1, 1)],
    {},
    'float32[1,1,1,1] 0'
  ],
  ['com.microsoft:DynamicTimeWarping', 1, [none(HUGE, 0)], {}, 'int32[2,0]'],
  ['com.microsoft:DynamicTimeWarping', 1, [none(0, HUGE)], {}, 'int32[2,0]'],
  [
    'com.microsoft:NGramRepeatBlock',
    1,
    [t('int64', [1, 2], 1, 2), up(1, 3)],
    { ngram_size: HUGE },
    'float32[1,3] 1 2 3'
  ],
  [
    'com.microsoft:NGramRepeatBlock',
    1,
    [t('int64', [HUGE, 0]), none(HUGE, 0)],
    { ngram_size: 1 },
    `float32[${HUGE},0]`
  ],
  ['com.microsoft:NGramHashMapping', 1, NGRAMS, { ...GRAMS, max_ngram_size: HUGE }, 'dims-mismatch'],
  ['com.microsoft:NGramHashMapping', 1, NGRAMS, { ...GRAMS, n_head_per_ngram: HUGE }, 'dims-mismatch'],
  ['com.microsoft:NGramHashMapping', 1, NGRAMS, { ...GRAMS, pad_id: HUGE }, 'unknown-attribute-value'],
  ['com.microsoft:NGramHashMapping', 1, [t('int32', [HUGE, 0]), ...NGRAMS.slice(1)], GRAMS, 'limit-exceeded'],
  [
    'com.microsoft:VarlenNGramHashMapping',
    1,
    [i32(1), ...NGRAMS.slice(1), i32(0, 1), undefined, undefined, undefined, undefined, undefined, i32(1)],
    { ...GRAMS, state_update_capacity: HUGE },
    'int32[1,1] 1'
  ],
  ['com.microsoft:Tokenizer', 1, [text('a'.repeat(5000))], { ...TOKENS, separators: ['(a+)+b'] }, 'string[1,0]'],
  ['com.microsoft:Tokenizer', 1, [text('a')], { ...TOKENS, separators: ['a{1000}{1000}'] }, 'unknown-attribute-value'],
  ['com.microsoft:Tokenizer', 1, [text('a')], { ...TOKENS, separators: [' '], mincharnum: HUGE }, 'string[1,0]'],
  ['com.microsoft:MurmurHash3', 1, [t('string', [HUGE, 0])], {}, `uint32[${HUGE},0]`],
  [
    'com.microsoft:WordConvEmbedding',
    1,
    [t('int32', [0, HUGE]), none(1, 1, HUGE, 0), f32(1), none(1, 0)],
    { conv_window_size: HUGE },
    'float32[0,1]'
  ],
  ['Affine', 1, [f32(1, -1, 0)], { alpha: Infinity, beta: 0 }, 'float32[3] Infinity -Infinity NaN'],
  ['ParametricSoftplus', 1, [f32(1, -1)], { alpha: 1, beta: 1e38 }, 'float32[2] 9.999999680285692e+37 0']
]

holdCalls(calls, 'what ONNX Runtime gives or an error')
