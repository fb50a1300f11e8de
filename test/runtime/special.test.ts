import { beforeEach, describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import { defineOp as defineOwnOp, InferenceSession, Tensor } from '../../src/index.ts'
import { drain } from '../../src/kernels/core/pace.ts'
import { defineOp } from '../../src/op-kit/define.ts'
import { Blocks } from '../../src/runtime/blocks.ts'
import { MemoryLimit } from '../../src/runtime/memory-limit.ts'
import { Requests, specialFor } from '../../src/runtime/requests.ts'
import { Weights } from '../../src/runtime/weights.ts'
import { type GraphParts, int64s, type ModelParts, node, onnxBytes, onnxModel, port } from '../fixtures/onnx.ts'
import { opsOf } from '../plan/plan.ts'
import { DOMAIN, note, noted } from './noted.ts'

let ran: string[] = []
const noting = (name: string): ReturnType<typeof noted> => noted(name, () => ran.push(name))
const ops = ['Dims', 'Wide', 'Other'].map(name => defineOp(noting(name)))
const branch = (output: string, nodes: readonly object[]): { graph: GraphParts } => ({
  graph: { nodes, outputs: [port(output, 'float')] }
})

/** Nodes that add its number of elements to x. */
const sum = (to: string): object[] => [
  note('Dims', 'dims', `${to} sizes`),
  node('Cast', [`${to} sizes`], [`${to} numbers`], { to: 1 }),
  node('Add', ['x', `${to} numbers`], [to])
]
/** The sum of x and its number of elements, negated where there are three. */
const chosen = branch('taken', [
  node('Shape', ['x'], ['dims']),
  node('Equal', ['dims', 'three'], ['is wide']),
  node('If', ['is wide'], ['taken'], {
    then_branch: branch('negated', [
      ...sum('sum'),
      node('Neg', ['sum'], ['negative']),
      note('Wide', 'negative', 'negated')
    ]),
    else_branch: branch('same', [...sum('total'), note('Other', 'total', 'same')])
  })
])
/** Chooses that where the rate is 16, and x as it is where it is not. */
const parts: ModelParts = {
  domains: [DOMAIN],
  inputs: [port('x', 'float', ['n']), port('rate', 'int64', [])],
  outputs: [port('y', 'float')],
  initializers: [int64s('sixteen', [], [16]), int64s('three', [1], [3])],
  nodes: [
    node('Equal', ['rate', 'sixteen'], ['is sixteen']),
    node('If', ['is sixteen'], ['y'], {
      then_branch: chosen,
      else_branch: branch('given', [node('Identity', ['x'], ['given'])])
    })
  ]
}
const x = (size: number, seed: number): Tensor<'float32'> =>
  new Tensor(
    'float32',
    Float32Array.from({ length: size }, (_, i) => ((i * 7 + seed) % 5) - 2),
    [size]
  )
const rateOf = (rate: number): Tensor => new Tensor('int64', [BigInt(rate)], [])

/** What the model gives, from its definition. */
function expected({ data }: Tensor<'float32'>, rate: number): number[] {
  const sums = [...data].map(value => value + data.length)
  if (rate !== 16) return [...data]
  return data.length === 3 ? sums.map(sum => -sum) : sums
}

/** Runs with x of some sizes and with some rates. @returns which operators ran in each */
async function runsOf(
  of: InferenceSession,
  runs: readonly (readonly [size: number, rate: number])[]
): Promise<string[]> {
  const all: string[] = []
  for (const [i, [size, rate]] of runs.entries()) {
    ran = []
    const given = { x: x(size, i), rate: rateOf(rate) }
    const { y } = await of.run(given)
    expect([...(y.data as Float32Array)]).toEqual(expected(given.x, rate))
    // The caller's tensor is no part of a plan.
    ;(given.rate.data as BigInt64Array)[0] = 5n
    all.push(ran.join(' '))
  }
  return all
}
const session = (model = parts, registered = ops): Promise<InferenceSession> =>
  InferenceSession.create(onnxBytes(model), { ops: registered })

beforeEach(() => {
  ran = []
})

describe('a branch that one integer of the caller decides', () => {
  test('has its nodes in a plan for this integer', async () => {
    const model = await onnxModel(parts)
    const blocks = new Blocks({})
    const requests = new Requests(model, bind(model, registryWith(ops)), {
      limit: new MemoryLimit(1 << 20),
      isExact: false,
      weights: new Weights(blocks),
      blocks
    })
    const request = drain(requests.requestFor({ names: ['y'], outOfRange: undefined, isObserved: false, replaced: [] }))
    const opsFor = (rate: Tensor): string[] => opsOf(drain(specialFor(request, [x(2, 1), rate])).plan)
    expect(opsOf(request.plan)).toEqual(['Equal', 'If'])
    expect(opsFor(rateOf(8))).toEqual(['Identity'])
    expect(opsFor(rateOf(16))).toEqual(['Shape', 'Equal', 'If'])
    for (const rate of [9, 10]) expect(opsFor(rateOf(rate))).toEqual(['Identity'])
    // There are four such plans at most.
    expect(opsFor(rateOf(11))).toEqual(['Equal', 'If'])
    expect(opsFor(rateOf(16))).toContain('Shape')
  })

  test('is the right one whatever is given', async () => {
    const rates = [16, 8, 16, 16, 9, 10, 11, 12, 16, 11]
    const runs = await runsOf(
      await session(),
      rates.map(rate => [2, rate])
    )
    expect(runs.map(run => run !== '')).toEqual(rates.map(rate => rate === 16))
  })
})

describe('a branch in another one that dims decide', () => {
  const [WIDE, OTHER] = ['Dims Wide', 'Dims Other']

  test('has its nodes in a plan from the third run in a row with these dims, so that more is known', async () => {
    const runs = await runsOf(await session(), Array(8).fill([3, 16]))
    expect(runs).toEqual([WIDE, WIDE, WIDE, 'Wide', 'Wide', 'Wide', 'Wide', 'Wide'])
  })

  test('is the right one whatever is given', async () => {
    const sizes = [3, 3, 3, 3, 2, 2, 2, 2, 3, 4, 4, 4, 4, 2]
    const runs = await runsOf(
      await session(),
      sizes.map(size => [size, 16])
    )
    expect(runs.slice(0, 10)).toEqual([WIDE, WIDE, WIDE, 'Wide', OTHER, OTHER, OTHER, 'Other', 'Wide', OTHER])
    // There are two such plans at most.
    expect(runs.slice(10)).toEqual([OTHER, OTHER, OTHER, 'Other'])
  })

  test('is no part of the plan where there are operators of the caller', async () => {
    const own = ops.map(({ name }) => defineOwnOp(noting(name)))
    expect(await runsOf(await session(parts, own), Array(5).fill([3, 16]))).toEqual(Array(5).fill(WIDE))
  })
})
