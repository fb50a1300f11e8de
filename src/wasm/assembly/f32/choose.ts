/** Takes each element from x where the condition, a byte, is not 0, else from z. All three are broadcast. */
@unmanaged
export class ChooseArguments {
  condition: usize
  x: usize
  z: usize
  y: usize
  /** Bytes of an element: 1, 2, 4 or 8. */
  width: u32
  inner: u32
  /** Bytes that an input moves by from element to element of a line: those of an element, or 0. */
  cInner: u32
  xInner: u32
  zInner: u32
  /** Outer loops, the innermost first; they follow: size, bytes that the inputs move by, four words each. */
  rank: u32
}

/** Computes lines `from … to - 1`; where there are no outer loops, elements `from … to - 1` of the one line. */
export function chooseLines(args: ChooseArguments, from: u32, to: u32): void {
  if (args.rank == 0) {
    const c = args.condition + from * args.cInner
    const x = args.x + from * args.xInner
    return chooseLine(args, c, x, args.z + from * args.zInner, args.y + from * args.width, to - from)
  }
  const inner = args.inner
  const bytes = inner * args.width
  const loops = changetype<usize>(args) + offsetof<ChooseArguments>()
  for (let i = from; i < to; i++) {
    let c = args.condition
    let x = args.x
    let z = args.z
    let rest = i
    for (let r: u32 = 0; r < args.rank; r++) {
      const loop = loops + (r << 4)
      const size = load<u32>(loop)
      const at = rest % size
      rest /= size
      c += at * load<u32>(loop, 4)
      x += at * load<u32>(loop, 8)
      z += at * load<u32>(loop, 12)
    }
    chooseLine(args, c, x, z, args.y + i * bytes, inner)
  }
}

function chooseLine(args: ChooseArguments, c: usize, x: usize, z: usize, y: usize, count: u32): void {
  switch (args.width) {
    case 1:
      return chooseBytes(args, c, x, z, y, count)
    case 2:
      return chooseElements<u16>(args, c, x, z, y, count)
    case 4:
      return chooseVectors(args, c, x, z, y, count)
    default:
      return chooseElements<u64>(args, c, x, z, y, count)
  }
}

// @ts-ignore: decorator
@inline
function chooseElements<T>(args: ChooseArguments, c: usize, x: usize, z: usize, y: usize, count: u32): void {
  const cInner = args.cInner
  const xInner = args.xInner
  const zInner = args.zInner
  const end = y + count * sizeof<T>()
  for (; y < end; y += sizeof<T>(), c += cInner, x += xInner, z += zInner) {
    store<T>(y, select<T>(load<T>(x), load<T>(z), load<u8>(c) != 0))
  }
}

/** {@link chooseElements} of one byte. */
function chooseBytes(args: ChooseArguments, c: usize, x: usize, z: usize, y: usize, count: u32): void {
  const cInner = args.cInner
  const xInner = args.xInner
  const zInner = args.zInner
  const vectors = count & ~15
  const end = y + vectors
  const zero = i8x16.splat(0)
  const flag = v128.load8_splat(c)
  const s = v128.load8_splat(x)
  const t = v128.load8_splat(z)
  for (; y < end; y += 16, c += cInner << 4, x += xInner << 4, z += zInner << 4) {
    const isOther = i8x16.eq(cInner != 0 ? v128.load(c) : flag, zero)
    v128.store(y, v128.bitselect(zInner != 0 ? v128.load(z) : t, xInner != 0 ? v128.load(x) : s, isOther))
  }
  chooseElements<u8>(args, c, x, z, y, count - vectors)
}

/** {@link chooseElements} of four bytes. */
function chooseVectors(args: ChooseArguments, c: usize, x: usize, z: usize, y: usize, count: u32): void {
  const cInner = args.cInner
  const xInner = args.xInner
  const zInner = args.zInner
  const vectors = count & ~3
  const end = y + (vectors << 2)
  const zero = i32x4.splat(0)
  const flag = i32x4.splat(load<u8>(c))
  const s = v128.load32_splat(x)
  const t = v128.load32_splat(z)
  for (; y < end; y += 16, c += cInner << 2, x += xInner << 2, z += zInner << 2) {
    const flags = cInner != 0 ? i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(c))) : flag
    const chosen = i32x4.ne(flags, zero)
    v128.store(y, v128.bitselect(xInner != 0 ? v128.load(x) : s, zInner != 0 ? v128.load(z) : t, chosen))
  }
  chooseElements<u32>(args, c, x, z, y, count - vectors)
}
