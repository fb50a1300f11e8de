import { loadApart, splat } from './simd'

/**
 * Adds a mask to the scores [count][8] of a panel, or hides keys by it.
 * @param kind as AttentionArguments has it
 * @param row,key steps of the mask in bytes
 * @param score of keys that are hidden
 * @param lanes queries of the panel
 */
export function maskPanel(
  kind: u32,
  mask: usize,
  row: usize,
  key: usize,
  score: f32,
  s: usize,
  count: u32,
  lanes: u32
): void {
  if (kind == 0) return
  const isAdded = kind == 1
  const hides = kind == 3
  if (row == 0) {
    if (isAdded) addToAll(mask, key, s, count)
    else hideFromAll(mask, key, hides, score, s, count)
    return
  }
  const isDense = key == (isAdded ? 4 : 1)
  for (let lane: u32 = 0; lane < lanes; lane += 4, mask += row << 2, s += 16) {
    const left = min<u32>(4, lanes - lane)
    const whole = isDense && left == 4 ? count & ~3 : 0
    if (whole != 0) {
      if (isAdded) addTiles(mask, row, s, whole)
      else hideTiles(mask, row, hides, score, s, whole)
    }
    for (let i: usize = 0; i < <usize>left; i++) {
      let from = mask + i * row + <usize>whole * key
      let at = s + (i << 2) + ((<usize>whole) << 5)
      for (const end = s + (i << 2) + ((<usize>count) << 5); at < end; at += 32, from += key) {
        if (isAdded) f32.store(at, f32.load(at) + f32.load(from))
        else if ((load<u8>(from) != 0) == hides) f32.store(at, score)
      }
    }
  }
}

/** One row of numbers for all queries. */
function addToAll(mask: usize, key: usize, s: usize, count: u32): void {
  for (const end = s + ((<usize>count) << 5); s < end; s += 32, mask += key) {
    const value = v128.load32_splat(mask)
    v128.store(s, f32x4.add(v128.load(s), value))
    v128.store(s, f32x4.add(v128.load(s, 16), value), 16)
  }
}

/** One row of bytes for all queries. */
function hideFromAll(mask: usize, key: usize, hides: bool, score: f32, s: usize, count: u32): void {
  const hidden = splat(score)
  for (const end = s + ((<usize>count) << 5); s < end; s += 32, mask += key) {
    if ((load<u8>(mask) != 0) != hides) continue
    v128.store(s, hidden)
    v128.store(s, hidden, 16)
  }
}

/** Rows of numbers for four queries, four keys at a time. */
function addTiles(mask: usize, row: usize, s: usize, count: u32): void {
  for (const end = s + ((<usize>count) << 5); s < end; s += 128, mask += 16) {
    const a = v128.load(mask)
    const b = v128.load(mask + row)
    const c = v128.load(mask + 2 * row)
    const d = v128.load(mask + 3 * row)
    const ab0 = i32x4.shuffle(a, b, 0, 4, 1, 5)
    const ab1 = i32x4.shuffle(a, b, 2, 6, 3, 7)
    const cd0 = i32x4.shuffle(c, d, 0, 4, 1, 5)
    const cd1 = i32x4.shuffle(c, d, 2, 6, 3, 7)
    v128.store(s, f32x4.add(v128.load(s), i64x2.shuffle(ab0, cd0, 0, 2)))
    v128.store(s, f32x4.add(v128.load(s, 32), i64x2.shuffle(ab0, cd0, 1, 3)), 32)
    v128.store(s, f32x4.add(v128.load(s, 64), i64x2.shuffle(ab1, cd1, 0, 2)), 64)
    v128.store(s, f32x4.add(v128.load(s, 96), i64x2.shuffle(ab1, cd1, 1, 3)), 96)
  }
}

/** Rows of bytes for four queries, four keys at a time. */
function hideTiles(mask: usize, row: usize, hides: bool, score: f32, s: usize, count: u32): void {
  const hidden = splat(score)
  const zero = splat(0)
  for (const end = s + ((<usize>count) << 5); s < end; s += 128, mask += 4) {
    let v = loadApart(mask, row)
    // All bits of a byte where the key is hidden from the query.
    v = hides ? i8x16.ne(v, zero) : i8x16.eq(v, zero)
    if (!v128.any_true(v)) continue
    // The byte of each key in turn becomes the highest one, whose sign fills the lane.
    v128.store(s, v128.bitselect(hidden, v128.load(s), i32x4.shr_s(i32x4.shl(v, 24), 31)))
    v128.store(s, v128.bitselect(hidden, v128.load(s, 32), i32x4.shr_s(i32x4.shl(v, 16), 31)), 32)
    v128.store(s, v128.bitselect(hidden, v128.load(s, 64), i32x4.shr_s(i32x4.shl(v, 8), 31)), 64)
    v128.store(s, v128.bitselect(hidden, v128.load(s, 96), i32x4.shr_s(v, 31)), 96)
  }
}
