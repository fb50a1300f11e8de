import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import fc from '../../fixtures/random-cases.ts'
import type { Kind } from '../../ops/harness.ts'
import { bits as anyBits, expectEqual, noise, runAccelerated } from '../compare.ts'

const MOE: Kind = ['onnx', 'MoE', 1, 'com.microsoft']
const QMOE: Kind = ['onnx', 'QMoE', 1, 'com.microsoft']
/** Sums of float32 against sums in double precision, as a share of the largest result. */
const ROUNDING = 2e-6

interface Mixture {
  readonly tokens: number
  readonly experts: number
  readonly chosen: number
  readonly hidden: number
  readonly inner: number
  readonly activation: string
  /** SwiGLU's layout, and whether another activation is multiplied with values of a third layer. */
  readonly fusion: number
  readonly hasThird: boolean
  readonly hasBias: boolean
  readonly normalizes: boolean
}

const mixtures = (step: number): fc.Arbitrary<Mixture> =>
  fc
    .record({
      tokens: fc.integer({ min: 1, max: 12 }),
      experts: fc.integer({ min: 1, max: 5 }),
      chosen: fc.integer({ min: 1, max: 3 }),
      hidden: fc.integer({ min: 1, max: 6 }).map(count => count * step),
      inner: fc.integer({ min: 1, max: 6 }).map(count => count * step),
      activation: fc.constantFrom('relu', 'gelu', 'silu', 'swiglu', 'identity'),
      fusion: fc.integer({ min: 0, max: 2 }),
      hasThird: fc.boolean(),
      hasBias: fc.boolean(),
      normalizes: fc.boolean()
    })
    .map(mixture => ({ ...mixture, chosen: Math.min(mixture.chosen, mixture.experts) }))
    .filter(({ tokens, chosen, hidden, inner }) => tokens * chosen * hidden * inner >= 512)

/** Rows and columns of the layers, and the attributes of both operators. */
function layersOf({ activation, fusion, hasThird, hidden, inner, chosen, normalizes }: Mixture) {
  const isGlu = activation === 'swiglu'
  const third = isGlu ? fusion === 0 : hasThird
  return {
    sizes: [[isGlu && fusion > 0 ? 2 * inner : inner, hidden], [hidden, inner], ...(third ? [[inner, hidden]] : [])],
    attributes: {
      ...{ k: chosen, activation_type: activation, normalize_routing_weights: Number(normalizes) },
      ...(isGlu && { swiglu_fusion: fusion, activation_alpha: 1.5, activation_beta: 0.5, swiglu_limit: 1.5 })
    }
  }
}

function moe(mixture: Mixture) {
  const { tokens, experts, hidden, hasBias } = mixture
  const { sizes, attributes } = layersOf(mixture)
  const layers = sizes.flatMap(([rows, columns], i) => [
    noise([experts, rows, columns], 10 + i),
    hasBias ? noise([experts, rows], 20 + i) : undefined
  ])
  return { inputs: [noise([tokens, hidden], 1, 2), noise([tokens, experts], 2, 3), ...layers], attributes }
}

const CONSTANTS = { first: 2, firstBias: 3, second: 4, secondBias: 5, third: 6, thirdBias: 7 }
/** Weights among the inputs of a mixture that has two layers, or three. */
const constantsOf = ({ length }: readonly unknown[]): Record<string, number> =>
  Object.fromEntries(Object.entries(CONSTANTS).filter(([, at]) => at < length))
const withoutBias = (constants: Record<string, number>, inputs: readonly unknown[]): Record<string, number> =>
  Object.fromEntries(Object.entries(constants).filter(([, at]) => inputs[at] !== undefined))

interface Coded {
  readonly bits: number
  /** Codes of a block; 0: a row is one. */
  readonly block: number
  readonly hasZeros: boolean
  readonly isGiven: boolean
}

const coded: fc.Arbitrary<Coded> = fc.record({
  bits: fc.constantFrom(2, 4, 8),
  block: fc.constantFrom(0, 16, 32, 64),
  hasZeros: fc.boolean(),
  isGiven: fc.boolean()
})

function qmoe(mixture: Mixture, { bits, block, hasZeros, isGiven }: Coded) {
  const { tokens, experts, hidden, hasBias } = mixture
  const { sizes, attributes } = layersOf(mixture)
  const inputs = new Array<Tensor | undefined>(15).fill(undefined)
  inputs[0] = noise([tokens, hidden], 1, 2)
  inputs[1] = noise([tokens, experts], 2, 3)
  if (isGiven) inputs[14] = positive([tokens, experts])
  for (const [i, [rows, columns]] of sizes.entries()) {
    const blocks = block === 0 ? [] : [Math.ceil(columns / block)]
    const packed = [...(block === 0 ? [] : [rows]), Math.ceil(((blocks[0] ?? rows) * bits) / 8)]
    inputs[2 + 3 * i] = anyBits('uint8', [experts, rows, (columns * bits) / 8], 30 + i)
    inputs[3 + 3 * i] = noise([experts, rows, ...blocks], 40 + i, 2 ** -bits)
    if (hasBias) inputs[4 + 3 * i] = noise([experts, rows], 50 + i)
    if (hasZeros) inputs[11 + i] = anyBits('uint8', [experts, ...packed], 60 + i)
  }
  return { inputs, attributes: { ...attributes, expert_weight_bits: bits, ...(block > 0 && { block_size: block }) } }
}

const positive = (dims: readonly number[]): Tensor =>
  new Tensor(
    'float32',
    noise(dims, 3).data.map(x => x + 1.5),
    dims
  )

describe.each(['heap', 'array'] as const)('experts in WebAssembly, operands in an %s', region => {
  test('of MoE give the sums of the reference, whatever lies between their layers', () => {
    fc.assert(
      fc.property(mixtures(4), fc.boolean(), (mixture, isConstant) => {
        const { inputs, attributes } = moe(mixture)
        const constants = isConstant ? withoutBias(constantsOf(inputs), inputs) : {}
        expectEqual(MOE, inputs, { region, attributes, constants }, ROUNDING)
      }),
      { numRuns: 150 }
    )
  })

  test('of QMoE give the sums of the reference, whatever the blocks, bits and zero points', () => {
    fc.assert(
      fc.property(mixtures(16), coded, (mixture, codes) => {
        const { inputs, attributes } = qmoe(mixture, codes)
        expectEqual(QMOE, inputs, { region, attributes }, ROUNDING)
      }),
      { numRuns: 150 }
    )
  })
})

const plain: Mixture = {
  ...{ tokens: 40, experts: 3, chosen: 2, hidden: 64, inner: 96, activation: 'swiglu' },
  ...{ fusion: 1, hasThird: false, hasBias: true, normalizes: true }
}

test('whose weights are 8-bit floats give the sums of the reference, scaled by experts or not', () => {
  for (const [tokens, hidden] of [
    [1, 64],
    [9, 48],
    [40, 40]
  ])
    for (const scales of [undefined, [0.5, 2, 1]]) {
      const { inputs, attributes } = qmoe(
        { ...plain, tokens, hidden },
        { bits: 8, block: 0, hasZeros: false, isGiven: false }
      )
      const floats = inputs.map(tensor =>
        tensor?.type === 'uint8'
          ? new Tensor(
              'float8e4m3fn',
              tensor.data.map(code => code % 0x38),
              tensor.dims
            )
          : tensor
      )
      for (const at of [3, 6]) floats[at] = undefined
      const global = scales && new Tensor('float32', scales, [3])
      const all = { ...attributes, quant_type: 'fp8' }
      expectEqual(QMOE, [...floats, global, global], { attributes: all }, ROUNDING)
    }
})

test('of 16 bits are packed in 16 bits, and give the sums of the reference', () => {
  for (const type of ['float16', 'bfloat16'] as const)
    for (const tokens of [1, 3, 40]) {
      const { inputs, attributes } = moe({ ...plain, tokens })
      const narrow = inputs.map(tensor => tensor && convert(tensor, type))
      expectEqual(MOE, narrow, { attributes, constants: constantsOf(inputs) }, type === 'float16' ? 1e-3 : 8e-3)
      const wide = narrow.map(tensor => tensor && convert(tensor, 'float32'))
      expectEqual(MOE, wide, { attributes, constants: constantsOf(inputs) }, ROUNDING)
    }
})

test('serve more tokens than lie between their layers at once', () => {
  const { inputs, attributes } = moe({ ...plain, tokens: 300, experts: 2, hidden: 8, inner: 1 << 13 })
  // Sums of 8,192 products.
  expectEqual(MOE, inputs, { attributes }, 1e-5)
})

test('that nobody chooses are not read', () => {
  const { inputs, attributes } = moe({ ...plain, tokens: 2, experts: 4, chosen: 1 })
  inputs[1] = new Tensor('float32', [0, 9, 0, 0, 0, 0, 0, 9], [2, 4])
  const weights = inputs[2] as Tensor<'float32'>
  weights.data.fill(NaN, 0, weights.data.length / 4)
  const [y] = runAccelerated(MOE, inputs, { attributes }) as Tensor[]
  expect([...(y.data as Float32Array)].every(Number.isFinite)).toBe(true)
})

test('several threads compute what one computes', () => {
  const many = { ...plain, tokens: 30, hidden: 512, inner: 1024 }
  for (const [kind, { inputs, attributes }] of [
    [MOE, moe(many)],
    [QMOE, qmoe(many, { bits: 4, block: 32, hasZeros: true, isGiven: false })]
  ] as const) {
    const [one] = runAccelerated(kind, inputs, { attributes }) as Tensor[]
    const [two] = runAccelerated(kind, inputs, { attributes, threads: 2 }) as Tensor[]
    expect([...two.data]).toEqual([...one.data])
  }
})
