import { describe, expect, test } from 'vitest'
import { fingerprintOf } from '../../src/compare/fingerprint.ts'
import { inLayoutOf } from '../../src/compare/layout.ts'
import { permuted } from '../../src/compare/permute.ts'
import { compare, type Comparison, load, Tensor } from '../../src/index.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

/** Numbers that look random, the same every time. */
const noise = (count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.sin((i + 1) * (12.9898 + seed)) * 3)
const random = (dims: number[], seed = 1): Tensor =>
  new Tensor(
    'float32',
    noise(
      dims.reduce((a, b) => a * b, 1),
      seed
    ),
    dims
  )

describe('a fingerprint', () => {
  test('is that of the elements, in whatever order the axes are', () => {
    const tensor = random([2, 3, 4, 5])
    const other = fingerprintOf(permuted(tensor, [0, 2, 3, 1]))!
    expect(other.dims).toBe(fingerprintOf(tensor)!.dims)
    other.moments.forEach((moment, i) => expect(moment).toBeCloseTo(fingerprintOf(tensor)!.moments[i], 6))
    expect(fingerprintOf(random([2, 3, 4, 5], 0.3))!.moments).not.toEqual(other.moments)
  })

  test('is not taken of what many values share: few elements, constants, positions, counts, masks, NaN', () => {
    const many = Array.from({ length: 64 }, (_, i) => i)
    const plain = [
      random([4]),
      new Tensor(
        'float32',
        many.map(() => 1)
      ),
      new Tensor('float32', many),
      new Tensor(
        'int64',
        many.map(i => BigInt((i * 7) % 30))
      ),
      new Tensor(
        'bool',
        many.map(i => i % 3 === 0)
      ),
      new Tensor(
        'float32',
        many.map(i => (i % 2 === 0 ? 0 : -10000))
      ),
      new Tensor(
        'float32',
        many.map(i => (i === 5 ? NaN : Math.sin(i)))
      )
    ]
    expect(plain.map(fingerprintOf)).toEqual(plain.map(() => undefined))
  })
})

test('the order of axes in which two tensors are nearest is found, also among dims of one size', () => {
  const a = random([1, 4, 4, 4])
  expect(inLayoutOf(a, permuted(a, [0, 2, 3, 1]))).toEqual(a)
  expect(inLayoutOf(a, a)).toBe(a)
  expect(inLayoutOf(a, random([64], 2)).dims).toEqual([64])
  const words = new Tensor('string', ['a', 'b', 'c', 'd'], [2, 2])
  expect(inLayoutOf(words, words)).toBe(words)
})

const x = random([6, 8])

/** tanh(relu(x * w1) * w2); with other names and a beginning that has no counterpart. */
const renamed = (change: number): ModelParts => ({
  inputs: [port('in', 'float', [6, 8])],
  initializers: [floats('k1', [8, 8], noise(64, 3)), floats('k2', [8, 8], noise(64, 4 + change))],
  outputs: [port('out', 'float', [6, 8])],
  nodes: [
    node('Neg', ['in'], ['n1']),
    node('Neg', ['n1'], ['n2']),
    node('MatMul', ['n2', 'k1'], ['p']),
    node('Relu', ['p'], ['q']),
    node('MatMul', ['q', 'k2'], ['r']),
    node('Tanh', ['r'], ['out'])
  ]
})
const original: ModelParts = {
  inputs: [port('x', 'float', [6, 8])],
  initializers: [floats('w1', [8, 8], noise(64, 3)), floats('w2', [8, 8], noise(64, 4))],
  outputs: [port('y', 'float', [6, 8])],
  nodes: [
    node('MatMul', ['x', 'w1'], ['m1']),
    node('Relu', ['m1'], ['r1']),
    node('MatMul', ['r1', 'w2'], ['m2']),
    node('Tanh', ['m2'], ['y'])
  ]
}
const run = async (a: ModelParts, b: ModelParts, feed: Tensor): Promise<Comparison> =>
  compare(await load(onnxBytes(a)), await load(onnxBytes(b)), { x: feed })

describe('values without common names whose ways from the inputs differ', () => {
  test('are paired by what they are, and those that follow from them by structure', async () => {
    const equal = await run(original, renamed(0), x)
    expect(equal.equal).toBe(true)
    expect(equal.pairs.map(({ a, b }) => [a.value, b.value])).toEqual([
      ['m1', 'p'],
      ['r1', 'q'],
      ['m2', 'r'],
      ['y', 'out']
    ])
    const { first } = await run(original, renamed(0.01), x)
    expect(first).toMatchObject({ a: { value: 'm2', type: 'MatMul' }, b: { value: 'r', type: 'MatMul' } })
  })

  test('are found with channels last too', async () => {
    const image = random([1, 3, 5, 5])
    const channels = (dims: number[], first: boolean, bias: number): ModelParts => ({
      inputs: [port('x', 'float', [1, 3, 5, 5])],
      initializers: [floats('s', dims, [1.5, 2, -3]), floats('t', dims, [0.5, 1, bias])],
      outputs: [port(first ? 'y' : 'out', 'float', [1, 3, 5, 5])],
      nodes: first
        ? [node('Mul', ['x', 's'], ['m']), node('Add', ['m', 't'], ['a']), node('Tanh', ['a'], ['y'])]
        : [
            node('Transpose', ['x'], ['l0'], { perm: [0, 2, 3, 1] }),
            node('Mul', ['l0', 's'], ['l1']),
            node('Add', ['l1', 't'], ['l2']),
            node('Tanh', ['l2'], ['l3']),
            node('Transpose', ['l3'], ['out'], { perm: [0, 3, 1, 2] })
          ]
    })
    const planes = channels([3, 1, 1], true, 2)
    expect(await run(planes, channels([3], false, 2), image)).toMatchObject({ equal: true, pairs: { length: 3 } })
    const { first, pairs } = await run(planes, channels([3], false, 4), image)
    expect(pairs[0]).toMatchObject({ a: { value: 'm' }, b: { value: 'l1' }, distance: { equal: true } })
    expect(first).toMatchObject({
      a: { value: 'a' },
      b: { value: 'l2' },
      distance: { differing: 25, maxAbsolute: expect.closeTo(2, 5) }
    })
  })

  test('are not paired where they only seem to be alike: the same elements in another order', async () => {
    const turned: ModelParts = {
      inputs: [port('x', 'float', [48])],
      initializers: [
        int64s(
          'back',
          [48],
          Array.from({ length: 48 }, (_, i) => 47 - i)
        ),
        floats('w', [48], noise(48, 5))
      ],
      outputs: [port('out', 'float', [48])],
      nodes: [
        node('Gather', ['x', 'back'], ['v1']),
        node('Abs', ['v1'], ['v2']),
        node('Gather', ['v2', 'back'], ['v3']),
        node('Mul', ['v3', 'w'], ['out'])
      ]
    }
    const straight: ModelParts = {
      ...turned,
      outputs: [port('y', 'float', [48])],
      nodes: [node('Abs', ['x'], ['u']), node('Mul', ['u', 'w'], ['y'])]
    }
    const result = await run(straight, turned, random([48]))
    expect(result.equal).toBe(true)
    expect(result.pairs.map(({ a, b }) => [a.value, b.value])).toEqual([['y', 'out']])
  })
})
