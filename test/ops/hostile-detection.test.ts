import { f32, holdCalls, type Hostile, i64, one, t, up, withInputs } from './hostile.ts'

/** Boxes and scores of two, and what is selected of them. */
const twoBoxes: readonly (readonly [inputs: Hostile[2], expected: string])[] = [
  [
    [t('float32', [1, 2, 4], NaN, 0, 1, 1, 0, 0, 1, 1), t('float32', [1, 1, 2], 1, 1)],
    'float32[2,6] 0 1 NaN 0 1 1 … | int64[2,1] 0 1 | int64[1] 2'
  ],
  [
    [t('float32', [1, 2, 4], 0, 0, Infinity, Infinity, 0, 0, 1, 1), t('float32', [1, 1, 2], 1, 1)],
    'float32[2,6] 0 1 0 0 Infinity Infinity … | int64[2,1] 0 1 | int64[1] 2'
  ],
  [
    [t('float32', [1, 2, 4], 0, 0, 1, 1, 0, 0, 1, 1), t('float32', [1, 1, 2], NaN, 1)],
    'float32[1,6] 0 1 0 0 1 1 | int64[1,1] 1 | int64[1] 1'
  ]
]

const calls: readonly Hostile[] = [
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
  [
    'NonMaxSuppression',
    11,
    [
      t('float32', [1, 2, 4], NaN, 0, 1, 1, 0, 0, 1, 1),
      t('float32', [1, 1, 2], 1, 1),
      one(2),
      one(0.5, 'float32'),
      one(0, 'float32')
    ],
    {},
    'int64[2,3] 0 0 0 0 0 1'
  ],
  ...withInputs('ov:MulticlassNms', 8, { background_class: -1 }, twoBoxes),
  ...withInputs('ov:MatrixNms', 8, { background_class: -1 }, twoBoxes),
  [
    'NonMaxSuppression',
    11,
    [
      t('float32', [1, 2, 4], 0, 0, Infinity, Infinity, 0, 0, 1, 1),
      t('float32', [1, 1, 2], 1, 1),
      one(2),
      one(0.5, 'float32'),
      one(0, 'float32')
    ],
    {},
    'int64[2,3] 0 0 0 0 0 1'
  ],
  [
    'NonMaxSuppression',
    11,
    [
      t('float32', [1, 2, 4], 0, 0, 1, 1, 0, 0, 1, 1),
      t('float32', [1, 1, 2], NaN, 1),
      one(2),
      one(0.5, 'float32'),
      one(0, 'float32')
    ],
    {},
    'int64[1,3] 0 0 1'
  ],
  ['NonMaxSuppression', 11, [t('float32', [1, 0, 4]), t('float32', [1, 1, 0])], {}, 'int64[0,3]'],
  ['NonMaxSuppression', 11, [up(1, 1, 4), t('float32', [1, 1, 1], 1), one(-5)], {}, 'int64[0,3]'],
  [
    'NonMaxSuppression',
    11,
    [up(1, 1, 4), t('float32', [1, 1, 1], 1), one(9223372036854775807n), one(NaN, 'float32'), one(NaN, 'float32')],
    {},
    'int64[0,3]'
  ]
]

holdCalls(calls)
