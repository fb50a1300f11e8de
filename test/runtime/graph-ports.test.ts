import { describe, expect, test } from 'vitest'
import { type Feed, InferenceSession, type MapValue, type Sequence, Tensor, type Value } from '../../src/index.ts'
import { named, vectorized, zipped } from '../fixtures/maps.ts'
import { int64s, node, onnxModel } from '../fixtures/onnx.ts'
import { layer, load, net } from '../openvino/ir.ts'

const tensorOf = (dims: readonly (number | string)[]): object => ({
  tensorType: {
    elemType: 1,
    shape: { dim: dims.map(dim => (typeof dim === 'number' ? { dimValue: dim } : { dimParam: dim })) }
  }
})
const floats = (count: number): Tensor => new Tensor('float32', new Float32Array(count), [count])
const list = (...values: Value[]): Value => ({ type: 'sequence', values })

describe('what an input holds is checked as it is declared', () => {
  const optional = onnxModel({
    inputs: [{ name: 'x', type: { optionalType: { elemType: tensorOf([2]) } } }],
    outputs: [{ name: 'y' }],
    nodes: [node('OptionalGetElement', ['x'], ['y'])]
  })
  const sequence = onnxModel({
    inputs: [{ name: 'x', type: { sequenceType: { elemType: tensorOf(['n']) } } }],
    outputs: [{ name: 'y' }],
    nodes: [node('SequenceLength', ['x'], ['y'])]
  })
  const run = async (model: Promise<ConstructorParameters<typeof InferenceSession>[0]>, x: Value): Promise<Value> =>
    (await new InferenceSession(await model).run({ x })).y

  test('an optional tensor, given as such or by itself', async () => {
    for (const x of [floats(2), { type: 'optional', value: floats(2) } as const])
      expect(((await run(optional, x)) as Tensor).dims).toEqual([2])
    for (const x of [floats(4), { type: 'optional', value: floats(4) } as const])
      await expect(run(optional, x)).rejects.toMatchObject({ code: 'shape-mismatch' })
  })

  test('each tensor of a list, which may have sizes of their own where a dim has a name', async () => {
    expect(Number(((await run(sequence, list(floats(2), floats(3)))) as Tensor).data[0])).toBe(2)
    await expect(run(sequence, list(floats(2), new Tensor('int64', [1n])))).rejects.toMatchObject({
      code: 'type-mismatch'
    })
    await expect(run(sequence, list(new Tensor('float32', [1], [])))).rejects.toMatchObject({ code: 'rank-mismatch' })
    await expect(run(sequence, floats(2))).rejects.toMatchObject({
      code: 'type-mismatch',
      reason: 'input "x" is a sequence; a tensor is given'
    })
  })
})

test('a dim of an input lies within the bounds that the file gives it', async () => {
  const data = 'shape="2..3,4.." element_type="f32"'
  const xml = net(
    [
      layer(0, 'Parameter', { name: 'x', data, out: ['0:FP32[-1,-1]'] }),
      layer(1, 'ReLU', { in: ['0:FP32[-1,-1]'], out: ['1:FP32[-1,-1]'] }),
      layer(2, 'Result', { in: ['0:FP32[-1,-1]'], name: 'y' })
    ],
    ['0:0>1:0', '1:1>2:0']
  )
  const session = new InferenceSession(load(xml))
  const run = (...dims: number[]): Promise<unknown> =>
    session.run({ x: new Tensor('float32', new Float32Array(dims[0] * dims[1]), dims) })
  for (const rows of [2, 3]) await run(rows, 4)
  await run(2, 9)
  const refused = { code: 'shape-mismatch', reason: expect.stringContaining('dim 0 of input "x" is 2..3; dims') }
  for (const rows of [1, 4]) await expect(run(rows, 4)).rejects.toMatchObject(refused)
  await expect(run(2, 3)).rejects.toMatchObject({ reason: 'dim 1 of input "x" is 4..; dims [2, 3] are given' })
})

describe('what a sequence or an optional holds', () => {
  const first = onnxModel({
    inputs: [{ name: 'x', type: { sequenceType: { elemType: tensorOf(['n']) } } }],
    outputs: [{ name: 'y' }],
    initializers: [int64s('zero', [], [0])],
    nodes: [node('SequenceAt', ['x', 'zero'], ['y'])]
  })
  const run = async (x: unknown): Promise<Value> => (await new InferenceSession(await first).run({ x: x as Feed })).y

  test('may be anything of the form of a tensor, as an input may', async () => {
    const item = { type: 'float32', dims: [2], data: [1, 2] }
    expect(await run({ type: 'sequence', values: [item] })).toEqual(new Tensor('float32', [1, 2]))
  })

  test('is refused where it is no value', async () => {
    const refused = async (x: unknown, reason: string): Promise<void> =>
      expect(run(x)).rejects.toMatchObject({ code: 'type-mismatch', reason })
    await refused({ type: 'sequence' }, 'the `values` of a sequence are a list')
    await refused({ type: 'sequence', values: [floats(1), null] }, 'element 1 of a sequence is null')
    const data = { type: 'float32', dims: [2], data: null }
    await refused({ type: 'sequence', values: [data] }, 'a float32 tensor needs a Float32Array')
    const map = { type: 'map', keyType: 'int64', valueType: 'float32', entries: null }
    await refused(map, 'the `entries` of a map are a Map')
  })

  test('an optional that holds null holds nothing', async () => {
    const model = await onnxModel({
      inputs: [{ name: 'x', type: { optionalType: { elemType: tensorOf([2]) } } }],
      outputs: [{ name: 'y' }],
      nodes: [node('OptionalHasElement', ['x'], ['y'])],
      opset: 18
    })
    const { y } = await new InferenceSession(model).run({ x: { type: 'optional', value: null as never } })
    expect(y.data[0]).toBe(0)
  })
})

describe('a map input', () => {
  const session = onnxModel(vectorized()).then(model => new InferenceSession(model))
  const run = async (x: Feed): Promise<unknown> => [...(await (await session).run({ x })).y.data]

  test('is a map of the declared types, or a Map of JavaScript', async () => {
    expect(await run({ type: 'map', keyType: 'int64', valueType: 'float32', entries: new Map([[8n, 2.5]]) })).toEqual([
      0, 2.5
    ])
    expect(await run(new Map([[7, 0.1]]))).toEqual([Math.fround(0.1), 0])
    expect(await run(new Map([[7n, 4]]))).toEqual([4, 0])
    expect(await run(new Map())).toEqual([0, 0])
  })

  test('of other types is refused', async () => {
    await expect(run(named({ a: 1 }))).rejects.toMatchObject({
      code: 'type-mismatch',
      reason: 'input "x" has type map(int64,float32); map(string,float32) is given'
    })
    await expect(run(new Map([['a', 1]]))).rejects.toMatchObject({
      code: 'type-mismatch',
      reason: 'the key "a" is not of type int64'
    })
    await expect(run(floats(2))).rejects.toMatchObject({ reason: 'input "x" is a map; a tensor is given' })
    await expect(run({ type: 'optional', value: undefined })).rejects.toMatchObject({
      reason: 'input "x" is a map; an optional is given'
    })
    const zip = new InferenceSession(await onnxModel(zipped()))
    await expect(zip.run({ x: new Map([[1, 2]]) })).rejects.toMatchObject({
      code: 'type-mismatch',
      reason: 'input "x" is a tensor; a map is given'
    })
  })

  test("is copied: the caller's own Map may change", async () => {
    const entries = new Map([[7n, 1]])
    const { x } = await (await session).run({ x: new Map(entries) }, ['x'])
    expect(x).toEqual({ type: 'map', keyType: 'int64', valueType: 'float32', entries })
  })
})

test('a map for each row, read as JavaScript reads Maps', async () => {
  const session = new InferenceSession(await onnxModel(zipped()))
  const x = new Tensor('float32', [0.25, 0.75, 1, 0], [2, 2])
  const { probabilities } = await session.run<{ probabilities: Sequence<MapValue<'int64', 'float32'>> }>({ x })
  expect(probabilities.values.map(({ entries }) => entries.get(8n))).toEqual([0.75, 0])
})
