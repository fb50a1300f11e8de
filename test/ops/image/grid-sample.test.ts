import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

const square = new Tensor('float32', [1, 2, 3, 4], [1, 1, 2, 2])
const points = (...values: number[]): Tensor => new Tensor('float32', values, [1, 1, values.length / 2, 2])

type Attributes = Record<string, string | number>
const sampled = (x: Tensor, grid: Tensor, attributes: Attributes, opset = 20): unknown[] => [
  ...runTensor(['onnx', 'GridSample', opset], [x, grid], { attributes }).data
]

describe('ONNX GridSample', () => {
  test('points are x before y, from -1 to 1', () => {
    expect(sampled(square, points(-1, -1, 1, -1, -1, 1, 0, 0), { align_corners: 1 })).toEqual([1, 2, 3, 2.5])
    expect(sampled(square, points(-0.5, -0.5, 0.5, -0.5), { align_corners: 0 })).toEqual([1, 2])
  })

  test('padding is zeros, the border, or a reflection', () => {
    const of = (padding: string, at: number, align = 0): unknown[] =>
      sampled(square, points(at, -0.5), { padding_mode: padding, align_corners: align })
    expect(of('zeros', 1)).toEqual([1])
    expect(of('zeros', 9)).toEqual([0])
    expect(of('border', 9)).toEqual([2])
    expect(of('reflection', 1.5)).toEqual([2])
    expect(of('reflection', 3.5)).toEqual([1])
    expect(sampled(square, points(2, -1), { padding_mode: 'reflection', align_corners: 1 })).toEqual([1.5])
  })

  test('nearest rounds half-way to the even element and moves any type', () => {
    const x = new Tensor('string', ['a', 'b', 'c', 'd'], [1, 1, 1, 4])
    const grid = new Tensor('float32', [-0.5, 0, 0, 0, 0.5, 0, 3, 0], [1, 1, 4, 2])
    expect(sampled(x, grid, { mode: 'nearest' })).toEqual(['a', 'c', 'c', ''])
  })

  test('version 20 takes any number of axes and other names of modes', () => {
    const line = new Tensor('float32', [1, 3], [1, 1, 2])
    expect(sampled(line, new Tensor('float32', [0, 1], [1, 2, 1]), { mode: 'linear', align_corners: 1 })).toEqual([
      2, 3
    ])
    const cube = new Tensor('float32', [0, 1, 2, 3, 4, 5, 6, 7], [1, 1, 2, 2, 2])
    expect(
      sampled(cube, new Tensor('float32', [0, 0, 0, 1, -1, -1], [1, 1, 1, 2, 3]), {
        mode: 'cubic',
        padding_mode: 'border',
        align_corners: 1
      })
    ).toEqual([3.5, 1])
    expect(errorOf(() => sampled(square, points(0, 0), { mode: 'bilinear' })).code).toBe('unknown-attribute-value')
    expect(sampled(square, points(0, 0), { mode: 'bilinear' }, 16)).toEqual([2.5])
    expect(errorOf(() => sampled(line, new Tensor('float32', [0, 1], [1, 2, 1]), {}, 16)).code).toBe('rank-mismatch')
  })

  test('integers lose their fraction', () => {
    expect(
      sampled(new Tensor('int32', [0, 7, 0, -7], [1, 1, 2, 2]), points(0.5, -1, 0.5, 1), { align_corners: 1 })
    ).toEqual([5, -5])
    expect(errorOf(() => sampled(new Tensor('bool', [1, 0, 0, 1], [1, 1, 2, 2]), points(0, 0), {})).code).toBe(
      'type-not-allowed'
    )
  })

  test('holds batches and coordinates against the data', () => {
    expect(errorOf(() => sampled(square, new Tensor('float32', [0, 0, 0], [1, 1, 1, 3]), {})).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => sampled(square, allocate('float32', [2, 1, 1, 2]), {})).code).toBe('dims-mismatch')
    expect(sampled(allocate('float32', [1, 1, 0, 2]), points(0, 0), {})).toEqual([0])
    expect(
      errorOf(() => sampled(allocate('float32', [1, 1, 0, 2]), points(0, 0), { padding_mode: 'border' })).code
    ).toBe('value-out-of-range')
  })

  test('a point that is no number is no crash', () => {
    expect(sampled(square, points(NaN, 0, Infinity, 0), { padding_mode: 'zeros' })).toEqual([0, 0])
    expect(sampled(square, points(NaN, 0), { mode: 'nearest', padding_mode: 'reflection' })).toEqual([0])
  })
})

describe('OpenVINO GridSample', () => {
  test('its shape takes names from both', () => {
    expect(
      dimsOf(
        inferOp(
          ['openvino', 'GridSample', 9],
          [fact('float32', ['n', 'c', 5, 6]), fact('float32', ['?', 'h', 'w', 2])]
        )[0]
      )
    ).toEqual(['n', 'c', 'h', 'w'])
    expect(
      dimsOf(
        inferOp(['onnx', 'GridSample', 20], [fact('float32', ['n', 3, 4, 5, 6]), fact('float32', ['n', 2, 3, 4, 3])])[0]
      )
    ).toEqual(['n', 3, 2, 3, 4])
  })
})

describe('ONNX AffineGrid', () => {
  const theta = new Tensor('float32', [1, 0, 0, 0, 1, 0.5], [1, 2, 3])
  const size = (...dims: number[]): Tensor => new Tensor('int64', dims.map(BigInt))
  const grid = (sizes: Tensor, align: number, matrix = theta): Tensor =>
    runTensor(['onnx', 'AffineGrid', 20], [matrix, sizes], { attributes: { align_corners: align } })

  test('spaces points evenly between the edges or the corners', () => {
    expect(grid(size(1, 3, 1, 2), 0).dims).toEqual([1, 1, 2, 2])
    expect([...grid(size(1, 3, 1, 2), 0).data]).toEqual([-0.5, 0.5, 0.5, 0.5])
    expect([...grid(size(1, 3, 2, 2), 1).data]).toEqual([-1, -0.5, 1, -0.5, -1, 1.5, 1, 1.5])
  })

  test('takes three spatial axes, x from the last', () => {
    const swap = new Tensor('float32', [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0], [1, 3, 4])
    const out = grid(size(1, 1, 2, 1, 1), 1, swap)
    expect(out.dims).toEqual([1, 2, 1, 1, 3])
    expect([...out.data]).toEqual([-1, -1, -1, 1, -1, -1])
  })

  test('feeds GridSample: the identity gives the data back', () => {
    const identity = new Tensor('float32', [1, 0, 0, 0, 1, 0], [1, 2, 3])
    for (const align of [0, 1])
      expect(sampled(square, grid(size(1, 1, 2, 2), align, identity), { align_corners: align })).toEqual([1, 2, 3, 4])
  })

  test('its shape comes from size', () => {
    expect(dimsOf(inferOp(['onnx', 'AffineGrid', 20], [fact('float32', ['n', 2, 3]), size(4, 3, 5, 6)])[0])).toEqual([
      4, 5, 6, 2
    ])
    expect(dimsOf(inferOp(['onnx', 'AffineGrid', 20], [fact('float32', ['n', 3, 4]), fact('int64', [5])])[0])).toEqual([
      'n',
      '?',
      '?',
      '?',
      3
    ])
    expect(errorOf(() => grid(size(1, 1, 2), 0)).code).toBe('dims-mismatch')
    expect(errorOf(() => grid(size(2, 1, 2, 2), 0)).code).toBe('dims-mismatch')
  })
})

test.each([
  ['onnx', 'GridSample', 16],
  ['onnx', 'GridSample', 1, 'com.microsoft'],
  ['openvino', 'GridSample', 9]
] as const)('of a cubic filter each neighbour is moved to the border, not the point: %s %s-%d', (...op) => {
  const row = new Tensor('float32', [0, 1, 4, 9], [1, 1, 1, 4])
  const align = op[0] === 'onnx' ? 1 : 'true'
  const attributes = { mode: 'bicubic', padding_mode: 'border', align_corners: align }
  // By PyTorch and ONNX Runtime.
  expect(runTensor(op, [row, points(1.2, 0)], { attributes }).data[0]).toBeCloseTo(9.551252, 5)
})
