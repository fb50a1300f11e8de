import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { convert } from '../../src/tensor/convert.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { differenceOf, noise } from '../wasm/compare.ts'
import { opsOf, planOf } from './plan.ts'

const CODES = { float16: 10, bfloat16: 16, float32: 1 }
const [K, N] = [96, 80]

/** A product with weights of a type, which a node widens. */
function model(type: keyof typeof CODES, changes: Partial<ModelParts> = {}): ModelParts {
  const { data } = convert(noise([K, N], 1), type)
  const rawData = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return {
    inputs: [port('x', 'float', ['n', K])],
    outputs: [port('y', 'float')],
    initializers: [{ name: 'w', dims: [K, N], dataType: CODES[type], rawData }],
    nodes: [node('Cast', ['w'], ['wide'], { to: 1 }), node('MatMul', ['x', 'wide'], ['y'])],
    ...changes
  }
}

describe('constants of 16-bit floats that are widened', () => {
  test.each(['float16', 'bfloat16'] as const)('of %s are constants of float32, in each precision', async type => {
    for (const isExact of [false, true]) {
      const { steps, initial } = await planOf(model(type), { isExact })
      expect(steps.map(({ call }) => call.op.name)).toEqual(['MatMul'])
      expect(initial[steps[0].inputs[1]]?.type).toBe('float32')
    }
  })

  test('give the product that they give apart, in every run', async () => {
    const x = noise([3, K], 2)
    const weights = convert(convert(noise([K, N], 1), 'float16'), 'float32')
    const expected = new Float64Array(3 * N)
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < N; j++)
        for (let k = 0; k < K; k++) expected[i * N + j] += x.data[i * K + k] * weights.data[k * N + j]
    for (const precision of ['fast', 'exact'] as const) {
      const session = new InferenceSession(await onnxModel(model('float16')), { precision })
      for (let run = 0; run < 2; run++) {
        const { y } = await session.run({ x })
        expect(differenceOf(y, new Tensor('float64', expected, [3, N]))).toBeLessThan(1e-6)
      }
      session.dispose()
    }
  })

  test('stay apart where somebody sees them', async () => {
    expect(opsOf(await planOf(model('float16'), { wanted: ['wide', 'y'] }))).toEqual(['Cast', 'MatMul'])
    expect(opsOf(await planOf(model('float16'), { isObserved: true }))).toEqual(['Cast', 'MatMul'])
  })

  test('are made again where memory is needed for others', async () => {
    const size = 4 * K * N
    const names = ['a', 'b', 'c', 'd']
    const { initializers = [] } = model('float16')
    const nodes = names.flatMap((name, i) => [
      node('Cast', [`w${name}`], [`wide${name}`], { to: 1 }),
      node('Add', [i === 0 ? 'x' : names[i - 1], `wide${name}`], [name])
    ])
    const parts = {
      inputs: [port('x', 'float', [K, N])],
      outputs: [port('d', 'float')],
      initializers: names.map(name => ({ ...initializers[0], name: `w${name}` })),
      nodes
    }
    const session = new InferenceSession(await onnxModel(model('float16', parts)), { maxMemory: 4.5 * size })
    const x = noise([K, N], 3)
    const weights = convert(convert(noise([K, N], 1), 'float16'), 'float32').data
    for (let run = 0; run < 2; run++) {
      const { d } = await session.run({ x })
      const expected = x.data.map((value, i) => value + 4 * weights[i])
      expect(differenceOf(d, new Tensor('float32', expected, [K, N]))).toBeLessThan(1e-6)
    }
    session.dispose()
  })
})
