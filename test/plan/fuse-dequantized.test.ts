import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { valuesOf } from '../../src/op-kit/compressed.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { DTYPES } from '../../src/tensor/dtype.ts'
import { toNumbers } from '../../src/tensor/elements.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { floats, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import fc from '../fixtures/random-cases.ts'
import { bits as anyBits, noise } from '../wasm/compare.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const FLOATS8 = ['float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz'] as const
/** Types of codes by their numbers in files. */
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ uint8: 2, int8: 3, float8e4m3fn: 17, float8e4m3fnuz: 18, float8e5m2: 19, float8e5m2fnuz: 20 },
  ...{ uint4: 21, int4: 22 }
}

/** A constant of codes; its floats are finite, and about 1 at most. */
function codes(name: string, type: DType, dims: readonly number[], seed: number): object {
  const { bits } = DTYPES[type]
  const bytes = anyBits('uint8', [Math.ceil((dims.reduce((a, b) => a * b, 1) * bits) / 8)], seed).data as Uint8Array
  const isFloat = type.startsWith('float')
  const most = type.startsWith('float8e5m2') ? 0x3c : 0x38
  const small = (code: number): number => ((code & 0x7f) % most) | (code & 0x80 && (code & 0x7f) % most > 0 ? 0x80 : 0)
  return { name, dims, dataType: NUMBERS[type], rawData: isFloat ? bytes.map(small) : bytes }
}

interface Weights {
  readonly type: DType
  readonly n: number
  readonly k: number
  readonly rows: number
  /** How the file has the matrix: as it is, transposed by a node, or by Gemm; and with a bias. */
  readonly form: 'plain' | 'turned' | 'gemm' | 'gemm with bias'
  readonly scales: 'one' | 'rows' | 'blocks' | 'cast'
  readonly hasZeros: boolean
}

/** A product by weights that are dequantized. */
function model({ type, n, k, form, scales, hasZeros }: Weights): ModelParts {
  const isByRow = form !== 'plain'
  const axis = isByRow ? 0 : 1
  const dims = scales === 'one' ? [] : scales === 'rows' ? [n] : isByRow ? [n, k / 16] : [k / 16, n]
  const attributes = scales === 'rows' ? { axis } : scales === 'blocks' ? { axis: 1 - axis, block_size: 16 } : {}
  const count = dims.reduce((a, b) => a * b, 1)
  const withZeros = hasZeros && !type.startsWith('float')
  const factors = Array.from({ length: count }, (_, i) => ((i % 13) + 1) / 64)
  const inputs = ['codes', 'scales', ...(withZeros ? ['zeros'] : [])]
  const weights = form === 'turned' ? 'turned' : 'numbers'
  const bias = form === 'gemm with bias' ? ['bias'] : []
  return {
    opset: 21,
    inputs: [port('x', 'float', ['rows', k])],
    outputs: [port('y', 'float')],
    initializers: [
      codes('codes', type, isByRow ? [n, k] : [k, n], 1),
      floats('scales', dims, factors),
      floats('bias', [n], [...noise([n], 8).data]),
      ...(withZeros ? [codes('zeros', type, dims, 2)] : [])
    ],
    nodes: [
      scales === 'cast'
        ? node('Cast', ['codes'], ['numbers'], { to: 1 })
        : node('DequantizeLinear', inputs, ['numbers'], attributes),
      ...(form === 'turned' ? [node('Transpose', ['numbers'], ['turned'], { perm: [1, 0] })] : []),
      form.startsWith('gemm')
        ? node('Gemm', ['x', weights, ...bias], ['y'], { transB: 1 })
        : node('MatMul', ['x', weights], ['y'])
    ]
  }
}

const cases = fc
  .record({
    type: fc.constantFrom<DType>(...FLOATS8, 'int8', 'uint8', 'int4', 'uint4'),
    n: fc.integer({ min: 30, max: 70 }),
    k: fc.integer({ min: 1, max: 9 }).map(count => 16 * count),
    rows: fc.constantFrom(1, 2, 3, 9, 40),
    form: fc.constantFrom<Weights['form']>('plain', 'turned', 'gemm', 'gemm with bias'),
    scales: fc.constantFrom<Weights['scales']>('one', 'rows', 'blocks', 'cast'),
    hasZeros: fc.boolean()
  })
  .filter(({ type, scales, n, k }) => n * k > 1024 && (scales !== 'cast' || type.startsWith('float')))

describe('weights that one node dequantizes', () => {
  test('are multiplied as codes, and give the product of the nodes apart', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async weights => {
        const parts = model(weights)
        expect(opsOf(await planOf(parts))).toEqual(['CompressedMatMul'])
        expect(await differenceBetween(parts, { x: [weights.rows, weights.k] })).toBeLessThan(2e-6)
      }),
      { numRuns: 120 }
    )
  })

  test.each(FLOATS8)('%s: every code is what it stands for, in one row and in many', async type => {
    for (const [k, rows] of [
      [16, 1],
      [24, 1],
      [16, 7],
      [24, 7]
    ]) {
      const codes = Uint8Array.from({ length: 256 * k }, (_, i) => Math.floor(i / k))
      const session = new InferenceSession(
        await onnxModel({
          opset: 21,
          inputs: [port('x', 'float', [rows, k])],
          outputs: [port('y', 'float')],
          initializers: [{ name: 'codes', dims: [256, k], dataType: NUMBERS[type], rawData: codes }],
          nodes: [node('Cast', ['codes'], ['w'], { to: 1 }), node('Gemm', ['x', 'w'], ['y'], { transB: 1 })]
        })
      )
      const x = new Tensor('float32', new Float32Array(rows * k).fill(1 / 8), [rows, k])
      const { y } = await session.run({ x })
      const expected = valuesOf(type).map(value => (value * k) / 8 + 0)
      expect([...toNumbers(y)]).toEqual(Array.from({ length: rows }, () => expected).flat())
      session.dispose()
    }
  })

  const plain: Weights = {
    ...{ type: 'float8e4m3fn', n: 64, k: 64, rows: 1 },
    ...{ form: 'plain', scales: 'rows', hasZeros: false }
  }

  test('stay apart in exact precision, and where scales are those of the columns', async () => {
    expect(opsOf(await planOf(model(plain), { isExact: true }))).not.toContain('CompressedMatMul')
    const parts = model(plain)
    const columns = {
      ...parts,
      nodes: [node('DequantizeLinear', ['codes', 'scales'], ['numbers'], { axis: 0 }), parts.nodes.at(-1)!]
    }
    expect(opsOf(await planOf(columns))).not.toContain('CompressedMatMul')
  })

  test('take a byte each in memory', async () => {
    const parts = model({ ...plain, n: 1024, k: 1024 })
    expect(opsOf(await planOf(parts))).toEqual(['CompressedMatMul'])
    const session = new InferenceSession(await onnxModel(parts), { maxMemory: 2.5 * 2 ** 20 })
    const { y } = await session.run({ x: noise([1, 1024], 1) })
    expect(y.dims).toEqual([1, 1024])
    session.dispose()
  })
})
