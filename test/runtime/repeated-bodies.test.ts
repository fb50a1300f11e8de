import { describe, expect, test, vi } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import type { Plan } from '../../src/plan/plan.ts'
import { randomSource } from '../../src/runtime/random.ts'
import { Recording } from '../../src/runtime/recording.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const random = randomSource(5)()
const numbers = (count: number): number[] => Array.from({ length: count }, () => random() * 4 - 2)

/**
 * A loop that carries two values, one of which its body only passes on, gives a constant, reads what the graph around
 * it makes, and looks a row up by a number that is given; and a branch after it.
 */
const parts: ModelParts = {
  inputs: [port('x', 'float', ['n']), port('row', 'int64', []), port('w', 'float', ['n']), port('go', 'bool')],
  outputs: ['y', 'kept', 'all', 'twice', 'constants', 'branched'].map(name => port(name, 'float')),
  initializers: [int64s('five', [], [5]), floats('one', [1], [1])],
  nodes: [
    node('Sigmoid', ['w'], ['made']),
    node('Loop', ['five', '', 'x', 'w'], ['y', 'kept', 'all', 'twice', 'constants'], {
      body: {
        graph: {
          inputs: [port('i', 'int64', []), port('c', 'bool', []), port('a', 'float'), port('b', 'float')],
          outputs: ['c', 'a2', 'b', 'd', 'd', 'one'].map(name => port(name, name === 'c' ? 'bool' : 'float')),
          initializers: [floats('table', [3], [1, 2, 3])],
          nodes: [
            node('Gather', ['table', 'row'], ['factor']),
            node('Cast', ['i'], ['step'], { to: 1 }),
            node('Mul', ['a', 'factor'], ['scaled']),
            node('Add', ['scaled', 'step'], ['moved']),
            node('Tanh', ['moved'], ['a2']),
            node('Sub', ['a2', 'made'], ['d'])
          ]
        }
      }
    }),
    node('If', ['go'], ['branched'], {
      then_branch: { graph: { inputs: [], outputs: [port('t', 'float')], nodes: [node('Neg', ['y'], ['t'])] } },
      else_branch: { graph: { inputs: [], outputs: [port('e', 'float')], nodes: [node('Add', ['y', 'x'], ['e'])] } }
    })
  ]
}

type Feeds = Record<string, Tensor>
const feedsOf = (n: number, row = Math.floor(random() * 3)): Feeds => ({
  x: new Tensor('float32', numbers(n), [n]),
  row: new Tensor('int64', [row], []),
  w: new Tensor('float32', numbers(n), [n]),
  go: new Tensor('bool', [random() < 0.5], [])
})
const session = (options = {}): Promise<InferenceSession> =>
  InferenceSession.create(onnxBytes(parts), { threads: 1, ...options })
const contents = (outputs: Readonly<Record<string, Tensor>>): unknown[] =>
  Object.entries(outputs).map(([name, { type, dims, data }]) => [name, type, [...dims], (data as Float32Array).slice()])

/** What steps give that are watched, of which none is recorded. */
const watched = async (of: InferenceSession, feeds: Feeds): Promise<unknown[]> =>
  contents(await of.run(feeds, { onStep: () => undefined }))

describe('bodies that run again and again for values of the same types and dims', () => {
  test('are recorded, and give what they gave, of other elements and other captured values', async () => {
    const of = await session()
    const blocks: number[] = []
    for (let i = 0; i < 24; i++) {
      const feeds = feedsOf(4)
      const outputs = await of.run(feeds)
      expect(contents(outputs)).toEqual(await watched(of, feeds))
      for (const { data } of Object.values(outputs)) (data as Float32Array).fill(9)
      blocks.push(heapStats().blocks)
    }
    expect(blocks[23]).toBeLessThanOrEqual(blocks[16])
    of.dispose()
    expect(heapStats().blocks).toBeLessThan(blocks[0])
  })

  test('are computed as ever for other dims, which may be recorded in turn', async () => {
    const of = await session()
    for (const n of [3, 3, 7, 3, 7, 7, 2, 7, 7, 3, 3, 3, 2000, 2000, 2000, 3, 270_000]) {
      const feeds = feedsOf(n)
      expect(contents(await of.run(feeds))).toEqual(await watched(of, feeds))
    }
    of.dispose()
  })

  test('fail with the place of the node, and later runs go on', async () => {
    const of = await session()
    for (let i = 0; i < 3; i++) await of.run(feedsOf(4))
    const wrong = feedsOf(4, 3)
    const failure = await watched(of, wrong).catch((error: unknown) => String(error))
    expect(failure).toContain('Gather')
    await expect(of.run(wrong).catch((error: unknown) => String(error))).resolves.toBe(failure)
    const feeds = feedsOf(4)
    expect(contents(await of.run(feeds))).toEqual(await watched(of, feeds))
    of.dispose()
  })

  test('serve runs at once, and are let go of where memory is needed', async () => {
    const of = await session({ maxMemory: 20e6 })
    for (let i = 0; i < 4; i++) await of.run(feedsOf(4))
    const all = [1, 2, 3, 4].map(() => feedsOf(4))
    const alone = await Promise.all(all.map(feeds => watched(of, feeds)))
    expect((await Promise.all(all.map(feeds => of.run(feeds)))).map(contents)).toEqual(alone)
    const recorded = heapStats().blocks
    const large = feedsOf(290_000)
    const outputs = contents(await of.run(large))
    expect(heapStats().blocks).toBeLessThan(recorded)
    const other = await session()
    expect(outputs).toEqual(contents(await other.run(large)))
    other.dispose()
    expect(contents(await of.run(all[0]))).toEqual(alone[0])
    of.dispose()
  })

  describe('with a branch behind other steps', () => {
    /** A state of a thousand elements that goes another way where its sum is large. */
    const branching: ModelParts = {
      inputs: [port('x', 'float', ['n']), port('trip', 'int64', [])],
      outputs: [port('y', 'float'), port('all', 'float')],
      initializers: [int64s('zero', [1], [0]), floats('half', [], [0.5])],
      nodes: [
        node('Loop', ['trip', '', 'x'], ['y', 'all'], {
          body: {
            graph: {
              inputs: [port('i', 'int64', []), port('c', 'bool', []), port('a', 'float')],
              outputs: [port('c', 'bool'), port('a2', 'float'), port('sum', 'float')],
              nodes: [
                node('Mul', ['a', 'half'], ['scaled']),
                node('Cast', ['i'], ['step'], { to: 1 }),
                node('Sin', ['step'], ['wave']),
                node('Add', ['scaled', 'wave'], ['moved']),
                node('ReduceSum', ['moved', 'zero'], ['sum'], { keepdims: 0 }),
                node('Less', ['sum', 'half'], ['isLess']),
                node('If', ['isLess'], ['a2'], {
                  then_branch: {
                    graph: { outputs: [port('t', 'float')], nodes: [node('Sub', ['a', 'moved'], ['t'])] }
                  },
                  else_branch: { graph: { outputs: [port('e', 'float')], nodes: [node('Neg', ['moved'], ['e'])] } }
                })
              ]
            }
          }
        })
      ]
    }
    const feeds = (trip: number): Feeds => ({
      x: new Tensor('float32', numbers(1000), [1000]),
      trip: new Tensor('int64', [BigInt(trip)], [])
    })

    test('are recorded up to there', async () => {
      const start = vi.spyOn(Recording.prototype, 'start')
      const of = await InferenceSession.create(onnxBytes(branching), { threads: 1 })
      for (const trip of [1, 2, 5, 40, 7]) {
        const given = feeds(trip)
        expect(contents(await of.run(given))).toEqual(await watched(of, given))
      }
      const left = start.mock.results.map(({ value }) => (value as { rest?: Plan } | undefined)?.rest?.steps.length)
      expect(left.filter(steps => steps === 1).length).toBeGreaterThan(30)
      start.mockRestore()
      of.dispose()
    })

    test('hold no more after many runs', async () => {
      const of = await InferenceSession.create(onnxBytes(branching), { threads: 1, maxMemory: 20e6 })
      const { all } = await of.run(feeds(20_000))
      expect(all.dims).toEqual([20_000])
      of.dispose()
    })
  })

  describe('with a Slice whose bounds move', () => {
    /** Sums of rows of x, from each of `from` to the number of `to`. */
    const sums: ModelParts = {
      inputs: [port('x', 'float', ['n', 3]), ...['from', 'to'].map(name => port(name, 'int64', ['k']))],
      outputs: [port('y', 'float')],
      initializers: [int64s('zero', [1], [0])],
      nodes: [
        node('Shape', ['from'], ['k']),
        node('Squeeze', ['k', 'zero'], ['trip']),
        node('Loop', ['trip', ''], ['y'], {
          body: {
            graph: {
              inputs: [port('i', 'int64', []), port('c', 'bool', [])],
              outputs: [port('c', 'bool'), port('sum', 'float')],
              nodes: [
                node('Gather', ['from', 'i'], ['start']),
                node('Gather', ['to', 'i'], ['end']),
                node('Unsqueeze', ['start', 'zero'], ['starts']),
                node('Unsqueeze', ['end', 'zero'], ['ends']),
                node('Slice', ['x', 'starts', 'ends', 'zero'], ['rows']),
                node('Tanh', ['rows'], ['curved']),
                node('ReduceSum', ['curved', 'zero'], ['sum'], { keepdims: 0 })
              ]
            }
          }
        })
      ]
    }
    const slices = (from: readonly number[], to: readonly number[]): Feeds => ({
      x: new Tensor('float32', numbers(300), [100, 3]),
      from: new Tensor('int64', from.map(BigInt), [from.length]),
      to: new Tensor('int64', to.map(BigInt), [to.length])
    })
    const each = Array.from({ length: 40 }, (_, i) => i)

    test('are recorded where its dims stay the same', async () => {
      const of = await InferenceSession.create(onnxBytes(sums), { threads: 1 })
      const [from, to] = [each.map(i => (i * 7) % 90), each.map(i => ((i * 7) % 90) + 5)]
      const before = heapStats().blocks
      for (let i = 0; i < 3; i++) {
        const feeds = slices(from, to)
        expect(contents(await of.run(feeds))).toEqual(await watched(of, feeds))
      }
      expect(heapStats().blocks).toBeGreaterThan(before)
      of.dispose()
    })

    test('are computed as ever where its dims change, and not tried for long', async () => {
      const of = await InferenceSession.create(onnxBytes(sums), { threads: 1 })
      const before = heapStats().blocks
      for (const lengths of [each.map(() => 2), each.map(i => (i < 20 ? 2 : i % 4)), each, each.map(() => -50)]) {
        const feeds = slices(
          each,
          lengths.map((length, i) => i + length)
        )
        expect(contents(await of.run(feeds))).toEqual(await watched(of, feeds))
      }
      expect(heapStats().blocks).toBe(before)
      of.dispose()
    })
  })

  test('take states that change places as often as they do, and those that stay once', async () => {
    const states = ['a', 'b', 'c']
    const swapping = await InferenceSession.create(
      onnxBytes({
        inputs: states.map(name => port(name, 'float', [3])),
        outputs: ['p', 'q', 'r', 'sums'].map(name => port(name, 'float')),
        initializers: [int64s('seven', [], [7])],
        nodes: [
          node('Loop', ['seven', '', ...states], ['p', 'q', 'r', 'sums'], {
            body: {
              graph: {
                inputs: [port('i', 'int64', []), port('go', 'bool', []), ...states.map(name => port(name, 'float'))],
                outputs: ['go', 'b2', 'a', 'c2', 'sum'].map(name => port(name, name === 'go' ? 'bool' : 'float')),
                nodes: [
                  node('Identity', ['b'], ['b2']),
                  node('Identity', ['c'], ['c2']),
                  node('Sub', ['a', 'b'], ['difference']),
                  node('Mul', ['difference', 'c'], ['sum'])
                ]
              }
            }
          })
        ]
      }),
      { threads: 1 }
    )
    for (let i = 0; i < 6; i++) {
      const feeds = Object.fromEntries(states.map(name => [name, new Tensor('float32', numbers(3), [3])]))
      expect(contents(await swapping.run(feeds))).toEqual(await watched(swapping, feeds))
    }
    swapping.dispose()
  })
})

test('what a body passes on is read anew after an iteration of other dims, which writes over it', async () => {
  // The body swaps two values, one of which is added to; in one iteration another value has more elements.
  const swapping = onnxBytes({
    inputs: [port('x', 'float', ['n']), port('y', 'float', ['n']), port('at', 'int64', [])],
    outputs: [port('a', 'float'), port('b', 'float')],
    initializers: [
      int64s('trip', [], [12]),
      floats('half', [], [0.5]),
      floats('two', [2], [1, 1]),
      floats('three', [3], [1, 1, 1])
    ],
    nodes: [
      node('Loop', ['trip', '', 'x', 'y', 'two'], ['a', 'b', ''], {
        body: {
          graph: {
            inputs: [
              port('i', 'int64', []),
              port('c', 'bool', []),
              ...['p', 'q', 'r'].map(name => port(name, 'float'))
            ],
            outputs: [port('c', 'bool'), ...['q', 'p2', 'r2'].map(name => port(name, 'float'))],
            nodes: [
              node('ReduceSum', ['r'], ['sum'], { keepdims: 0 }),
              node('Mul', ['q', 'half'], ['h']),
              node('Mul', ['h', 'sum'], ['wide']),
              node('Sigmoid', ['wide'], ['step']),
              node('Add', ['p', 'step'], ['p2']),
              node('Equal', ['i', 'at'], ['isThere']),
              node('If', ['isThere'], ['r2'], {
                then_branch: { graph: { outputs: [port('t', 'float')], nodes: [node('Identity', ['three'], ['t'])] } },
                else_branch: { graph: { outputs: [port('e', 'float')], nodes: [node('Identity', ['two'], ['e'])] } }
              })
            ]
          }
        }
      })
    ]
  })
  const of = await InferenceSession.create(swapping, { threads: 1 })
  for (const at of [5, 6, 7, 8]) {
    const feeds = {
      x: new Tensor('float32', [0, 0, 0, 0], [4]),
      y: new Tensor('float32', [3, 3, 3, 3], [4]),
      at: new Tensor('int64', [BigInt(at)], [])
    }
    for (let run = 0; run < 3; run++) expect(contents(await of.run(feeds))).toEqual(await watched(of, feeds))
  }
  of.dispose()
})
