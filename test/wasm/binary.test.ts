import { expect, test } from 'vitest'
import { ALPHABET, encoder, orderOf, pairOf } from '../../scripts/pack-binaries.mjs'
import { CODING, computeText, kernelsText } from '../../src/wasm/binaries.js'
import { bytesOf, textOf } from '../../src/wasm/binary.ts'
import fc from '../fixtures/random-cases.ts'

/** A number in the variable length of WebAssembly, of two bytes. */
const long = (value: number): number[] => [(value & 127) | 128, value >> 7]

/** A module of these functions' bytes between two other sections, not one that an engine would take. */
const moduleOf = (functions: readonly (readonly number[])[]): Uint8Array => {
  const bodies = functions.flatMap(body => [...long(body.length), ...body])
  const code = [...long(functions.length), ...bodies]
  return Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 3, 2, 7, 7, 10, ...long(code.length), ...code, 11, 1, 9])
}

const body = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 12 })

test('two modules are what they were after they were one text', () => {
  fc.assert(
    fc.property(
      fc.array(body, { maxLength: 12 }),
      fc.array(body, { maxLength: 6 }),
      fc.func(fc.nat(2)),
      (all, own, keep) => {
        // Most functions are in both modules, in the same order.
        const [a, b] = [0, 1].map(which =>
          moduleOf([...all.filter(each => keep(each) !== which), ...(which ? own : [])])
        )
        const order = orderOf([a, b])
        const pair = pairOf(a, b, encoder(order))
        const coding = { alphabet: ALPHABET, order }
        expect(bytesOf(textOf(pair, 'first'), coding)).toEqual(a)
        expect(bytesOf(textOf(pair, 'second'), coding)).toEqual(b)
      }
    ),
    { numRuns: 40 }
  )
})

test('functions that two modules share are written once', () => {
  const shared = [
    [1, 2, 3, 4, 5, 6],
    [7, 8, 9],
    [10, 11, 12, 13]
  ]
  const [a, b] = [moduleOf([[50], ...shared, [51]]), moduleOf([...shared, [52, 53, 54], [55]])]
  const { text, lengths } = pairOf(a, b, encoder(orderOf([a, b])))
  const both = lengths.filter((_, i) => i % 3 === 0).reduce((sum, length) => sum + length)
  expect(both).toBeGreaterThanOrEqual(shared.flat().length)
  expect(text.length).toBe(a.length + b.length - both)
})

test('the text is one that no string of JavaScript escapes', () => {
  const texts = kernelsText() + computeText().text
  expect(texts).toMatch(/^[ -~]*$/)
  expect(texts).not.toMatch(/['"`\\$]/)
})

test('all values of a byte are written and read', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  expect(bytesOf(encoder(CODING.order)(bytes), CODING)).toEqual(bytes)
})

test('the modules of the package are WebAssembly, and only one of two asks for relaxed SIMD', () => {
  const [kernels, relaxed, plain] = [
    kernelsText(),
    ...(['first', 'second'] as const).map(which => textOf(computeText(), which))
  ].map(text => bytesOf(text, CODING))
  const relaxedMadd = (bytes: Uint8Array): number =>
    Buffer.from(bytes).toString('latin1').split('\xfd\x85\x02').length - 1
  expect([kernels, plain].map(bytes => WebAssembly.validate(bytes))).toEqual([true, true])
  expect(relaxedMadd(relaxed)).toBeGreaterThan(100)
  expect(relaxedMadd(plain)).toBe(0)
})
