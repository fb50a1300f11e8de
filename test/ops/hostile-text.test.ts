import { mapOf } from '../../src/tensor/map.ts'
import { f32, holdCalls, type Hostile, i32, i64, t, text, withAttributes } from './hostile.ts'

const TWO = mapOf('int64', 'float32', [
  [0, 1],
  [2n ** 62n, 2]
])

const calls: readonly Hostile[] = [
  ['ai.onnx.ml:ZipMap', 1, [t('float32', [0, 1])], { classlabels_int64s: [0] }, 'sequence of 0'],
  ['ai.onnx.ml:ZipMap', 1, [t('float32', [2 ** 21 + 1, 1])], { classlabels_int64s: [0] }, 'limit-exceeded'],
  ...withAttributes(
    'ai.onnx.ml:CastMap',
    1,
    [TWO],
    [
      [{ map_form: 'SPARSE', max_map: 2 ** 40 }, 'limit-exceeded'],
      [{ map_form: 'SPARSE', max_map: 2 ** 40, cast_to: 'TO_STRING' }, 'limit-exceeded'],
      [{ map_form: 'SPARSE', max_map: 0 }, 'unknown-attribute-value'],
      [{ map_form: 'SPARSE', max_map: -1 }, 'unknown-attribute-value'],
      [{ max_map: 2 ** 40 }, 'float32[1,2] 1 2']
    ]
  ),
  ['ai.onnx.ml:CastMap', 1, [f32(1)], {}, 'type-not-allowed'],
  ['ai.onnx.ml:DictVectorizer', 1, [TWO], { int64_vocabulary: [] }, 'float32[1,0]'],
  ['ai.onnx.ml:DictVectorizer', 1, [TWO], {}, 'missing-attribute'],
  ...withAttributes(
    'RegexFullMatch',
    20,
    [text('a'.repeat(5000), '', '😀')],
    [
      [{ pattern: '(a+)+$' }, 'bool[3] 1 0 0'],
      [{ pattern: '(a|a)*b' }, 'bool[3] 0 0 0'],
      [{ pattern: '(' }, 'unknown-attribute-value'],
      [{ pattern: '[' }, 'unknown-attribute-value'],
      [{ pattern: 'a{1000}{1000}' }, 'unknown-attribute-value'],
      [{ pattern: '(?=a)' }, 'unknown-attribute-value'],
      [{ pattern: '\\1' }, 'unknown-attribute-value'],
      [{ pattern: 'a{-1}' }, 'bool[3] 0 0 0'],
      [{ pattern: '(?P<n>a)' }, 'bool[3] 0 0 0'],
      [{ pattern: '' }, 'bool[3] 0 1 0'],
      [{ pattern: '\\' }, 'unknown-attribute-value'],
      [{ pattern: '('.repeat(1000) }, 'unknown-attribute-value'],
      [{ pattern: '[z-a]' }, 'unknown-attribute-value'],
      [{ pattern: 'a**' }, 'unknown-attribute-value'],
      [{ pattern: '😀+' }, 'bool[3] 0 0 1'],
      [{ pattern: '(?i)A' }, 'bool[3] 0 0 0']
    ]
  ),
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
  ...withAttributes(
    'TfIdfVectorizer',
    9,
    [i32(1, 2, 3)],
    [
      [{ max_skip_count: 0, mode: 'TF', min_gram_length: 0, max_gram_length: 1 }, 'unknown-attribute-value'],
      [{ max_skip_count: 0, mode: 'TF', min_gram_length: 2, max_gram_length: 1 }, 'unknown-attribute-value'],
      [{ max_skip_count: 1000000000, mode: 'TF', min_gram_length: 1, max_gram_length: 1000000000 }, 'float32[2] 1 1'],
      [{ max_skip_count: -1, mode: 'TF', min_gram_length: 1, max_gram_length: 1 }, 'unknown-attribute-value'],
      [{ max_skip_count: 0, mode: 'X', min_gram_length: 1, max_gram_length: 1 }, 'unknown-attribute-value']
    ],
    { ngram_counts: [0], ngram_indexes: [0, 1], pool_int64s: [1, 2] }
  ),
  ...withAttributes(
    'TfIdfVectorizer',
    9,
    [i32(1)],
    [
      [{ ngram_counts: [5], ngram_indexes: [0] }, 'unknown-attribute-value'],
      [{ ngram_counts: [0], ngram_indexes: [1099511627776] }, 'limit-exceeded'],
      [{ ngram_counts: [0], ngram_indexes: [-1] }, 'unknown-attribute-value']
    ],
    { mode: 'TF', min_gram_length: 1, max_gram_length: 1, max_skip_count: 0, pool_int64s: [1] }
  ),
  ['ai.onnx.ml:LabelEncoder', 2, [f32(NaN, -0)], { keys_floats: [NaN, 0], values_floats: [1, 2] }, 'float32[2] 1 2'],
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
  ['ov:StringTensorPack', 15, [i32(0), i32(9), t('uint8', [2], 0, 0)], {}, 'value-out-of-range'],
  ['ov:StringTensorPack', 15, [i32(0), i32(1), t('uint8', [1], 255)], {}, 'value-out-of-range']
]

holdCalls(calls)
