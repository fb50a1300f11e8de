import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor, type Value } from '../../src/index.ts'
import { type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const SIZE = 4096
const BYTES = 4 * SIZE
const data = Float32Array.from({ length: SIZE }, (_, i) => i - 2000)
const x = (): Tensor => new Tensor('float32', data.slice(), [SIZE])
const numbers = (value: Value | undefined): number[] => [...((value as Tensor).data as Float32Array)]
const model = (parts: Partial<ModelParts> & Pick<ModelParts, 'nodes'>): Uint8Array =>
  onnxBytes({ inputs: [port('x', 'float', ['n'])], outputs: [port('y', 'float')], ...parts })
const run = async (
  parts: Partial<ModelParts> & Pick<ModelParts, 'nodes'>,
  maxMemory?: number
): Promise<Record<string, Value>> => {
  const session = await InferenceSession.create(model(parts), maxMemory === undefined ? {} : { maxMemory })
  const feeds = { x: x() }
  const results = await session.run(feeds)
  // The caller's input is as it was.
  expect(numbers(feeds.x)).toEqual([...data])
  return results
}

/** x, negated an odd number of times. */
const chain = (length: number): object[] =>
  Array.from({ length }, (_, i) => node('Neg', [i === 0 ? 'x' : `v${i - 1}`], [i === length - 1 ? 'y' : `v${i}`]))

describe('elementwise operators write over an input that nobody reads any more', () => {
  test('so that a chain of them takes one block beside the output', async () => {
    expect(numbers((await run({ nodes: chain(7) }, 2 * BYTES)).y)).toEqual([...data].map(value => -value))
    await expect(run({ nodes: chain(7) }, 1.5 * BYTES)).rejects.toMatchObject({ code: 'limit-exceeded' })
  })

  test('of two operands over either, also where the other is broadcast', async () => {
    const { y } = await run(
      {
        nodes: [
          node('Neg', ['x'], ['a']),
          node('ReduceMax', ['x'], ['most'], { keepdims: 1 }),
          node('Sub', ['most', 'a'], ['b']),
          node('Add', ['b', 'most'], ['c']),
          node('Abs', ['c'], ['y'])
        ]
      },
      2.5 * BYTES
    )
    const most = Math.max(...data)
    expect(numbers(y)).toEqual([...data].map(value => Math.abs(most + value + most)))
  })

  test('not where the value is read later', async () => {
    const { y } = await run({
      nodes: [node('Neg', ['x'], ['a']), node('Abs', ['a'], ['b']), node('Sub', ['a', 'b'], ['y'])]
    })
    expect(numbers(y)).toEqual([...data].map(value => -value - Math.abs(value)))
  })

  test('not where ScatterElements and ScatterND read the value at other positions, too', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        inputs: [port('x', 'float', [4]), port('at', 'int64', [4]), port('tuples', 'int64', [4, 1])],
        outputs: [port('y', 'float'), port('z', 'float')],
        nodes: [
          node('Neg', ['x'], ['a']),
          node('ScatterElements', ['a', 'at', 'a'], ['b'], { reduction: 'add' }),
          node('Neg', ['b'], ['y']),
          node('Abs', ['x'], ['c']),
          node('ScatterND', ['c', 'tuples', 'c'], ['d']),
          node('Neg', ['d'], ['z'])
        ]
      })
    )
    const turned = [3n, 0n, 1n, 2n]
    const feeds = {
      x: new Tensor('float32', [1, 2, 3, 4]),
      at: new Tensor('int64', turned),
      tuples: new Tensor('int64', turned, [4, 1])
    }
    for (let runs = 0; runs < 4; runs++) {
      const { y, z } = await session.run(feeds)
      expect(numbers(y)).toEqual([3, 5, 7, 5])
      expect(numbers(z)).toEqual([-2, -3, -4, -1])
    }
  })

  test('not where another value shares the memory', async () => {
    const { y } = await run({
      nodes: [
        node('Neg', ['x'], ['a']),
        node('Identity', ['a'], ['same']),
        node('Abs', ['a'], ['b']),
        node('Exp', ['b'], ['e']),
        node('Sub', ['same', 'b'], ['y'])
      ],
      outputs: [port('y', 'float'), port('e', 'float')]
    })
    expect(numbers(y)).toEqual([...data].map(value => -value - Math.abs(value)))
  })

  test('not where the value is a part of a sequence', async () => {
    const { y } = await run({
      nodes: [
        node('Neg', ['x'], ['a']),
        node('SequenceConstruct', ['a'], ['list']),
        node('Abs', ['a'], ['b']),
        node('ConcatFromSequence', ['list'], ['parts'], { axis: 0 }),
        node('Sub', ['parts', 'b'], ['y'])
      ]
    })
    expect(numbers(y)).toEqual([...data].map(value => -value - Math.abs(value)))
  })

  test('not over what a body captures, nor within bodies', async () => {
    const { y } = await run({
      inputs: [port('x', 'float', ['n'])],
      initializers: [
        { name: 'three', dims: [], dataType: 7, int64Data: [3] },
        { name: 'go', dims: [], dataType: 9, int32Data: [1] }
      ],
      nodes: [
        node('Neg', ['x'], ['a']),
        node('Loop', ['three', 'go', 'x'], ['y'], {
          body: {
            graph: {
              inputs: [port('i', 'int64', []), port('c', 'bool', []), port('v', 'float')],
              outputs: [port('more', 'bool', []), port('next', 'float')],
              nodes: [
                node('Identity', ['c'], ['more']),
                node('Abs', ['a'], ['m']),
                node('Neg', ['m'], ['n']),
                node('Sub', ['v', 'n'], ['next'])
              ]
            }
          }
        })
      ]
    })
    expect(numbers(y)).toEqual([...data].map(value => value + 3 * Math.abs(value)))
  })

  test('not where somebody watches, and a fetched value stays as it was', async () => {
    const session = await InferenceSession.create(model({ nodes: chain(3) }))
    const seen: number[][] = []
    await session.run({ x: x() }, ['y'], { onStep: ({ outputs }) => seen.push(numbers(outputs[0]).slice(0, 2)) })
    expect(seen).toEqual([
      [2000, 1999],
      [-2000, -1999],
      [2000, 1999]
    ])
    const kept: Value[] = []
    await session.run({ x: x() }, ['y'], { onStep: ({ outputs }) => kept.push(outputs[0]!) })
    expect(kept.map(value => numbers(value)[0])).toEqual([2000, -2000, 2000])
    const { v0, v1, y } = await session.run({ x: x() }, ['v0', 'v1', 'y'])
    expect([v0, v1, y].map(value => numbers(value)[0])).toEqual([2000, -2000, 2000])
  })

  test('into 16-bit floats and 64-bit integers as into others', async () => {
    for (const to of [1, 6, 7, 10, 11]) {
      const session = await InferenceSession.create(
        model({
          nodes: [
            node('Cast', ['x'], ['a'], { to }),
            node('Abs', ['a'], ['b']),
            node('Add', ['b', 'b'], ['c']),
            node('Cast', ['c'], ['y'], { to: 1 })
          ]
        }),
        // Else calls on 16-bit floats that nobody watches keep float32 between them.
        { precision: to === 10 ? 'exact' : 'fast' }
      )
      const watched = await session.run({ x: x() }, { onStep: () => undefined })
      expect(numbers((await session.run({ x: x() })).y)).toEqual(numbers(watched.y))
    }
  })
})
