import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { DTYPES } from '../../src/tensor/dtype.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { floats, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const NUMBERS = { uint8: 2, int8: 3, float16: 10 } as const

/** A constant whose elements repeat every 7; of float16 those are codes of small numbers. */
const constant = (name: string, type: keyof typeof NUMBERS, dims: readonly number[]): object => ({
  name,
  dims,
  dataType: NUMBERS[type],
  int32Data: Array.from(
    { length: dims.reduce((a, b) => a * b, 1) },
    (_, i) => (i % 7) + (type === 'float16' ? 12000 : 0)
  )
})
const SCALES = [floats('scale', [], [0.02]), floats('other', [], [0.03]), constant('zero', 'uint8', [])]
const ROWS = ['n', 96]
const WEIGHTS = [96, 128]

interface Case {
  readonly type: 'uint8' | 'float' | 'float16'
  readonly dims: readonly (number | string)[]
  readonly y: 'uint8' | 'int32' | 'float' | 'float16'
  readonly parts: Omit<ModelParts, 'inputs' | 'outputs'>
}
const cases: Readonly<Record<string, Case>> = {
  MatMulInteger: {
    ...{ type: 'uint8', dims: ROWS, y: 'int32' },
    parts: { initializers: [constant('w', 'int8', WEIGHTS)], nodes: [node('MatMulInteger', ['x', 'w'], ['y'])] }
  },
  QLinearMatMul: {
    ...{ type: 'uint8', dims: ROWS, y: 'uint8' },
    parts: {
      initializers: [...SCALES, constant('w', 'uint8', WEIGHTS)],
      nodes: [node('QLinearMatMul', ['x', 'scale', 'zero', 'w', 'other', 'zero', 'other', 'zero'], ['y'])]
    }
  },
  'DynamicQuantizeLinear before MatMulInteger': {
    ...{ type: 'float', dims: ROWS, y: 'float' },
    parts: {
      initializers: [...SCALES, constant('w', 'uint8', WEIGHTS)],
      nodes: [
        node('DynamicQuantizeLinear', ['x'], ['codes', 'own', 'ownZero']),
        node('MatMulInteger', ['codes', 'w', 'ownZero', 'zero'], ['sums']),
        node('Cast', ['sums'], ['floats'], { to: 1 }),
        node('Mul', ['own', 'scale'], ['both']),
        node('Mul', ['floats', 'both'], ['y'])
      ]
    }
  },
  QLinearConv: {
    ...{ type: 'uint8', dims: [1, 16, 'n', 12], y: 'uint8' },
    parts: {
      initializers: [...SCALES, constant('w', 'int8', [32, 16, 3, 3]), constant('wZero', 'int8', [])],
      nodes: [node('QLinearConv', ['x', 'scale', 'zero', 'w', 'other', 'wZero', 'other', 'zero'], ['y'])]
    }
  },
  'MatMul of float16': {
    ...{ type: 'float16', dims: ROWS, y: 'float16' },
    parts: { initializers: [constant('w', 'float16', WEIGHTS)], nodes: [node('MatMul', ['x', 'w'], ['y'])] }
  },
  'quantized Div by a constant': {
    ...{ type: 'uint8', dims: ROWS, y: 'uint8' },
    parts: {
      initializers: [...SCALES, constant('w', 'uint8', [])],
      nodes: [
        node('DequantizeLinear', ['x', 'scale', 'zero'], ['a']),
        node('DequantizeLinear', ['w', 'other', 'zero'], ['b']),
        node('Div', ['a', 'b'], ['quotient']),
        node('QuantizeLinear', ['quotient', 'scale', 'zero'], ['y'])
      ]
    }
  }
}

const feedOf = ({ type, dims }: Case, n: number): Tensor => {
  const own = dims.map(dim => (typeof dim === 'string' ? n : dim))
  const name = type === 'float' ? 'float32' : type
  const count = own.reduce((a, b) => a * b, 1)
  const data = new DTYPES[name].array!(count) as Uint8Array
  for (let i = 0; i < count; i++) data[i] = type === 'float16' ? 12000 + (i % 5) : i % 11
  return new Tensor(name, data, own)
}

describe('a session packs the constants of a call once for inputs of all dims', () => {
  test.each(Object.entries(cases))('of %s', async (_, given) => {
    const inputs = [port('x', given.type, given.dims)]
    const model = onnxBytes({ ...given.parts, inputs, outputs: [port('y', given.y)] })
    const session = await InferenceSession.create(model, { threads: 1 })
    const used: number[] = []
    for (let n = 40; n < 70; n++) {
      const { y } = await session.run({ x: feedOf(given, n) })
      used.push(heapStats().used)
      if (n % 10 > 0) continue
      const fresh = await InferenceSession.create(model, { threads: 1 })
      expect(y).toEqual((await fresh.run({ x: feedOf(given, n) })).y)
      fresh.dispose()
    }
    expect(used.at(-1)).toBe(used[4])
    session.dispose()
  })
})
