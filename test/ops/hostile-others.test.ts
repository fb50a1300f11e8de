import { expect, test } from 'vitest'
import { mapOf } from '../../src/tensor/map.ts'
import { f32, type Hostile, i32, i64, one, outcomeOf, t, text, up } from './hostile.ts'

const TWO = mapOf('int64', 'float32', [
  [0, 1],
  [2n ** 62n, 2]
])

const calls: readonly Hostile[] = [
  ['ai.onnx.ml:ZipMap', 1, [t('float32', [0, 1])], { classlabels_int64s: [0] }, 'sequence of 0'],
  ['ai.onnx.ml:ZipMap', 1, [t('float32', [2 ** 21 + 1, 1])], { classlabels_int64s: [0] }, 'limit-exceeded'],
  ['ai.onnx.ml:CastMap', 1, [TWO], { map_form: 'SPARSE', max_map: 2 ** 40 }, 'limit-exceeded'],
  ['ai.onnx.ml:CastMap', 1, [TWO], { map_form: 'SPARSE', max_map: 2 ** 40, cast_to: 'TO_STRING' }, 'limit-exceeded'],
  ['ai.onnx.ml:CastMap', 1, [TWO], { map_form: 'SPARSE', max_map: 0 }, 'unknown-attribute-value'],
  ['ai.onnx.ml:CastMap', 1, [TWO], { map_form: 'SPARSE', max_map: -1 }, 'unknown-attribute-value'],
  ['ai.onnx.ml:CastMap', 1, [TWO], { max_map: 2 ** 40 }, 'float32[1,2] 1 2'],
  ['ai.onnx.ml:CastMap', 1, [f32(1)], {}, 'type-not-allowed'],
  ['ai.onnx.ml:DictVectorizer', 1, [TWO], { int64_vocabulary: [] }, 'float32[1,0]'],
  ['ai.onnx.ml:DictVectorizer', 1, [TWO], {}, 'missing-attribute'],
  ['SequenceAt', 11, [{ type: 'sequence', values: [TWO] }, one(0)], {}, 'type-not-allowed'],
  ['Identity', 25, [TWO], {}, 'type-not-allowed'],
  ['Einsum', 12, [f32(1, 2)], { equation: '' }, 'rank-mismatch'],
  ['Einsum', 12, [f32(1, 2)], { equation: '->' }, 'rank-mismatch'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'i' }, 'float32[2] 1 2'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'ii' }, 'rank-mismatch'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'ij->' }, 'rank-mismatch'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'i->ij' }, 'unknown-attribute-value'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'i,j->ij' }, 'wrong-input-count'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'i->ii' }, 'unknown-attribute-value'],
  ['Einsum', 12, [f32(1, 2)], { equation: '...i->i' }, 'float32[2] 1 2'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'i...j...->i' }, 'unknown-attribute-value'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'a1->a' }, 'unknown-attribute-value'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'ij,jk' }, 'wrong-input-count'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'i→j' }, 'unknown-attribute-value'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'I->I' }, 'float32[2] 1 2'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'i i->i' }, 'rank-mismatch'],
  ['Einsum', 12, [f32(1, 2)], { equation: 'i->i->i' }, 'unknown-attribute-value'],
  ['Einsum', 12, [f32(1, 2)], { equation: '.i->i' }, 'unknown-attribute-value'],
  ['Einsum', 12, [f32(1, 2)], { equation: '....i->i' }, 'unknown-attribute-value'],
  [
    'Einsum',
    12,
    [f32(1, 2)],
    {
      equation: 'iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii'
    },
    'rank-mismatch'
  ],
  ['Einsum', 12, [f32(1, 2)], { equation: 'ij->ik' }, 'unknown-attribute-value'],
  ['Einsum', 12, [f32(1, 2)], { equation: ',i->i' }, 'wrong-input-count'],
  ['Einsum', 12, [up(2, 3)], { equation: 'ii->i' }, 'shape-mismatch'],
  ['Einsum', 12, [f32(1, 2), f32(1, 2, 3)], { equation: 'i,i->i' }, 'shape-mismatch'],
  [
    'Einsum',
    12,
    [t('float32', [1048576]), t('float32', [1048576]), t('float32', [1048576])],
    { equation: 'a,b,c->abc' },
    'limit-exceeded'
  ],
  ['Einsum', 12, [t('float32', [1048576]), t('float32', [1048576])], { equation: 'a,b->' }, 'float32[] 0'],
  ['ov:Einsum', 7, [f32(1, 2)], { equation: '...->...' }, 'float32[2] 1 2'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '(a+)+$' }, 'bool[3] 1 0 0'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '(a|a)*b' }, 'bool[3] 0 0 0'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '(' }, 'unknown-attribute-value'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '[' }, 'unknown-attribute-value'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: 'a{1000}{1000}' }, 'unknown-attribute-value'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '(?=a)' }, 'unknown-attribute-value'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '\\1' }, 'unknown-attribute-value'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: 'a{-1}' }, 'bool[3] 0 0 0'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '(?P<n>a)' }, 'bool[3] 0 0 0'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '' }, 'bool[3] 0 1 0'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '\\' }, 'unknown-attribute-value'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '('.repeat(1000) }, 'unknown-attribute-value'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '[z-a]' }, 'unknown-attribute-value'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: 'a**' }, 'unknown-attribute-value'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '😀+' }, 'bool[3] 0 0 1'],
  ['RegexFullMatch', 20, [text('a'.repeat(5000), '', '😀')], { pattern: '(?i)A' }, 'bool[3] 0 0 0'],
  ['StringSplit', 20, [text('a,,b', '', ',')], { delimiter: ',' }, 'string[3,3] a  b    … | int64[3] 3 1 2'],
  ['StringSplit', 20, [text('  a  b ')], { delimiter: '' }, 'string[1,2] a b | int64[1] 2'],
  ['StringSplit', 20, [text('a,b,c')], { delimiter: ',', maxsplit: 0 }, 'string[1,1] a,b,c | int64[1] 1'],
  ['StringSplit', 20, [text('a,b,c')], { delimiter: ',', maxsplit: -5 }, 'string[1,3] a b c | int64[1] 3'],
  ['StringSplit', 20, [t('string', [0])], { delimiter: ',' }, 'string[0,0] | int64[0]'],
  [
    'StringSplit',
    20,
    [text('x'.repeat(200000), ...new Array<string>(2000).fill('y'))],
    { delimiter: 'x' },
    'limit-exceeded'
  ],
  ['StringNormalizer', 10, [t('string', [0])], {}, 'string[1] '],
  ['StringNormalizer', 10, [text('a')], { stopwords: ['a'], is_case_sensitive: 1 }, 'string[1] '],
  ['StringNormalizer', 10, [text('a')], { locale: '../../etc' }, 'string[1] a'],
  ['StringNormalizer', 10, [text('İI')], { case_change_action: 'LOWER', locale: 'tr_TR' }, 'string[1] iı'],
  [
    'TfIdfVectorizer',
    9,
    [i32(1, 2, 3)],
    {
      ngram_counts: [0],
      ngram_indexes: [0, 1],
      pool_int64s: [1, 2],
      max_skip_count: 0,
      mode: 'TF',
      min_gram_length: 0,
      max_gram_length: 1
    },
    'unknown-attribute-value'
  ],
  [
    'TfIdfVectorizer',
    9,
    [i32(1, 2, 3)],
    {
      ngram_counts: [0],
      ngram_indexes: [0, 1],
      pool_int64s: [1, 2],
      max_skip_count: 0,
      mode: 'TF',
      min_gram_length: 2,
      max_gram_length: 1
    },
    'unknown-attribute-value'
  ],
  [
    'TfIdfVectorizer',
    9,
    [i32(1, 2, 3)],
    {
      ngram_counts: [0],
      ngram_indexes: [0, 1],
      pool_int64s: [1, 2],
      max_skip_count: 1000000000,
      mode: 'TF',
      min_gram_length: 1,
      max_gram_length: 1000000000
    },
    'float32[2] 1 1'
  ],
  [
    'TfIdfVectorizer',
    9,
    [i32(1, 2, 3)],
    {
      ngram_counts: [0],
      ngram_indexes: [0, 1],
      pool_int64s: [1, 2],
      max_skip_count: -1,
      mode: 'TF',
      min_gram_length: 1,
      max_gram_length: 1
    },
    'unknown-attribute-value'
  ],
  [
    'TfIdfVectorizer',
    9,
    [i32(1, 2, 3)],
    {
      ngram_counts: [0],
      ngram_indexes: [0, 1],
      pool_int64s: [1, 2],
      max_skip_count: 0,
      mode: 'X',
      min_gram_length: 1,
      max_gram_length: 1
    },
    'unknown-attribute-value'
  ],
  [
    'TfIdfVectorizer',
    9,
    [i32(1)],
    {
      mode: 'TF',
      min_gram_length: 1,
      max_gram_length: 1,
      max_skip_count: 0,
      ngram_counts: [5],
      ngram_indexes: [0],
      pool_int64s: [1]
    },
    'unknown-attribute-value'
  ],
  [
    'TfIdfVectorizer',
    9,
    [i32(1)],
    {
      mode: 'TF',
      min_gram_length: 1,
      max_gram_length: 1,
      max_skip_count: 0,
      ngram_counts: [0],
      ngram_indexes: [1099511627776],
      pool_int64s: [1]
    },
    'limit-exceeded'
  ],
  [
    'TfIdfVectorizer',
    9,
    [i32(1)],
    {
      mode: 'TF',
      min_gram_length: 1,
      max_gram_length: 1,
      max_skip_count: 0,
      ngram_counts: [0],
      ngram_indexes: [-1],
      pool_int64s: [1]
    },
    'unknown-attribute-value'
  ],
  ['ai.onnx.ml:LabelEncoder', 2, [f32(NaN, -0)], { keys_floats: [NaN, 0], values_floats: [1, 2] }, 'float32[2] 1 0'],
  ['ai.onnx.ml:LabelEncoder', 2, [f32(1)], { keys_floats: [1, 2], values_floats: [1] }, 'unknown-attribute-value'],
  ['ai.onnx.ml:FeatureVectorizer', 1, [f32(1)], { inputdimensions: [0] }, 'float32[1,0]'],
  ['ai.onnx.ml:FeatureVectorizer', 1, [f32(1)], { inputdimensions: [-1] }, 'unknown-attribute-value'],
  ['ai.onnx.ml:FeatureVectorizer', 1, [f32(1)], { inputdimensions: [2 ** 40] }, 'limit-exceeded'],
  ['ai.onnx.ml:FeatureVectorizer', 1, [f32(1), f32(1)], { inputdimensions: [2 ** 62, 2 ** 62] }, 'limit-exceeded'],
  ['ai.onnx.ml:LinearRegressor', 1, [f32(1)], { coefficients: [1], targets: 2 ** 40 }, 'unknown-attribute-value'],
  ['ai.onnx.ml:LinearRegressor', 1, [f32(1)], { coefficients: [1], targets: -1 }, 'unknown-attribute-value'],
  ['ai.onnx.ml:LinearClassifier', 1, [f32(1)], { coefficients: [], classlabels_ints: [1, 2] }, 'dims-mismatch'],
  [
    'ai.onnx.ml:SVMRegressor',
    1,
    [f32(1)],
    { n_supports: 2 ** 62, rho: [0], coefficients: [1] },
    'unknown-attribute-value'
  ],
  [
    'ai.onnx.ml:SVMClassifier',
    1,
    [f32(1)],
    { classlabels_ints: [1, 2], vectors_per_class: [2 ** 40, 2 ** 40], support_vectors: [1] },
    'unknown-attribute-value'
  ],
  ['ai.onnx.ml:OneHotEncoder', 1, [f32(NaN, -Infinity)], { cats_int64s: [0], zeros: 0 }, 'value-out-of-range'],
  ['ai.onnx.ml:Imputer', 1, [i64(-(2n ** 63n))], { imputed_value_int64s: [0] }, 'int64[1] -9223372036854775808'],
  [
    'ai.onnx.ml:TreeEnsembleRegressor',
    1,
    [f32(1)],
    {
      n_targets: 2 ** 40,
      nodes_treeids: [2 ** 62],
      nodes_nodeids: [-1],
      nodes_modes: ['LEAF'],
      nodes_featureids: [0],
      nodes_values: [0],
      nodes_truenodeids: [9],
      nodes_falsenodeids: [9],
      target_treeids: [2 ** 62],
      target_nodeids: [-1],
      target_ids: [0],
      target_weights: [1]
    },
    'limit-exceeded'
  ],
  ['SequenceAt', 11, [{ type: 'sequence', values: [f32(1)] }, one(1)], {}, 'index-out-of-range'],
  ['SequenceAt', 11, [{ type: 'sequence', values: [f32(1)] }, one(-2)], {}, 'index-out-of-range'],
  ['SequenceAt', 11, [{ type: 'sequence', values: [] }, one(0)], {}, 'index-out-of-range'],
  ['SequenceAt', 11, [{ type: 'sequence', values: [f32(1)] }, one(-9223372036854775808n)], {}, 'index-out-of-range'],
  ['SequenceErase', 11, [{ type: 'sequence', values: [] }], {}, 'index-out-of-range'],
  ['SequenceErase', 11, [{ type: 'sequence', values: [f32(1)] }, one(5)], {}, 'index-out-of-range'],
  ['SequenceInsert', 11, [{ type: 'sequence', values: [f32(1)] }, f32(1), one(3)], {}, 'index-out-of-range'],
  ['SequenceInsert', 11, [{ type: 'sequence', values: [f32(1)] }, i32(1)], {}, 'type-mismatch'],
  ['ConcatFromSequence', 11, [{ type: 'sequence', values: [] }], { axis: 0 }, 'value-out-of-range'],
  [
    'ConcatFromSequence',
    11,
    [{ type: 'sequence', values: [f32(1), t('float32', [1, 1], 1)] }],
    { axis: 0 },
    'rank-mismatch'
  ],
  ['SequenceEmpty', 11, [], { dtype: 99 }, 'unknown-attribute-value'],
  ['OptionalGetElement', 18, [{ type: 'optional', value: undefined }], {}, 'value-out-of-range'],
  ['HannWindow', 17, [one(0)], {}, 'float32[0]'],
  ['DFT', 20, [up(1, 4, 1), one(0), one(1)], {}, 'value-out-of-range'],
  ['STFT', 17, [up(1, 8, 1), one(0), f32(1, 2, 3, 4)], {}, 'value-out-of-range'],
  ['STFT', 17, [up(1, 8, 1), one(1), undefined, one(0)], {}, 'value-out-of-range'],
  ['HannWindow', 17, [one(-1)], {}, 'value-out-of-range'],
  ['DFT', 20, [up(1, 4, 1), one(-1), one(1)], {}, 'value-out-of-range'],
  ['STFT', 17, [up(1, 8, 1), one(-1), f32(1, 2, 3, 4)], {}, 'value-out-of-range'],
  ['STFT', 17, [up(1, 8, 1), one(1), undefined, one(-1)], {}, 'value-out-of-range'],
  ['HannWindow', 17, [one(1000000000000000)], {}, 'limit-exceeded'],
  ['DFT', 20, [up(1, 4, 1), one(1000000000000000), one(1)], {}, 'limit-exceeded'],
  ['STFT', 17, [up(1, 8, 1), one(1000000000000000), f32(1, 2, 3, 4)], {}, 'float32[1,1,3,2] 30 0 -8 12 -10 0'],
  ['STFT', 17, [up(1, 8, 1), one(1), undefined, one(1000000000000000)], {}, 'value-out-of-range'],
  ['DFT', 20, [up(1, 4, 3), undefined, one(1)], {}, 'dims-mismatch'],
  ['DFT', 20, [up(1, 4, 1), undefined, one(9)], {}, 'axis-out-of-range'],
  ['DFT', 20, [t('float32', [1, 0, 1]), undefined, one(1)], {}, 'value-out-of-range'],
  ['ov:IRDFT', 9, [up(2, 2), i64(0), i64(-5)], {}, 'value-out-of-range'],
  ['ov:DFT', 7, [up(4, 2), i64(0, 0)], {}, 'value-out-of-range'],
  [
    'ov:ISTFT',
    16,
    [up(3, 2, 2), f32(1, 2, 3, 4), one(0), one(1)],
    { center: 'false', normalized: 'false' },
    'value-out-of-range'
  ],
  [
    'ov:ISTFT',
    16,
    [up(3, 2, 2), f32(1, 2, 3, 4), one(4), one(0)],
    { center: 'false', normalized: 'false' },
    'value-out-of-range'
  ],
  [
    'ov:ISTFT',
    16,
    [up(3, 2, 2), f32(1, 2, 3, 4), one(4), one(1000000000000000)],
    { center: 'false', normalized: 'false' },
    'limit-exceeded'
  ],
  ['MelWeightMatrix', 17, [one(0), one(8), one(100), one(0, 'float32'), one(50, 'float32')], {}, 'float32[5,0]'],
  ['MelWeightMatrix', 17, [one(4), one(8), one(0), one(0, 'float32'), one(50, 'float32')], {}, 'value-out-of-range'],
  [
    'MelWeightMatrix',
    17,
    [one(4), one(8), one(100), one(NaN, 'float32'), one(50, 'float32')],
    {},
    'value-out-of-range'
  ],
  [
    'MelWeightMatrix',
    17,
    [one(4), one(8), one(100), one(0, 'float32'), one(1e30, 'float32')],
    {},
    'value-out-of-range'
  ],
  [
    'MelWeightMatrix',
    17,
    [one(4), one(8), one(100), one(-1000, 'float32'), one(50, 'float32')],
    {},
    'value-out-of-range'
  ],
  ['BatchNormalization', 15, [up(1, 2, 2), f32(1), f32(0, 0), f32(0, 0), f32(1, 1)], {}, 'shape-mismatch'],
  [
    'BatchNormalization',
    15,
    [t('float32', [0, 2, 2]), f32(1, 1), f32(0, 0), f32(0, 0), f32(1, 1)],
    { training_mode: 1 },
    'float32[0,2,2] | float32[2] NaN NaN | float32[2] NaN NaN'
  ],
  ['LayerNormalization', 17, [t('float32', [2, 0]), t('float32', [0])], {}, 'float32[2,0]'],
  ['LayerNormalization', 17, [f32(1, 2), f32(1, 2)], { axis: 7 }, 'axis-out-of-range'],
  ['InstanceNormalization', 6, [t('float32', [1, 2, 0]), f32(1, 1), f32(0, 0)], {}, 'float32[1,2,0]'],
  ['GroupNormalization', 21, [up(1, 2, 2), f32(1, 1), f32(0, 0)], { num_groups: 0 }, 'unknown-attribute-value'],
  ['GroupNormalization', 21, [up(1, 2, 2), f32(1, 1), f32(0, 0)], { num_groups: 3 }, 'shape-mismatch'],
  ['GroupNormalization', 21, [up(1, 2, 2), f32(1, 1), f32(0, 0)], { num_groups: -1 }, 'unknown-attribute-value'],
  ['LpNormalization', 1, [f32(1, 2)], { p: 3 }, 'unknown-attribute-value'],
  ['LpNormalization', 1, [f32(1, 2)], { axis: 5 }, 'axis-out-of-range'],
  ['LRN', 13, [up(1, 2, 2)], { size: 0 }, 'unknown-attribute-value'],
  ['LRN', 13, [up(1, 2, 2)], { size: -1 }, 'unknown-attribute-value'],
  ['LRN', 13, [up(1, 2, 2)], { size: 1099511627776 }, 'float32[1,2,2] 1 2 3 4'],
  [
    'LRN',
    13,
    [up(1, 100, 1)],
    { size: 99 },
    'float32[1,100,1] 0.9686676859855652 1.9336845874786377 2.8948593139648438 3.851998805999756 ' +
      '4.80490779876709 5.753390789031982 …'
  ],
  ['Softmax', 13, [t('float32', [0])], {}, 'float32[0]'],
  ['Softmax', 13, [f32(-Infinity, -Infinity)], {}, 'float32[2] NaN NaN'],
  ['Softmax', 13, [f32(Infinity, 1)], {}, 'float32[2] NaN NaN'],
  ['Softmax', 13, [f32(1, 2)], { axis: 3 }, 'axis-out-of-range'],
  ['Hardmax', 13, [f32(NaN, 1)], {}, 'float32[2] 1 0'],
  ['Dropout', 13, [f32(1, 2), one(1.5, 'float32'), one(1, 'bool')], {}, 'value-out-of-range'],
  ['Dropout', 13, [f32(1, 2), one(NaN, 'float32'), one(1, 'bool')], {}, 'value-out-of-range'],
  ['CumSum', 14, [f32(1, 2), one(5)], {}, 'axis-out-of-range'],
  ['CumSum', 14, [t('float32', [0]), one(0)], {}, 'float32[0]'],
  ['Clip', 13, [f32(1, NaN), one(2, 'float32'), one(1, 'float32')], {}, 'float32[2] 1 NaN'],
  ['Clip', 13, [f32(1), one(NaN, 'float32')], {}, 'float32[1] NaN'],
  ['QuantizeLinear', 21, [f32(1, NaN, Infinity), one(0, 'float32'), one(0, 'uint8')], {}, 'uint8[3] 255 0 255'],
  ['QuantizeLinear', 21, [up(2, 2), f32(1, 1)], { axis: 5 }, 'axis-out-of-range'],
  ['QuantizeLinear', 21, [up(4, 1), up(2, 1)], { block_size: -1, axis: 0 }, 'unknown-attribute-value'],
  ['QuantizeLinear', 21, [up(4, 1), up(3, 1)], { block_size: 2, axis: 0 }, 'shape-mismatch'],
  ['DynamicQuantizeLinear', 11, [f32(NaN, 1)], {}, 'uint8[2] 0 0 | float32[] NaN | uint8[] 0'],
  ['DynamicQuantizeLinear', 11, [t('float32', [0])], {}, 'uint8[0] | float32[] 0.003921568859368563 | uint8[] 0'],
  ['DynamicQuantizeLinear', 11, [f32(Infinity, 1)], {}, 'uint8[2] 0 0 | float32[] Infinity | uint8[] 0'],
  [
    'ov:FakeQuantize',
    1,
    [f32(1), one(0, 'float32'), one(0, 'float32'), one(0, 'float32'), one(0, 'float32')],
    { levels: 0 },
    'unknown-attribute-value'
  ],
  [
    'ov:FakeQuantize',
    1,
    [f32(1), one(0, 'float32'), one(0, 'float32'), one(0, 'float32'), one(0, 'float32')],
    { levels: 1 },
    'unknown-attribute-value'
  ],
  [
    'GRU',
    14,
    [up(1, 1, 2), up(1, 6, 2), up(1, 6, 2)],
    { hidden_size: 0 },
    'float32[1,1,1,2] 0.006692850962281227 0.000016701422282494605'
  ],
  ['GRU', 14, [up(1, 1, 2), up(1, 6, 2), up(1, 6, 2)], { hidden_size: -2 }, 'value-out-of-range'],
  ['GRU', 14, [up(1, 1, 2), up(1, 6, 2), up(1, 6, 2)], { hidden_size: 3 }, 'dims-mismatch'],
  ['GRU', 14, [up(2, 1, 2), up(1, 6, 2), up(1, 6, 2), undefined, i32(5)], { hidden_size: 2 }, 'value-out-of-range'],
  ['GRU', 14, [up(2, 1, 2), up(1, 6, 2), up(1, 6, 2), undefined, i32(-1)], { hidden_size: 2 }, 'value-out-of-range'],
  [
    'LSTM',
    14,
    [t('float32', [0, 1, 2]), up(1, 8, 2), up(1, 8, 2)],
    { hidden_size: 2 },
    'float32[0,1,1,2] | float32[1,1,2] 0 0 | float32[1,1,2] 0 0'
  ],
  [
    'RNN',
    14,
    [up(1, 1, 2), up(1, 2, 2), up(1, 2, 2)],
    { hidden_size: 2, activations: ['Nope'] },
    'unknown-attribute-value'
  ],
  [
    'LSTM',
    14,
    [up(1, 1, 2), up(1, 8, 2), up(1, 8, 2)],
    { hidden_size: 2, clip: -1 },
    'float32[1,1,1,2] 0.7587689161300659 0.7615871429443359'
  ],
  ['MatMul', 13, [t('float32', [2, 0]), t('float32', [0, 3])], {}, 'float32[2,3] 0 0 0 0 0 0'],
  ['MatMul', 13, [up(2, 3), up(2, 3)], {}, 'shape-mismatch'],
  ['MatMul', 13, [one(1, 'float32'), f32(1)], {}, 'rank-mismatch'],
  ['Gemm', 13, [t('float32', [2, 0]), t('float32', [0, 3]), f32(1)], {}, 'float32[2,3] 1 1 1 1 1 1'],
  ['Gemm', 13, [up(2, 3), up(2, 3)], {}, 'shape-mismatch'],
  ['Det', 22, [t('float32', [0, 0])], {}, 'float32[] 1'],
  ['Det', 22, [up(2, 3)], {}, 'dims-mismatch'],
  ['Det', 22, [t('float32', [1, 1], NaN)], {}, 'float32[] NaN'],
  ['ov:Inverse', 14, [t('float32', [1, 1], 0)], { adjoint: 'false' }, 'value-out-of-range'],
  ['ov:Inverse', 14, [t('float32', [1, 1], NaN)], { adjoint: 'false' }, 'float32[1,1] NaN'],
  ['Multinomial', 7, [f32(1, 2)], { sample_size: 2 }, 'rank-mismatch'],
  ['Multinomial', 7, [t('float32', [1, 0])], { sample_size: 2 }, 'value-out-of-range'],
  ['Multinomial', 7, [up(1, 2)], { sample_size: -1 }, 'value-out-of-range'],
  ['Multinomial', 7, [up(1, 2)], { sample_size: 1125899906842624 }, 'limit-exceeded'],
  ['Multinomial', 7, [t('float32', [1, 2], NaN, 1)], { sample_size: 1 }, 'value-out-of-range'],
  ['RandomUniform', 22, [], { shape: [-1] }, 'value-out-of-range'],
  ['RandomUniform', 22, [], { shape: [1125899906842624] }, 'limit-exceeded'],
  ['RandomNormal', 22, [], { shape: [2], scale: NaN }, 'float32[2] NaN NaN'],
  ['Bernoulli', 22, [f32(NaN)], {}, 'value-out-of-range'],
  ['ov:RandomUniform', 8, [i64(2), one(5), one(5)], { output_type: 'i64' }, 'value-out-of-range'],
  [
    'ov:Multinomial',
    13,
    [up(1, 2), one(5, 'int32')],
    { convert_type: 'i32', with_replacement: 'false', log_probs: 'false' },
    'value-out-of-range'
  ],
  ['EyeLike', 9, [up(2, 2)], { k: 1125899906842624 }, 'float32[2,2] 0 0 0 0'],
  ['EyeLike', 9, [f32(1, 2)], {}, 'rank-mismatch'],
  ['ov:Eye', 9, [one(-1), one(2), one(0)], { output_type: 'f32' }, 'value-out-of-range'],
  ['ov:Eye', 9, [one(1000000000), one(1000000000), one(0)], { output_type: 'f32' }, 'limit-exceeded'],
  ['ov:Eye', 9, [one(2), one(2), one(-9223372036854775808n)], { output_type: 'f32' }, 'float32[2,2] 0 0 0 0'],
  ['Trilu', 14, [up(2, 2), one(9223372036854775807n)], {}, 'float32[2,2] 0 0 0 0'],
  ['Trilu', 14, [up(2, 2), one(-9223372036854775808n)], {}, 'float32[2,2] 1 2 3 4'],
  ['Trilu', 14, [f32(1, 2)], {}, 'rank-mismatch'],
  [
    'Attention',
    23,
    [t('float32', [1, 1, 2, 0]), t('float32', [1, 1, 2, 0]), up(1, 1, 2, 1)],
    {},
    'float32[1,1,2,1] NaN NaN'
  ],
  ['Attention', 23, [up(1, 3, 2, 1), up(1, 2, 2, 1), up(1, 2, 2, 1)], {}, 'shape-mismatch'],
  [
    'Attention',
    23,
    [up(1, 2, 3), up(1, 2, 3), up(1, 2, 3)],
    { q_num_heads: 0, kv_num_heads: 0 },
    'unknown-attribute-value'
  ],
  ['Attention', 23, [up(1, 1, 2, 1), up(1, 1, 2, 1), up(1, 1, 2, 1)], { scale: 0 }, 'float32[1,1,2,1] 1.5 1.5'],
  [
    'RotaryEmbedding',
    23,
    [up(1, 1, 1, 3), t('float32', [1, 1, 1], 1), t('float32', [1, 1, 1], 1)],
    {},
    'shape-mismatch'
  ],
  [
    'RotaryEmbedding',
    23,
    [up(1, 1, 1, 2), t('float32', [1, 1], 1), t('float32', [1, 1], 1), t('int64', [1, 1], 5)],
    {},
    'index-out-of-range'
  ],
  ['NegativeLogLikelihoodLoss', 13, [up(1, 2), i64(5)], {}, 'index-out-of-range'],
  ['NegativeLogLikelihoodLoss', 13, [t('float32', [0, 2]), t('int64', [0])], {}, 'float32[] NaN'],
  ['SoftmaxCrossEntropyLoss', 13, [up(1, 2), i64(-1)], {}, 'index-out-of-range'],
  ['ov:CTCLoss', 4, [up(1, 2, 2), i32(5), t('int32', [1, 2], 0, 0), i32(1)], {}, 'value-out-of-range'],
  ['ov:CTCLoss', 4, [up(1, 2, 2), i32(2), t('int32', [1, 2], 9, 9), i32(1)], {}, 'value-out-of-range'],
  ['ov:CTCGreedyDecoderSeqLen', 6, [up(1, 2, 2), i32(-1)], {}, 'value-out-of-range'],
  [
    'ov:GatherTree',
    1,
    [t('int32', [1, 1, 1], 0), t('int32', [1, 1, 1], 7), i32(1), one(0, 'int32')],
    {},
    'int32[1,1,1] 0'
  ],
  ['ov:SearchSorted', 15, [f32(3, 1, NaN), f32(NaN)], {}, 'int64[1] 0'],
  ['ov:Bucketize', 3, [f32(NaN), f32(1, 0)], { output_type: 'i32' }, 'int32[1] 0'],
  ['ov:SegmentMax', 16, [f32(1, 2), i32(1, 0), one(2, 'int32')], { fill_mode: 'ZERO' }, 'value-out-of-range'],
  ['ov:SegmentMax', 16, [f32(1, 2), i32(0, -1), one(2, 'int32')], { fill_mode: 'ZERO' }, 'value-out-of-range'],
  ['ov:SegmentMax', 16, [f32(1, 2), i32(0, 1073741824)], { fill_mode: 'ZERO' }, 'limit-exceeded'],
  ['ov:EmbeddingBagOffsetsSum', 3, [up(2, 1), i32(5), i32(0)], {}, 'index-out-of-range'],
  ['ov:EmbeddingBagOffsetsSum', 3, [up(2, 1), i32(1), i32(3)], {}, 'value-out-of-range'],
  ['ov:EmbeddingSegmentsSum', 3, [up(2, 1), i32(1), i32(5), one(2, 'int32')], {}, 'index-out-of-range'],
  ['ov:EmbeddingSegmentsSum', 3, [up(2, 1), i32(1), i32(0), one(1073741824, 'int32')], {}, 'limit-exceeded'],
  [
    'ov:SparseFillEmptyRows',
    16,
    [f32(1), i64(1000000000000, 1), t('int64', [1, 2], 0, 0), one(0, 'float32')],
    {},
    'limit-exceeded'
  ],
  [
    'ov:SparseFillEmptyRows',
    16,
    [f32(1), i64(2, 2), t('int64', [1, 2], 5, 0), one(0, 'float32')],
    {},
    'index-out-of-range'
  ],
  ['ov:StringTensorPack', 15, [i32(0), i32(9), t('uint8', [2], 0, 0)], {}, 'value-out-of-range'],
  ['ov:StringTensorPack', 15, [i32(0), i32(1), t('uint8', [1], 255)], {}, 'value-out-of-range'],
  [
    'ov:RegionYolo',
    1,
    [up(1, 4, 1, 1)],
    { axis: 1, end_axis: 3, coords: 4, classes: 80, num: 3, do_softmax: 'false', mask: '0,9' },
    'dims-mismatch'
  ],
  [
    'ov:PriorBox',
    8,
    [i64(1, 1), i64(0, 0)],
    { min_size: '1', offset: 0.5, variance: '0.1,0.1,0.2,0.2', step: 0 },
    'value-out-of-range'
  ],
  [
    'ov:PriorBox',
    8,
    [i64(1000000, 1000000), i64(4, 4)],
    { min_size: '1', offset: 0.5, variance: '0.1' },
    'limit-exceeded'
  ],
  [
    'ov:PriorBoxClustered',
    1,
    [i64(1, 1), i64(4, 4)],
    { width: '1,2', height: '1', offset: 0.5, variance: '0.1' },
    'dims-mismatch'
  ],
  [
    'ov:Proposal',
    4,
    [up(1, 2, 1, 1), up(1, 4, 1, 1), f32(0, 0, NaN)],
    {
      base_size: 0,
      pre_nms_topn: 1,
      post_nms_topn: 1,
      nms_thresh: NaN,
      feat_stride: 0,
      min_size: 0,
      ratio: '0',
      scale: '0'
    },
    'float32[1,5] 0 NaN NaN NaN NaN | float32[1] 0'
  ],
  [
    'ov:GenerateProposals',
    9,
    [up(1, 3), up(1, 1, 1, 4), up(1, 4, 1, 1), up(1, 1, 1, 1)],
    { min_size: NaN, nms_threshold: NaN, pre_nms_count: 2 ** 40, post_nms_count: 2 ** 40 },
    'float32[0,4] | float32[0] | int64[1] 0'
  ],
  [
    'ov:ExperimentalDetectronGenerateProposalsSingleImage',
    6,
    [f32(1, 1, 1), up(1, 4), up(4, 1, 1), up(1, 1, 1)],
    { min_size: 0, nms_threshold: 0, pre_nms_count: 2 ** 40, post_nms_count: 2 ** 40 },
    'limit-exceeded'
  ],
  [
    'ov:ExperimentalDetectronDetectionOutput',
    6,
    [up(0, 4), t('float32', [0, 2 ** 42]), t('float32', [0, 2 ** 40]), up(1, 3)],
    { num_classes: 2 ** 40, max_detections_per_image: 0, deltas_weights: '0,0,0,0' },
    'float32[0,4] | int32[0] | float32[0]'
  ],
  [
    'ov:ExperimentalDetectronROIFeatureExtractor',
    6,
    [t('float32', [1, 4], 0, 0, 2, 2), up(1, 1, 2, 2)],
    { output_size: 2, sampling_ratio: 2 ** 40, pyramid_scales: '1' },
    'limit-exceeded'
  ],
  [
    'ov:DetectionOutput',
    8,
    [up(1, 4), up(1, 2), up(1, 2, 4)],
    {
      background_label_id: 0,
      top_k: -1,
      variance_encoded_in_target: 'false',
      keep_top_k: '-1',
      code_type: 'caffe.PriorBoxParameter.CORNER',
      share_location: 'true',
      nms_threshold: NaN,
      confidence_threshold: NaN,
      normalized: 'true'
    },
    'float32[1,1,2,7] -1 0 0 0 0 0 …'
  ],
  ['TensorScatter', 24, [up(1, 2, 1), t('float32', [1, 1, 1], 1), i64(5)], {}, 'index-out-of-range'],
  ['TensorScatter', 24, [up(1, 2, 1), up(1, 3, 1)], {}, 'dims-mismatch'],
  ['TensorScatter', 24, [up(1, 2, 1), t('float32', [1, 1, 1], 1), i64(-1)], {}, 'index-out-of-range'],
  ['CenterCropPad', 18, [f32(1, 2), i64(-1)], {}, 'value-out-of-range'],
  ['CenterCropPad', 18, [f32(1, 2), i64(1000000000000000)], {}, 'limit-exceeded'],
  ['CenterCropPad', 18, [up(2, 2), i64(1, 1)], { axes: [0, 0] }, 'value-out-of-range'],
  ['ov:SliceScatter', 15, [f32(1, 2, 3, 4), f32(1), i64(0), i64(4), i64(0), i64(0)], {}, 'value-out-of-range'],
  [
    'ov:SliceScatter',
    15,
    [f32(1, 2, 3, 4), f32(1, 2, 3, 4, 5, 6, 7, 8, 9), i64(0), i64(4), i64(1), i64(0)],
    {},
    'shape-mismatch'
  ],
  ['BitCast', 26, [f32(1, 2)], { to: 7 }, 'type-mismatch'],
  ['BitCast', 26, [f32(1, 2)], { to: 8 }, 'type-not-allowed'],
  ['Shape', 15, [f32(1, 2)], { start: -9, end: 9 }, 'int64[1] 2'],
  [
    'LinearAttention',
    27,
    [up(1, 1, 2), up(1, 1, 2), up(1, 1, 2)],
    { q_num_heads: 3, kv_num_heads: 1 },
    'missing-input'
  ],
  ['ai.onnx.preview.training:Adagrad', 1, [one(1, 'float32'), one(1), f32(1), f32(1)], {}, 'wrong-input-count'],
  ['CausalConvWithState', 27, [t('float32', [1, 1, 0]), up(1, 1, 3)], {}, 'float32[1,1,0] | float32[1,1,2] 0 0'],
  ['ConcatFromSequence', 11, [{ type: 'sequence', values: [f32(1)] }], { axis: 9 }, 'axis-out-of-range'],
  ['Identity', 14, [t('string', [0])], {}, 'string[0]'],
  ['ov:NV12toRGB', 8, [t('uint8', [1, 2, 3, 1])], {}, 'dims-mismatch'],
  ['ov:NV12toRGB', 8, [t('uint8', [0, 3, 2, 1])], {}, 'uint8[0,2,2,3]']
]

test.each([...new Set(calls.map(([type]) => type))])(
  'hostile calls of %s give what the specification says or an error',
  type => {
    for (const call of calls.filter(([own]) => own === type))
      expect(outcomeOf(call), JSON.stringify(call[3])).toBe(call[4])
  }
)
