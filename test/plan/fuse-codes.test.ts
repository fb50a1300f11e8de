import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { floats, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { opsOf, planOf } from './plan.ts'

type Byte = 'uint8' | 'int8'

/** A constant code. */
const code = (name: string, type: Byte, value: number): object => ({
  name,
  dims: [],
  dataType: type === 'uint8' ? 2 : 3,
  int32Data: [value]
})

/** Two operands of codes, each dequantized, and the nodes between them and the codes of the result. */
function model(type: Byte, scales: readonly number[], zeros: readonly number[], nodes: readonly object[]): ModelParts {
  return {
    inputs: [port('a', type, [256, 1]), port('b', type, [1, 256])],
    outputs: [port('y', type)],
    initializers: [
      ...['a', 'b', 'y'].flatMap((name, i) => [
        floats(`${name}.s`, [], [scales[i]]),
        code(`${name}.z`, type, zeros[i])
      ]),
      floats('low', [], [-0.4]),
      floats('high', [], [1.1]),
      floats('far', [], [1e9])
    ],
    nodes: [
      ...['a', 'b'].map(name => node('DequantizeLinear', [name, `${name}.s`, `${name}.z`], [`${name}.f`])),
      ...nodes,
      node('QuantizeLinear', ['p', 'y.s', 'y.z'], ['y'])
    ]
  }
}

async function run(parts: ModelParts, type: Byte, observed: boolean): Promise<Uint8Array> {
  const session = new InferenceSession(await onnxModel(parts))
  const all = Array.from({ length: 256 }, (_, i) => i + (type === 'int8' ? -128 : 0))
  const feeds = { a: new Tensor(type, all, [256, 1]), b: new Tensor(type, all, [1, 256]) }
  const { y } = await session.run(feeds, observed ? { onStep: () => undefined } : {})
  session.dispose()
  return Uint8Array.from(y.data as Uint8Array)
}

const ACTIVATIONS: readonly (readonly [string, readonly object[]])[] = [
  ['Add', [node('Add', ['a.f', 'b.f'], ['p'])]],
  ['Sub', [node('Sub', ['a.f', 'b.f'], ['p'])]],
  ['Mul', [node('Mul', ['a.f', 'b.f'], ['p'])]],
  ['Add and Relu', [node('Add', ['a.f', 'b.f'], ['q']), node('Relu', ['q'], ['p'])]],
  ['Mul and Clip', [node('Mul', ['a.f', 'b.f'], ['q']), node('Clip', ['q', 'low', 'high'], ['p'])]],
  ['Add and Clip, bounds in no order', [node('Add', ['a.f', 'b.f'], ['q']), node('Clip', ['q', 'high', 'low'], ['p'])]],
  ['Add and Clip to what no code reaches', [node('Add', ['a.f', 'b.f'], ['q']), node('Clip', ['q', 'far'], ['p'])]]
]

describe.each(['uint8', 'int8'] as const)('two operands of %s, every pair of codes', type => {
  test.each(ACTIVATIONS)('%s gives the codes of the nodes apart', async (_, nodes) => {
    const shift = type === 'int8' ? -128 : 0
    for (const scales of [
      [0.021, 0.017, 0.043],
      // Quotients on ties, and ties that only float32 makes.
      [0.25, 0.5, 0.5],
      [0.1, 0.3, 0.2],
      [0.3, 0.1, 0.05],
      [300, 1e-4, 0.3],
      [-0.02, 0.03, 0.05],
      // Beyond what the kernel computes.
      [1e-36, 1e-37, 1e-37],
      [0.02, 0.03, -0.05]
    ]) {
      const parts = model(type, scales, [3 + shift, 128 + shift, 120 + shift], nodes)
      expect(opsOf(await planOf(parts))).toEqual(['ByteTable'])
      const [fused, apart] = [await run(parts, type, false), await run(parts, type, true)]
      expect(Buffer.compare(fused, apart), `scales ${scales}`).toBe(0)
    }
  })
})
