// What programs written for onnxruntime-node and onnxruntime-web do, and both engines take.
import { describe, expect, test } from 'vitest'
import * as ort from '../../src/entries/onnxruntime.ts'
import { floats, int64s, node, onnxBytes, port } from '../fixtures/onnx.ts'

const { InferenceSession, Tensor } = ort

const elements = ({ data }: ort.Tensor): unknown[] => [...(data as Float32Array)]

const counted = (dims: readonly number[]): ort.Tensor =>
  new Tensor(
    'float32',
    Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => i + 1),
    dims
  )

/** `y = x + w`, where `w` is an input that the file has elements for, as all weights are before IR version 4. */
const withWeight = onnxBytes({
  inputs: [port('x', 'float', [2]), port('w', 'float', [2])],
  outputs: [port('y', 'float', [2])],
  nodes: [node('Add', ['x', 'w'], ['y'])],
  initializers: [floats('w', [2], [10, 20])]
})

describe('inputs with elements in the file', () => {
  test('are none of those that a program has to give, nor of those that it is told of', async () => {
    const session = await InferenceSession.create(withWeight)
    expect(session.inputNames).toEqual(['x'])
    expect(session.inputMetadata.map(({ name }) => name)).toEqual(['x'])
    expect(elements((await session.run({ x: counted([2]) })).y)).toEqual([11, 22])
    expect(elements((await session.run({ x: counted([2]), w: undefined as never })).y)).toEqual([11, 22])
  })

  test('may be given, as those of Nodewise may', async () => {
    const session = await InferenceSession.create(withWeight)
    expect(elements((await session.run({ x: counted([2]), w: counted([2]) })).y)).toEqual([2, 4])
  })
})

test('what is given for inputs that the model does not have changes nothing', async () => {
  const session = await InferenceSession.create(withWeight)
  const feeds = { x: counted([2]), mask: counted([3]), ids: undefined as never }
  expect(elements((await session.run(feeds)).y)).toEqual([11, 22])
})

test('feeds may be what an object inherits', async () => {
  const session = await InferenceSession.create(withWeight)
  const feeds = Object.create({ x: counted([2]) }) as Record<string, ort.Tensor>
  expect(elements((await session.run(feeds)).y)).toEqual([11, 22])
})

describe('dims that onnxruntime does not hold inputs to', () => {
  /** All have the rows `n`, what lies between the inputs and the output too. */
  const rows = onnxBytes({
    inputs: [port('a', 'float', ['n', 2]), port('b', 'float', ['n', 2])],
    outputs: [port('y', 'float', ['n', 2])],
    nodes: [node('Concat', ['a', 'b'], ['t'], { axis: 0 }), node('Neg', ['t'], ['y'])],
    values: [port('t', 'float', ['n', 2])]
  })

  test('a name of a dim stands for any size wherever it is', async () => {
    const session = await InferenceSession.create(rows)
    for (const [a, b] of [
      [1, 1],
      [2, 1],
      [1, 3],
      [2, 2]
    ]) {
      const { y } = await session.run({ a: counted([a, 2]), b: counted([b, 2]) })
      expect(y.dims).toEqual([a + b, 2])
      expect(elements(y)).toEqual([...elements(counted([a, 2])), ...elements(counted([b, 2]))].map(x => -Number(x)))
    }
  })

  test('what a model computes with may still not fit', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        inputs: [port('a', 'float', ['n']), port('b', 'float', ['n'])],
        outputs: [port('y', 'float', ['n'])],
        nodes: [node('Add', ['a', 'b'], ['y'])]
      })
    )
    expect(elements((await session.run({ a: counted([1]), b: counted([3]) })).y)).toEqual([2, 3, 4])
    await expect(session.run({ a: counted([2]), b: counted([3]) })).rejects.toMatchObject({ code: /mismatch/ })
  })

  test('sizes and ranks hold', async () => {
    const session = await InferenceSession.create(rows)
    await expect(session.run({ a: counted([2, 2]), b: counted([1, 3]) })).rejects.toThrow(/dim 1 of input "b" is 2/)
    await expect(session.run({ a: counted([2, 2]), b: counted([2]) })).rejects.toThrow(/input "b" has rank 2/)
  })

  test('a size in place of a name holds, in the metadata of outputs too', async () => {
    const session = await InferenceSession.create(rows, { freeDimensionOverrides: { n: 2 } })
    expect(session.outputMetadata[0]).toMatchObject({ shape: [2, 2] })
    await expect(session.run({ a: counted([2, 2]), b: counted([1, 2]) })).rejects.toMatchObject({
      code: 'shape-mismatch'
    })
  })

  test('an input that is declared as a scalar may have any dims', async () => {
    // As models of speech take the rate of samples.
    const session = await InferenceSession.create(
      onnxBytes({
        inputs: [port('x', 'float', ['n']), port('rate', 'int64', [])],
        outputs: [port('y', 'float', ['n']), port('z', 'int64', [])],
        nodes: [
          node('Equal', ['rate', 'wide'], ['isWide']),
          node('Neg', ['rate'], ['z']),
          node('If', ['isWide'], ['y'], {
            then_branch: { graph: { outputs: [port('t', 'float', ['n'])], nodes: [node('Neg', ['x'], ['t'])] } },
            else_branch: { graph: { outputs: [port('e', 'float', ['n'])], nodes: [node('Abs', ['x'], ['e'])] } }
          })
        ],
        initializers: [int64s('wide', [], [16000])]
      })
    )
    const x = counted([2])
    for (const dims of [[], [1], [1, 1]]) {
      const { y, z } = await session.run({ x, rate: new Tensor('int64', [16000n], dims) })
      expect(elements(y)).toEqual([-1, -2])
      expect([z.dims, z.data]).toEqual([dims, new BigInt64Array([-16000n])])
    }
    await session.release()
    await expect(session.run({ x, rate: new Tensor('int64', [1n], [1]) })).rejects.toThrow(/disposed/)
  })
})

test.each([
  ['a type', { name: 'y' }],
  ['dims', port('y', 'float')]
])('outputs that the file gives no %s are described as what follows from the inputs', async (_, y) => {
  const x = port('x', 'float', ['n', 2])
  const neg = await InferenceSession.create(
    onnxBytes({ inputs: [x], outputs: [y], nodes: [node('Neg', ['x'], ['y'])] })
  )
  expect(neg.outputMetadata).toEqual([{ name: 'y', isTensor: true, type: 'float32', shape: ['n', 2] }])
  const twice = await InferenceSession.create(
    onnxBytes({ inputs: [x], outputs: [y], nodes: [node('Concat', ['x', 'x'], ['y'], { axis: 0 })] })
  )
  expect(twice.outputMetadata).toEqual([{ name: 'y', isTensor: true, type: 'float32', shape: ['', 2] }])
})

describe('options', () => {
  test('that are null are not given', async () => {
    const names = ['freeDimensionOverrides', 'externalData', 'preferredOutputLocation', 'graphOptimizationLevel']
    for (const name of [...names, 'executionMode', 'extra', 'logId', 'logSeverityLevel', 'intraOpNumThreads'])
      await InferenceSession.create(withWeight, { [name]: null })
  })

  test.each([1.5, 0, -1, NaN, '2'])('a count of threads for pages that is none, %j, changes nothing', async count => {
    ort.env.wasm.numThreads = count as number
    try {
      await InferenceSession.create(withWeight)
    } finally {
      delete ort.env.wasm.numThreads
    }
  })

  test.each([{ path: 'w.bin', data: new Uint8Array(8) }, 'w.bin', [null], [5]])(
    'files that a model names are a list of them, not %j',
    async files => {
      await expect(InferenceSession.create(withWeight, { externalData: files as never })).rejects.toMatchObject({
        code: 'bad-usage'
      })
    }
  )

  test('files that a model names may lie in shared memory', async () => {
    const shared = new SharedArrayBuffer(8)
    new Float32Array(shared).set([10, 20])
    const bytes = onnxBytes({
      inputs: [port('x', 'float', [2])],
      outputs: [port('y', 'float', [2])],
      nodes: [node('Add', ['x', 'w'], ['y'])],
      initializers: [
        {
          name: 'w',
          dims: [2],
          dataType: 1,
          dataLocation: 1,
          externalData: [{ key: 'location', value: 'w.bin' }]
        }
      ]
    })
    const session = await InferenceSession.create(bytes, { externalData: [{ path: 'w.bin', data: shared }] })
    expect(elements((await session.run({ x: counted([2]) })).y)).toEqual([11, 22])
  })
})

test('a tensor that has been disposed of is refused by that', async () => {
  const session = await InferenceSession.create(withWeight)
  const x = counted([2])
  x.dispose()
  await expect(session.run({ x })).rejects.toThrow(/"x" has been disposed of/)
})
