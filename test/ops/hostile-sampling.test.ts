import { f32, holdCalls, type Hostile, i64, t, up, withAttributes } from './hostile.ts'

const calls: readonly Hostile[] = [
  ['Resize', 19, [up(1, 4), undefined, f32(1, 0)], { mode: 'nearest' }, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, 0)], { mode: 'linear' }, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, 0)], { mode: 'cubic' }, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, -1)], { mode: 'nearest' }, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, -1)], { mode: 'linear' }, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, -1)], { mode: 'cubic' }, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, NaN)], { mode: 'nearest' }, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, NaN)], { mode: 'linear' }, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, NaN)], { mode: 'cubic' }, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, Infinity)], { mode: 'nearest' }, 'shape-mismatch'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, Infinity)], { mode: 'linear' }, 'shape-mismatch'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, Infinity)], { mode: 'cubic' }, 'shape-mismatch'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, 1e30)], { mode: 'nearest' }, 'limit-exceeded'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, 1e30)], { mode: 'linear' }, 'limit-exceeded'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, 1e30)], { mode: 'cubic' }, 'limit-exceeded'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, 1e-30)], { mode: 'nearest' }, 'float32[1,0]'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, 1e-30)], { mode: 'linear' }, 'float32[1,0]'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, 1e-30)], { mode: 'cubic' }, 'float32[1,0]'],
  ['Resize', 19, [up(1, 4), undefined, f32(1)], { mode: 'nearest' }, 'dims-mismatch'],
  ['Resize', 19, [up(1, 4), undefined, f32(1)], { mode: 'linear' }, 'dims-mismatch'],
  ['Resize', 19, [up(1, 4), undefined, f32(1)], { mode: 'cubic' }, 'dims-mismatch'],
  ['Resize', 19, [up(1, 4), undefined, undefined, i64(1, 0)], {}, 'float32[1,0]'],
  ['Resize', 19, [up(1, 4), undefined, undefined, i64(1, -4)], {}, 'value-out-of-range'],
  ['Resize', 19, [up(1, 4), undefined, undefined, i64(1, 1000000000000000)], {}, 'limit-exceeded'],
  ['Resize', 19, [t('float32', [1, 0]), undefined, undefined, i64(1, 4)], {}, 'shape-mismatch'],
  [
    'Resize',
    19,
    [up(1, 4), f32(0, 0, NaN, 1), undefined, i64(1, 3)],
    { coordinate_transformation_mode: 'tf_crop_and_resize' },
    'float32[1,3] 1 2 4'
  ],
  [
    'Resize',
    19,
    [up(1, 4), f32(0, -1e30, 1, 1e30), undefined, i64(1, 3)],
    { coordinate_transformation_mode: 'tf_crop_and_resize', mode: 'linear' },
    'float32[1,3] 0 1 0'
  ],
  ['Resize', 19, [up(1, 4)], {}, 'missing-input'],
  ['Resize', 19, [up(1, 4), undefined, f32(1, 2), i64(1, 8)], {}, 'unexpected-input'],
  ['Resize', 19, [up(1, 4), undefined, undefined, i64(1, 2)], { axes: [9] }, 'axis-out-of-range'],
  [
    'Resize',
    19,
    [up(1, 1048576), undefined, undefined, i64(1, 1024)],
    { mode: 'cubic', antialias: 1 },
    'float32[1,1024] 476.9371337890625 1533.690185546875 2560.5 3584.5 4608.5 5632.5 …'
  ],
  ['Upsample', 9, [up(1, 2), f32(0.5, 1)], {}, 'value-out-of-range'],
  [
    'ov:Interpolate',
    4,
    [up(1, 1, 4, 4), i64(0, 2), f32(1, 1), i64(2, 3)],
    { mode: 'nearest', shape_calculation_mode: 'sizes' },
    'float32[1,1,0,2]'
  ],
  [
    'ov:Interpolate',
    4,
    [up(1, 1, 4, 4), i64(2, 2), f32(NaN, 1), i64(2, 3)],
    { mode: 'nearest', shape_calculation_mode: 'scales' },
    'value-out-of-range'
  ],
  [
    'ov:Interpolate',
    4,
    [up(1, 1, 4, 4), i64(2, 2), f32(1, 1), i64(2, 2)],
    { mode: 'nearest', shape_calculation_mode: 'sizes' },
    'value-out-of-range'
  ],
  [
    'ov:Interpolate',
    4,
    [up(1, 1, 4, 4), i64(2, 2), f32(1, 1), i64(2, 3)],
    { mode: 'nearest', shape_calculation_mode: 'sizes', pads_begin: '0,0,-3,0', pads_end: '0' },
    'value-out-of-range'
  ],
  ...withAttributes(
    'GridSample',
    20,
    [up(1, 1, 2, 2), t('float32', [1, 1, 4, 2], NaN, 0, Infinity, 0, -Infinity, NaN, 1e30, -1e30)],
    [
      [{ mode: 'linear', padding_mode: 'zeros' }, 'float32[1,1,1,4] 0 0 0 0'],
      [{ mode: 'linear', padding_mode: 'border' }, 'float32[1,1,1,4] NaN 3 NaN 2'],
      [{ mode: 'linear', padding_mode: 'reflection' }, 'float32[1,1,1,4] NaN NaN NaN 1'],
      [{ mode: 'nearest', padding_mode: 'zeros' }, 'float32[1,1,1,4] 0 0 0 0'],
      [{ mode: 'nearest', padding_mode: 'border' }, 'float32[1,1,1,4] 2 2 3 2'],
      [{ mode: 'nearest', padding_mode: 'reflection' }, 'float32[1,1,1,4] 0 0 0 1'],
      [{ mode: 'cubic', padding_mode: 'zeros' }, 'float32[1,1,1,4] 0 0 0 0'],
      [{ mode: 'cubic', padding_mode: 'border' }, 'float32[1,1,1,4] 0 3 0 2'],
      [{ mode: 'cubic', padding_mode: 'reflection' }, 'float32[1,1,1,4] 0 0 0 0.4375']
    ]
  ),
  ['GridSample', 20, [t('float32', [1, 1, 0, 2]), up(1, 1, 1, 2)], {}, 'float32[1,1,1,1] 0'],
  ['GridSample', 20, [t('float32', [1, 1, 1, 1], 1), f32(0)], {}, 'rank-mismatch'],
  ['AffineGrid', 20, [up(1, 2, 3), i64(1, 1, 0, 4)], {}, 'float32[1,0,4,2]'],
  ['AffineGrid', 20, [t('float32', [0, 2, 3]), i64(0, 1, 2, 2147483648)], {}, 'float32[0,2,2147483648,2]'],
  ['AffineGrid', 20, [up(1, 2, 3), i64(1, 1, -1, 4)], {}, 'value-out-of-range'],
  ['AffineGrid', 20, [up(1, 2, 3), i64(1, 1, 1000000000, 1000000000)], {}, 'limit-exceeded'],
  ['Col2Im', 18, [up(1, 4, 1), i64(2, 2), i64(2, 2)], { strides: [0, 1] }, 'value-out-of-range'],
  ['Col2Im', 18, [up(1, 4, 1), i64(2, 2), i64(0, 0)], {}, 'value-out-of-range'],
  ['Col2Im', 18, [up(1, 5, 1), i64(2, 2), i64(2, 2)], {}, 'shape-mismatch'],
  ['Col2Im', 18, [up(1, 4, 1), i64(-2, 2), i64(2, 2)], {}, 'value-out-of-range'],
  [
    'ov:ExtractImagePatches',
    3,
    [up(1, 2, 4, 4)],
    { sizes: '2,2', strides: '0,0', rates: '1,1', auto_pad: 'valid' },
    'value-out-of-range'
  ],
  [
    'ov:ExtractImagePatches',
    3,
    [up(1, 2, 4, 4)],
    { sizes: '0,0', strides: '1,1', rates: '1,1', auto_pad: 'valid' },
    'value-out-of-range'
  ]
]

holdCalls(calls)
