import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { opsOf, planOf } from './plan.ts'

const AXIS = int64s('axis', [1], [0])
const ONE = int64s('one', [1], [1])

/** x from `first` to `last`, of which `nodes` make the lists `from` and `to`. */
const model = (nodes: readonly object[], dims: readonly (number | string)[] = [], more = {}): ModelParts => ({
  inputs: [port('x', 'float', [8]), port('first', 'int64', dims), port('last', 'int64', dims)],
  outputs: [port('y', 'float')],
  initializers: [AXIS, ONE],
  nodes: [...nodes, node('Slice', ['x', 'from', 'to', 'axis'], ['y'])],
  ...more
})
const unsqueeze = (from: string, to: string): object => node('Unsqueeze', [from, 'axis'], [to])
const reshape = (from: string, to: string): object => node('Reshape', [from, 'one'], [to])
const LISTS = [unsqueeze('first', 'from'), reshape('last', 'to')]

const x = new Tensor('float32', [0, 1, 2, 3, 4, 5, 6, 7], [8])
const int64 = (value: number, dims: readonly number[] = []): Tensor => new Tensor('int64', [value], dims)

describe('a parameter of one element', () => {
  test.each([
    ['lists made of scalars', LISTS],
    [
      'one after the other',
      [unsqueeze('first', 'a'), reshape('a', 'from'), node('Squeeze', ['last'], ['b']), reshape('b', 'to')]
    ]
  ])('is read from before it gets other dims, in each precision: %s', async (_, nodes) => {
    for (const isExact of [false, true]) expect(opsOf(await planOf(model(nodes), { isExact }))).toEqual(['Slice'])
    const session = new InferenceSession(await onnxModel(model(nodes)))
    for (const [first, last] of [
      [2, 5],
      [0, 8],
      [-3, -1],
      [6, 2]
    ] as const) {
      const { y } = await session.run({ x, first: int64(first), last: int64(last) })
      expect(y).toEqual(new Tensor('float32', x.data.slice(first, last) as Float32Array))
    }
    session.dispose()
  })

  test('is a scalar made of a list, too, and bodies read so', async () => {
    const parts: ModelParts = {
      inputs: [port('x', 'float', [8]), port('n', 'int64', [1])],
      outputs: [port('y', 'float')],
      initializers: [AXIS],
      nodes: [
        node('Squeeze', ['n'], ['trip']),
        node('Loop', ['trip', '', 'x'], ['y'], {
          body: {
            graph: {
              inputs: [port('i', 'int64', []), port('go', 'bool', []), port('v', 'float')],
              outputs: [port('goes on', 'bool', []), port('next', 'float')],
              nodes: [
                node('Identity', ['go'], ['goes on']),
                unsqueeze('i', 'from'),
                unsqueeze('trip', 'to'),
                node('Slice', ['x', 'from', 'to'], ['next'])
              ]
            }
          }
        })
      ]
    }
    const plan = await planOf(parts)
    // The body reads the scalar that Squeeze makes.
    expect(opsOf(plan)).toEqual(['Squeeze', 'Loop'])
    expect(plan.steps[1].inputs[0]).toBe(plan.inputs[1])
    const [body] = plan.steps[1].bodies.values()
    expect(opsOf(body.plan())).toEqual(['Slice'])
    const session = new InferenceSession(await onnxModel(parts))
    for (const n of [1, 3, 8]) {
      const { y } = await session.run({ x, n: int64(n, [1]) })
      expect(y).toEqual(new Tensor('float32', x.data.slice(n - 1, n) as Float32Array))
    }
    session.dispose()
  })

  test('is read as it is where its dims are unknown, or nodes are watched', async () => {
    expect(opsOf(await planOf(model(LISTS), { isObserved: true }))).toEqual(['Unsqueeze', 'Reshape', 'Slice'])
    expect(opsOf(await planOf(model([reshape('first', 'from'), reshape('last', 'to')], ['n'])))).toHaveLength(3)
    const twice = model([...LISTS, node('Add', ['from', 'to'], ['sum'])], [], {
      outputs: [port('y', 'float'), port('sum', 'int64')]
    })
    // What others read stays.
    const { steps } = await planOf(twice)
    expect(steps.map(({ call }) => call.op.name).toSorted()).toEqual(['Add', 'Reshape', 'Slice', 'Unsqueeze'])
  })
})
