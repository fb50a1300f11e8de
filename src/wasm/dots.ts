import { type Compute, wasm } from './wasm.ts'

/** How an engine's dot product of four bytes takes its second factor; as the kernels number it. */
export const DOT_KINDS = { none: 0, unsigned: 1, signed: 2 } as const
export type DotKind = keyof typeof DOT_KINDS

/** Rows or output channels of a strip, and bytes that a dot product multiplies; see ./assembly/int8/dots.ts. */
export const DOT_STRIP = 6
export const DOT_BYTES = 4

/** Words of four bytes: the ends of both types, and bytes that are all different. */
const WORDS = [0x00000000, 0x7f7f7f7f, 0x80808080, 0xffffffff, 0x807fff01, 0xff80027f, 0xfe03c155]
const SUMS = [0, 0x7fffff00, -0x7fffff00]

/**
 * How `dot` takes its second factor, if it is exact: relaxed SIMD leaves to the engine whether bytes above 127 are
 * negative there, and whether sums of two products saturate in int16. An engine takes all of them alike.
 */
export function dotKindOf(dot: Compute['dot']): DotKind {
  for (const kind of ['unsigned', 'signed'] as const) {
    const isExact = (a: number, b: number, sum: number): boolean => {
      const second = bytesOf(b, kind === 'signed')
      const exact = bytesOf(a, true).reduce((total, byte, i) => total + byte * second[i], sum)
      return dot(a, b, sum) === (exact | 0)
    }
    if (WORDS.every(a => WORDS.every(b => SUMS.every(sum => isExact(a, b, sum))))) return kind
  }
  return 'none'
}

const bytesOf = (word: number, isSigned: boolean): readonly number[] => [
  ...(isSigned ? new Int8Array(Int32Array.of(word).buffer) : new Uint8Array(Int32Array.of(word).buffer))
]

/** What has been found, by the functions that were asked. */
const found = new WeakMap<Compute['dot'], DotKind>()

/** {@link dotKindOf} for the module that computes. */
export function dotKind(): DotKind {
  const dot = wasm()?.compute().exports.dot
  if (dot === undefined) return 'none'
  let kind = found.get(dot)
  if (kind === undefined) found.set(dot, (kind = dotKindOf(dot)))
  return kind
}
