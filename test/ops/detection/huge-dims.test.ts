import { holdCalls, one, t } from '../hostile.ts'

const HUGE = 2 ** 40
const none = (...dims: number[]) => t('float32', dims)
const DETECTION = {
  background_label_id: 0,
  top_k: -1,
  keep_top_k: -1,
  nms_threshold: 0.5,
  code_type: 'caffe.PriorBoxParameter.CORNER',
  normalized: true
}
const YOLO = { coords: 4, classes: 1, num: 1, do_softmax: true, axis: 1, end_axis: 3 }
const ROI = { pooled_h: HUGE, pooled_w: 1, spatial_scale: 1, method: 'max' }

holdCalls(
  [
    ['NonMaxSuppression', 11, [none(1, 0, 4), none(1, HUGE, 0), one(5)], {}, 'int64[0,3]'],
    [
      'ov:NMSRotated',
      13,
      [none(1, 0, 5), none(1, HUGE, 0), one(1), one(0, 'float32'), one(0, 'float32')],
      {},
      'int64[0,3]'
    ],
    ['ov:MatrixNms', 8, [none(1, 0, 4), none(1, HUGE, 0)], {}, 'float32[0,6]'],
    ['ov:MatrixNms', 8, [none(HUGE, 0, 4), none(HUGE, 1, 0)], {}, 'float32[0,6]'],
    ['ov:MatrixNms', 8, [none(HUGE, 0, 4), none(HUGE, 1, 0)], {}, 'float32[0,6] | int64[0,1]'],
    ['ov:MulticlassNms', 8, [none(1, 0, 4), none(1, HUGE, 0)], {}, 'float32[0,6]'],
    [
      'ov:MulticlassNms',
      9,
      [none(HUGE, 0, 4), none(HUGE, 0), t('int32', [2])],
      {},
      'float32[0,6] | int64[0,1] | int64[2] 0 0'
    ],
    ['ov:MulticlassNms', 9, [none(HUGE, 0, 4), none(HUGE, 0), t('int32', [2], 0, 1)], {}, 'value-out-of-range'],
    ['ov:DetectionOutput', 8, [none(HUGE, 0), none(HUGE, 0), none(1, 2, 0)], DETECTION, 'float32[1,1,0,7]'],
    ['ov:DetectionOutput', 8, [none(2, 0), none(2, 0), none(1, 2, 0)], { ...DETECTION, top_k: 2 }, 'float32[1,1,0,7]'],
    [
      'ov:DetectionOutput',
      1,
      [none(1, 0), none(1, 0), none(1, 2, 0)],
      { ...DETECTION, num_classes: HUGE },
      'float32[1,1,0,7]'
    ],
    ['ov:RegionYolo', 1, [none(HUGE, 6, 1, 0)], YOLO, `float32[${HUGE},0]`],
    ['ov:ROIPooling', 2, [none(1, 0, HUGE, 2), none(1, 5)], ROI, `float32[1,0,${HUGE},1]`],
    ['ov:ROIPooling', 2, [none(1, 0, HUGE, 2), t('float32', [1, 5], 7, 0, 0, 0, 0)], ROI, 'index-out-of-range']
  ],
  'an empty result at once where data with huge dims are empty, or an error'
)
