import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { drain } from '../../src/kernels/core/pace.ts'
import type { Packed } from '../../src/op-kit/define.ts'
import { allocate } from '../../src/tensor/tensor.ts'
import { selectByteTable } from '../../src/wasm/kernels/byte-table.ts'
import { type Byte, bytes, floats, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { opsOf, planOf } from './plan.ts'

const code = (name: string, type: Byte, value: number): object => bytes(name, type, [], [value])

/** Types of the codes of a, b and y. */
type Types = readonly [Byte, Byte, Byte]

/** Two operands of codes, each dequantized, and the nodes between them and the codes of the result. */
function model(
  types: Byte | Types,
  scales: readonly number[],
  zeros: readonly number[],
  nodes: readonly object[]
): ModelParts {
  const [a, b, y] = typeof types === 'string' ? [types, types, types] : types
  return {
    inputs: [port('a', a, [256, 1]), port('b', b, [1, 256])],
    outputs: [port('y', y)],
    initializers: [
      ...['a', 'b', 'y'].flatMap((name, i) => [
        floats(`${name}.s`, [], [scales[i]]),
        code(`${name}.z`, [a, b, y][i], zeros[i])
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

describe.each<Types>([
  ['uint8', 'int8', 'uint8'],
  ['int8', 'uint8', 'uint8'],
  ['uint8', 'uint8', 'int8'],
  ['uint8', 'int8', 'int8']
])('codes of %s and %s, quantized to %s, every pair', (...types) => {
  const zeros = types.map((type, i) => [3, 128, 120][i] - (type === 'int8' ? 128 : 0))

  test.each(ACTIVATIONS)('%s gives the codes of the nodes apart', async (_, nodes) => {
    for (const scales of [
      [0.021, 0.017, 0.043],
      [0.25, 0.5, 0.5],
      [0.3, 0.1, 0.05]
    ]) {
      const parts = model(types, scales, zeros, nodes)
      for (const areInLines of [false, true]) {
        const dims = areInLines
          ? [[65536], [65536]]
          : [
              [256, 1],
              [1, 256]
            ]
        const session = new InferenceSession(
          await onnxModel({ ...parts, inputs: [port('a', types[0], dims[0]), port('b', types[1], dims[1])] })
        )
        const [a, b] = [0, 1].map(i => {
          const lowest = types[i] === 'int8' ? -128 : 0
          const code = (at: number): number => lowest + (i === 0 && areInLines ? at >> 8 : at & 255)
          return new Tensor(
            types[i],
            Array.from({ length: areInLines ? 65536 : 256 }, (_, at) => code(at)),
            dims[i]
          )
        })
        const [fused, apart] = [await session.run({ a, b }), await session.run({ a, b }, { onStep: () => undefined })]
        const [found, expected] = [fused, apart].map(({ y }) => Uint8Array.from(y.data as Uint8Array))
        expect(Buffer.compare(found, expected), `scales ${scales}`).toBe(0)
        session.dispose()
      }
    }
  })
})

test.each([
  [[], [3, 80, 90]],
  [
    [3, 80, 90],
    [1, 1]
  ],
  [
    [3, 80, 90],
    [3, 80, 90]
  ],
  [[3, 80, 90], [90]],
  [
    [3, 80, 90],
    [80, 1]
  ],
  [
    [3, 1, 90],
    [3, 80, 90]
  ],
  [
    [2, 1, 70, 1],
    [1, 9, 1, 80]
  ],
  // More loops than the kernel has.
  [
    [3, 1, 3, 1, 3, 1, 3, 1, 3, 1],
    [1, 3, 1, 3, 1, 3, 1, 3, 1, 3]
  ]
])('a quotient that is broadcast: %j by %j', async (aDims, bDims) => {
  for (const type of ['uint8', 'int8'] as const) {
    const nodes = [node('Div', ['a.f', 'b.f'], ['p'])]
    const parts = {
      ...model(type, [0.3, 0.05, 0.02], [3, 7, 11], nodes),
      inputs: [port('a', type, aDims), port('b', type, bDims)]
    }
    expect(opsOf(await planOf(parts))).toEqual(['ByteTable'])
    const session = new InferenceSession(await onnxModel(parts))
    for (const first of [90, 91, 90]) {
      const feeds = { a: codesOf(type, aDims, first), b: codesOf(type, bDims, first) }
      const [fused, apart] = [await session.run(feeds), await session.run(feeds, { onStep: () => undefined })]
      expect(fused.y.dims).toEqual(apart.y.dims)
      expect(fused.y.data).toEqual(apart.y.data)
    }
    session.dispose()
  }
})

test.each(['uint8', 'int8'] as const)('numbers of %s that are quantized alike are their codes', async type => {
  const nodes = [node('Identity', ['a.f'], ['p'])]
  const alike = model(type, [0.021, 1, 0.021], [3, 0, 3], nodes)
  expect(opsOf(await planOf(alike))).toEqual(['Identity'])
  expect(await run(alike, type, false)).toEqual(await run(alike, type, true))
  for (const [scale, zero] of [
    [0.022, 3],
    [0.021, 4]
  ]) {
    const other = model(type, [0.021, 1, scale], [3, 0, zero], nodes)
    expect(opsOf(await planOf(other))).toEqual(['ByteTable'])
    expect(await run(other, type, false)).toEqual(await run(other, type, true))
  }
})

/** Codes from one on, in steps of seven. */
function codesOf(type: Byte, dims: readonly number[], first: number): Tensor {
  const count = dims.reduce((a, b) => a * b, 1)
  const shift = type === 'int8' ? -128 : 0
  return new Tensor(
    type,
    Array.from({ length: count }, (_, i) => ((i * 7 + first) & 255) + shift),
    dims
  )
}

test.each([
  [[0.02, 0.03, 0.05], ['uint8', 'uint8', 'uint8'], undefined],
  [[0.02, 0.03, 0.05], ['uint8', 'int8', 'uint8'], undefined],
  [[1e-36, 1e-37, 1e-37], ['uint8', 'uint8', 'uint8'], 'table'],
  [[1e-36, 1e-37, 1e-37], ['int8', 'uint8', 'uint8'], 'table']
] as const)(
  'a table of sums is kept only where scales are beyond what the kernel computes: %j, codes of %j',
  async (scales, types, name) => {
    const nodes = [node('Add', ['a.f', 'b.f'], ['p'])]
    const { steps } = await planOf(model(types, scales, [3, 100, 120], nodes))
    const { op, known } = steps[0].call
    const constants = Object.fromEntries(
      ['a', 'b', 'y'].flatMap((operand, i) => [
        [`${operand}Scale`, new Tensor('float32', [scales[i]], [])],
        [`${operand}Zero`, new Tensor(types[i], [3], [])]
      ])
    )
    const [a, b] = types.map(type => allocate(type, [7, 7]))
    const call = { op, operands: { a, b, ...constants }, parameters: known, dims: [7, 7] }
    const { pack } = selectByteTable(call)!
    const made = pack!(constants, known, { threads: 1, allocate: (type, dims) => allocate(type, dims) })
    const packed = made && Symbol.iterator in made ? drain(made as Generator<void, Packed | undefined>) : made
    expect(Object.keys(packed ?? {})).toEqual(name ? [name] : [])
  }
)

describe.each(['uint8', 'int8'] as const)('Concat of dequantized %s that is quantized', type => {
  const shift = type === 'int8' ? -128 : 0
  const joined = (scales: readonly number[], axis: number, zeros = [3, 128, 3]): ModelParts => ({
    ...model(
      type,
      scales,
      zeros.map(zero => zero + shift),
      [node('Concat', ['a.f', 'b.f', 'a.f'], ['p'], { axis })]
    ),
    inputs: ['a', 'b'].map(name => port(name, type, [3, 8, 'n']))
  })
  const codes = (from: number, n: number): Tensor =>
    new Tensor(
      type,
      Array.from({ length: 24 * n }, (_, i) => ((i * 7 + from) & 255) + shift),
      [3, 8, n]
    )
  const runOf = async (parts: ModelParts, n: number, observed: boolean): Promise<Tensor> => {
    const session = new InferenceSession(await onnxModel(parts))
    const { y } = await session.run({ a: codes(0, n), b: codes(5, n) }, observed ? { onStep: () => undefined } : {})
    session.dispose()
    return y
  }

  test.each([
    [0.02, 0.02, 0.02],
    [0.25, 0.5, 0.5],
    [0.1, 0.3, 0.2],
    [0.3, 0.1, 0.05],
    [300, 1e-4, 0.3],
    [0.02, 0.03, -0.05]
  ])('joins the codes: scales %d, %d, %d', async (...scales) => {
    for (const axis of [0, 1, -1]) {
      const parts = joined(scales, axis)
      expect(opsOf(await planOf(parts))).toEqual(['ByteConcat'])
      expect(opsOf(await planOf(parts, { isExact: true }))).toEqual(['ByteConcat'])
      // Few codes are joined by the reference.
      for (const n of [4, 64]) {
        const [fused, apart] = [await runOf(parts, n, false), await runOf(parts, n, true)]
        expect(fused.dims).toEqual(apart.dims)
        const [found, expected] = [fused, apart].map(({ data }) => Uint8Array.from(data as Uint8Array))
        expect(Buffer.compare(found, expected)).toBe(0)
      }
    }
  })

  test('stays where a number is joined that is no code', async () => {
    const parts = joined([0.1, 0.2, 0.3], 1)
    const nodes = [
      ...parts.nodes.slice(0, 2),
      node('Relu', ['b.f'], ['r']),
      node('Concat', ['a.f', 'r'], ['p'], { axis: 1 }),
      parts.nodes.at(-1)!
    ]
    expect(opsOf(await planOf({ ...parts, nodes }))).toContain('Concat')
  })
})

test('Concat stays where codes of another type are joined', async () => {
  const types: Types = ['uint8', 'int8', 'uint8']
  const joined = [node('Concat', ['a.f', 'b.f'], ['p'], { axis: 0 })]
  const parts = {
    ...model(types, [0.1, 0.2, 0.2], [3, -5, 3], joined),
    inputs: [port('a', 'uint8', [256]), port('b', 'int8', [256])]
  }
  expect(opsOf(await planOf(parts))).toContain('Concat')
  const all = Array.from({ length: 256 }, (_, i) => i)
  const feeds = {
    a: new Tensor('uint8', all, [256]),
    b: new Tensor(
      'int8',
      all.map(code => code - 128),
      [256]
    )
  }
  const session = new InferenceSession(await onnxModel(parts))
  expect((await session.run(feeds)).y.data).toEqual((await session.run(feeds, { onStep: () => undefined })).y.data)
  session.dispose()
})
