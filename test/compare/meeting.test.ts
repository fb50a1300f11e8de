import { describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import { foldedSteps, Meeting } from '../../src/compare/meeting.ts'
import { inOrderOf } from '../../src/compare/order.ts'
import { pairsOf } from '../../src/compare/pairs.ts'
import { reordered, type Side, sideOf } from '../../src/compare/side.ts'
import { load, Tensor } from '../../src/index.ts'
import { Session } from '../../src/runtime/session.ts'
import { type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const x = new Tensor('float32', new Float32Array(1000).fill(2))
const registry = registryWith()

/** Four values of 4,000 bytes each, made in the given order. */
const parts = (order: readonly number[]): ModelParts => ({
  inputs: [port('x', 'float', [1000])],
  outputs: [port('y', 'float', [1000])],
  nodes: [
    ...order.map(i => node(['Abs', 'Neg', 'Relu', 'Exp'][i], ['x'], [`v${i}`])),
    node('Sum', ['v0', 'v1', 'v2', 'v3'], ['y'])
  ]
})
const side = async (order: readonly number[]): Promise<Side> => {
  const model = await load(onnxBytes(parts(order)))
  return sideOf(model, bind(model, registry))
}
const session = ({ model, bound }: Side): Session => new Session(model, registry, {}, bound)

async function meet(a: Side, b: Side, room: number): Promise<Meeting> {
  const meeting = new Meeting(pairsOf(a, b, new Map()), a, b, { rtol: 0 }, room)
  const [left, right] = [session(a), session(b)]
  meeting.know('a', foldedSteps(a, left.propagation()))
  await meeting.run(left.walk({ x }), right.walk({ x }))
  return meeting
}
const names = (meeting: Meeting): string[] => meeting.met.map(({ pair }) => pair.a.name)

describe('two runs in step', () => {
  test('in one order need no room', async () => {
    const one = await side([0, 1, 2, 3])
    const meeting = await meet(one, await side([0, 1, 2, 3]), 4000)
    expect(names(meeting)).toEqual(['v0', 'v1', 'v2', 'v3', 'y'])
    expect(meeting.late.size).toBe(0)
  })

  test('leave pairs for another pass where more waits than there is room for; the oldest stays', async () => {
    const [a, b] = [await side([0, 1, 2, 3]), await side([3, 2, 1, 0])]
    const meeting = await meet(a, b, 8000)
    expect(names(meeting)).toContain('v0')
    expect(meeting.late.size).toBeGreaterThan(0)
    expect(meeting.met.length + meeting.late.size).toBe(5)
    expect((await meet(a, b, 1e6)).late.size).toBe(0)
  })

  test('need none where the second runs in the order of the first', async () => {
    const [a, b] = [await side([0, 1, 2, 3]), await side([3, 2, 1, 0])]
    const sorted = reordered(b, inOrderOf(a, b, pairsOf(a, b, new Map())))
    expect(sorted.calls.map(({ node: { outputs } }) => outputs[0])).toEqual(['v0', 'v1', 'v2', 'v3', 'y'])
    expect((await meet(a, sorted, 4000)).late.size).toBe(0)
  })

  test('do not wait for what the other has passed', async () => {
    const a = await side([0, 1, 2, 3])
    const model = await load(
      onnxBytes({
        inputs: [port('x', 'float', [1000])],
        outputs: [port('y', 'float', [1000])],
        // Nobody needs v1, so it is never made; v2 and v3 come all the same.
        nodes: [
          node('Abs', ['x'], ['v0']),
          node('Neg', ['x'], ['v1']),
          node('Relu', ['x'], ['v2']),
          node('Exp', ['x'], ['v3']),
          node('Sum', ['v0', 'v2', 'v3'], ['y'])
        ]
      })
    )
    const meeting = await meet(a, sideOf(model, bind(model, registry)), 8000)
    expect(names(meeting)).toEqual(['v0', 'v2', 'v3', 'y'])
    expect(meeting.late.size).toBe(0)
  })
})

test('an order that follows another keeps producers before their readers, whatever the other has', async () => {
  const [a, chain] = await Promise.all(
    [
      ['c', 'b', 'a'],
      ['a', 'b', 'c']
    ].map(async order => {
      const model = await load(
        onnxBytes({
          inputs: [port('x', 'float', [1000])],
          outputs: [port(order[2], 'float', [1000])],
          nodes: order.map((name, i) => node('Neg', [i === 0 ? 'x' : order[i - 1]], [name]))
        })
      )
      return sideOf(model, bind(model, registry))
    })
  )
  const sorted = inOrderOf(a, chain, pairsOf(a, chain, new Map()))
  expect(sorted.items.map(({ node: { outputs } }) => outputs[0])).toEqual(['a', 'b', 'c'])
})
