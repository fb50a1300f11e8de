import { describe, expect, test } from 'vitest'
import { allocate } from '../../src/tensor/tensor.ts'
import { errorOf, type Kind, runTensor } from './harness.ts'
import { ints } from './values.ts'

const HUGE = 2 ** 40
const empty = (...dims: number[]): ReturnType<typeof allocate> => allocate('float32', dims)

describe('dims that are huge where the data are empty', () => {
  test('give an error where something of their size is needed', () => {
    expect(errorOf(() => runTensor(['onnx', 'ReduceSum', 13], [empty(HUGE, 0), ints(1)])).code).toBe('limit-exceeded')
    const attributes = { axes: [1] }
    expect(
      errorOf(() => runTensor(['onnx', 'MeanVarianceNormalization', 13], [empty(HUGE, 0)], { attributes })).code
    ).toBe('limit-exceeded')
    expect(
      errorOf(() =>
        runTensor(['onnx', 'Einsum', 12], [empty(HUGE, 0), empty(HUGE, 0)], { attributes: { equation: 'bi,bj->' } })
      ).code
    ).toBe('limit-exceeded')
  })

  test('give an empty result at once else', () => {
    const calls: readonly (readonly [
      Kind,
      readonly ReturnType<typeof allocate>[],
      Record<string, number | string | readonly number[]>?
    ])[] = [
      [
        ['onnx', 'Add', 14],
        [empty(HUGE, 0), empty(1)]
      ],
      [['onnx', 'Softmax', 13], [empty(HUGE, 0)]],
      [['onnx', 'Softmax', 13], [empty(0, HUGE)]],
      [
        ['onnx', 'MatMul', 13],
        [empty(HUGE, 2, 0), empty(HUGE, 0, 0)]
      ],
      [['onnx', 'Einsum', 12], [empty(HUGE, 0, 0), empty(HUGE, 0, 0)], { equation: 'bij,bjk->bik' }],
      [['onnx', 'LRN', 13], [empty(HUGE, 0)], { size: 3 }],
      [['onnx', 'Normalizer', 1, 'ai.onnx.ml'], [empty(HUGE, 0)]],
      [['onnx', 'Normalizer', 1, 'ai.onnx.ml'], [empty(0, HUGE)]],
      [['onnx', 'Imputer', 1, 'ai.onnx.ml'], [empty(HUGE, 0)], { imputed_value_floats: [1] }],
      [['onnx', 'OneHotEncoder', 1, 'ai.onnx.ml'], [empty(HUGE, 0)], { cats_int64s: [1] }],
      [
        ['onnx', 'Attention', 23],
        [empty(HUGE, 1, 0), empty(HUGE, 1, 0), empty(HUGE, 1, 0)],
        { q_num_heads: 1, kv_num_heads: 1 }
      ],
      [
        ['onnx', 'DequantizeLinear', 21],
        [allocate('uint8', [HUGE, 2, 0]), empty(HUGE, 1, 0)],
        { axis: 1, block_size: 2 }
      ],
      [
        ['onnx', 'FeatureVectorizer', 1, 'ai.onnx.ml'],
        [empty(HUGE, 0), empty(HUGE, 0)]
      ],
      [
        ['openvino', 'ScaledDotProductAttention', 13],
        [empty(HUGE, 1, 0), empty(HUGE, 1, 0), empty(HUGE, 1, 0)]
      ]
    ]
    for (const [kind, inputs, attributes = {}] of calls)
      expect(runTensor(kind, inputs, { attributes }).data.length, kind[1]).toBe(0)
  })
})
