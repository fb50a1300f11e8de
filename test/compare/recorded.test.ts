import { describe, expect, test } from 'vitest'
import { compare, load, type Model, type Recording, Tensor } from '../../src/index.ts'
import { floats, int64s, node, onnxBytes, port } from '../fixtures/onnx.ts'

const x = new Tensor('float32', [1, -2])
const model: Promise<Model> = load(
  onnxBytes({
    inputs: [port('x', 'float', [2])],
    initializers: [floats('w', [2], [2, 3])],
    outputs: [port('y', 'float', [2])],
    nodes: [node('Abs', ['x'], ['a']), node('Mul', ['a', 'w'], ['m']), node('Neg', ['m'], ['y'])]
  })
)
const recording = (values: Readonly<Record<string, readonly number[]>>): Recording => ({
  names: Object.keys(values),
  read: name => new Tensor('float32', values[name])
})

describe('a model and recorded values', () => {
  test('are equal where all that was recorded is what the model makes', async () => {
    const result = await compare(await model, recording({ a: [1, 2], y: [-2, -6], other: [0] }), { x })
    expect(result).toMatchObject({
      equal: true,
      first: undefined,
      unpaired: { a: 1, b: 1 },
      outputs: [{ a: 'y', b: 'y', distance: { equal: true } }]
    })
  })

  test('part at the first node of the run whose value was recorded otherwise', async () => {
    const result = await compare(await model, recording({ y: [-2, -9], m: [2, 7] }), { x })
    expect(result.first).toMatchObject({
      a: { node: 'Mul_m', nodeIndex: 1, value: 'm' },
      b: { node: '', type: '', value: 'm' },
      distance: { worst: [6, 7], position: [1] },
      statistics: { a: { max: 6 }, b: { max: 7 } }
    })
    const turned = await compare(recording({ m: [2, 7] }), await model, { x })
    expect(turned.first).toMatchObject({
      a: { value: 'm', node: '' },
      b: { nodeIndex: 1 },
      distance: { worst: [7, 6] }
    })
    expect(turned).toMatchObject({ equal: false, outputs: [] })
  })

  test('are paired by the names that the caller gives', async () => {
    const values = new Map([['m', 'elsewhere']])
    const result = await compare(await model, recording({ elsewhere: [2, 7] }), { x }, { values })
    expect(result.first).toMatchObject({ a: { value: 'm' }, b: { value: 'elsewhere' } })
  })

  test('of other numbers of elements are no pair, and have no counterpart', async () => {
    const result = await compare(await model, recording({ a: [1, 2, 3], m: [2, 6] }), { x })
    expect(result).toMatchObject({ equal: true, unpaired: { a: 2, b: 1 } })
    expect(result.pairs).toHaveLength(1)
  })

  test('are not equal to a recording of other numbers of elements', async () => {
    const result = await compare(recording({ m: [2], y: [1, 2] }), recording({ m: [2], y: [1, 2, 3] }), {})
    expect(result).toMatchObject({ equal: false, outputs: [{ a: 'y', b: 'y', problem: 'dims [2] and [3]' }] })
    expect(result.pairs).toHaveLength(1)
  })

  test('of no common name are refused', async () => {
    await expect(compare(await model, recording({ z: [1] }), { x })).rejects.toMatchObject({ code: 'unexpected-input' })
    await expect(compare(recording({ z: [1] }), recording({ y: [1] }), {})).rejects.toMatchObject({
      code: 'unexpected-input'
    })
  })

  test('tell which nodes are off by themselves, fed with what was recorded', async () => {
    const values = recording({ a: [1, 2], m: [2, 7], y: [-2, -7] })
    const { isolated } = await compare(values, await model, { x }, { isolate: true })
    expect(isolated?.map(({ b: { value }, distance }) => [value, distance.maxAbsolute])).toEqual([
      ['m', 1],
      ['a', 0],
      ['y', 0]
    ])
    await expect(compare(await model, values, { x }, { isolate: true })).rejects.toMatchObject({
      code: 'unexpected-input'
    })
  })

  test('tell which nodes are off where only the codes of the values were recorded', async () => {
    const coded = await load(
      onnxBytes({
        inputs: [port('x', 'float', [2])],
        outputs: [port('y', 'bfloat16', [2])],
        nodes: [node('Cast', ['x'], ['c'], { to: 16 }), node('Neg', ['c'], ['y'])]
      })
    )
    const codes: Readonly<Record<string, readonly number[]>> = { c: [0x3f80, 0xc040], y: [0xbf80, 0x4040] }
    const values: Recording = {
      names: Object.keys(codes),
      read: (name, type) => new Tensor(type === 'bfloat16' ? type : 'uint16', Uint16Array.from(codes[name]))
    }
    const { isolated } = await compare(values, coded, { x }, { isolate: true })
    expect(isolated?.map(({ b: { value }, distance }) => [value, distance.maxAbsolute])).toEqual([
      ['c', 1],
      ['y', 0]
    ])
  })
})

test('values of bodies are recorded by iteration', async () => {
  const looping = await load(
    onnxBytes({
      inputs: [port('x', 'float', [2])],
      initializers: [int64s('n', [], [2])],
      outputs: [port('y', 'float', [2])],
      nodes: [
        node('Loop', ['n', '', 'x'], ['y'], {
          body: {
            graph: {
              inputs: [port('i', 'int64', []), port('c', 'bool', []), port('s', 'float', [2])],
              outputs: [port('c2', 'bool', []), port('t', 'float', [2])],
              nodes: [node('Identity', ['c'], ['c2']), node('Add', ['s', 's'], ['t'])]
            }
          }
        })
      ]
    })
  )
  const result = await compare(looping, recording({ '0:body/t[0]': [2, -4], '0:body/t[1]': [4, -9] }), { x })
  expect(result.pairs.length).toBe(2)
  expect(result.first).toMatchObject({ a: { value: 't', graphPath: '0:body' }, iteration: 1 })
})

test('two recordings are compared by name, in the order of the first', async () => {
  const [a, b] = [recording({ q: [1], p: [1, 2], r: [1] }), recording({ p: [1, 3], q: [2], s: [1] })]
  expect(await compare(a, b, {})).toMatchObject({
    equal: false,
    first: { a: { value: 'q' } },
    pairs: { length: 2 },
    unpaired: { a: 1, b: 1 }
  })
  await expect(compare(a, b, {}, { isolate: true })).rejects.toMatchObject({ code: 'unexpected-input' })
})
