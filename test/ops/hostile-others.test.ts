import { mapOf } from '../../src/tensor/map.ts'
import { f32, holdCalls, type Hostile, i32, i64, one, t, up, withAttributes, withInputs } from './hostile.ts'

const TWO = mapOf('int64', 'float32', [
  [0, 1],
  [2n ** 62n, 2]
])

const calls: readonly Hostile[] = [
  ['SequenceAt', 11, [{ type: 'sequence', values: [TWO] }, one(0)], {}, 'type-not-allowed'],
  ['Identity', 25, [TWO], {}, 'type-not-allowed'],
  ...withAttributes(
    'Einsum',
    12,
    [f32(1, 2)],
    [
      [{ equation: '' }, 'rank-mismatch'],
      [{ equation: '->' }, 'rank-mismatch'],
      [{ equation: 'i' }, 'float32[2] 1 2'],
      [{ equation: 'ii' }, 'rank-mismatch'],
      [{ equation: 'ij->' }, 'rank-mismatch'],
      [{ equation: 'i->ij' }, 'unknown-attribute-value'],
      [{ equation: 'i,j->ij' }, 'wrong-input-count'],
      [{ equation: 'i->ii' }, 'unknown-attribute-value'],
      [{ equation: '...i->i' }, 'float32[2] 1 2'],
      [{ equation: 'i...j...->i' }, 'unknown-attribute-value'],
      [{ equation: 'a1->a' }, 'unknown-attribute-value'],
      [{ equation: 'ij,jk' }, 'wrong-input-count'],
      [{ equation: 'i→j' }, 'unknown-attribute-value'],
      [{ equation: 'I->I' }, 'float32[2] 1 2'],
      [{ equation: 'i i->i' }, 'rank-mismatch'],
      [{ equation: 'i->i->i' }, 'unknown-attribute-value'],
      [{ equation: '.i->i' }, 'unknown-attribute-value'],
      [{ equation: '....i->i' }, 'unknown-attribute-value'],
      [
        {
          equation:
            'iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii'
        },
        'rank-mismatch'
      ],
      [{ equation: 'ij->ik' }, 'unknown-attribute-value'],
      [{ equation: ',i->i' }, 'wrong-input-count']
    ]
  ),
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
  ...withInputs('ov:ISTFT', 16, { center: 'false', normalized: 'false' }, [
    [[up(3, 2, 2), f32(1, 2, 3, 4), one(0), one(1)], 'value-out-of-range'],
    [[up(3, 2, 2), f32(1, 2, 3, 4), one(4), one(0)], 'value-out-of-range'],
    [[up(3, 2, 2), f32(1, 2, 3, 4), one(4), one(1000000000000000)], 'limit-exceeded']
  ]),
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
  ['Clip', 13, [f32(1), one(NaN, 'float32')], {}, 'float32[1] 1'],
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
  ...withAttributes(
    'GRU',
    14,
    [up(1, 1, 2), up(1, 6, 2), up(1, 6, 2)],
    [
      [{ hidden_size: 0 }, 'float32[1,1,1,2] 0.006692850962281227 0.000016701422282494605'],
      [{ hidden_size: -2 }, 'value-out-of-range'],
      [{ hidden_size: 3 }, 'dims-mismatch']
    ]
  ),
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

holdCalls(calls)
