import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { noise } from '../wasm/compare.ts'
import { Ir, planOfIr, WINDOWS } from './ir-model.ts'
import { opsOf } from './plan.ts'

type Type = 'u8' | 'i8'
type Make = (ir: Ir, x: string) => string

const IMAGES = [2, 6, 7, 6]
const MATRIX = [2, 5, 40]
const PLAIN = 'transpose_a="false" transpose_b="false"'
const TURNED = 'transpose_a="false" transpose_b="true"'

/** Whole numbers from `lowest` to `highest`, of which both occur. */
const integers = (ir: Ir, dims: readonly number[], lowest: number, highest: number): string => {
  const numbers = Int32Array.from(noise(dims, 5).data, x => Math.round((Math.abs(x) % 1) * (highest - lowest)) + lowest)
  numbers.set([lowest, highest], 3)
  return ir.constant('i32', dims, numbers)
}

/** Bytes as int32, less a zero point. */
function centred(ir: Ir, x: string, dims: readonly number[], zero: string | number): string {
  const numbers = ir.convert(x, 'i32', dims)
  const point = typeof zero === 'number' ? ir.constant('i32', [], Int32Array.of(zero)) : ir.convert(zero, 'i32', [])
  return ir.add('Subtract', [numbers, point], 'i32', dims)
}

/** A model of bytes, whose result is of int32. */
function modelOf(make: Make, dims: readonly number[], type: Type = 'u8') {
  const ir = new Ir()
  const [x, zero] = [ir.input(type, dims), ir.input(type, [], 'zero')]
  return ir.model(make(ir, centred(ir, x, dims, zero)))
}

const convolution =
  (w: readonly number[], lowest: number, highest: number, type = 'Convolution'): Make =>
  (ir, x) =>
    ir.add(type, [x, integers(ir, w, lowest, highest)], 'i32', [2, 6, 7, 6], WINDOWS)

const product =
  (lowest: number, highest: number): Make =>
  (ir, x) =>
    ir.add('MatMul', [x, integers(ir, [24, 40], lowest, highest)], 'i32', [2, 5, 24], TURNED)

const CASES: readonly [what: string, op: string, make: Make, dims: readonly number[]][] = [
  ['a convolution', 'ConvInteger', convolution([6, 6, 3, 3], -128, 127), IMAGES],
  ['a convolution in groups', 'ConvInteger', convolution([3, 2, 2, 3, 3], -128, 127, 'GroupConvolution'), IMAGES],
  ['a convolution by unsigned bytes', 'ConvInteger', convolution([6, 6, 3, 3], 0, 255), IMAGES],
  ['a convolution by bytes with a zero point', 'ConvInteger', convolution([6, 6, 3, 3], -10, 245), IMAGES],
  ['a product', 'MatMulInteger', product(-128, 127), MATRIX],
  ['a product by bytes with a zero point', 'MatMulInteger', product(-200, 55), MATRIX]
]

/** What a model gives, its calls joined and apart. */
async function results(model: ReturnType<Ir['model']>, dims: readonly number[], type: Type, zero: number) {
  const session = new InferenceSession(model)
  const full = type === 'u8' ? ('uint8' as const) : ('int8' as const)
  const codes = Array.from(noise(dims, 1, 127).data, x => Math.round(x) + (type === 'u8' ? 128 : 0))
  const feeds = { x: new Tensor(full, codes, dims), zero: new Tensor(full, [zero], []) }
  const [joined, apart] = [await session.run(feeds), await session.run(feeds, { onStep: () => undefined })]
  session.dispose()
  return [joined, apart].map(outputs => Object.values(outputs)[0])
}

describe('of int32, bytes less a zero point', () => {
  test.each(CASES)('%s computes with bytes', async (_, op, make, dims) => {
    for (const [type, zero] of [
      ['u8', 131],
      ['i8', -9]
    ] as const) {
      const model = modelOf(make, dims, type)
      for (const isExact of [false, true]) expect(opsOf(planOfIr(model, isExact))).toEqual([op])
      const [joined, apart] = await results(model, dims, type, zero)
      expect(joined).toEqual(apart)
    }
  })

  test('both factors of a product may be computed, and a zero point constant', async () => {
    const ir = new Ir()
    const [x, zero] = [ir.input('u8', [5, 5]), ir.input('u8', [], 'zero')]
    const [a, b] = [centred(ir, x, [5, 5], zero), ir.convert(x, 'i32', [5, 5])]
    const model = ir.model(ir.add('MatMul', [a, b], 'i32', [5, 5], PLAIN))
    expect(opsOf(planOfIr(model))).toEqual(['MatMulInteger'])
    const [joined, apart] = await results(model, [5, 5], 'u8', 100)
    expect(joined).toEqual(apart)
  })
})

test('weights that are on a server are not waited for while a run is planned', async () => {
  const ir = new Ir()
  const [rows, depth, columns] = [3, 300, 80]
  const x = ir.convert(ir.input('u8', [rows, depth]), 'i32', [rows, depth])
  const w = integers(ir, [columns, depth], -128, 127)
  const { xml, bin } = ir.files(ir.add('MatMul', [x, w], 'i32', [rows, columns], TURNED))
  const codes = Array.from(noise([rows, depth], 1, 127).data, x => Math.round(x) + 128)
  const feeds = { x: new Tensor('uint8', codes, [rows, depth]) }
  const read = (offset: number, length: number) => Promise.resolve(bin.slice(offset, offset + length))
  const [far, near] = await Promise.all(
    [{ size: bin.length, read }, bin].map(async file => {
      const session = await InferenceSession.create({ xml: new TextEncoder().encode(xml), bin: file })
      return Object.values(await session.run(feeds))[0]
    })
  )
  expect(far).toEqual(near)
})

describe('stay as they are', () => {
  test.each<readonly [string, ReturnType<Ir['model']>]>([
    ['numbers that no bytes hold', modelOf(product(-200, 56), MATRIX)],
    ...[-7, 256].map((zero): [string, ReturnType<Ir['model']>] => {
      const ir = new Ir()
      const x = centred(ir, ir.input('u8', MATRIX), MATRIX, zero)
      return [`a zero point that is no byte: ${zero}`, ir.model(product(-128, 127)(ir, x))]
    }),
    [
      'a zero point that is a byte of the other type',
      (() => {
        const ir = new Ir()
        const [x, zero] = [ir.input('u8', MATRIX), ir.input('i8', [], 'zero')]
        return ir.model(product(-128, 127)(ir, centred(ir, x, MATRIX, zero)))
      })()
    ],
    [
      'a zero point that adds an axis',
      (() => {
        const ir = new Ir()
        const x = ir.convert(ir.input('u8', [5, 40]), 'i32', [5, 40])
        const zero = ir.constant('i32', [1, 1, 1], Int32Array.of(7))
        return ir.model(product(-128, 127)(ir, ir.add('Subtract', [x, zero], 'i32', [1, 5, 40])))
      })()
    ],
    [
      'a computed factor that is transposed',
      (() => {
        const ir = new Ir()
        const x = ir.convert(ir.input('u8', [5, 5]), 'i32', [5, 5])
        return ir.model(ir.add('MatMul', [x, x], 'i32', [5, 5], TURNED))
      })()
    ]
  ])('%s', (_, model) => {
    expect(opsOf(planOfIr(model))).toContain('MatMul')
  })
})
