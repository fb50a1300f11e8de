import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/index.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type ConvertedOptions, differenceInOther, inOther, modelOfNode, typesOf } from '../converted.ts'
import type { Kind } from '../harness.ts'
import { randomFloats as floats } from '../random.ts'

const ints = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])
const int = (value: number): Tensor => new Tensor('int64', [BigInt(value)], [])
const kind = (type: string, opset = 15): Kind => ['openvino', type, opset]

/** All inputs but the first may be constants, or given while the model runs. */
const forms = (inputs: readonly unknown[]): ConvertedOptions[] => [
  { constants: inputs.map((_, i) => i).slice(1) },
  { isDynamic: true, constants: inputs.map((_, i) => i).slice(1) }
]

describe('what IR moves, in ONNX', () => {
  test.each([
    ['BatchToSpace', [floats(1, [6, 2, 3]), ints(1, 2, 3), ints(0, 1, 0), ints(0, 1, 2)], {}],
    ['SpaceToBatch', [floats(1, [2, 3, 4]), ints(1, 2, 3), ints(0, 1, 0), ints(0, 0, 2)], {}],
    ['Reverse', [floats(1, [2, 3]), ints(1, 0)], { mode: 'index' }],
    ['Reverse', [floats(1, [2, 3]), new Tensor('bool', [0, 1], [2])], { mode: 'mask' }],
    ['Roll', [floats(1, [2, 5]), ints(1, -7, 3), ints(0, 1, 1)], {}],
    ['ShuffleChannels', [floats(1, [2, 6, 2])], { axis: -2, group: 3 }],
    ['SliceScatter', [floats(1, [4, 5]), floats(2, [2, 5]), ints(3), ints(-5), ints(-2), ints(0)], {}],
    ['Squeeze', [floats(1, [1, 2, 1])], {}],
    ['DepthToSpace', [floats(1, [1, 8, 2, 3])], { block_size: 2, mode: 'depth_first' }],
    ['SpaceToDepth', [floats(1, [1, 2, 4, 6])], { block_size: 2, mode: 'blocks_first' }]
  ] as const)('%s has the same values, of open dims too', async (type, inputs, attributes) => {
    for (const form of forms(inputs))
      expect(await differenceInOther(kind(type), inputs, { ...form, attributes })).toBe(0)
  })

  test('Eye has ones where the column is the row and the diagonal', async () => {
    const inputs = [int(3), int(4), int(-1), ints(2)]
    for (const constants of [[], [0, 1, 2, 3]])
      expect(await differenceInOther(kind('Eye'), inputs, { constants, attributes: { output_type: 'i32' } })).toBe(0)
  })

  test.each(['constant', 'edge', 'reflect', 'symmetric'])('Pad of mode %s pads before it crops', async pad_mode => {
    const inputs = [floats(1, [3, 4]), ints(2, -1), ints(-1, 3)]
    for (const form of [...forms(inputs), { isDynamic: true }])
      expect(await differenceInOther(kind('Pad'), inputs, { ...form, attributes: { pad_mode } })).toBe(0)
  })
})

describe('what ONNX makes of dims, in IR', () => {
  test.each([
    [13, [floats(1, [2, 3]), ints()], {}],
    [11, [floats(1, [2, 3])], { axes: [] }]
  ] as const)(
    'Unsqueeze-%i of no axes is no node, as OpenVINO refuses an empty list',
    async (opset, inputs, attributes) => {
      for (const form of forms(inputs)) {
        const options = { ...form, attributes }
        const model = modelOfNode(['onnx', 'Unsqueeze', opset], inputs, options)
        expect(typesOf(inOther(model))).toEqual([])
        expect(await differenceInOther(['onnx', 'Unsqueeze', opset], inputs, options)).toBe(0)
      }
    }
  )

  test.each([[[2, 3, 4]], [[0, 3]], [[]]])('Size of %j', async dims => {
    for (const isDynamic of [false, true])
      expect(await differenceInOther(['onnx', 'Size', 13], [floats(1, dims)], { isDynamic })).toBe(0)
  })

  test.each([undefined, 'int64', 'float16', 'bool'] as const)('EyeLike of type %s', async type => {
    const dtype = type && { int64: 7, float16: 10, bool: 9 }[type]
    for (const k of [0, 2, -1])
      for (const isDynamic of [false, true]) {
        const attributes = { k, ...(dtype && { dtype }) }
        expect(await differenceInOther(['onnx', 'EyeLike', 9], [floats(1, [3, 4])], { isDynamic, attributes })).toBe(0)
      }
  })
})

describe('Split and Range of ONNX in IR', () => {
  const split: Kind = ['onnx', 'Split', 18]

  test.each([7, 6])('three parts of %i, which is not known before', async size => {
    const form = { isDynamic: true, attributes: { num_outputs: 3 }, outputs: 3 }
    expect(await differenceInOther(split, [floats(1, [size])], form)).toBe(0)
  })

  test('sizes that come while the model runs are as many as the parts', () => {
    const form = { isDynamic: true, outputs: 2 }
    const { graph } = inOther(modelOfNode(split, [floats(1, [5]), ints(2, 3)], form))
    const layer = graph.nodes.find(({ type }) => type === 'VariadicSplit')
    expect(graph.values.get(layer?.inputs[2] ?? '')?.declared).toMatchObject({ dims: [2] })
  })

  test('a list of one that counts is a scalar', async () => {
    const inputs = [int(0), ints(4), int(1)]
    expect(await differenceInOther(['onnx', 'Range', 11], inputs)).toBe(0)
    expect(typesOf(inOther(modelOfNode(['onnx', 'Range', 11], inputs)))).toEqual(['Reshape', 'Range'])
  })
})

test.each([
  [2, 3],
  [2, -1]
])('sizes %i and %i that an IR reads while it runs, in ONNX', async (...sizes) => {
  const inputs = [floats(1, [5, 2]), int(0), ints(...sizes)]
  expect(await differenceInOther(kind('VariadicSplit'), inputs, { constants: [1], outputs: 2 })).toBe(0)
})

test.each([11, 13, 18])('equal parts of IR in opset %i', opset => {
  const model = modelOfNode(kind('Split'), [floats(1, [4, 2]), int(-2)], {
    constants: [1],
    attributes: { num_splits: 2 },
    outputs: 2
  })
  const { graph } = convert(model, { dialect: 'onnx', opset }).model
  expect(graph.nodes.map(({ type, inputs }) => [type, inputs.length])).toEqual([['Split', 1]])
})

test('equal parts along an axis that a run gives, in opset 17', async () => {
  const options = { attributes: { num_splits: 2 }, outputs: 2, writtenOpset: 17 }
  expect(await differenceInOther(kind('Split'), [floats(1, [4, 2]), int(0)], options)).toBe(0)
})

test('parts of other sizes are an attribute in opset 12', () => {
  const inputs = [floats(1, [5, 2]), int(0), ints(2, -1)]
  const { graph } = inOther(modelOfNode(kind('VariadicSplit'), inputs, { constants: [1, 2], outputs: 2 }), 12)
  const [{ type, attributes }] = graph.nodes
  expect([type, attributes.get('split')]).toEqual(['Split', { kind: 'ints', value: [2n, 3n] }])
})

describe('Pad of ONNX in IR', () => {
  const onnx: Kind = ['onnx', 'Pad', 21]
  test('has lists for all axes, known or not', async () => {
    const inputs = [floats(1, [3, 4]), ints(2, -1), new Tensor('float32', [7], []), ints(-1)]
    for (const constants of [[1, 3], [3]]) expect(await differenceInOther(onnx, inputs, { constants })).toBe(0)
    expect(typesOf(inOther(modelOfNode(onnx, inputs, { constants: [1, 3] })))).toEqual(['Pad'])
  })

  test('is refused where OpenVINO does not do it', () => {
    const of = (mode: string, pads: Tensor) => () =>
      inOther(modelOfNode(onnx, [floats(1, [3]), pads], { constants: [1], attributes: { mode } }))
    expect(of('wrap', ints(1, 1))).toThrow('wrap')
    expect(of('reflect', ints(3, 0))).toThrow('reflection')
  })
})

test('UnfoldTensor is refused where the indices of its windows take too much memory', () => {
  const data = new Tensor('float32', [], [0, 2 ** 26])
  const attributes = { dim: 1, size: 8 }
  expect(() => inOther(modelOfNode(['onnx', 'UnfoldTensor', 1, 'com.microsoft'], [data], { attributes }))).toThrow(
    'windows of 8'
  )
})

test('Range of int32 that a run bounds is one of int64 in ONNX', async () => {
  const scalar = (value: number): Tensor => new Tensor('int32', [value], [])
  const inputs = [scalar(0), scalar(5), scalar(2)]
  const given = { attributes: { output_type: 'i32' }, constants: [0, 2] }
  const range = modelOfNode(['openvino', 'Range', 4], inputs, given)
  expect(typesOf(inOther(range))).toEqual(['Cast', 'Cast', 'Cast', 'Range', 'Cast'])
  expect(await differenceInOther(['openvino', 'Range', 4], inputs, given)).toBe(0)
})
