import { holdCalls, type Hostile, i64, t, up, withInputs } from './hostile.ts'

const plane = up(1, 1, 4, 4)

const calls: readonly Hostile[] = [
  ...withInputs('RoiAlign', 16, { output_height: 1, output_width: 1 }, [
    [[plane, t('float32', [1, 4], NaN, 0, 1, 1), i64(0)], 'float32[1,1,1,1] NaN'],
    [[plane, t('float32', [1, 4], Infinity, 0, 1, 1), i64(0)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 4], -1e30, -1e30, 1e30, 1e30), i64(0)], 'limit-exceeded'],
    [[plane, t('float32', [1, 4], 3, 3, 1, 1), i64(0)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 4]), i64(0)], 'float32[1,1,1,1] 0']
  ]),
  ...withInputs('RoiAlign', 16, { output_height: 1, output_width: 1, mode: 'max', sampling_ratio: 2 }, [
    [[plane, t('float32', [1, 4], NaN, 0, 1, 1), i64(0)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 4], Infinity, 0, 1, 1), i64(0)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 4], -1e30, -1e30, 1e30, 1e30), i64(0)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 4], 3, 3, 1, 1), i64(0)], 'float32[1,1,1,1] 11'],
    [[plane, t('float32', [1, 4]), i64(0)], 'float32[1,1,1,1] 1']
  ]),
  ...withInputs('MaxRoiPool', 1, { pooled_shape: [1, 1] }, [
    [[plane, t('float32', [1, 5], 0, NaN, 0, 1, 1)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 5], 0, Infinity, 0, 1, 1)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 5], 0, -1e30, -1e30, 1e30, 1e30)], 'float32[1,1,1,1] 16'],
    [[plane, t('float32', [1, 5], 0, 3, 3, 1, 1)], 'float32[1,1,1,1] 16'],
    [[plane, t('float32', [1, 5])], 'float32[1,1,1,1] 1'],
    [[plane, t('float32', [1, 5], 7, 0, 0, 1, 1)], 'index-out-of-range'],
    [[plane, t('float32', [1, 5], NaN, 0, 0, 1, 1)], 'index-out-of-range']
  ]),
  ...withInputs('ov:ROIPooling', 2, { pooled_h: 1, pooled_w: 1, spatial_scale: 1, method: 'bilinear' }, [
    [[plane, t('float32', [1, 5], 0, NaN, 0, 1, 1)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 5], 0, Infinity, 0, 1, 1)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 5], 0, -1e30, -1e30, 1e30, 1e30)], 'float32[1,1,1,1] 1'],
    [[plane, t('float32', [1, 5], 0, 3, 3, 1, 1)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 5])], 'float32[1,1,1,1] 1']
  ]),
  ...withInputs('ov:PSROIPooling', 1, { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'average' }, [
    [[plane, t('float32', [1, 5], 0, NaN, 0, 1, 1)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 5], 0, Infinity, 0, 1, 1)], 'float32[1,1,1,1] 0'],
    [[plane, t('float32', [1, 5], 0, -1e30, -1e30, 1e30, 1e30)], 'float32[1,1,1,1] 8.5'],
    [[plane, t('float32', [1, 5], 0, 3, 3, 1, 1)], 'float32[1,1,1,1] 16'],
    [[plane, t('float32', [1, 5])], 'float32[1,1,1,1] 1']
  ]),
  ...withInputs(
    'ov:PSROIPooling',
    1,
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'bilinear', spatial_bins_x: 1, spatial_bins_y: 1 },
    [
      [[plane, t('float32', [1, 5], 0, NaN, 0, 1, 1)], 'float32[1,1,1,1] 0'],
      [[plane, t('float32', [1, 5], 0, Infinity, 0, 1, 1)], 'float32[1,1,1,1] 0'],
      [[plane, t('float32', [1, 5], 0, -1e30, -1e30, 1e30, 1e30)], 'float32[1,1,1,1] 1'],
      [[plane, t('float32', [1, 5], 0, 3, 3, 1, 1)], 'float32[1,1,1,1] 0'],
      [[plane, t('float32', [1, 5])], 'float32[1,1,1,1] 1']
    ]
  ),
  ...withInputs(
    'ov:ROIAlignRotated',
    15,
    { pooled_h: 1, pooled_w: 1, sampling_ratio: 2, spatial_scale: 1, clockwise_mode: 'true' },
    [
      [[plane, t('float32', [1, 5], NaN, 0, 1, 1, NaN), i64(0)], 'float32[1,1,1,1] 0'],
      [[plane, t('float32', [1, 5], Infinity, 0, 1, 1, NaN), i64(0)], 'float32[1,1,1,1] 0'],
      [[plane, t('float32', [1, 5], -1e30, -1e30, 1e30, 1e30, NaN), i64(0)], 'float32[1,1,1,1] 0'],
      [[plane, t('float32', [1, 5], 3, 3, 1, 1, NaN), i64(0)], 'float32[1,1,1,1] 0'],
      [[plane, t('float32', [1, 5], 0, 0, 0, 0, NaN), i64(0)], 'float32[1,1,1,1] 0']
    ]
  ),
  ['RoiAlign', 16, [plane, up(1, 4), i64(1)], {}, 'index-out-of-range'],
  ['RoiAlign', 16, [plane, up(1, 4), i64(-1)], {}, 'index-out-of-range'],
  ['RoiAlign', 16, [plane, up(1, 4), i64(0)], { output_height: 0, output_width: -1 }, 'value-out-of-range'],
  ['RoiAlign', 16, [plane, up(1, 4), i64(0)], { sampling_ratio: -2 }, 'value-out-of-range'],
  ['MaxRoiPool', 1, [plane, t('float32', [1, 5], 0, 0, 0, 1, 1)], { pooled_shape: [0, 0] }, 'value-out-of-range']
]

holdCalls(calls)
