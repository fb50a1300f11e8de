import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { toNumbers } from '../../../src/tensor/elements.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { noise } from '../../wasm/compare.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const kind: Kind = ['onnx', 'MoE', 1, 'com.microsoft']
const [HIDDEN, INNER, EXPERTS] = [3, 4, 3]
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

interface Layers {
  readonly first: Tensor
  readonly firstBias?: Tensor
  readonly second: Tensor
  readonly secondBias?: Tensor
  readonly third?: Tensor
  readonly thirdBias?: Tensor
}

const layer = (weights: Tensor, bias: Tensor | undefined, expert: number, x: readonly number[]): number[] => {
  const [, rows, columns] = weights.dims
  return Array.from({ length: rows }, (_, row) =>
    x.reduce(
      (sum, value, i) => sum + value * (weights.data[(expert * rows + row) * columns + i] as number),
      (bias?.data[expert * rows + row] as number | undefined) ?? 0
    )
  )
}

/** What an expert makes of a token; `gate` makes the inputs of the second layer. */
const expertOf = (
  { first, firstBias, second, secondBias, third, thirdBias }: Layers,
  gate: (first: number[], third: number[]) => number[],
  expert: number,
  x: readonly number[]
): number[] =>
  layer(
    second,
    secondBias,
    expert,
    gate(layer(first, firstBias, expert, x), third ? layer(third, thirdBias, expert, x) : [])
  )

const inputsOf = (x: Tensor, scores: Tensor, l: Layers): (Tensor | undefined)[] => [
  x,
  scores,
  l.first,
  l.firstBias,
  l.second,
  l.secondBias,
  l.third,
  l.thirdBias
]

const plain: Layers = {
  first: noise([EXPERTS, INNER, HIDDEN], 1),
  firstBias: noise([EXPERTS, INNER], 2),
  second: noise([EXPERTS, HIDDEN, INNER], 3),
  secondBias: noise([EXPERTS, HIDDEN], 4)
}
const wide: Layers = {
  ...plain,
  first: noise([EXPERTS, 2 * INNER, HIDDEN], 5),
  firstBias: noise([EXPERTS, 2 * INNER], 6)
}
const apart: Layers = { ...plain, third: noise([EXPERTS, INNER, HIDDEN], 7), thirdBias: noise([EXPERTS, INNER], 8) }
const x = noise([2, HIDDEN], 9, 2)
const scores = new Tensor('float32', [1, 3, 2, 5, 0, 4], [2, EXPERTS])
/** Experts of the two highest scores of each token. */
const BEST = [
  [1, 2],
  [0, 2]
]

const swiglu =
  (alpha: number, beta: number, limit = Infinity) =>
  (gate: number, value: number): number =>
    Math.min(gate, limit) * sigmoid(alpha * Math.min(gate, limit)) * (Math.min(Math.max(value, -limit), limit) + beta)

describe('MoE', () => {
  test.each([
    ['relu', {}, plain, (h: number[]) => h.map(v => Math.max(0, v))],
    ['identity', {}, plain, (h: number[]) => h],
    ['silu', {}, plain, (h: number[]) => h.map(v => v * sigmoid(v))],
    [
      'gelu',
      {},
      plain,
      (h: number[]) => h.map(v => 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3))))
    ],
    ['silu', {}, apart, (h: number[], values: number[]) => h.map((v, i) => v * sigmoid(v) * values[i])],
    ['swiglu', {}, apart, (h: number[], values: number[]) => h.map((v, i) => swiglu(1, 0)(v, values[i]))],
    [
      'swiglu',
      { swiglu_fusion: 1, activation_alpha: 1.5, activation_beta: 1, swiglu_limit: 0.5 },
      wide,
      (h: number[]) => Array.from({ length: INNER }, (_, i) => swiglu(1.5, 1, 0.5)(h[2 * i], h[2 * i + 1]))
    ],
    [
      'swiglu',
      { swiglu_fusion: 2 },
      wide,
      (h: number[]) => Array.from({ length: INNER }, (_, i) => swiglu(1, 0)(h[i], h[INNER + i]))
    ]
  ] as const)('adds up what the chosen experts make: %s, %j', (activation_type, attributes, layers, gate) => {
    const expected = [0, 1].flatMap(token => {
      const tokens = toNumbers(x).slice(token * HIDDEN, (token + 1) * HIDDEN)
      const own = [...toNumbers(scores).slice(token * EXPERTS, (token + 1) * EXPERTS)]
      const sum = own.reduce((total, score) => total + Math.exp(score), 0)
      return BEST[token]
        .map(expert => expertOf(layers, gate, expert, [...tokens]).map(v => (v * Math.exp(own[expert])) / sum))
        .reduce((a, b) => a.map((v, i) => v + b[i]))
    })
    const result = runTensor(kind, inputsOf(x, scores, layers), {
      attributes: { ...attributes, activation_type, k: 2 }
    })
    expect(result.dims).toEqual([2, HIDDEN])
    expectNear(result, expected, 1e-5)
  })

  test('normalized weights are the softmax of the chosen scores', () => {
    const attributes = { activation_type: 'identity', k: 1, normalize_routing_weights: 1 }
    const expected = [1, 0].flatMap((expert, token) =>
      expertOf(plain, h => h, expert, [...toNumbers(x).slice(token * HIDDEN, (token + 1) * HIDDEN)])
    )
    expectNear(runTensor(kind, inputsOf(x, scores, plain), { attributes }), expected, 1e-5)
  })

  test('of equal scores the last one counts more; NaN is the lowest', () => {
    const attributes = { activation_type: 'identity', normalize_routing_weights: 1 }
    const chosenBy = (list: number[]): number => {
      const ofToken = new Tensor('float32', list, [1, EXPERTS])
      const token = new Tensor('float32', [1, 0, 0], [1, HIDDEN])
      const first = new Tensor('float32', [1, 0, 0, 10, 0, 0, 100, 0, 0], [EXPERTS, 1, HIDDEN])
      const second = new Tensor('float32', new Array<number>(EXPERTS * HIDDEN).fill(1), [EXPERTS, HIDDEN, 1])
      return Number(runTensor(kind, [token, ofToken, first, undefined, second], { attributes }).data[0])
    }
    expect(chosenBy([2, 2, 1])).toBe(10)
    expect(chosenBy([2, 2, 2])).toBe(100)
    expect(chosenBy([-Infinity, -1, NaN])).toBe(10)
  })

  test.each<DType>(['float16', 'bfloat16'])('takes %s and rounds once', type => {
    const inputs = inputsOf(x, scores, plain).map(tensor => tensor && convert(tensor, type))
    const widened = inputs.map(tensor => tensor && convert(tensor, 'float32'))
    const expected = convert(runTensor(kind, widened, { attributes: { k: 2 } }), type)
    expect([...runTensor(kind, inputs, { attributes: { k: 2 } }).data]).toEqual([...expected.data])
  })

  test('keeps the dims of the tokens, none or many', () => {
    const tokens = noise([2, 3000, HIDDEN], 1)
    const ofTokens = noise([6000, EXPERTS], 2)
    const result = runTensor(kind, inputsOf(tokens, ofTokens, plain), { attributes: { k: 3 } })
    expect(result.dims).toEqual([2, 3000, HIDDEN])
    const last = inputsOf(
      new Tensor('float32', tokens.data.slice(-HIDDEN), [1, HIDDEN]),
      new Tensor('float32', ofTokens.data.slice(-EXPERTS), [1, EXPERTS]),
      plain
    )
    expect([...result.data].slice(-HIDDEN)).toEqual([...runTensor(kind, last, { attributes: { k: 3 } }).data])
    const none = inputsOf(allocate('float32', [0, HIDDEN]), allocate('float32', [0, EXPERTS]), plain)
    expect(runTensor(kind, none, { attributes: { k: 3 } }).dims).toEqual([0, HIDDEN])
    const facts = [
      fact('float32', ['b', 's', HIDDEN]),
      fact('float32', ['t', EXPERTS]),
      ...inputsOf(x, scores, plain).slice(2)
    ]
    expect(dimsOf(inferOp(kind, facts)[0])).toEqual(['b', 's', HIDDEN])
  })

  test.each([
    [{ k: 4 }, plain, scores, 'value-out-of-range'],
    [{ k: 0 }, plain, scores, 'value-out-of-range'],
    [{ use_sparse_mixer: 1 }, plain, scores, 'unknown-attribute-value'],
    [{ activation_type: 'nothing' }, plain, scores, 'unknown-attribute-value'],
    [{ swiglu_fusion: 3, activation_type: 'swiglu' }, wide, scores, 'unknown-attribute-value'],
    [{ activation_type: 'swiglu' }, plain, scores, 'missing-input'],
    [{ activation_type: 'swiglu', swiglu_fusion: 1 }, apart, scores, 'wrong-input-count'],
    [{ activation_type: 'swiglu', swiglu_fusion: 1 }, plain, scores, 'dims-mismatch'],
    [{}, wide, scores, 'dims-mismatch'],
    [{}, { ...plain, secondBias: noise([EXPERTS, INNER], 1) }, scores, 'dims-mismatch'],
    [{}, { ...plain, second: noise([EXPERTS, HIDDEN + 1, INNER], 1) }, scores, 'dims-mismatch'],
    [{}, { ...plain, second: noise([HIDDEN, INNER], 1) }, scores, 'rank-mismatch'],
    [{}, plain, noise([3, EXPERTS], 1), 'dims-mismatch'],
    [{}, plain, noise([2, EXPERTS + 1], 1), 'dims-mismatch']
  ])('checks what does not fit together, case %#', (attributes, layers, ofTokens, code) => {
    expect(errorOf(() => runTensor(kind, inputsOf(x, ofTokens, layers), { attributes })).code).toBe(code)
  })
})
