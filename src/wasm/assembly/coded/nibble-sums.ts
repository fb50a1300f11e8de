import { fma, splat } from '../f32/simd'
import { storeTransposed } from '../transpose4'
import { CodedArguments } from './arguments'
import { CHUNK, CODED, endOf, factorsAt, HEAD, orderedBytes, placeStarts, unitsAt } from './nibble-order'

/**
 * Products with codes of 4 bits in blocks of one chunk, without relaxed SIMD. Products are added in 16 bits, and the
 * sums of four rows become the lanes of one vector, which is scaled at once: scales for each row, as longer blocks have
 * them, would take a third of the instructions.
 */

/** What sums of four rows are scaled by, four floats for each block: the scales of the weights times the units of A. */
function placeFactors(args: CodedArguments, row: u32, apart: u32, scratch: usize): void {
  const step = (<usize>apart * args.blocks) << 2
  let units = unitsAt(args, scratch)
  let to = factorsAt(args, scratch)
  let f = args.scales + ((<usize>row * args.blocks) << 2)
  let block: u32 = 0
  for (; block + 4 <= args.blocks; block += 4, f += 16, units += 16, to += 64) {
    const unit = v128.load(units)
    const f0 = f32x4.mul(v128.load(f), unit)
    const f1 = f32x4.mul(v128.load(f + step), unit)
    const f2 = f32x4.mul(v128.load(f + 2 * step), unit)
    const f3 = f32x4.mul(v128.load(f + 3 * step), unit)
    storeTransposed(f0, f1, f2, f3, to, 16)
  }
  for (; block < args.blocks; block++, f += 4, units += 4, to += 16) {
    const unit = f32.load(units)
    for (let i: usize = 0; i < 4; i++) f32.store(to + (i << 2), f32.load(f + i * step) * unit)
  }
}

/** Sums of products of a chunk in eight lanes: beyond 16 bits terms may overflow, but not the sums, 7,620 at most. */
// @ts-ignore: decorator
@inline
export function sixteens(v: v128, a: usize): v128 {
  const even = i16x8.add(i16x8.mul(v, v128.load(a)), i16x8.mul(i16x8.shr_u(v, 4), v128.load(a, 16)))
  const odd = i16x8.add(i16x8.mul(i16x8.shr_u(v, 8), v128.load(a, 32)), i16x8.mul(i16x8.shr_u(v, 12), v128.load(a, 48)))
  return i16x8.add(even, odd)
}

/** Four rows of the weights at once, `apart` rows from one to the next. */
// @ts-ignore: decorator
@inline
function fourSums(hasCodes: bool, args: CodedArguments, row: u32, apart: u32, scratch: usize, c: usize): void {
  if (hasCodes) placeStarts(args, row, apart, scratch)
  placeFactors(args, row, apart, scratch)
  const step = <usize>apart * args.rowBytes
  // Not known to compilers, as the mask.
  const ones = i16x8.splat(<i16>(args.bits >> 2))
  let a = scratch
  let w0 = args.codes + <usize>row * args.rowBytes
  let w1 = w0 + step
  let w2 = w1 + step
  let w3 = w2 + step
  let total = splat(0)
  const endOfA = endOf(args, scratch)
  let f = factorsAt(args, scratch)
  for (let z = endOfA; a < endOfA; a += HEAD + orderedBytes(CHUNK), f += 16) {
    const t0 = sixteens(v128.load(w0), a + HEAD)
    const t1 = sixteens(v128.load(w1), a + HEAD)
    const t2 = sixteens(v128.load(w2), a + HEAD)
    const t3 = sixteens(v128.load(w3), a + HEAD)
    const t01 = i16x8.add(i32x4.shuffle(t0, t1, 0, 4, 1, 5), i32x4.shuffle(t0, t1, 2, 6, 3, 7))
    const t23 = i16x8.add(i32x4.shuffle(t2, t3, 0, 4, 1, 5), i32x4.shuffle(t2, t3, 2, 6, 3, 7))
    const all = i16x8.add(i64x2.shuffle(t01, t23, 0, 2), i64x2.shuffle(t01, t23, 1, 3))
    const start = hasCodes ? v128.load(z) : v128.load32_splat(a)
    total = fma(total, f32x4.convert_i32x4_s(i32x4.add(start, i32x4.dot_i16x8_s(all, ones))), v128.load(f))
    w0 += CODED
    w1 += CODED
    w2 += CODED
    w3 += CODED
    if (hasCodes) z += 16
  }
  const cStep = (<usize>apart) << 2
  v128.store32_lane(c, total, 0)
  v128.store32_lane(c + cStep, total, 1)
  v128.store32_lane(c + 2 * cStep, total, 2)
  v128.store32_lane(c + 3 * cStep, total, 3)
}

export function plainSums(args: CodedArguments, row: u32, apart: u32, scratch: usize, c: usize): void {
  fourSums(false, args, row, apart, scratch, c)
}

/** The same where each row has zero points of its own. */
export function codedSums(args: CodedArguments, row: u32, apart: u32, scratch: usize, c: usize): void {
  fourSums(true, args, row, apart, scratch, c)
}
