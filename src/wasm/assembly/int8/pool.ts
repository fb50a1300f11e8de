/** The highest byte of each window, over two spatial axes. */
@unmanaged
export class BytePoolArguments {
  x: usize
  y: usize
  isSigned: u32
  inH: i32
  inW: i32
  kH: i32
  kW: i32
  sH: i32
  sW: i32
  dH: i32
  dW: i32
  pH: i32
  pW: i32
  outH: i32
  outW: i32
}

/**
 * Planes `from … to - 1`. Lines with their padding lie in scratch memory in as many parts as the stride says, so that
 * what one tap reads for successive windows lies side by side.
 */
export function byteMaxPlanes(args: BytePoolArguments, scratch: usize, from: u32, to: u32): void {
  // Before the plane there is room for a vector.
  const padded = scratch + 16
  const lowest: u8 = args.isSigned ? 128 : 0
  const part = (args.outW + ((args.kW - 1) * args.dW) / args.sW + 32) & ~15
  const lineBytes = part * args.sW
  const lines = (args.outH - 1) * args.sH + (args.kH - 1) * args.dH + 1
  const width = part * args.sW
  memory.fill(padded, lowest, <usize>(lineBytes * lines))
  for (let plane = from; plane < to; plane++) {
    const x = args.x + <usize>plane * (args.inH * args.inW)
    for (let line = max(0, args.pH); line < min(lines, args.inH + args.pH); line++) {
      const at = x + (line - args.pH) * args.inW
      const target = padded + line * lineBytes
      splitLine(at, min(args.inW, width - args.pW), args.pW, args.sW, part, target)
    }
    poolPlane(args, padded, lineBytes, part, args.y + <usize>plane * (args.outH * args.outW))
  }
}

/** Deals `n` bytes out to as many parts of a line as the stride says; the first belongs to position `place`. */
function splitLine(x: usize, n: i32, place: i32, step: i32, part: i32, to: usize): void {
  if (step == 1) {
    if (n > 0) memory.copy(to + place, x, n)
    return
  }
  let phase = place % step
  let at = to + place / step
  for (const end = x + max(0, n); x < end;) {
    if (step == 2 && phase == 0 && x + 16 <= end) {
      const bytes = v128.load(x)
      const parted = i8x16.shuffle(bytes, bytes, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)
      v128.store64_lane(at, parted, 0)
      v128.store64_lane(at + part, parted, 1)
      x += 16
      at += 8
    } else {
      store<u8>(at + phase * part, load<u8>(x++))
      if (++phase == step) {
        phase = 0
        at++
      }
    }
  }
}

function poolPlane(args: BytePoolArguments, plane: usize, lineBytes: i32, part: i32, y: usize): void {
  const isSigned = args.isSigned != 0
  for (let line = 0; line < args.outH; line++, y += args.outW) {
    const first = plane + line * args.sH * lineBytes
    for (let column = 0; column < args.outW; column += 16) {
      let highest = i8x16.splat(isSigned ? -128 : 0)
      for (let i = 0; i < args.kH; i++)
        for (let j = 0; j < args.kW; j++) {
          const tap = j * args.dW
          const at = first + i * args.dH * lineBytes + (tap % args.sW) * part + tap / args.sW + column
          const codes = v128.load(at)
          highest = isSigned ? i8x16.max_s(highest, codes) : i8x16.max_u(highest, codes)
        }
      if (column + 16 <= args.outW) v128.store(y + column, highest)
      else {
        v128.store(plane - 16, highest)
        memory.copy(y + column, plane - 16, args.outW - column)
      }
    }
  }
}
