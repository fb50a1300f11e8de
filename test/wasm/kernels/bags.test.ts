import { describe, expect, test } from 'vitest'
import { gatherBags } from '../../../src/op-kit/gather-bags.ts'
import { factOf } from '../../../src/shapes/fact.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { select } from '../../../src/wasm/select.ts'
import fc from '../../fixtures/random-cases.ts'
import { differenceOf, noise, onHeap, runPlanned } from '../compare.ts'

const ROWS = 50
const longs = (numbers: readonly number[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(numbers, BigInt), [numbers.length])
const plain = { negative: 'wrap', outOfRange: 'error', areOffsets: false } as const

describe('bags in WebAssembly', () => {
  test('of any sizes equal the reference', () => {
    const cases = fc.record({
      width: fc.integer({ min: 1, max: 140 }),
      indices: fc.array(fc.integer({ min: -ROWS, max: ROWS - 1 }), { minLength: 100, maxLength: 300 }),
      bounds: fc.array(fc.tuple(fc.integer({ min: -20, max: 320 }), fc.integer({ min: -20, max: 320 })), {
        maxLength: 12
      }),
      reduction: fc.constantFrom('sum', 'mean', 'max', 'weighted'),
      areIndexed: fc.boolean(),
      isOnHeap: fc.boolean()
    })
    fc.assert(
      fc.property(cases, ({ width, indices, bounds, reduction, areIndexed, isOnHeap }) => {
        const count = areIndexed ? indices.length : ROWS
        fc.pre(count * width >= 1024)
        const place = isOnHeap ? onHeap : <T>(tensor: T): T => tensor
        const operands = {
          table: onHeap(noise([ROWS, width], 1)),
          indices: areIndexed ? place(longs(indices)) : undefined,
          starts: place(longs(bounds.map(([start]) => start))),
          ends: place(longs(bounds.map(([, end]) => end))),
          weights: reduction === 'weighted' ? place(noise([count], 2)) : undefined
        }
        const parameters = { ...plain, reduction: reduction === 'weighted' ? 'sum' : reduction }
        const dims = [bounds.length, width]
        const [own, fast] = [false, true].map(isFast => runPlanned(gatherBags, operands, parameters, dims, isFast))
        const empty = (of: Tensor): number => (of.data as Float32Array).filter(number => number === -Infinity).length
        expect(empty(fast)).toBe(empty(own))
        const finite = (of: Tensor): Tensor =>
          new Tensor(
            'float32',
            (of.data as Float32Array).map(number => (number === -Infinity ? 0 : number)),
            dims
          )
        expect(differenceOf(finite(fast), finite(own))).toBeLessThan(1e-6)
      }),
      { numRuns: 200, seed: 12 }
    )
  })

  test('that start where they end have zeros where bounds are offsets', () => {
    const operands = { table: onHeap(noise([ROWS, 40], 1)), starts: longs([0, 3, 3, 50]) }
    const parameters = { ...plain, areOffsets: true, reduction: 'max' }
    for (const isFast of [false, true]) {
      const { data } = runPlanned(gatherBags, operands, parameters, [3, 40], isFast)
      expect([...(data as Float32Array)].slice(40, 80)).toEqual(new Array(40).fill(0))
    }
  })

  test('pause where they have many rows in common', () => {
    const [rows, bags, width] = [20_000, 2000, 64]
    const operands = {
      table: onHeap(noise([rows, width], 1)),
      starts: longs(new Array<number>(bags).fill(0)),
      ends: longs(new Array<number>(bags).fill(rows))
    }
    const out = new Tensor('float32', new Float32Array(bags * width), [bags, width])
    const parameters = { ...plain, reduction: 'sum' }
    const kernel = select(gatherBags, operands, { parameters, outputs: [factOf(out)] })!.kernel!
    const work = kernel(operands, parameters, { rawOutput: () => out, threads: 1 } as never) as Generator<void>
    let pauses = 0
    while (pauses < 3 && !work.next().done) pauses++
    work.return(undefined)
    expect(pauses).toBe(3)
  })

  test('hand NaN on', () => {
    const table = noise([ROWS, 33], 1)
    for (const at of [5, 40, 330 + 32]) table.data[at] = NaN
    for (const reduction of ['sum', 'mean', 'max']) {
      const operands = { table: onHeap(table), starts: longs([0, 5, 30, 50]) }
      const parameters = { ...plain, reduction }
      const [own, fast] = [false, true].map(isFast => runPlanned(gatherBags, operands, parameters, [3, 33], isFast))
      expect(differenceOf(fast, own)).toBeLessThan(1e-6)
    }
  })
})
