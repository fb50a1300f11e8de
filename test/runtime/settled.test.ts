import { beforeEach, describe, expect, test } from 'vitest'
import { bytesSource } from '../../src/files/byte-source.ts'
import { defineOp as defineOwnOp, InferenceSession, type SessionOptions, Tensor } from '../../src/index.ts'
import { defineOp } from '../../src/op-kit/define.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { floats, type GraphParts, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { DOMAIN, note, noted } from './noted.ts'
import { external, onnx, rowsOfTable, tableBytes } from './table-models.ts'

let ran: string[] = []
const noting = (name: string): ReturnType<typeof noted> => noted(name, () => ran.push(name))
const ops = [...['Dims', 'Elements', 'Large'].map(name => defineOp(noting(name))), defineOwnOp(noting('Own'))]

/** Each element less its position, and the sum of the products of both. */
const model: ModelParts = {
  domains: [DOMAIN],
  inputs: [port('x', 'float', ['n'])],
  outputs: [port('y', 'float'), port('large', 'float'), port('own', 'int64')],
  initializers: [int64s('zero', [], [0]), int64s('one', [], [1])],
  nodes: [
    node('Shape', ['x'], ['dims']),
    note('Dims', 'dims', 'noted'),
    note('Own', 'noted', 'own'),
    node('Squeeze', ['noted'], ['n']),
    node('Range', ['zero', 'n', 'one'], ['range']),
    node('Cast', ['range'], ['positions'], { to: 1 }),
    node('Neg', ['positions'], ['below']),
    node('Identity', ['x'], ['same']),
    note('Elements', 'same', 'elements'),
    // Writes over `below`, where nothing else holds it.
    node('Add', ['below', 'elements'], ['y']),
    node('Expand', ['positions', 'dims'], ['wide']),
    note('Large', 'wide', 'wider'),
    node('Mul', ['wider', 'x'], ['product']),
    node('ReduceSum', ['product'], ['large'])
  ]
}
const session = (options: SessionOptions = {}, parts = model): Promise<InferenceSession> =>
  InferenceSession.create(onnxBytes(parts), { ops, ...options })
const x = (size: number, seed: number): Tensor =>
  new Tensor(
    'float32',
    Float32Array.from({ length: size }, (_, i) => (i * 7 + seed) % 5),
    [size]
  )

beforeEach(() => {
  ran = []
})

/** Runs with x of these sizes. @returns which operators ran in each */
async function runsOf(of: InferenceSession, sizes: readonly number[]): Promise<string[]> {
  const all: string[] = []
  for (const [i, size] of sizes.entries()) {
    ran = []
    const feed = x(size, i)
    const { y, large } = await of.run({ x: feed })
    const given = [...(feed.data as Float32Array)]
    expect([...(y.data as Float32Array)]).toEqual(given.map((value, at) => value - at))
    expect([...(large.data as Float32Array)]).toEqual([given.reduce((sum, value, at) => sum + value * at, 0)])
    all.push(ran.join(' '))
  }
  return all
}
const ALL = 'Dims Own Elements Large'
const REST = 'Own Elements'

describe('from the third run in a row with inputs of the same types and dims', () => {
  test('what depends on these alone is not computed again, but by operators of the caller', async () => {
    expect(await runsOf(await session(), [3, 3, 3, 3])).toEqual([ALL, ALL, REST, REST])
  })

  test('and after runs with others, of which the second is looked at, too', async () => {
    const sizes = [3, 3, 3, 5, 3, 5, 5, 5, 3]
    expect(await runsOf(await session(), sizes)).toEqual([ALL, ALL, REST, ALL, REST, ALL, REST, REST, REST])
  })

  test('also where no two runs in a row have the same', async () => {
    const sizes = [3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5]
    expect((await runsOf(await session(), sizes)).slice(-3)).toEqual([REST, REST, REST])
  })

  test('values on the heap are kept there until the session is disposed of', async () => {
    // The heap keeps what all jobs share.
    await runsOf(await session(), [2000])
    const { used } = heapStats()
    const of = await session()
    expect(await runsOf(of, [2000, 2000, 2000, 2001, 2001, 2001])).toEqual([ALL, ALL, REST, ALL, ALL, REST])
    expect(heapStats().used).toBeGreaterThan(used)
    of.dispose()
    expect(heapStats().used).toBe(used)
  })

  test('all is computed where memory was needed for a run', async () => {
    const of = await session({ maxMemory: 60_000 })
    expect(await runsOf(of, [2000, 2000, 2000, 4500, 2000, 2000, 2000])).toEqual([ALL, ALL, REST, ALL, ALL, ALL, ALL])
  })

  test('outputs are the caller’s own in every run', async () => {
    const parts = { ...model, outputs: [port('below', 'float'), port('dims', 'int64')] }
    const of = await session({}, parts)
    for (let i = 0; i < 4; i++) {
      const { below, dims } = await of.run({ x: x(3, i) })
      expect([...(below.data as Float32Array)]).toEqual([-0, -1, -2])
      expect([...(dims.data as BigInt64Array)]).toEqual([3n])
      ;(below.data as Float32Array).fill(9)
      ;(dims.data as BigInt64Array).fill(9n)
    }
  })

  test('and dims of rows that are looked up in a table of the file', async () => {
    const parts: ModelParts = {
      domains: [DOMAIN],
      inputs: [port('ids', 'int64', ['n'])],
      outputs: [port('y', 'float')],
      initializers: [external([4096, 64])],
      nodes: [
        node('Gather', ['table', 'ids'], ['looked']),
        node('Shape', ['looked'], ['dims']),
        note('Dims', 'dims', 'noted'),
        node('Expand', ['looked', 'noted'], ['y'])
      ]
    }
    const weights = bytesSource('w.bin', tableBytes(4096 * 64))
    const of = new InferenceSession(onnx(parts, weights), { ops })
    const all: string[] = []
    for (const ids of [[1n], [2n], [3n], [4n, 4095n], [5n]]) {
      ran = []
      const { y } = await of.run({ ids: new Tensor('int64', ids, [ids.length]) })
      expect(y.dims).toEqual([ids.length, 64])
      expect(y.data).toEqual(rowsOfTable(ids.map(Number), 64))
      all.push(ran.join(' '))
    }
    expect(all).toEqual(['Dims', 'Dims', '', 'Dims', ''])
  })

  test('whoever watches a run sees every node', async () => {
    const of = await session()
    await runsOf(of, [3, 3, 3])
    let count = 0
    await of.run({ x: x(3, 0) }, { onStep: () => count++ })
    expect(count).toBeGreaterThanOrEqual(model.nodes.length - 1)
  })
})

/** A branch that gives a captured value, after these nodes. */
const branch = (nodes: readonly object[], output: string): GraphParts => ({
  nodes,
  outputs: [port(output, 'int64')]
})
/** Adds to each element what a branch gives for the number of elements. */
const branching = (thenNodes: readonly object[]): ModelParts => ({
  domains: [DOMAIN],
  inputs: [port('x', 'float', ['n'])],
  outputs: [port('y', 'float')],
  initializers: [int64s('three', [1], [3])],
  nodes: [
    node('Shape', ['x'], ['dims']),
    node('Equal', ['dims', 'three'], ['is three']),
    node('If', ['is three'], ['chosen'], {
      then_branch: { graph: branch(thenNodes, 'then') },
      else_branch: { graph: branch([note('Large', 'dims', 'else')], 'else') }
    }),
    node('Cast', ['chosen'], ['number'], { to: 1 }),
    node('Add', ['x', 'number'], ['y'])
  ]
})

async function branchingRuns(parts: ModelParts, size: number, added: number): Promise<string[]> {
  const of = await session({}, parts)
  const all: string[] = []
  for (let i = 0; i < 4; i++) {
    ran = []
    const feed = x(size, i)
    const { y } = await of.run({ x: feed })
    expect([...(y.data as Float32Array)]).toEqual([...(feed.data as Float32Array)].map(value => value + added))
    all.push(ran.join(' '))
  }
  return all
}

describe('a branch', () => {
  test('that reads and is chosen by dims alone is not taken again', async () => {
    const parts = branching([note('Dims', 'dims', 'then')])
    expect(await branchingRuns(parts, 3, 3)).toEqual(['Dims', 'Dims', '', ''])
    expect(await branchingRuns(parts, 4, 4)).toEqual(['Large', 'Large', '', ''])
  })

  test('that reads elements is taken in every run', async () => {
    const nodes = [
      node('ReduceSum', ['x'], ['sum']),
      node('Sub', ['sum', 'sum'], ['nought']),
      node('Cast', ['nought'], ['zero'], { to: 7 }),
      node('Add', ['zero', 'dims'], ['both']),
      note('Elements', 'both', 'then')
    ]
    expect(await branchingRuns(branching(nodes), 3, 3)).toEqual(Array(4).fill('Elements'))
  })

  test('with an operator of the caller is taken in every run', async () => {
    expect(await branchingRuns(branching([note('Own', 'dims', 'then')]), 3, 3)).toEqual(Array(4).fill('Own'))
  })

  test('with random numbers is taken in every run', async () => {
    const nodes = [
      node('RandomUniform', [], ['random'], { shape: [1] }),
      node('Floor', ['random'], ['nought']),
      node('Cast', ['nought'], ['zero'], { to: 7 }),
      note('Elements', 'zero', 'noted'),
      node('Add', ['noted', 'dims'], ['then'])
    ]
    expect(await branchingRuns(branching(nodes), 3, 3)).toEqual(Array(4).fill('Elements'))
  })
})

describe('what constants alone decide', () => {
  /** Adds to x an element of a value that nodes make of constants, and multiplies that value by the first of x. */
  const ofConstants: ModelParts = {
    domains: [DOMAIN],
    inputs: [port('x', 'float', ['n'])],
    outputs: [port('y', 'float'), port('z', 'float')],
    initializers: [floats('two', [1], [2]), int64s('dims', [1], [3000]), int64s('at', [1], [0])],
    nodes: [
      node('Expand', ['two', 'dims'], ['wide']),
      node('Neg', ['wide'], ['below']),
      note('Large', 'below', 'large'),
      node('Gather', ['large', 'at'], ['one']),
      node('Add', ['one', 'x'], ['y']),
      node('Gather', ['x', 'at'], ['first']),
      node('Mul', ['large', 'first'], ['z'])
    ]
  }
  const constantRuns = async (of: InferenceSession, sizes: readonly number[]): Promise<string[]> => {
    const all: string[] = []
    for (const size of sizes) {
      ran = []
      const { y, z } = await of.run({ x: x(size, 1) })
      const given = [...(x(size, 1).data as Float32Array)]
      expect([...(y.data as Float32Array)]).toEqual(given.map(value => value - 2))
      expect([...(z.data as Float32Array)]).toEqual(new Array(3000).fill(-2 * given[0]))
      all.push(ran.join(' '))
    }
    return all
  }

  test('is computed in the first run alone, whatever the dims of the inputs', async () => {
    const of = await session({}, ofConstants)
    expect(await constantRuns(of, [3, 5, 4, 4, 4, 7])).toEqual(['Large', '', '', '', '', ''])
    of.dispose()
  })

  test('is computed once by runs that end well, also where the first ones fail, or begin at once', async () => {
    const of = await session({}, ofConstants)
    const { used } = heapStats()
    await expect(of.run({ x: x(0, 1) })).rejects.toMatchObject({ code: 'index-out-of-range' })
    await expect(of.run({ x: x(3, 1) }, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
    await Promise.all([1, 2, 3].map(size => of.run({ x: x(size, 1) })))
    expect(await constantRuns(of, [4, 5, 6])).toEqual(['', '', ''])
    expect(heapStats().used - used).toBeLessThan(2 * 4 * 3000)
    of.dispose()
  })

  test('is computed in each run once memory was needed', async () => {
    const of = await session({ maxMemory: 60_000 }, ofConstants)
    expect(await constantRuns(of, [3, 5, 11_000, 3, 5])).toEqual(['Large', '', '', 'Large', 'Large'])
    of.dispose()
  })
})

describe('of a chain that takes more memory in all than is kept', () => {
  const LENGTH = 18
  /** Adds to x what a chain of Neg, each of this many elements, ends with. */
  const chain = (size: number): ModelParts => ({
    domains: [DOMAIN],
    inputs: [port('x', 'float', [1])],
    outputs: [port('y', 'float'), port('z', 'float')],
    initializers: [floats('two', [1], [2]), int64s('dims', [1], [size]), int64s('at', [1], [7])],
    nodes: [
      node('Expand', ['two', 'dims'], ['v0']),
      // Reads a value before the chain goes on.
      node('Mul', ['v0', 'x'], ['z']),
      ...Array.from({ length: LENGTH }, (_, i) => node('Neg', [`v${i}`], [`v${i + 1}`])),
      note('Large', `v${LENGTH}`, 'noted'),
      node('Gather', ['noted', 'at'], ['one']),
      node('Add', ['one', 'x'], ['y'])
    ]
  })

  test.each([
    ['is kept where it takes 4 MiB', 2 ** 20, ['Large', '', '', '']],
    ['is not kept where it takes more', 2 ** 20 + 1, ['Large', 'Large', 'Large', 'Large']]
  ])('what is read of it %s', async (_, size, expected) => {
    const of = await session({}, chain(size))
    const all: string[] = []
    for (let i = 0; i < expected.length; i++) {
      ran = []
      const { y, z } = await of.run({ x: new Tensor('float32', [i], [1]) })
      expect([...(y.data as Float32Array)]).toEqual([2 + i])
      expect((z.data as Float32Array)[size - 1]).toBe(2 * i)
      all.push(ran.join(' '))
    }
    expect(all).toEqual(expected)
  })
})
