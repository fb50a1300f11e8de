import { describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession } from '../../src/index.ts'
import { propagate } from '../../src/infer/propagate.ts'
import { NF4 } from '../../src/kernels/quantized/coded-rows.ts'
import { type Plan, planGraph } from '../../src/plan/plan.ts'
import { convert } from '../../src/tensor/convert.ts'
import { toNumbers } from '../../src/tensor/elements.ts'
import { decodeFloat } from '../../src/tensor/floats.ts'
import { pack } from '../../src/tensor/packing.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { layer, load, net } from '../openvino/ir.ts'
import { runCallOf } from '../ops/harness.ts'
import { noise } from '../wasm/compare.ts'
import { opsOf } from './plan.ts'

interface Weights {
  readonly type: keyof typeof BITS
  readonly n: number
  readonly k: number
  /** Groups of a row; 0: the row has no axis of groups. */
  readonly groups: number
  readonly zeros: 'none' | 'codes' | 'numbers' | 'one'
  readonly transposes?: boolean
  /** Scales that are powers of two, in codes of their own. */
  readonly hasCodedScales?: boolean
  /** Scales in 8-bit floats, and one of them all: NVFP4. */
  readonly second?: number
  /** A table in which codes are positions. */
  readonly book?: readonly number[]
}

const BITS = { u2: 2, u4: 4, i4: 4, u8: 8, i8: 8, nf4: 4, f4e2m1: 4, f8e4m3: 8, f8e5m2: 8 }
const FLOATS8 = { f8e4m3: 'float8e4m3fn', f8e5m2: 'float8e5m2' } as const
const FLOATS = { ...FLOATS8, f4e2m1: 'float4e2m1' } as const
const PRECISION: Readonly<Record<string, string>> = { f16: 'FP16', f32: 'FP32' }
const STORED = { u2: 'uint2', u4: 'uint4', i4: 'int4', nf4: 'nf4', f4e2m1: 'float4e2m1' } as const

/** A model as OpenVINO's weight compression writes it, and its weights as numbers. */
function compressed(of: Weights): { model: Model; weights: number[] } {
  const { type, n, k, groups, zeros, transposes = true, hasCodedScales = false, second, book } = of
  const bits = BITS[type]
  const isSigned = type.startsWith('i')
  const parts: Uint8Array[] = []
  const place = (bytes: Uint8Array): string => {
    const offset = parts.reduce((sum, part) => sum + part.length, 0)
    parts.push(bytes, new Uint8Array(-bytes.length & 7))
    return `offset="${offset}" size="${bytes.length}"`
  }
  const codesOf = (count: number, seed: number): number[] =>
    [...noise([count], seed, 2 ** (bits - 1)).data]
      .map(x => Math.floor(x) + (isSigned ? 0 : 2 ** (bits - 1)))
      // Floats of less than 1.
      .map(code => (type in FLOATS8 ? code % 0x38 : code))
  const stored = (codes: readonly number[]): Uint8Array =>
    type in STORED
      ? pack(STORED[type as keyof typeof STORED], Uint8Array.from(codes), 'openvino')
      : Uint8Array.from(codes)
  const halves = (numbers: readonly number[]): Uint8Array =>
    new Uint8Array(convert(new Tensor('float32', numbers, [numbers.length]), 'float16').data.buffer)
  const blocks = Math.max(1, groups)
  const [codes, zeroCodes] = [codesOf(n * k, 1), codesOf(n * blocks, 2)]
  const exponents = Uint8Array.from({ length: n * blocks }, (_, i) => 118 + (i % 7))
  const floats8 = exponents.map(code => code - 100)
  const scales = Array.from(exponents, (code, i) => {
    if (second !== undefined) return decodeFloat('float8e4m3fn', floats8[i]) * second
    return hasCodedScales ? 2 ** (code - 127) : ((i % 61) + 1) / 1024
  })
  const dims = groups === 0 ? `${n},${k}` : `${n},${groups},${k / groups}`
  const ofGroups = groups === 0 ? `${n},1` : `${n},${groups},1`
  const constant = (id: number, of: string, shape: string, bytes: Uint8Array): string =>
    layer(id, 'Const', {
      data: `element_type="${of}" shape="${shape}" ${place(bytes)}`,
      out: [`0:${PRECISION[of] ?? of.toUpperCase()}[${shape}]`]
    })
  const cast = (id: number, to: string, shape: string): string =>
    layer(id, 'Convert', { data: `destination_type="${to}"`, in: ['0'], out: [`1:${PRECISION[to]}[${shape}]`] })
  const point = [zeros === 'one' ? 3 : 0]
  const layers = [
    layer(0, 'Parameter', { data: `shape="?,?,${k}" element_type="f32"`, out: [`0:FP32[-1,-1,${k}]`], names: 'x' }),
    constant(1, type, dims, stored(codes)),
    cast(2, 'f16', dims),
    zeros === 'codes'
      ? constant(3, type, ofGroups, stored(zeroCodes))
      : constant(3, 'f16', zeros === 'one' ? '1,1' : ofGroups, halves(zeros === 'one' ? point : zeroCodes)),
    cast(4, 'f16', zeros === 'one' ? '1,1' : ofGroups),
    layer(5, 'Subtract', { in: ['0', '1'], out: [`2:FP16[${dims}]`] }),
    second === undefined
      ? constant(6, hasCodedScales ? 'f8e8m0' : 'f16', ofGroups, hasCodedScales ? exponents : halves(scales))
      : constant(6, 'f8e4m3', ofGroups, floats8),
    layer(7, 'Multiply', { in: ['0', '1'], out: [`2:FP16[${dims}]`] }),
    constant(8, 'i64', '2', new Uint8Array(BigInt64Array.of(BigInt(n), BigInt(k)).buffer)),
    layer(9, 'Reshape', { data: 'special_zero="false"', in: ['0', '1'], out: [`2:FP16[${n},${k}]`] }),
    cast(10, 'f32', `${n},${k}`),
    layer(11, 'MatMul', {
      data: `transpose_a="false" transpose_b="${transposes}"`,
      in: ['0', '1'],
      out: [`2:FP32[-1,-1,${transposes ? n : k}]`],
      names: 'y'
    }),
    layer(12, 'Result', { in: ['0'] }),
    cast(13, second === undefined ? 'f16' : 'f32', ofGroups),
    constant(14, 'f32', '1,1,1', new Uint8Array(Float32Array.of(second ?? 1).buffer)),
    layer(15, 'Multiply', { in: ['0', '1'], out: [`2:FP32[${ofGroups}]`] }),
    cast(16, 'f16', ofGroups),
    constant(17, 'f16', String(book?.length ?? 1), halves(book ?? [0])),
    constant(18, 'i64', '', new Uint8Array(8)),
    layer(19, 'Convert', { data: 'destination_type="u8"', in: ['0'], out: [`1:U8[${dims}]`] }),
    layer(20, 'Gather', {
      data: 'batch_dims="0"',
      version: 'opset8',
      in: ['0', '1', '2'],
      out: [`3:FP16[${dims}]`]
    })
  ]
  const unused = [
    ...(second === undefined ? [14, 15, 16] : []),
    ...(book === undefined ? [17, 18, 19, 20] : [2]),
    ...(zeros === 'none' ? [3, 4, 5] : []),
    ...(groups === 0 ? [8, 9] : []),
    ...(hasCodedScales || second !== undefined ? [] : [13])
  ]
  const sub = zeros === 'none' ? ['2:1>7:0'] : ['3:0>4:0', '2:1>5:0', '4:1>5:1', '5:2>7:0']
  const reshape = groups === 0 ? ['7:2>10:0'] : ['7:2>9:0', '8:0>9:1', '9:2>10:0']
  const coded = hasCodedScales ? ['6:0>13:0', '13:1>7:1'] : ['6:0>7:1']
  const both = ['6:0>13:0', '13:1>15:0', '14:0>15:1', '15:2>16:0', '16:1>7:1']
  const scale = second === undefined ? coded : both
  const looked = ['17:0>20:0', '1:0>19:0', '19:1>20:1', '18:0>20:2', '20:3>7:0']
  const edges = [...(book ? looked : ['1:0>2:0', ...sub]), ...scale, ...reshape, '0:0>11:0', '10:1>11:1', '11:2>12:0']
  const text = net(
    layers.filter((_, i) => !unused.includes(i)),
    edges
  )
  const bin = new Uint8Array(Buffer.concat(parts))
  const weights = codes.map((code, i) => {
    const block = Math.floor(i / (k / blocks))
    const zero = zeros === 'none' ? 0 : zeros === 'one' ? point[0] : zeroCodes[block]
    const value = type in FLOATS ? decodeFloat(FLOATS[type as keyof typeof FLOATS], code) : code
    if (book) return (book[code] ?? 0) * scales[block]
    return ((type === 'nf4' ? NF4[code] : value) - zero) * scales[block]
  })
  return { model: load(text, bin), weights }
}

/** `x W^T`, and the largest magnitude. */
function productOf(x: Tensor, weights: readonly number[], n: number, k: number): { y: number[]; largest: number } {
  const numbers = toNumbers(x)
  const y: number[] = []
  for (let row = 0; row < numbers.length / k; row++)
    for (let i = 0; i < n; i++) {
      let sum = 0
      for (let j = 0; j < k; j++) sum += numbers[row * k + j] * weights[i * k + j]
      y.push(sum)
    }
  return { y, largest: Math.max(...y.map(Math.abs)) }
}

const planOf = (model: Model, isExact = false): Plan => {
  const result = propagate(bind(model, registryWith()))
  const outputs = result.bound.graph.outputs.map(({ value }) => value)
  return planGraph(result, outputs, { isExact })
}

const stepsOf = (model: Model, isExact = false): string[] => opsOf(planOf(model, isExact))

/** What the operator's own kernel gives. */
function byReference(model: Model, x: Tensor): Tensor {
  const { steps, initial } = planOf(model)
  const values = steps[0].inputs.map(slot => {
    const constant = slot < 0 ? undefined : initial[slot]
    return constant && 'read' in constant ? constant.read() : constant
  })
  return runCallOf(steps[0].call, [x, ...values.slice(1)])[0] as Tensor
}

const CASES: readonly Weights[] = [
  { type: 'u4', n: 48, k: 64, groups: 2, zeros: 'numbers' },
  { type: 'u4', n: 700, k: 96, groups: 3, zeros: 'codes' },
  { type: 'u4', n: 48, k: 64, groups: 0, zeros: 'one' },
  { type: 'u4', n: 40, k: 48, groups: 6, zeros: 'numbers' },
  { type: 'i4', n: 33, k: 64, groups: 2, zeros: 'none' },
  { type: 'i4', n: 701, k: 64, groups: 2, zeros: 'codes' },
  { type: 'u2', n: 50, k: 128, groups: 2, zeros: 'numbers' },
  { type: 'u8', n: 1100, k: 32, groups: 0, zeros: 'codes' },
  { type: 'u8', n: 50, k: 40, groups: 0, zeros: 'one' },
  { type: 'i8', n: 45, k: 50, groups: 0, zeros: 'none' },
  { type: 'nf4', n: 45, k: 64, groups: 2, zeros: 'none' },
  { type: 'f8e4m3', n: 45, k: 64, groups: 2, zeros: 'none' },
  { type: 'f8e5m2', n: 45, k: 40, groups: 0, zeros: 'none' },
  { type: 'nf4', n: 45, k: 38, groups: 0, zeros: 'none' },
  { type: 'f4e2m1', n: 45, k: 64, groups: 4, zeros: 'none' },
  { type: 'f4e2m1', n: 700, k: 64, groups: 2, zeros: 'none', hasCodedScales: true },
  { type: 'f8e4m3', n: 700, k: 64, groups: 2, zeros: 'none', hasCodedScales: true },
  { type: 'f4e2m1', n: 700, k: 64, groups: 4, zeros: 'none', second: 0.0625 },
  { type: 'u4', n: 45, k: 64, groups: 2, zeros: 'none', book: [-1, -0.75, -0.5, -0.25, 0, 0.125, 0.375, 0.5, 0.75, 1] },
  { type: 'u4', n: 700, k: 48, groups: 0, zeros: 'none', book: Array.from({ length: 16 }, (_, i) => (i - 7) ** 3 / 64) }
]

describe('weights that nodes decompress', () => {
  test.each(CASES)('are multiplied as codes: %j', async weights => {
    const { model, weights: numbers } = compressed(weights)
    expect(stepsOf(model)).toEqual(['CompressedMatMul'])
    const session = new InferenceSession(model)
    for (const rows of [1, 3, 9]) {
      const x = noise([1, rows, weights.k], rows)
      const { y } = await session.run({ x })
      const expected = productOf(x, numbers, weights.n, weights.k)
      expect(y.dims).toEqual([1, rows, weights.n])
      const off = toNumbers(y).map((value, i) => Math.abs(value - expected.y[i]))
      expect(Math.max(...off)).toBeLessThan(2e-6 * expected.largest)
      const own = toNumbers(byReference(model, x)).map((value, i) => Math.abs(value - expected.y[i]))
      expect(Math.max(...own)).toBeLessThan(2e-7 * expected.largest)
    }
    session.dispose()
  })

  test('give nearly the same product in exact precision, by nodes that round to float16', async () => {
    const { model, weights } = compressed({ type: 'u4', n: 48, k: 64, groups: 2, zeros: 'numbers' })
    const session = new InferenceSession(model, { precision: 'exact' })
    const x = noise([1, 2, 64], 4)
    const expected = productOf(x, weights, 48, 64)
    const { y } = await session.run({ x })
    const off = toNumbers(y).map((value, i) => Math.abs(value - expected.y[i]))
    expect(Math.max(...off)).toBeLessThan(1e-3 * expected.largest)
    session.dispose()
  })

  test('stay apart in exact precision, and where the product does not transpose them', () => {
    const weights: Weights = { type: 'u4', n: 64, k: 64, groups: 2, zeros: 'numbers' }
    expect(stepsOf(compressed(weights).model, true)).not.toContain('CompressedMatMul')
    expect(stepsOf(compressed({ ...weights, transposes: false }).model)).not.toContain('CompressedMatMul')
  })

  test('stay apart where codes are positions in a table of more entries than 4 bits can name', () => {
    const book = Array.from({ length: 200 }, (_, i) => i / 64 - 1)
    const { model } = compressed({ type: 'u8', n: 45, k: 64, groups: 2, zeros: 'none', book })
    expect(stepsOf(model)).not.toContain('CompressedMatMul')
  })

  test('take as many bytes as in the file', async () => {
    const { model } = compressed({ type: 'u4', n: 2048, k: 512, groups: 16, zeros: 'codes' })
    const file = 2048 * (256 + 16 * 2 + 8)
    const session = new InferenceSession(model, { maxMemory: file + (128 << 10) })
    await session.run({ x: noise([1, 1, 512], 1) })
    session.dispose()
  })
})
