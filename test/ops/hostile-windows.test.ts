import { f32, holdCalls, type Hostile, i64, t, up, withAttributes } from './hostile.ts'

/** @param ofPadding what windows give that see padding alone */
const pooling = (type: string, version: number, ofPadding: string): Hostile[] =>
  withAttributes(
    type,
    version,
    [up(1, 2, 4, 4)],
    [
      [{ kernel_shape: [0, 0] }, 'value-out-of-range'],
      [{ kernel_shape: [-1, 2] }, 'value-out-of-range'],
      [{ kernel_shape: [9, 9] }, 'shape-mismatch'],
      [{ kernel_shape: [2, 2], strides: [0, 0] }, 'value-out-of-range'],
      [{ kernel_shape: [2, 2], dilations: [0, 1] }, 'value-out-of-range'],
      [{ kernel_shape: [2] }, 'rank-mismatch'],
      [{ kernel_shape: [2, 2], pads: [3, 3, 3, 3] }, `float32[1,2,9,9] ${ofPadding}`],
      [{ kernel_shape: [2, 2], pads: [-1, 0, 0, 0] }, 'value-out-of-range'],
      [{ kernel_shape: [1099511627776, 1] }, 'value-out-of-range'],
      [{ kernel_shape: [1099511627776, 1], pads: [1099511627776, 0, 0, 0] }, 'value-out-of-range'],
      [{ kernel_shape: [2, 2], strides: [1125899906842624, 1] }, 'value-out-of-range']
    ]
  )

const calls: readonly Hostile[] = [
  ...withAttributes(
    'Conv',
    11,
    [up(1, 2, 4, 4), up(2, 2, 2, 2)],
    [
      [{ strides: [0, 1] }, 'value-out-of-range'],
      [{ dilations: [0, 1] }, 'value-out-of-range'],
      [{ strides: [-1, 1] }, 'value-out-of-range'],
      [{ group: 0 }, 'value-out-of-range'],
      [{ group: 3 }, 'dims-mismatch'],
      [{ group: -1 }, 'value-out-of-range'],
      [{ pads: [-1, 0, 0, 0] }, 'value-out-of-range'],
      [{ pads: [1, 1] }, 'dims-mismatch'],
      [{ pads: [1099511627776, 0, 0, 0] }, 'value-out-of-range'],
      [{ strides: [1099511627776, 1] }, 'value-out-of-range'],
      [{ dilations: [1099511627776, 1] }, 'value-out-of-range'],
      [{ kernel_shape: [3, 3] }, 'dims-mismatch'],
      [{ kernel_shape: [0, 0] }, 'value-out-of-range'],
      [{ auto_pad: 'SAME_UPPER', strides: [0, 0] }, 'value-out-of-range'],
      [{ pads: [-4, 0, -4, 0] }, 'value-out-of-range']
    ]
  ),
  ...withAttributes(
    'ConvTranspose',
    11,
    [up(1, 2, 4, 4), up(2, 2, 2, 2)],
    [
      [{ strides: [0, 1] }, 'value-out-of-range'],
      [{ dilations: [0, 1] }, 'value-out-of-range'],
      [{ strides: [-1, 1] }, 'value-out-of-range'],
      [{ group: 0 }, 'value-out-of-range'],
      [{ group: 3 }, 'dims-mismatch'],
      [{ group: -1 }, 'value-out-of-range'],
      [{ pads: [-1, 0, 0, 0] }, 'value-out-of-range'],
      [{ pads: [1, 1] }, 'dims-mismatch'],
      [{ pads: [1099511627776, 0, 0, 0] }, 'value-out-of-range'],
      [{ strides: [1099511627776, 1] }, 'value-out-of-range'],
      [{ dilations: [1099511627776, 1] }, 'value-out-of-range'],
      [{ kernel_shape: [3, 3] }, 'dims-mismatch'],
      [{ kernel_shape: [0, 0] }, 'value-out-of-range'],
      [{ auto_pad: 'SAME_UPPER', strides: [0, 0] }, 'value-out-of-range'],
      [{ pads: [-4, 0, -4, 0] }, 'value-out-of-range'],
      [{ output_padding: [5, 5] }, 'value-out-of-range'],
      [{ output_padding: [-1, 0] }, 'value-out-of-range'],
      [{ output_shape: [2, 2] }, 'float32[1,2,2,2] 1096 1148 1304 1356 1624 1708 …'],
      [{ output_shape: [0, 0] }, 'float32[1,2,0,0]'],
      [{ output_shape: [1000000, 1000000] }, 'limit-exceeded']
    ]
  ),
  ...withAttributes(
    'ConvInteger',
    10,
    [t('uint8', [1, 2, 4, 4]), t('uint8', [2, 2, 2, 2])],
    [
      [{ strides: [0, 1] }, 'value-out-of-range'],
      [{ dilations: [0, 1] }, 'value-out-of-range'],
      [{ strides: [-1, 1] }, 'value-out-of-range'],
      [{ group: 0 }, 'value-out-of-range'],
      [{ group: 3 }, 'dims-mismatch'],
      [{ group: -1 }, 'value-out-of-range'],
      [{ pads: [-1, 0, 0, 0] }, 'value-out-of-range'],
      [{ pads: [1, 1] }, 'dims-mismatch'],
      [{ pads: [1099511627776, 0, 0, 0] }, 'value-out-of-range'],
      [{ strides: [1099511627776, 1] }, 'value-out-of-range'],
      [{ dilations: [1099511627776, 1] }, 'value-out-of-range'],
      [{ kernel_shape: [3, 3] }, 'dims-mismatch'],
      [{ kernel_shape: [0, 0] }, 'value-out-of-range'],
      [{ auto_pad: 'SAME_UPPER', strides: [0, 0] }, 'value-out-of-range'],
      [{ pads: [-4, 0, -4, 0] }, 'value-out-of-range']
    ]
  ),
  ...withAttributes(
    'DeformConv',
    19,
    [up(1, 2, 4, 4), up(2, 2, 2, 2), up(1, 8, 3, 3)],
    [
      [{ strides: [0, 1] }, 'value-out-of-range'],
      [{ dilations: [0, 1] }, 'value-out-of-range'],
      [{ strides: [-1, 1] }, 'value-out-of-range'],
      [{ group: 0 }, 'value-out-of-range'],
      [{ group: 3 }, 'dims-mismatch'],
      [{ group: -1 }, 'value-out-of-range'],
      [{ pads: [-1, 0, 0, 0] }, 'value-out-of-range'],
      [{ pads: [1, 1] }, 'dims-mismatch'],
      [{ pads: [1099511627776, 0, 0, 0] }, 'value-out-of-range'],
      [{ strides: [1099511627776, 1] }, 'value-out-of-range'],
      [{ dilations: [1099511627776, 1] }, 'value-out-of-range'],
      [{ kernel_shape: [3, 3] }, 'dims-mismatch'],
      [{ kernel_shape: [0, 0] }, 'value-out-of-range'],
      [{ auto_pad: 'SAME_UPPER', strides: [0, 0] }, 'unknown-attribute-value'],
      [{ pads: [-4, 0, -4, 0] }, 'value-out-of-range']
    ]
  ),
  ['Conv', 11, [up(1, 2, 4, 4), up(2, 2, 9, 9)], {}, 'shape-mismatch'],
  ['Conv', 11, [t('float32', [1, 0, 4, 4]), t('float32', [2, 0, 2, 2])], {}, 'float32[1,2,3,3] 0 0 0 0 0 0 …'],
  ['Conv', 11, [t('float32', [0, 2, 4, 4]), up(2, 2, 2, 2)], {}, 'float32[0,2,3,3]'],
  ['Conv', 11, [up(1, 2, 4, 4), t('float32', [2, 2, 0, 0])], {}, 'value-out-of-range'],
  ['Conv', 11, [up(1, 2), up(2, 2)], {}, 'rank-mismatch'],
  ['Conv', 11, [up(1, 2, 4, 4), up(2, 2, 2, 2), f32(1, 2, 3)], {}, 'dims-mismatch'],
  ...pooling('MaxPool', 12, `${'-Infinity '.repeat(6)}…`),
  ...pooling('AveragePool', 19, 'NaN NaN NaN NaN NaN NaN …'),
  ...pooling('LpPool', 18, '0 0 0 0 0 0 …'),
  ...withAttributes(
    'LpPool',
    18,
    [up(1, 2, 4, 4)],
    [
      [{ p: 0 }, 'value-out-of-range'],
      [{ p: -3 }, 'value-out-of-range']
    ],
    { kernel_shape: [2, 2] }
  ),
  ['MaxPool', 12, [t('float32', [1, 1, 0, 4])], { kernel_shape: [1, 1] }, 'shape-mismatch'],
  ['GlobalAveragePool', 1, [t('float32', [1, 1, 0])], {}, 'float32[1,1,1] 0'],
  ['GlobalMaxPool', 1, [t('float32', [1, 1, 0])], {}, 'float32[1,1,1] -Infinity'],
  ['ov:AdaptiveAvgPool', 8, [up(1, 1, 4), i64(0)], {}, 'float32[1,1,0]'],
  ['ov:AdaptiveAvgPool', 8, [up(1, 1, 4), i64(-1)], {}, 'value-out-of-range'],
  ['ov:AdaptiveAvgPool', 8, [t('float32', [1, 1, 0]), i64(2)], {}, 'shape-mismatch'],
  ['ov:AdaptiveAvgPool', 8, [up(1, 1, 4), i64(1000000000000000)], {}, 'limit-exceeded'],
  ['ov:AdaptiveMaxPool', 8, [t('float32', [1, 1, 0]), i64(2)], { index_element_type: 'i64' }, 'shape-mismatch'],
  [
    'ov:MaxPool',
    8,
    [up(1, 2, 4, 4)],
    {
      kernel: '2,2',
      strides: '0,0',
      pads_begin: '0,0',
      pads_end: '0,0',
      dilations: '1,1',
      rounding_type: 'floor',
      auto_pad: 'explicit',
      index_element_type: 'i64',
      axis: 0
    },
    'value-out-of-range'
  ],
  [
    'ov:AvgPool',
    1,
    [up(1, 2, 4, 4)],
    {
      kernel: '2,2',
      strides: '1,1',
      pads_begin: '5,5',
      pads_end: '5,5',
      rounding_type: 'floor',
      auto_pad: 'explicit',
      'exclude-pad': 'true'
    },
    'float32[1,2,13,13] 0 0 0 0 0 0 …'
  ],
  [
    'MaxUnpool',
    11,
    [t('float32', [1, 1, 1, 1], 1), t('int64', [1, 1, 1, 1], 99)],
    { kernel_shape: [2, 2] },
    'index-out-of-range'
  ],
  [
    'MaxUnpool',
    11,
    [t('float32', [1, 1, 1, 1], 1), t('int64', [1, 1, 1, 1], -1)],
    { kernel_shape: [2, 2] },
    'index-out-of-range'
  ],
  ...withAttributes(
    'com.microsoft:FusedConv',
    1,
    [up(1, 2, 4, 4), up(2, 2, 2, 2)],
    [
      [{ strides: [0, 1] }, 'value-out-of-range'],
      [{ strides: [-1, 1] }, 'value-out-of-range'],
      [{ strides: [1099511627776, 1] }, 'value-out-of-range'],
      [{ group: 0 }, 'value-out-of-range']
    ]
  ),
  ...withAttributes(
    'com.microsoft:NhwcMaxPool',
    1,
    [t('int8', [1, 4, 4, 2])],
    [
      [{ kernel_shape: [2, 2], strides: [0, 1] }, 'value-out-of-range'],
      [{ kernel_shape: [2, 2], strides: [-1, 1] }, 'value-out-of-range'],
      [{ kernel_shape: [2, 2], strides: [1099511627776, 1] }, 'value-out-of-range'],
      [{ kernel_shape: [0, 2] }, 'value-out-of-range'],
      [{ kernel_shape: [1099511627776, 2] }, 'value-out-of-range'],
      [{ kernel_shape: [2, 2], pads: [-1, 0, 0, 0] }, 'value-out-of-range']
    ]
  ),
  ...withAttributes(
    'com.microsoft:MaxpoolWithMask',
    1,
    [up(1, 1, 4, 4), t('int32', [1, 1, 4, 4])],
    [
      [{ strides: [0, 1] }, 'value-out-of-range'],
      [{ strides: [-1, 1] }, 'value-out-of-range'],
      [{ strides: [1099511627776, 1] }, 'value-out-of-range']
    ],
    { kernel_shape: [2, 2] }
  ),
  [
    'com.microsoft:MaxpoolWithMask',
    1,
    [up(1, 1, 4), t('int32', [1, 1, 4])],
    { kernel_shape: [1099511627776] },
    'value-out-of-range'
  ],
  [
    'com.microsoft:MaxpoolWithMask',
    1,
    [up(1, 1, 4), t('int32', [1, 1, 4])],
    { kernel_shape: [] },
    'value-out-of-range'
  ],
  [
    'com.microsoft:ConvTransposeWithDynamicPads',
    1,
    [up(1, 2, 4, 4), up(2, 2, 2, 2), i64(-1, 0, 0, 0)],
    {},
    'value-out-of-range'
  ],
  [
    'com.microsoft:ConvTransposeWithDynamicPads',
    1,
    [up(1, 2, 4, 4), up(2, 2, 2, 2), i64(1099511627776, 0, 0, 0)],
    {},
    'value-out-of-range'
  ],
  ['com.microsoft:ConvTransposeWithDynamicPads', 1, [up(1, 2, 4, 4), up(2, 2, 2, 2), i64(1, 1)], {}, 'dims-mismatch'],
  [
    'com.microsoft:ConvTransposeWithDynamicPads',
    1,
    [up(1, 2, 4, 4), up(2, 2, 2, 2), i64(5, 5, 5, 5)],
    {},
    'shape-mismatch'
  ]
]

holdCalls(calls)
