import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'

const POOL: Kind = ['onnx', 'MaxPool', 22]
const row = (...values: number[]): Tensor => new Tensor('float32', values, [1, 1, values.length])
const both = (kind: Kind, x: Tensor, attributes = {}): number[][] =>
  runOp(kind, [x], { attributes, outputs: 2 }).map(out => [...((out as Tensor).data as Float32Array)].map(Number))
/** Planes of 3 x 3 with the highest at the end, the beginning and in the middle. */
const planes = new Tensor(
  'float32',
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 1, 0, 0, 9, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [2, 2, 3, 3]
)

describe('ONNX MaxPool', () => {
  test('keeps the highest of each window', () => {
    expect([...runTensor(POOL, [row(1, 3, 2, 5, 4)], { attributes: { kernel_shape: [2] } }).data]).toEqual([3, 3, 5, 5])
    expect([
      ...runTensor(POOL, [row(1, 3, 2, 5, 4)], { attributes: { kernel_shape: [2], dilations: [2], strides: [2] } }).data
    ]).toEqual([2, 4])
  })

  test('padding is lower than everything', () => {
    expect([...runTensor(POOL, [row(-3, -2)], { attributes: { kernel_shape: [2], pads: [1, 1] } }).data]).toEqual([
      -3, -2, -2
    ])
    const bytes = new Tensor('int8', [-128, -127], [1, 1, 2])
    expect([...runTensor(POOL, [bytes], { attributes: { kernel_shape: [2], pads: [1, 1] } }).data]).toEqual([
      -128, -127, -127
    ])
  })

  test('indices count through the whole tensor, the first of equal ones winning', () => {
    expect(both(POOL, planes, { kernel_shape: [3, 3] })).toEqual([
      [8, 8, 9, 0],
      [8, 9, 22, 27]
    ])
  })

  test('indices may count along columns, plane by plane', () => {
    expect(both(POOL, planes, { kernel_shape: [2, 3], strides: [2, 1], storage_order: 1 })[1]).toEqual([7, 9, 22, 27])
  })

  test('ceil_mode adds a window that begins inside, in every version', () => {
    const run = (opset: number, attributes: object): unknown[] => [
      ...runTensor(['onnx', 'MaxPool', opset], [row(1, 2, 3, 4, 5)], {
        attributes: { kernel_shape: [2], ceil_mode: 1, ...attributes }
      }).data
    ]
    for (const opset of [10, 22]) {
      expect(run(opset, { strides: [2] })).toEqual([2, 4, 5])
      expect(run(opset, { strides: [3], pads: [1, 1] })).toEqual([1, 4])
      expect(run(opset, { strides: [2], auto_pad: 'VALID' })).toEqual([2, 4])
    }
  })

  test('automatic pads give the size over the stride, rounded up', () => {
    const run = (autoPad: string): unknown[] => [
      ...runTensor(POOL, [row(1, 5, 2, 4, 3)], { attributes: { kernel_shape: [2], strides: [2], auto_pad: autoPad } })
        .data
    ]
    expect(run('SAME_UPPER')).toEqual([5, 4, 3])
    expect(run('SAME_LOWER')).toEqual([1, 5, 4])
  })

  test('NaN wins wherever it is, -Infinity is an element like others', () => {
    expect(both(POOL, row(1, NaN, 3, 2), { kernel_shape: [2] })).toEqual([
      [NaN, NaN, 3],
      [1, 1, 2]
    ])
    expect(both(POOL, row(-Infinity, -Infinity), { kernel_shape: [2] })).toEqual([[-Infinity], [0]])
  })

  test('a window of padding alone has no index', () => {
    expect(both(POOL, row(1, 2), { kernel_shape: [2], dilations: [3], pads: [1, 1] })).toEqual([[-Infinity], [-1]])
  })

  test.each([0, 1])('an axis without elements has windows of padding alone, storage order %i', storage_order => {
    const attributes = { kernel_shape: [3], pads: [2, 2], storage_order }
    expect(both(POOL, new Tensor('float32', [], [1, 1, 0]), attributes)).toEqual([
      [-Infinity, -Infinity],
      [-1, -1]
    ])
  })

  test('8-bit integers came with version 12', () => {
    const bytes = new Tensor('uint8', [1, 255], [1, 1, 2])
    expect([...runTensor(['onnx', 'MaxPool', 12], [bytes], { attributes: { kernel_shape: [2] } }).data]).toEqual([255])
    expect(errorOf(() => runTensor(['onnx', 'MaxPool', 11], [bytes], { attributes: { kernel_shape: [2] } })).code).toBe(
      'type-not-allowed'
    )
  })

  test('a kernel far larger than the data is quick where padding makes room for it', () => {
    const most = 2 ** 31 - 1
    const out = runTensor(POOL, [row(1, 2, 3)], { attributes: { kernel_shape: [most], pads: [most - 3, 2] } })
    expect([...out.data]).toEqual([3, 3, 3])
  })

  test('refuses what cannot be', () => {
    const codeOf = (attributes: object, x = row(1, 2, 3)): string =>
      errorOf(() => runTensor(POOL, [x], { attributes: { kernel_shape: [2], ...attributes } })).code
    expect(codeOf({ kernel_shape: [4] })).toBe('shape-mismatch')
    expect(codeOf({ kernel_shape: [0] })).toBe('value-out-of-range')
    expect(codeOf({ kernel_shape: [] })).toBe('value-out-of-range')
    expect(codeOf({ kernel_shape: [2, 2] })).toBe('rank-mismatch')
    expect(codeOf({ strides: [0] })).toBe('value-out-of-range')
    expect(codeOf({ pads: [-1, 0] })).toBe('value-out-of-range')
    expect(codeOf({ dilations: [2 ** 31 - 1] })).toBe('shape-mismatch')
    expect(codeOf({ auto_pad: 'NONE' })).toBe('unknown-attribute-value')
    expect(errorOf(() => runTensor(POOL, [row(1)])).code).toBe('missing-attribute')
  })
})

describe('OpenVINO MaxPool', () => {
  const LOWEST = -(2 ** 128 - 2 ** 104)

  test.each([0, 2])('an axis without elements has windows of padding alone, indices from axis %i on', axis => {
    const attributes = { kernel: [3], strides: [1], pads_begin: [2], pads_end: [2], axis }
    expect(both(['openvino', 'MaxPool', 8], new Tensor('float32', [], [1, 1, 0]), attributes)).toEqual([
      [LOWEST, LOWEST],
      [0, 0]
    ])
  })

  const attributes = { kernel: [2, 3], strides: [2, 1], pads_begin: [0, 0], pads_end: [0, 0] }

  test('indices count from an axis on, in the type asked for', () => {
    const out = (axis: number): Tensor =>
      runOp(['openvino', 'MaxPool', 8], [planes], {
        attributes: { ...attributes, axis, index_element_type: 'i32' },
        outputs: 2
      })[1] as Tensor
    expect(out(0).type).toBe('int32')
    expect([...out(0).data]).toEqual([5, 9, 22, 27])
    expect([...out(1).data]).toEqual([5, 9, 4, 9])
    expect([...out(2).data]).toEqual([5, 0, 4, 0])
    expect([...out(-1).data]).toEqual([2, 0, 1, 0])
    expect(errorOf(() => out(4)).code).toBe('axis-out-of-range')
  })

  test('rounding up may add a window that starts in the padding, unless it is ceil_torch', () => {
    const run = (rounding: string, autoPad: string, x = row(1, 2, 3, 4, 5)): number[][] =>
      both(['openvino', 'MaxPool', 14], x, {
        kernel: [2],
        strides: [3],
        pads_begin: [1],
        pads_end: [1],
        rounding_type: rounding,
        auto_pad: autoPad
      })
    expect(run('ceil', 'explicit')).toEqual([
      [1, 4, LOWEST],
      [0, 3, 0]
    ])
    expect(run('ceil_torch', 'explicit')).toEqual([
      [1, 4],
      [0, 3]
    ])
    expect(run('floor', 'explicit')).toEqual([
      [1, 4],
      [0, 3]
    ])
    expect(run('ceil', 'valid')).toEqual([
      [2, 5],
      [1, 4]
    ])
    expect(run('ceil', 'same_upper', row(1, 2, 3, 4, 5, 6))).toEqual([
      [2, 5, LOWEST],
      [1, 4, 0]
    ])
    expect(run('ceil_torch', 'same_upper', row(1, 2, 3, 4, 5, 6))).toEqual([
      [2, 5],
      [1, 4]
    ])
  })

  test('a window without elements is the lowest finite number, at the first element of its plane', () => {
    const x = new Tensor('float32', [1, -Infinity, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [1, 2, 2, 3])
    const across = { kernel: [1, 1], strides: [1, 3], pads_begin: [0, 1], pads_end: [0, 0], rounding_type: 'ceil' }
    const [values, indices] = runOp(['openvino', 'MaxPool', 8], [x], {
      attributes: { ...across, index_element_type: 'i32', axis: 1 },
      outputs: 2
    }) as Tensor[]
    expect(values.dims).toEqual([1, 2, 2, 2])
    expect([...values.data]).toEqual([LOWEST, 3, LOWEST, 6, LOWEST, 9, LOWEST, 12])
    expect([...indices.data]).toEqual([0, 2, 0, 5, 6, 8, 6, 11])
    const half = new Tensor('float16', [0x3c00], [1, 1, 1])
    const alone = { kernel: [1], strides: [2], pads_begin: [1], pads_end: [1] }
    expect([...runTensor(['openvino', 'MaxPool', 8], [half], { attributes: alone }).data]).toEqual([0xfc00, 0xfc00])
  })

  test('64-bit integers are compared exactly', () => {
    const x = new Tensor('int64', [2n ** 62n, 2n ** 62n + 1n, -1n], [1, 1, 3])
    const [values, indices] = runOp(['openvino', 'MaxPool', 8], [x], {
      attributes: { kernel: [2], strides: [1] },
      outputs: 2
    }) as Tensor[]
    expect([...values.data]).toEqual([2n ** 62n + 1n, 2n ** 62n + 1n])
    expect([...indices.data]).toEqual([1n, 1n])
  })

  test('strides must be written', () => {
    expect(
      errorOf(() => runTensor(['openvino', 'MaxPool', 1], [row(1, 2)], { attributes: { kernel: [2] } })).code
    ).toBe('missing-attribute')
  })
})

describe('the shape rule of pools', () => {
  test('keeps names and intervals', () => {
    const infer = (x: Parameters<typeof fact>[1], attributes: object): unknown =>
      dimsOf(inferOp(POOL, [fact('float32', x)], { attributes: attributes as never })[0])
    expect(infer(['n', 'c', 'h', 'w'], { kernel_shape: [3, 2], pads: [1, 0, 1, 0], strides: [1, 2] })).toEqual([
      'n',
      'c',
      'h',
      'floor(w/2)'
    ])
    expect(infer([1, 2, '4..9'], { kernel_shape: [2], strides: [2], ceil_mode: 1 })).toEqual([1, 2, '2..5'])
    expect(infer(undefined, { kernel_shape: [2, 2] })).toEqual(['?', '?', '1..', '1..'])
  })

  test('an empty batch gives empty results', () => {
    expect(
      runOp(POOL, [allocate('float32', [0, 2, 4])], { attributes: { kernel_shape: [2] }, outputs: 2 }).map(
        out => (out as Tensor).dims
      )
    ).toEqual([
      [0, 2, 3],
      [0, 2, 3]
    ])
    const most = 2 ** 31 - 1
    for (const [type, extra] of [
      ['MaxPool', {}],
      ['AveragePool', {}],
      ['LpPool', {}],
      ['MaxPool', { auto_pad: 'SAME_UPPER', pads: [0, 0] }]
    ] as const) {
      const attributes = { kernel_shape: [most], pads: [most, most], ...extra }
      expect(
        runTensor(['onnx', type, 22], [allocate('float32', [0, 2, 2 ** 40])], { attributes }).data.length,
        type
      ).toBe(0)
    }
    expect(runTensor(['onnx', 'GlobalLpPool', 22], [allocate('float32', [0, 2, 2 ** 40])]).data.length).toBe(0)
  })
})
