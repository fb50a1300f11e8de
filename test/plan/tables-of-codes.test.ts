import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { type Byte, bytes, floats, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { opsOf, planOf } from './plan.ts'

const code = (name: string, type: Byte, value: number): object => bytes(name, type, [], [value])

/** Quantizes and dequantizes a value as `name.c`, by a scale of this name. */
const rounded = (from: string, name: string, scale: string): object[] => [
  node('QuantizeLinear', [from, scale, 'zero'], [`${name}.c`]),
  node('DequantizeLinear', [`${name}.c`, scale, 'zero'], [name])
]

/** Codes x, which are dequantized as `v`, and nodes that make `w` of it, which is quantized. */
function model(type: Byte, nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts {
  return {
    inputs: [port('x', type, [16, 16])],
    outputs: [port('y', type)],
    ...changes,
    initializers: [
      code('zero', type, type === 'int8' ? 3 : 131),
      floats('s', [], [0.031]),
      floats('t', [], [0.017]),
      floats('root2', [], [Math.SQRT2]),
      floats('one', [], [1]),
      floats('half', [1], [0.5]),
      floats('high', [1, 1, 1], [0.5]),
      floats('row', [16], new Array<number>(16).fill(0.5)),
      floats('none', [], [0]),
      ...(changes.initializers ?? [])
    ],
    nodes: [
      node('DequantizeLinear', ['x', 's', 'zero'], ['v']),
      ...nodes,
      node('QuantizeLinear', ['w', 's', 'zero'], ['y'])
    ]
  }
}

const GELU = [
  node('Div', ['v', 'root2'], ['g1']),
  node('Erf', ['g1'], ['g2']),
  ...rounded('g2', 'g3', 't'),
  node('Add', ['g3', 'one'], ['g4']),
  ...rounded('g4', 'g5', 't'),
  node('Mul', ['v', 'g5'], ['g6']),
  ...rounded('g6', 'g7', 's'),
  node('Mul', ['g7', 'half'], ['w'])
]

/** What a run gives for every code, and one that is watched, whose nodes run apart. */
async function both(parts: ModelParts, type: Byte): Promise<Uint8Array[]> {
  const session = new InferenceSession(await onnxModel(parts))
  const x = new Tensor(
    type,
    Array.from({ length: 256 }, (_, i) => i - (type === 'int8' ? 128 : 0)),
    [16, 16]
  )
  const results = []
  for (const options of [{}, { onStep: () => undefined }]) {
    const { y } = await session.run({ x }, options)
    results.push(Uint8Array.from(y.data as Uint8Array))
  }
  session.dispose()
  return results
}

describe.each(['uint8', 'int8'] as const)('what depends on one code of %s', type => {
  test.each<[string, object[]]>([
    ['a GELU that is quantized after each of its nodes', GELU],
    ['a SiLU', [node('Sigmoid', ['v'], ['p']), ...rounded('p', 'q', 't'), node('Mul', ['v', 'q'], ['w'])]],
    ['a choice', [node('Greater', ['v', 'one'], ['p']), node('Where', ['p', 'one', 'v'], ['w'])]],
    ['another scale', rounded('v', 'w', 't')]
  ])('is a table: %s', async (_, nodes) => {
    for (const isExact of [false, true])
      expect(opsOf(await planOf(model(type, nodes), { isExact }))).toEqual(['ByteTable'])
    const [fused, apart] = await both(model(type, nodes), type)
    expect(fused).toEqual(apart)
  })

  test('is the code itself where the table gives each of them', async () => {
    const { nodes, ...rest } = model(type, [
      node('IsNaN', ['v'], ['p']),
      node('Where', ['p', 'none', 'v'], ['q']),
      ...rounded('q', 'w', 's')
    ])
    const last = node('QuantizeLinear', ['w', 's', 'zero'], ['z'])
    const parts = { ...rest, nodes: [...nodes.slice(0, -1), last, node('Transpose', ['z'], ['y'])] }
    expect(opsOf(await planOf(parts))).toEqual(['Transpose'])
    const [fused, apart] = await both(parts, type)
    expect(fused).toEqual(apart)
  })
})

test('what gives other codes is a table, also where others could read the codes before it', async () => {
  const { nodes, ...rest } = model('int8', [node('Abs', ['v'], ['w'])])
  const last = node('QuantizeLinear', ['w', 's', 'zero'], ['z'])
  const parts = { ...rest, nodes: [...nodes.slice(0, -1), last, node('Transpose', ['z'], ['y'])] }
  expect(opsOf(await planOf(parts))).toEqual(['ByteTable', 'Transpose'])
  const [fused, apart] = await both(parts, 'int8')
  expect(fused).toEqual(apart)
})

test('values inside that are asked for are made, too', async () => {
  const parts = model('uint8', GELU, { outputs: [port('y', 'uint8'), port('g5.c', 'uint8'), port('g2', 'float')] })
  expect(opsOf(await planOf(parts)).filter(name => name === 'ByteTable').length).toBe(2)
  const session = new InferenceSession(await onnxModel(parts))
  const x = new Tensor(
    'uint8',
    Array.from({ length: 256 }, (_, i) => i),
    [16, 16]
  )
  const [fused, apart] = [await session.run({ x }), await session.run({ x }, { onStep: () => undefined })]
  for (const name of ['y', 'g5.c']) expect(fused[name].data).toEqual(apart[name].data)
  session.dispose()
})

test.each<[string, object[], Partial<ModelParts>]>([
  ['two codes', [node('Add', ['v', 'u'], ['w'])], { inputs: [port('x', 'uint8', [16, 16]), port('u', 'float', [1])] }],
  ['a row of numbers', [node('Mul', ['v', 'row'], ['w'])], {}],
  ['a number of more axes than the codes', [node('Mul', ['v', 'high'], ['w'])], {}],
  ['few codes', [node('Erf', ['v'], ['w'])], { inputs: [port('x', 'uint8', [5])] }],
  [
    'integers',
    [node('Cast', ['v'], ['p'], { to: 6 }), node('Mod', ['p', 'p'], ['q']), node('Cast', ['q'], ['w'], { to: 1 })],
    {}
  ]
])('is no table: %s', async (_, nodes, changes) => {
  expect(opsOf(await planOf(model('uint8', nodes, changes)))).not.toContain('ByteTable')
})

test('a chain that is longer than a table may be is several tables', async () => {
  const links = Array.from({ length: 60 }, (_, i) => [
    node('Mul', [i === 0 ? 'v' : `l${i - 1}`, 'one'], [`m${i}`]),
    ...rounded(`m${i}`, `l${i}`, i % 2 === 0 ? 's' : 't')
  ])
  const parts = model('uint8', [...links.flat(), node('Neg', ['l59'], ['w'])])
  const ops = opsOf(await planOf(parts))
  expect(new Set(ops)).toEqual(new Set(['ByteTable']))
  expect(ops.length).toBeLessThan(12)
  const [fused, apart] = await both(parts, 'uint8')
  expect(fused).toEqual(apart)
})
