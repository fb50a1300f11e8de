import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'Transpose', 13] as const

const cases = [
  [
    [67, 45],
    [1, 0]
  ],
  [
    [3000, 3],
    [1, 0]
  ],
  [
    [3, 3001],
    [1, 0]
  ],
  [
    [1, 20, 30, 17],
    [0, 2, 3, 1]
  ],
  [
    [1, 30, 17, 20],
    [0, 3, 1, 2]
  ],
  [
    [2, 9, 12, 16],
    [0, 2, 1, 3]
  ],
  [
    [2, 9, 12, 18],
    [0, 2, 3, 1]
  ],
  [
    [3, 9, 12, 17],
    [3, 2, 1, 0]
  ],
  [
    [5, 9, 12, 17],
    [1, 0, 3, 2]
  ],
  [
    [5, 9, 12, 17],
    [2, 0, 1, 3]
  ],
  [
    [5, 1, 12, 170],
    [3, 1, 0, 2]
  ],
  [
    [2, 3, 4, 5, 6, 7],
    [5, 1, 3, 0, 4, 2]
  ],
  [
    [2, 3, 4, 5, 6, 7],
    [4, 1, 3, 0, 2, 5]
  ]
] as const

describe.each(['heap', 'array'] as const)('transposes in WebAssembly, operands in an %s', region => {
  test.each(cases)('equal the reference: %j to %j', (dims, perm) => {
    expectEqual(KIND, [noise(dims, 1)], { region, attributes: { perm } }, 0)
    expectEqual(KIND, [noise(dims, 1)], { region, attributes: { perm }, threads: 2 }, 0)
  })

  test.each([
    ...cases,
    [
      [1, 97, 89, 3],
      [0, 3, 1, 2]
    ],
    [
      [2, 3, 97, 89],
      [0, 2, 3, 1]
    ],
    [
      [69, 101],
      [1, 0]
    ]
  ] as const)('of bytes equal the reference: %j to %j', (dims, perm) => {
    expectEqual(KIND, [bits('uint8', dims)], { region, attributes: { perm } }, 0)
    expectEqual(KIND, [bits('int8', dims)], { region, attributes: { perm }, threads: 2 }, 0)
  })

  test('reverse the axes without a list', () => {
    expectEqual(KIND, [noise([11, 40, 30], 1)], { region }, 0)
  })

  test.each([
    ['int32', Int32Array],
    ['uint32', Uint32Array],
    ['float64', Float64Array]
  ] as const)('move elements of %s as they are', (type, Storage) => {
    const data = Storage.from(noise([60 * 77], 1, 1e6).data)
    expectEqual(KIND, [new Tensor(type, data as Float64Array, [60, 77])], { region, attributes: { perm: [1, 0] } }, 0)
  })

  test.each([1, 2, 4, 8, 16])('move elements of %i bytes, of few and of many rows', width => {
    const type = ({ 1: 'uint8', 2: 'float16', 4: 'int32', 8: 'float64', 16: 'complex128' } as const)[width]!
    for (const [dims, perm] of [
      [
        [1, 41, 37, 3],
        [0, 3, 1, 2]
      ],
      [
        [2, 3, 40, 33],
        [0, 2, 3, 1]
      ],
      [
        [70, 65],
        [1, 0]
      ],
      [
        [2, 612],
        [1, 0]
      ],
      [
        [517, 2],
        [1, 0]
      ],
      [
        [7, 5, 6, 9],
        [3, 2, 1, 0]
      ],
      [
        [20, 30, 7],
        [1, 0, 2]
      ]
    ])
      expectEqual(KIND, [bits(type, dims)], { region, attributes: { perm } }, 0)
  })

  test.each(['uint8', 'float16', 'float32', 'int64'] as const)('SpaceToDepth and DepthToSpace of %s', type => {
    for (const blocksize of [2, 3]) {
      for (const mode of ['DCR', 'CRD']) {
        const options = { region, attributes: { blocksize, mode } }
        expectEqual(['onnx', 'DepthToSpace', 13], [bits(type, [2, 2 * blocksize ** 2, 19, 11])], options, 0)
        expectEqual(['onnx', 'SpaceToDepth', 28], [bits(type, [2, 3, 15 * blocksize, 7 * blocksize])], options, 0)
      }
      const attributes = { block_size: `${blocksize}`, mode: 'depth_first' }
      const cube = [1, blocksize ** 3, 5, 8, 6]
      expectEqual(['openvino', 'DepthToSpace', 1], [bits(type, cube)], { region, attributes }, 0)
      const wide = [1, 3, 6 * blocksize, 4 * blocksize, 2 * blocksize]
      expectEqual(['openvino', 'SpaceToDepth', 1], [bits(type, wide)], { region, attributes }, 0)
    }
  })

  test('move elements of int64 as they are', () => {
    const data = new BigInt64Array(60 * 77).map((_, i) => BigInt(i) * 0x123456789abn)
    for (const [dims, perm] of [
      [
        [60, 77],
        [1, 0]
      ],
      [
        [4, 5, 3, 77],
        [0, 2, 1, 3]
      ]
    ] as const)
      expectEqual(KIND, [new Tensor('int64', data, dims)], { region, attributes: { perm } }, 0)
  })

  test.each([
    ['uint8', Uint8Array],
    ['float16', Uint16Array]
  ] as const)('copy lines of %s', (type, Storage) => {
    const data = Storage.from(Array.from({ length: 20 * 30 * 27 }, (_, i) => i * 7))
    const tensor = new Tensor(type, data as Uint8Array, [20, 30, 27])
    expectEqual(KIND, [tensor], { region, attributes: { perm: [1, 0, 2] } }, 0)
  })

  test('keep the bits of NaN', () => {
    const bits = Uint32Array.from({ length: 64 * 64 }, (_, i) => 0x7f800001 + i)
    const tensor = new Tensor('float32', new Float32Array(bits.buffer), [64, 64])
    const [out] = runAccelerated(KIND, [tensor], { region, attributes: { perm: [1, 0] } }) as Tensor[]
    const { buffer, byteOffset, length } = out.data as Float32Array
    const found = new Uint32Array(buffer, byteOffset, length)
    for (let i = 0; i < 64; i++) for (let j = 0; j < 64; j++) expect(found[j * 64 + i]).toBe(bits[i * 64 + j])
  })
})

test('few elements, none, and orders that change nothing are left to the reference', () => {
  for (const [dims, perm] of [
    [
      [3, 5],
      [1, 0]
    ],
    [
      [0, 5000],
      [1, 0]
    ],
    [
      [1, 5000, 1],
      [2, 1, 0]
    ],
    [
      [40, 1, 50],
      [0, 2, 1]
    ]
  ])
    expect(() => runAccelerated(KIND, [noise(dims, 1)], { attributes: { perm } })).toThrow('no accelerated kernel')
})

test.each([
  [
    [4, 1, 64, 30],
    [2, 4, 8, 64, 30]
  ],
  [
    [1, 1, 40],
    [30, 2, 40]
  ],
  [
    [50, 1, 3],
    [50, 7, 1]
  ],
  [[200], [9, 200]]
])('Expand of %j to %j copies lines on the heap', (dims, shape) => {
  for (const type of ['float32', 'uint8', 'float64'] as const) {
    const x = convert(noise(dims, 1, 100), type)
    const inputs = [x, new Tensor('int64', BigInt64Array.from(shape, BigInt), [shape.length])]
    expectEqual(['onnx', 'Expand', 13], inputs, {}, 0)
  }
})
