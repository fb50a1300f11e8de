import { describe, expect, test } from 'vitest'
import { InferenceSession, type RunOptions } from '../../src/index.ts'
import type { Tensor } from '../../src/tensor/tensor.ts'
import { wasm } from '../../src/wasm/wasm.ts'
import { floats, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { opsOf, planOf } from './plan.ts'

/** Types of codes by their numbers in a file, with a zero point. */
const TYPES = { uint8: [2, 131], int8: [3, -7], uint16: [4, 40000], int16: [5, -300] } as const
type CodeType = keyof typeof TYPES

/** Quantizes and dequantizes a value as a name, by a scale. */
const rounding = (from: string, to: string, scale = 'scale'): object[] => [
  node('QuantizeLinear', [from, scale, 'zero'], [`${to}.codes`]),
  node('DequantizeLinear', [`${to}.codes`, scale, 'zero'], [to])
]

const model = (nodes: readonly object[], type: CodeType = 'uint16', changes: Partial<ModelParts> = {}): ModelParts => ({
  opset: 21,
  inputs: [port('x', 'float', [3, 70, 41])],
  outputs: [port('y', 'float')],
  initializers: [
    floats('scale', [], [0.011]),
    floats('other', [], [0.013]),
    floats('one', [], [1]),
    { name: 'zero', dims: [], dataType: TYPES[type][0], int32Data: [TYPES[type][1]] },
    { name: 'pads', dims: [6], dataType: 7, int64Data: [0, 1, 0, 0, 0, 2] }
  ],
  nodes,
  ...changes
})

/** Numbers of all magnitudes, ties between levels, and what has no level. */
function numbers(): Tensor<'float32'> {
  const x = noise([3, 70, 41], 5, 3)
  const edges = [NaN, Infinity, -Infinity, 1e9, -1e9, 0, -0, 0.0055, 0.0165, -0.0055, 360.4]
  edges.forEach((edge, i) => (x.data[i * 9] = edge))
  return x
}

async function run(parts: ModelParts, options: RunOptions = {}): Promise<Float32Array> {
  // Else the reference would take the first small calls.
  wasm()?.compute()
  const session = new InferenceSession(await onnxModel(parts))
  const { y } = await session.run({ x: numbers() }, options)
  session.dispose()
  return (y as Tensor<'float32'>).data
}

/** Holds the plan of a model against the nodes one by one, to the bit, and its operators against those expected. */
async function expectPlan(parts: ModelParts, ops: readonly string[]): Promise<void> {
  for (const isExact of [false, true]) expect(opsOf(await planOf(parts, { isExact }))).toEqual(ops)
  expect(await run(parts)).toEqual(await run(parts, { onStep: () => undefined }))
}

describe('numbers that are quantized and dequantized', () => {
  test.each(Object.keys(TYPES) as CodeType[])('as %s are rounded by one call', async type => {
    await expectPlan(model([...rounding('x', 'a'), node('Neg', ['a'], ['y'])], type), ['RoundedCodes', 'Neg'])
  })

  test('again after they are moved, in the same way, are left as they are', async () => {
    const moves = [
      ...rounding('x', 'a'),
      node('Transpose', ['a'], ['b'], { perm: [2, 0, 1] }),
      ...rounding('b', 'c'),
      node('Relu', ['c'], ['d']),
      ...rounding('d', 'e'),
      node('Pad', ['e', 'pads'], ['f']),
      ...rounding('f', 'g'),
      node('Neg', ['g'], ['y'])
    ]
    await expectPlan(model(moves), ['RoundedCodes', 'Transpose', 'Relu', 'Pad', 'Neg'])
  })

  test('in another way after they are moved are rounded', async () => {
    const nodes = [...rounding('x', 'a'), node('Transpose', ['a'], ['b']), ...rounding('b', 'c', 'other')]
    const parts = model([...nodes, node('Neg', ['c'], ['y'])])
    await expectPlan(parts, ['RoundedCodes', 'Transpose', 'RoundedCodes', 'Neg'])
  })

  test('after a number is put beside them are rounded', async () => {
    const nodes = [...rounding('x', 'a'), node('Pad', ['a', 'pads', 'one'], ['b']), ...rounding('b', 'c')]
    const parts = model([...nodes, node('Neg', ['c'], ['y'])])
    await expectPlan(parts, ['RoundedCodes', 'Pad', 'RoundedCodes', 'Neg'])
  })

  test('after an attribute of Pad puts a number beside them are rounded', async () => {
    const pad = node('Pad', ['a'], ['b'], { pads: [0, 1, 0, 0, 0, 2], value: { float: 0.008 } })
    const nodes = [...rounding('x', 'a'), pad, ...rounding('b', 'c'), node('Neg', ['c'], ['y'])]
    const parts = model(nodes, 'uint8', { opset: 10 })
    await expectPlan(parts, ['RoundedCodes', 'Pad', 'RoundedCodes', 'Neg'])
  })

  test('keep codes that others read', async () => {
    const parts = model([...rounding('x', 'a'), node('Neg', ['a'], ['y'])])
    const wanted = ['a.codes', 'y']
    expect(opsOf(await planOf(parts, { wanted }))).toEqual(['QuantizeLinear', 'DequantizeLinear', 'Neg'])
  })

  test('by one scale and another are no rounding', async () => {
    const [quantize] = rounding('x', 'a')
    const nodes = [quantize, node('DequantizeLinear', ['a.codes', 'other', 'zero'], ['a']), node('Neg', ['a'], ['y'])]
    await expectPlan(model(nodes), ['QuantizeLinear', 'DequantizeLinear', 'Neg'])
  })

  test('stay apart where somebody sees all values', async () => {
    const parts = model([...rounding('x', 'a'), node('Neg', ['a'], ['y'])])
    expect(opsOf(await planOf(parts, { isObserved: true }))).toEqual(['QuantizeLinear', 'DequantizeLinear', 'Neg'])
  })
})
