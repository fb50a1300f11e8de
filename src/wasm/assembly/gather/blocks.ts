/** Blocks of more bytes are copied by `memory.copy`, which costs a call; shorter ones 16 bytes at a time. */
const LONG: usize = 512
/**
 * Blocks that are touched before they are copied, so that the processor waits for their cache misses at once; done for
 * blocks of more than `MIN_TOUCHED` bytes.
 */
const AHEAD: i32 = 16
const MIN_TOUCHED: usize = 128
/** Bytes of far blocks that are touched at once, line by line; they stay in the second cache. */
const MAX_TOUCHED: usize = 48 << 10

/**
 * Copies the blocks of `width` bytes at `positions` (32 bits each) of `data` to `out`, one after the other.
 * @param holes whether positions may be -1, which gives zeros
 * @param far see GatherArguments
 */
export function copyBlocks(
  data: usize,
  positions: usize,
  count: i32,
  out: usize,
  width: usize,
  holes: bool,
  far: bool
): void {
  if (holes) return copyWithHoles(data, positions, count, out, width, far)
  if (width == 4) return copyUnits<u32>(data, positions, count, out)
  if (width == 8) return copyUnits<u64>(data, positions, count, out)
  if (width == 16) return copyUnits<v128>(data, positions, count, out)
  if (width == 2) return copyUnits<u16>(data, positions, count, out)
  if (width == 1) return copyUnits<u8>(data, positions, count, out)
  if (width == 64) return copyFixed(data, positions, count, out, 64)
  if (width == 128) return copyFixed(data, positions, count, out, 128)
  if (width == 32) return copyFixed(data, positions, count, out, 32)
  if (width > MIN_TOUCHED) return copyAhead(data, positions, count, out, width, far)
  if (width > 16) return copyShort(data, positions, count, out, width)
  return copyTiny(data, positions, count, out, width)
}

/**
 * Copies the blocks of 1, 2, 4, 8 or 16 bytes at `count` positions (32 bits each) of each of some slices of `data`,
 * which lie `sliceBytes` apart, to `out`, one after the other: a column of all slices after the other.
 * @returns false, with nothing copied, where the blocks are of another width
 */
export function copyColumns(
  data: usize,
  sliceBytes: usize,
  positions: usize,
  count: u32,
  slices: u32,
  out: usize,
  width: usize
): bool {
  if (width > 16 || (width & (width - 1)) != 0) return false
  const step = <usize>count * width
  for (let i: u32 = 0; i < count; i++) {
    const from = data + <usize>load<u32>(positions) * width
    if (width == 4) copyColumn<u32>(from, sliceBytes, slices, out, step)
    else if (width == 8) copyColumn<u64>(from, sliceBytes, slices, out, step)
    else if (width == 1) copyColumn<u8>(from, sliceBytes, slices, out, step)
    else if (width == 2) copyColumn<u16>(from, sliceBytes, slices, out, step)
    else copyColumn<v128>(from, sliceBytes, slices, out, step)
    positions += 4
    out += width
  }
  return true
}

function copyColumn<T>(from: usize, fromStep: usize, count: u32, out: usize, outStep: usize): void {
  for (let i = count >> 2; i > 0; i--) {
    store<T>(out, load<T>(from))
    store<T>(out + outStep, load<T>(from + fromStep))
    store<T>(out + 2 * outStep, load<T>(from + 2 * fromStep))
    store<T>(out + 3 * outStep, load<T>(from + 3 * fromStep))
    from += 4 * fromStep
    out += 4 * outStep
  }
  for (let i = count & 3; i > 0; i--) {
    store<T>(out, load<T>(from))
    from += fromStep
    out += outStep
  }
}

function copyWithHoles(data: usize, positions: usize, count: i32, out: usize, width: usize, far: bool): void {
  for (let i = 0; i < count; i++) {
    if (load<i32>(positions) < 0) memory.fill(out, 0, width)
    else copyBlocks(data, positions, 1, out, width, false, far)
    positions += 4
    out += width
  }
}

function copyUnits<T>(data: usize, positions: usize, count: i32, out: usize): void {
  const end = positions + ((<usize>(count & ~3)) << 2)
  while (positions < end) {
    const a = load<T>(data + <usize>load<u32>(positions) * sizeof<T>())
    const b = load<T>(data + <usize>load<u32>(positions, 4) * sizeof<T>())
    const c = load<T>(data + <usize>load<u32>(positions, 8) * sizeof<T>())
    const d = load<T>(data + <usize>load<u32>(positions, 12) * sizeof<T>())
    store<T>(out, a)
    store<T>(out, b, sizeof<T>())
    store<T>(out, c, 2 * sizeof<T>())
    store<T>(out, d, 3 * sizeof<T>())
    positions += 16
    out += 4 * sizeof<T>()
  }
  for (let i = count & 3; i > 0; i--) {
    store<T>(out, load<T>(data + <usize>load<u32>(positions) * sizeof<T>()))
    positions += 4
    out += sizeof<T>()
  }
}

/**
 * Copies blocks of 32, 64 or 128 bytes. Inlined with a constant width: the fewer instructions a block takes, the more
 * cache misses the processor waits for at once.
 */
// @ts-ignore: decorator
@inline
function copyFixed(data: usize, positions: usize, count: i32, out: usize, width: usize): void {
  for (; count > 0; count--) {
    const from = data + <usize>load<u32>(positions) * width
    copyHalfLine(from, out)
    if (width >= 64) copyHalfLine(from + 32, out + 32)
    if (width == 128) {
      copyHalfLine(from + 64, out + 64)
      copyHalfLine(from + 96, out + 96)
    }
    positions += 4
    out += width
  }
}

// @ts-ignore: decorator
@inline
function copyHalfLine(from: usize, to: usize): void {
  const a = v128.load(from)
  const b = v128.load(from, 16)
  v128.store(to, a)
  v128.store(to, b, 16)
}

/** @param far see GatherArguments */
function copyAhead(data: usize, positions: usize, count: i32, out: usize, width: usize, far: bool): void {
  const most = far ? <i32>min<usize>(<usize>AHEAD, max<usize>(1, MAX_TOUCHED / width)) : AHEAD
  for (; count > 0; count -= most) {
    const few = min(count, most)
    if (far) touchWhole(data, positions, few, width)
    else touch(data, positions, few, width)
    if (width > LONG) copyLong(data, positions, few, out, width)
    else copyShort(data, positions, few, out, width)
    positions += (<usize>most) << 2
    out += <usize>most * width
  }
}

/** Reads the first byte of each block, and the last byte of long ones, which often lies in another page. */
function touch(data: usize, positions: usize, count: i32, width: usize): void {
  for (; count > 0; count--) {
    const from = data + <usize>load<u32>(positions) * width
    // The compiler keeps loads whose results are not used, since a load may trap.
    load<u8>(from)
    if (width > LONG) load<u8>(from + width - 1)
    positions += 4
  }
}

/** Reads a byte of each cache line of the blocks. */
function touchWhole(data: usize, positions: usize, count: i32, width: usize): void {
  for (; count > 0; count--) {
    touchLines(data + <usize>load<u32>(positions) * width, min(width, MAX_TOUCHED))
    positions += 4
  }
}

/** Reads a byte of each cache line of `bytes` bytes, four a turn: one a turn takes 1.1 of the time of such gathers. */
function touchLines(at: usize, bytes: usize): void {
  const end = at + bytes
  for (const stop = at + (bytes & ~255); at < stop; at += 256) {
    load<u8>(at)
    load<u8>(at, 64)
    load<u8>(at, 128)
    load<u8>(at, 192)
  }
  for (; at < end; at += 64) load<u8>(at)
}

function copyLong(data: usize, positions: usize, count: i32, out: usize, width: usize): void {
  for (let i = 0; i < count; i++) {
    memory.copy(out, data + <usize>load<u32>(positions) * width, width)
    positions += 4
    out += width
  }
}

/** Copies blocks of 17 bytes and more, 16 at a time; the last 16 bytes overlap those before. */
function copyShort(data: usize, positions: usize, count: i32, out: usize, width: usize): void {
  const last = width - 16
  for (let i = 0; i < count; i++) {
    const from = data + <usize>load<u32>(positions) * width
    let at: usize = 0
    for (; at + 32 < last; at += 32) {
      const a = v128.load(from + at)
      const b = v128.load(from + at, 16)
      v128.store(out + at, a)
      v128.store(out + at, b, 16)
    }
    for (; at < last; at += 16) v128.store(out + at, v128.load(from + at))
    v128.store(out + last, v128.load(from + last))
    positions += 4
    out += width
  }
}

/** Copies blocks of 3 to 15 bytes: the first and the last bytes, which overlap. */
function copyTiny(data: usize, positions: usize, count: i32, out: usize, width: usize): void {
  for (let i = 0; i < count; i++) {
    const from = data + <usize>load<u32>(positions) * width
    if (width > 8) copyEnds<u64>(from, out, width)
    else if (width > 4) copyEnds<u32>(from, out, width)
    else copyEnds<u16>(from, out, width)
    positions += 4
    out += width
  }
}

// @ts-ignore: decorator
@inline
function copyEnds<T>(from: usize, to: usize, width: usize): void {
  const first = load<T>(from)
  const last = load<T>(from + width - sizeof<T>())
  store<T>(to, first)
  store<T>(to + width - sizeof<T>(), last)
}
