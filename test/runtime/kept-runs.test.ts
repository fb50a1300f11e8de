import { describe, expect, test } from 'vitest'
import type { Step } from '../../src/plan/plan.ts'
import type { HeldRecording } from '../../src/runtime/held-recording.ts'
import { type Kept, KeptRuns } from '../../src/runtime/kept-runs.ts'
import { tensorFact } from '../../src/shapes/fact.ts'
import { Tensor } from '../../src/tensor/tensor.ts'

const signature = (size: number): Kept['signature'] => [tensorFact('float32', [size])]
const given = (size: number): Tensor[] => [new Tensor('float32', new Float32Array(size), [size])]
const kept = (size: number, steps = 1, bytes = 0): Kept =>
  ({ signature: signature(size), plan: { steps: new Array<Step | undefined>(steps) }, bytes }) as unknown as Kept
const sizesIn = (runs: KeptRuns): number[] =>
  Array.from({ length: 200 }, (_, size) => size).filter(size => runs.of(given(size)) !== undefined)

describe('what is kept for signatures that recur', () => {
  test('is found by types and dims', () => {
    const runs = new KeptRuns()
    const three = kept(3)
    runs.use(three)
    runs.use(kept(4))
    expect(runs.of(given(3))).toBe(three)
    expect(runs.of(given(5))).toBeUndefined()
    expect(runs.of([new Tensor('int32', [1, 2, 3], [3])])).toBeUndefined()
  })

  test('is replaced by what is kept later for the same one', () => {
    const runs = new KeptRuns()
    const [first, second] = [kept(3), kept(3)]
    runs.use(first)
    expect(runs.use(second)).toEqual([first])
    expect(runs.of(given(3))).toBe(second)
  })

  test.each([
    ['64 signatures', 1, 0, 64],
    ['8,192 steps', 1000, 0, 8],
    ['16 MiB of values', 1, 3 << 20, 5]
  ])('is no more than %s, those that were used last', (_, steps, bytes, count) => {
    const runs = new KeptRuns()
    const first = kept(0, steps, bytes)
    const gone: Kept[] = []
    for (let size = 0; size < 70; size++) {
      gone.push(...runs.use(size === 0 ? first : kept(size, steps, bytes)), ...runs.use(first))
    }
    expect(sizesIn(runs)).toEqual([0, ...Array.from({ length: count - 1 }, (_, i) => 71 - count + i)])
    expect(gone.length).toBe(70 - count)
    expect(runs.clear().length).toBe(count)
    expect(sizesIn(runs)).toEqual([])
  })

  test('is the last one however large it is', () => {
    const runs = new KeptRuns()
    runs.use(kept(3))
    runs.use(kept(4, 10_000, 1 << 25))
    expect(sizesIn(runs)).toEqual([4])
  })
})

test('a signature is known from its second run on, as long as not too many others come between', () => {
  const runs = new KeptRuns()
  expect(runs.sees(signature(3))).toBe(false)
  expect(runs.sees(signature(4))).toBe(false)
  expect(runs.sees(signature(3))).toBe(true)
  for (let size = 5; size < 69; size++) runs.sees(signature(size))
  expect(runs.sees(signature(3))).toBe(false)
})

describe('of runs whose signatures come in turn', () => {
  type Held = Pick<HeldRecording, 'isReady' | 'bytes' | 'letGo'>
  const none: Held = { isReady: true, bytes: 0, letGo: () => 0 }
  const recorded = (bytes: number): Held => ({ ...none, bytes })
  const usedBy = (size: number, held: Held, uses: number, isLight?: boolean): Kept =>
    Object.assign(kept(size), { held, uses, isLight })

  test.each([
    ['that were recorded are taken from it', recorded(1), 1, true, true],
    ['that were recorded are not while another is under way', { ...recorded(1), isReady: false }, 9, true, false],
    ['are recorded where that may be light', none, 5, undefined, true],
    ['are recorded where that is light', none, 5, true, true],
    ['are not recorded where that is not', none, 5, false, false],
    ['are not recorded before so many came that it is worthwhile', none, 4, true, false]
  ])('those %s', (_, held, uses, isLight, expected) => {
    const runs = new KeptRuns()
    const own = usedBy(3, held, uses, isLight)
    expect(runs.mayRepeat(own)).toBe(false)
    runs.use(own)
    runs.use(usedBy(4, none, 9))
    expect(runs.mayRepeat(own)).toBe(expected)
  })

  test('no more are recorded once recordings take 32 MiB, until these are forgotten', () => {
    const runs = new KeptRuns()
    const own = usedBy(3, none, 9)
    let bytes = 1 << 24
    const letGo = (): number => (bytes = 0)
    const large = {
      ...none,
      letGo,
      get bytes() {
        return bytes
      }
    }
    runs.use(usedBy(4, large, 9))
    runs.use(own)
    expect(runs.mayRepeat(own)).toBe(true)
    runs.use(usedBy(5, large, 9))
    expect(runs.mayRepeat(own)).toBe(false)
    runs.forgetRecordings()
    expect(runs.mayRepeat(own)).toBe(true)
  })
})
