import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { convert } from '../../src/tensor/convert.ts'
import { isTensor, Tensor } from '../../src/tensor/tensor.ts'
import { type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { differenceOf, noise } from '../wasm/compare.ts'
import { opsOf, planOf } from './plan.ts'

const CODES = { float16: 10, bfloat16: 16 }
const TYPES = ['float16', 'bfloat16'] as const
type Half = (typeof TYPES)[number]

function weights(name: string, dims: readonly number[], type: Half, seed: number): object {
  const { data } = convert(noise(dims, seed, 0.2), type)
  return { name, dims, dataType: CODES[type], rawData: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) }
}

const [ROWS, DEPTH, COLUMNS] = [6, 64, 48]

/** Two products with a Sigmoid between, of 16-bit floats that come in and go out as such. */
const products = (type: Half, changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('x', type, [ROWS, DEPTH])],
  outputs: [port('y', type)],
  initializers: [weights('v', [DEPTH, COLUMNS], type, 1), weights('w', [COLUMNS, COLUMNS], type, 2)],
  nodes: [
    node('MatMul', ['x', 'v'], ['a']),
    node('Sigmoid', ['a'], ['b']),
    node('Tanh', ['b'], ['c']),
    node('MatMul', ['c', 'w'], ['y'])
  ],
  ...changes
})

const run = async (parts: ModelParts, type: Half, precision: 'fast' | 'exact'): ReturnType<InferenceSession['run']> => {
  const session = new InferenceSession(await onnxModel(parts), { precision })
  const results = await session.run({ x: convert(noise([ROWS, DEPTH], 3), type) })
  session.dispose()
  return results
}

describe('calls on 16-bit floats', () => {
  test.each(TYPES)('of %s compute on float32 between where they come in and go out', async type => {
    const { steps, facts, initial } = await planOf(products(type))
    expect(steps.map(({ call }) => call.op.name)).toEqual(expect.arrayContaining(['Cast', 'Tanh', 'MatMul']))
    expect(steps.filter(({ call }) => call.op.name === 'Cast')).toHaveLength(2)
    expect(facts.get('c')).toMatchObject({ type: 'float32', shape: [ROWS, COLUMNS] })
    expect(facts.get('y')).toMatchObject({ type })
    expect(initial.filter(value => value !== undefined).map(value => value.type)).toEqual(['float32', 'float32'])
    // Weights are left to be read by the run that packs them.
    expect(initial.every(value => value === undefined || 'read' in value)).toBe(true)
  })

  test.each(TYPES)('of %s give what they give apart, with one rounding instead of one each', async type => {
    const [fast, exact] = [await run(products(type), type, 'fast'), await run(products(type), type, 'exact')]
    const [a, b] = [fast.y, exact.y]
    if (!isTensor(a) || !isTensor(b)) throw new Error('no tensors')
    expect([a.type, a.dims]).toEqual([type, [ROWS, COLUMNS]])
    const unit = type === 'float16' ? 2 ** -11 : 2 ** -8
    expect(differenceOf(convert(a, 'float32'), convert(b, 'float32'))).toBeLessThan(3 * unit)
  })

  test('keep numbers that 16 bits cannot hold', async () => {
    const nodes = [node('Exp', ['x'], ['a']), node('Mul', ['a', 'a'], ['b']), node('Log', ['b'], ['y'])]
    const parts = products('float16', { initializers: [], nodes })
    const session = new InferenceSession(await onnxModel(parts))
    // e^10 is below the largest number of float16, and its square above.
    const x = convert(new Tensor('float32', new Float32Array(ROWS * DEPTH).fill(10), [ROWS, DEPTH]), 'float16')
    const { y } = await session.run({ x })
    session.dispose()
    if (!isTensor(y)) throw new Error('no tensor')
    expect(convert(y, 'float32').data[0]).toBeCloseTo(20, 1)
  })

  test('are left as they are in exact precision, and where somebody sees all values', async () => {
    const names = ['MatMul', 'Sigmoid', 'Tanh', 'MatMul']
    expect(opsOf(await planOf(products('float16'), { isExact: true }))).toEqual(names)
    expect(opsOf(await planOf(products('float16'), { isObserved: true }))).toEqual(names)
  })

  test('are left as they are where kernels would convert no oftener', async () => {
    const parts = products('float16', { nodes: [node('MatMul', ['x', 'v'], ['y'])] })
    expect(opsOf(await planOf(parts))).toEqual(['MatMul'])
  })

  test('between conversions of the file need none', async () => {
    const parts = products('float16', {
      inputs: [port('x', 'float', [ROWS, DEPTH])],
      outputs: [port('y', 'float')],
      nodes: [
        node('Cast', ['x'], ['h'], { to: 10 }),
        node('MatMul', ['h', 'v'], ['a']),
        node('Tanh', ['a'], ['b']),
        node('Cast', ['b'], ['y'], { to: 1 })
      ]
    })
    expect(opsOf(await planOf(parts))).toEqual(['FusedMatMul', 'Cast'])
  })

  test('keep a conversion that is there to round', async () => {
    const parts = products('float16', {
      inputs: [port('x', 'float', [ROWS, DEPTH])],
      outputs: [port('y', 'float')],
      nodes: [node('Cast', ['x'], ['h'], { to: 10 }), node('Cast', ['h'], ['y'], { to: 1 })]
    })
    expect(opsOf(await planOf(parts))).toEqual(['Cast', 'Cast'])
  })

  test('give a value in both types where it is seen, too', async () => {
    const parts = products('float16', { outputs: [port('b', 'float16'), port('y', 'float16')] })
    const { steps, facts } = await planOf(parts)
    expect(steps.filter(({ call }) => call.op.name === 'Cast')).toHaveLength(3)
    expect(facts.get('b')).toMatchObject({ type: 'float16' })
    const { b } = await run(parts, 'float16', 'fast')
    expect(b).toMatchObject({ type: 'float16', dims: [ROWS, COLUMNS] })
  })

  test('that only move numbers from outside move 16 bits', async () => {
    const parts = products('float16', {
      nodes: [
        node('Transpose', ['x'], ['turned']),
        node('Transpose', ['turned'], ['back'], { perm: [0, 1] }),
        node('MatMul', ['back', 'v'], ['a']),
        node('Tanh', ['a'], ['b']),
        node('MatMul', ['b', 'w'], ['y'])
      ],
      inputs: [port('x', 'float16', [DEPTH, ROWS])]
    })
    expect(opsOf(await planOf(parts)).slice(0, 2)).toEqual(['Transpose', 'Cast'])
  })

  test.each(TYPES)(
    'look rows of a table of %s up that are converted then, and pack the table for a product',
    async type => {
      const words = 2 ** 14
      const parts: ModelParts = {
        inputs: [port('ids', 'int64', [2])],
        outputs: [port('y', type)],
        initializers: [weights('table', [words, DEPTH], type, 4)],
        nodes: [
          node('Gather', ['table', 'ids'], ['rows']),
          node('Tanh', ['rows'], ['x']),
          node('Transpose', ['table'], ['turned'], { perm: [1, 0] }),
          node('MatMul', ['x', 'turned'], ['y'])
        ]
      }
      expect(opsOf(await planOf(parts))).toEqual(['Gather', 'Tanh', 'MatMul', 'Cast'])
      const [fast, exact] = await Promise.all(
        (['fast', 'exact'] as const).map(async precision => {
          const session = new InferenceSession(await onnxModel(parts), { precision })
          const { y } = await session.run({ ids: new Tensor('int64', [3n, BigInt(words - 1)], [2]) })
          session.dispose()
          return convert(y, 'float32')
        })
      )
      expect(differenceOf(fast, exact)).toBeLessThan(3 * (type === 'float16' ? 2 ** -11 : 2 ** -8))
    }
  )

  test.each(TYPES)('of %s are found by patterns whose numbers these types hold as others', async type => {
    const number = (name: string, value: number): object => {
      const { data } = convert(new Tensor('float32', [value], []), type)
      const rawData = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      return { name, dims: [], dataType: CODES[type], rawData }
    }
    const gelu = (root: number): ModelParts =>
      products(type, {
        initializers: [
          ...(products(type).initializers ?? []),
          ...[number('root', root), number('one', 1), number('half', 0.5)]
        ],
        nodes: [
          node('MatMul', ['x', 'v'], ['a']),
          node('Div', ['a', 'root'], ['d']),
          node('Erf', ['d'], ['e']),
          node('Add', ['e', 'one'], ['s']),
          node('Mul', ['a', 's'], ['p']),
          node('Mul', ['p', 'half'], ['g']),
          node('MatMul', ['g', 'w'], ['y'])
        ]
      })
    const parts = gelu(Math.SQRT2)
    expect(opsOf(await planOf(parts))).not.toContain('Erf')
    const [{ y: fast }, { y: exact }] = [await run(parts, type, 'fast'), await run(parts, type, 'exact')]
    if (!isTensor(fast) || !isTensor(exact)) throw new Error('a result is no tensor')
    const unit = type === 'float16' ? 2 ** -11 : 2 ** -8
    expect(differenceOf(convert(fast, 'float32'), convert(exact, 'float32'))).toBeLessThan(4 * unit)
    expect(opsOf(await planOf(gelu(1.44)))).toContain('Erf')
  })
})
