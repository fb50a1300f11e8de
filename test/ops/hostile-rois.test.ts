import { holdCalls, type Hostile, i64, t, up } from './hostile.ts'

const calls: readonly Hostile[] = [
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4], NaN, 0, 1, 1), i64(0)],
    { output_height: 1, output_width: 1 },
    'float32[1,1,1,1] NaN'
  ],
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4], NaN, 0, 1, 1), i64(0)],
    { output_height: 1, output_width: 1, mode: 'max', sampling_ratio: 2 },
    'float32[1,1,1,1] 0'
  ],
  [
    'MaxRoiPool',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, NaN, 0, 1, 1)],
    { pooled_shape: [1, 1] },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:ROIPooling',
    2,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, NaN, 0, 1, 1)],
    { pooled_h: 1, pooled_w: 1, spatial_scale: 1, method: 'bilinear' },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, NaN, 0, 1, 1)],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'average' },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, NaN, 0, 1, 1)],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'bilinear', spatial_bins_x: 1, spatial_bins_y: 1 },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:ROIAlignRotated',
    15,
    [up(1, 1, 4, 4), t('float32', [1, 5], NaN, 0, 1, 1, NaN), i64(0)],
    { pooled_h: 1, pooled_w: 1, sampling_ratio: 2, spatial_scale: 1, clockwise_mode: 'true' },
    'float32[1,1,1,1] 0'
  ],
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4], Infinity, 0, 1, 1), i64(0)],
    { output_height: 1, output_width: 1 },
    'float32[1,1,1,1] 0'
  ],
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4], Infinity, 0, 1, 1), i64(0)],
    { output_height: 1, output_width: 1, mode: 'max', sampling_ratio: 2 },
    'float32[1,1,1,1] 0'
  ],
  [
    'MaxRoiPool',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, Infinity, 0, 1, 1)],
    { pooled_shape: [1, 1] },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:ROIPooling',
    2,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, Infinity, 0, 1, 1)],
    { pooled_h: 1, pooled_w: 1, spatial_scale: 1, method: 'bilinear' },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, Infinity, 0, 1, 1)],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'average' },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, Infinity, 0, 1, 1)],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'bilinear', spatial_bins_x: 1, spatial_bins_y: 1 },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:ROIAlignRotated',
    15,
    [up(1, 1, 4, 4), t('float32', [1, 5], Infinity, 0, 1, 1, NaN), i64(0)],
    { pooled_h: 1, pooled_w: 1, sampling_ratio: 2, spatial_scale: 1, clockwise_mode: 'true' },
    'float32[1,1,1,1] 0'
  ],
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4], -1e30, -1e30, 1e30, 1e30), i64(0)],
    { output_height: 1, output_width: 1 },
    'limit-exceeded'
  ],
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4], -1e30, -1e30, 1e30, 1e30), i64(0)],
    { output_height: 1, output_width: 1, mode: 'max', sampling_ratio: 2 },
    'float32[1,1,1,1] 0'
  ],
  [
    'MaxRoiPool',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, -1e30, -1e30, 1e30, 1e30)],
    { pooled_shape: [1, 1] },
    'float32[1,1,1,1] 16'
  ],
  [
    'ov:ROIPooling',
    2,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, -1e30, -1e30, 1e30, 1e30)],
    { pooled_h: 1, pooled_w: 1, spatial_scale: 1, method: 'bilinear' },
    'float32[1,1,1,1] 1'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, -1e30, -1e30, 1e30, 1e30)],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'average' },
    'float32[1,1,1,1] 8.5'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, -1e30, -1e30, 1e30, 1e30)],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'bilinear', spatial_bins_x: 1, spatial_bins_y: 1 },
    'float32[1,1,1,1] 1'
  ],
  [
    'ov:ROIAlignRotated',
    15,
    [up(1, 1, 4, 4), t('float32', [1, 5], -1e30, -1e30, 1e30, 1e30, NaN), i64(0)],
    { pooled_h: 1, pooled_w: 1, sampling_ratio: 2, spatial_scale: 1, clockwise_mode: 'true' },
    'float32[1,1,1,1] 0'
  ],
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4], 3, 3, 1, 1), i64(0)],
    { output_height: 1, output_width: 1 },
    'float32[1,1,1,1] 0'
  ],
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4], 3, 3, 1, 1), i64(0)],
    { output_height: 1, output_width: 1, mode: 'max', sampling_ratio: 2 },
    'float32[1,1,1,1] 11'
  ],
  [
    'MaxRoiPool',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, 3, 3, 1, 1)],
    { pooled_shape: [1, 1] },
    'float32[1,1,1,1] 16'
  ],
  [
    'ov:ROIPooling',
    2,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, 3, 3, 1, 1)],
    { pooled_h: 1, pooled_w: 1, spatial_scale: 1, method: 'bilinear' },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, 3, 3, 1, 1)],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'average' },
    'float32[1,1,1,1] 16'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, 3, 3, 1, 1)],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'bilinear', spatial_bins_x: 1, spatial_bins_y: 1 },
    'float32[1,1,1,1] 0'
  ],
  [
    'ov:ROIAlignRotated',
    15,
    [up(1, 1, 4, 4), t('float32', [1, 5], 3, 3, 1, 1, NaN), i64(0)],
    { pooled_h: 1, pooled_w: 1, sampling_ratio: 2, spatial_scale: 1, clockwise_mode: 'true' },
    'float32[1,1,1,1] 0'
  ],
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4]), i64(0)],
    { output_height: 1, output_width: 1 },
    'float32[1,1,1,1] 0'
  ],
  [
    'RoiAlign',
    16,
    [up(1, 1, 4, 4), t('float32', [1, 4]), i64(0)],
    { output_height: 1, output_width: 1, mode: 'max', sampling_ratio: 2 },
    'float32[1,1,1,1] 1'
  ],
  ['MaxRoiPool', 1, [up(1, 1, 4, 4), t('float32', [1, 5])], { pooled_shape: [1, 1] }, 'float32[1,1,1,1] 1'],
  [
    'ov:ROIPooling',
    2,
    [up(1, 1, 4, 4), t('float32', [1, 5])],
    { pooled_h: 1, pooled_w: 1, spatial_scale: 1, method: 'bilinear' },
    'float32[1,1,1,1] 1'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5])],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'average' },
    'float32[1,1,1,1] 1'
  ],
  [
    'ov:PSROIPooling',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5])],
    { output_dim: 1, group_size: 1, spatial_scale: 1, mode: 'bilinear', spatial_bins_x: 1, spatial_bins_y: 1 },
    'float32[1,1,1,1] 1'
  ],
  [
    'ov:ROIAlignRotated',
    15,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, 0, 0, 0, NaN), i64(0)],
    { pooled_h: 1, pooled_w: 1, sampling_ratio: 2, spatial_scale: 1, clockwise_mode: 'true' },
    'float32[1,1,1,1] 0'
  ],
  ['RoiAlign', 16, [up(1, 1, 4, 4), up(1, 4), i64(1)], {}, 'index-out-of-range'],
  ['RoiAlign', 16, [up(1, 1, 4, 4), up(1, 4), i64(-1)], {}, 'index-out-of-range'],
  ['RoiAlign', 16, [up(1, 1, 4, 4), up(1, 4), i64(0)], { output_height: 0, output_width: -1 }, 'value-out-of-range'],
  ['RoiAlign', 16, [up(1, 1, 4, 4), up(1, 4), i64(0)], { sampling_ratio: -2 }, 'value-out-of-range'],
  [
    'MaxRoiPool',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 7, 0, 0, 1, 1)],
    { pooled_shape: [1, 1] },
    'index-out-of-range'
  ],
  [
    'MaxRoiPool',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], NaN, 0, 0, 1, 1)],
    { pooled_shape: [1, 1] },
    'index-out-of-range'
  ],
  [
    'MaxRoiPool',
    1,
    [up(1, 1, 4, 4), t('float32', [1, 5], 0, 0, 0, 1, 1)],
    { pooled_shape: [0, 0] },
    'value-out-of-range'
  ]
]

holdCalls(calls)
