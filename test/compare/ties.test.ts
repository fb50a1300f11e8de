import { describe, expect, test } from 'vitest'
import { compare, type Comparison, load, type Recording, Tensor } from '../../src/index.ts'
import { floats, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

/** round(x * w / 0.5) * 0.5, and its double */
const parts = (w: number): ModelParts => ({
  inputs: [port('x', 'float', [400])],
  initializers: [floats('w', [1], [w]), floats('step', [], [0.5])],
  outputs: [port('y', 'float', [400])],
  nodes: [
    node('Mul', ['x', 'w'], ['m']),
    node('QuantizeLinear', ['m', 'step'], ['q']),
    node('DequantizeLinear', ['q', 'step'], ['d']),
    node('Add', ['d', 'd'], ['y'])
  ]
})
/** Numbers a quarter of a step from a tie, but for some that lie just below one. */
const x = (ties: number): Tensor =>
  new Tensor(
    'float32',
    Array.from({ length: 400 }, (_, i) => (i % 100) * 0.5 + (i < ties ? 0.24999 : 0.125))
  )
const run = async (w: number, ties: number): Promise<Comparison> =>
  compare(await load(onnxBytes(parts(1))), await load(onnxBytes(parts(w))), { x: x(ties) }, { rtol: 1e-3 })

describe('what two quantizers round to neighbouring steps', () => {
  test('is no difference where few elements do, and nothing that follows differs', async () => {
    const { equal, pairs } = await run(1.0001, 2)
    expect(equal).toBe(true)
    expect(pairs.map(({ a, distance }) => [a.value, distance.ties])).toEqual([
      ['m', undefined],
      ['q', 2],
      ['d', undefined],
      ['y', undefined]
    ])
  })

  test('is none against a recording either', async () => {
    const model = await load(onnxBytes(parts(1)))
    const codes = (change: number): number[] =>
      Array.from({ length: 400 }, (_, i) => (i % 100) + (i === 7 ? change : 0))
    const recording = (change: number): Recording => ({
      names: ['q', 'y'],
      read: name => (name === 'q' ? new Tensor('uint8', codes(change)) : new Tensor('float32', codes(change)))
    })
    const result = await compare(model, recording(1), { x: x(0) })
    expect(result.pairs.map(({ distance }) => distance.ties)).toEqual([1, undefined])
    expect(result.equal).toBe(true)
    expect((await compare(model, recording(2), { x: x(0) })).first).toMatchObject({ a: { value: 'q' } })
  })

  test('is a difference of more than a step where the other elements do not tell what a step is', async () => {
    const isEqual = async (dims: readonly number[], found: Tensor, name: 'q' | 'd' = 'q'): Promise<boolean> => {
      const model = await load(
        onnxBytes({
          ...parts(1),
          inputs: [port('x', 'float', [...dims])],
          outputs: [port(name, name === 'd' ? 'float' : 'uint8', [...dims])],
          nodes: parts(1).nodes.slice(0, name === 'd' ? 3 : 2)
        })
      )
      const feed = new Tensor('float32', new Float32Array(found.size).fill(3), dims)
      return (await compare(model, { names: [name], read: () => found }, { x: feed })).equal
    }
    expect(await isEqual([1], new Tensor('uint8', [53]))).toBe(false)
    expect(await isEqual([1], new Tensor('uint8', [7]))).toBe(true)
    expect(await isEqual([3], new Tensor('uint8', [6, 6, 26]))).toBe(false)
    expect(await isEqual([3], new Tensor('uint8', [6, 6, 7]))).toBe(true)
    expect(await isEqual([3], new Tensor('float32', [90, 90, 90]), 'd')).toBe(false)
    expect(await isEqual([1], new Tensor('float32', [90]), 'd')).toBe(false)
  })

  test('is one where many do', async () => {
    expect((await run(1.0001, 40)).first).toMatchObject({ a: { value: 'q' }, distance: { differing: 40 } })
  })
})
