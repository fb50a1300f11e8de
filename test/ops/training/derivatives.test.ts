import { describe, expect, test } from 'vitest'
import { type Tensor as AnyTensor, InferenceSession } from '../../../src/index.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type ModelParts, node, onnxModel, port } from '../../fixtures/onnx.ts'
import { type Case, CASES, double } from './derivative-cases.ts'
import { DOMAIN, gradient } from './gradient-node.ts'

/** A number in [low, high) that depends on the seed alone. */
function* numbers(seed: number, low: number, high: number): Generator<number, never> {
  let state = (seed * 2654435761) >>> 0
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield low + (state / 2 ** 32) * (high - low)
  }
}

function doubles(dims: readonly number[], seed: number, [low, high] = [-1.5, 1.5]): Tensor {
  const source = numbers(seed, low, high)
  return new Tensor(
    'float64',
    Float64Array.from({ length: dims.reduce((a, b) => a * b, 1) }, () => source.next().value),
    dims
  )
}

/** The sum of the node's result, each element with a factor, and its derivatives; twice, where `hasSecond`. */
function modelOf(
  { type, xs, inputs, constants = [], attributes, opset = 17, outputs = 1 }: Case,
  isDynamic: boolean,
  hasSecond: boolean
): ModelParts {
  const names = xs.map((_, i) => `x${i}`)
  const made = Array.from({ length: outputs }, (_, i) => `made${i}`)
  const weighted = (from: readonly string[], sum: string, factors: string): object[] => [
    ...from.flatMap((id, i) => [
      node('Cos', [id], [`${sum}cos${i}`]),
      node('Add', [`${sum}cos${i}`, factors], [`${sum}sum${i}`]),
      node('Mul', [`${sum}sum${i}`, id], [`${sum}mul${i}`]),
      node('ReduceSum', [`${sum}mul${i}`], [`${sum}of${i}`], { keepdims: 0 })
    ]),
    node(
      'Sum',
      from.map((_, i) => `${sum}of${i}`),
      [sum]
    )
  ]
  const first = names.map(name => `d${name}`)
  return {
    opset: Math.max(opset, 7),
    domains: [DOMAIN],
    inputs: names.map((name, i) => port(name, 'double', isDynamic ? undefined : xs[i])),
    outputs: [...(hasSecond ? ['y', 'z', ...names.map(name => `dd${name}`)] : ['y']), ...first].map(name =>
      port(name, 'double')
    ),
    initializers: [...constants, double('factor', 0.7), double('other', 0.4)],
    nodes: [
      node(type, inputs ?? names, made, attributes),
      ...weighted(made.slice(0, type === 'TopK' ? 1 : outputs), 'y', 'factor'),
      gradient(names, 'y', first),
      ...(hasSecond
        ? [
            ...weighted(first, 'z', 'other'),
            gradient(
              names,
              'z',
              names.map(name => `dd${name}`)
            )
          ]
        : [])
    ]
  }
}

/** The slope along a direction, by differences of the fourth order. */
async function slopeAlong(
  direction: Tensor,
  of: (x: readonly Tensor[]) => Promise<number>,
  at: readonly Tensor[],
  which: number
): Promise<number> {
  const h = 2e-4
  const moved = (step: number): Promise<number> => {
    const data = Float64Array.from(at[which].data as Float64Array, (x, i) => x + step * h * Number(direction.data[i]))
    return of(at.with(which, new Tensor('float64', data, at[which].dims)))
  }
  return (8 * ((await moved(1)) - (await moved(-1))) - ((await moved(2)) - (await moved(-2)))) / (12 * h)
}

async function holds(each: Case, isDynamic: boolean, hasSecond: boolean): Promise<void> {
  const session = new InferenceSession(await onnxModel(modelOf(each, isDynamic, hasSecond)), { precision: 'exact' })
  const at = each.xs.map((dims, i) => doubles(dims, i + 3, each.range as [number, number]))
  const run = (x: readonly Tensor[], fetches = session.outputNames): Promise<Record<string, AnyTensor>> =>
    session.run(Object.fromEntries(x.map((tensor, i) => [`x${i}`, tensor])), fetches)
  const found = await run(at)
  for (const [outcome, prefix] of hasSecond
    ? [
        ['y', 'd'],
        ['z', 'dd']
      ]
    : [['y', 'd']])
    for (const i of at.keys()) {
      const name = `${prefix}x${i}`
      expect(found[name].dims, name).toEqual(each.xs[i])
      const derivatives = [...(found[name].data as Float64Array)]
      // One direction suffices: a wrong derivative is right along a random one with probability zero.
      const direction = doubles(each.xs[i], 17 + i)
      const slope = derivatives.reduce((sum, d, k) => sum + d * Number(direction.data[k]), 0)
      const expected = await slopeAlong(direction, async x => Number((await run(x, [outcome]))[outcome].data[0]), at, i)
      expect(Math.abs(slope - expected) / Math.max(1, Math.abs(expected)), name).toBeLessThan(1e-6)
    }
  session.dispose()
}

const told = ({ type, xs, attributes, opset }: Case): string =>
  `${type}${opset ? `, opset ${opset}` : ''} ${JSON.stringify(xs)} ${attributes ? JSON.stringify(attributes) : ''}`

const isFirstOfType = ({ type }: Case, i: number, among: readonly Case[]): boolean =>
  among.findIndex(each => each.type === type) === i

// Of each type one case has second derivatives, and one no rank: both cost as much as all that is tested otherwise.
describe('derivatives, and their derivatives, are what differences of the outcome come to', () => {
  const all = CASES.map(
    (each, i) => [told(each), each, each.isFirstOrderOnly !== true && isFirstOfType(each, i, CASES)] as const
  )
  test.each(all)('%s', async (_, each, hasSecond) => holds(each, false, hasSecond))
})

describe('the same where no rank is known before the run', () => {
  const all = CASES.filter(({ xs, attributes, constants }) => xs.length > 1 || attributes || constants).filter(
    isFirstOfType
  )
  test.each(all.map(each => [told(each), each] as const))('%s', async (_, each) => holds(each, true, false))
})
