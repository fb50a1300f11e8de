/** Discrete Fourier transforms of lines of real or complex numbers, four lines at once. */
@unmanaged
export class FourierArguments {
  x: usize
  /** A factor for each element of a line. */
  window: usize
  /** exp(-2πi k/n) for k from 0 to n - 1: real and imaginary parts in turn. */
  roots: usize
  y: usize
  /** Points of a transform. */
  n: u32
  lines: u32
  /** Lines of a group, and what lines of a group, groups, and elements of a line are apart by, in bytes. */
  group: u32
  xLine: u32
  xGroup: u32
  xStep: u32
  yLine: u32
  yGroup: u32
  yStep: u32
  /** Elements that a line of x has; further ones are 0. */
  given: u32
  /** Elements of the transform that are stored. */
  kept: u32
  /** Sum of the flags below. */
  flags: u32
  scale: f32
  /** How many factors of n follow. */
  factors: u32
}

const COMPLEX_X: u32 = 1
const COMPLEX_Y: u32 = 2
const WINDOW: u32 = 4
/** Elements after the first half of x are the conjugates of those before it. */
const MIRROR: u32 = 8
/** The transform of numbers whose parts are exchanged is the inverse one, with its parts exchanged, times n. */
const INVERSE: u32 = 16

/** Bytes of a complex number of four lines: the real parts, and the imaginary ones. */
const WIDTH: usize = 32

/** Transforms lines `4 from … 4 to - 1`. */
export function fourier(args: FourierArguments, scratch: usize, from: u32, to: u32): void {
  const factors = changetype<usize>(args) + offsetof<FourierArguments>()
  const spare = scratch + args.n * WIDTH
  for (let block = from; block < to; block++) {
    let at = scratch
    let other = spare
    readLines(args, block << 2, at)
    for (let i: u32 = 0, done: u32 = 1; i < args.factors; i++) {
      const factor = load<u32>(factors + (i << 2))
      if (factor == 4) stageOf4(args, at, other, done)
      else if (factor == 2) stageOf2(args, at, other, done)
      else stageOfAny(args, at, other, done, factor)
      done *= factor
      const last = at
      at = other
      other = last
    }
    writeLines(args, block << 2, at)
  }
}

/** Address of a line, the last one where there are fewer. */
// @ts-ignore: decorator
@inline
function lineOf(args: FourierArguments, start: usize, line: u32, perLine: u32, perGroup: u32): usize {
  const own = min(line, args.lines - 1)
  return start + (own / args.group) * perGroup + (own % args.group) * perLine
}

function readLines(args: FourierArguments, first: u32, to: usize): void {
  const a = lineOf(args, args.x, first, args.xLine, args.xGroup)
  const b = lineOf(args, args.x, first + 1, args.xLine, args.xGroup)
  const c = lineOf(args, args.x, first + 2, args.xLine, args.xGroup)
  const d = lineOf(args, args.x, first + 3, args.xLine, args.xGroup)
  const isInverse = (args.flags & INVERSE) != 0
  const re = to + (isInverse ? 16 : 0)
  const im = to + (isInverse ? 0 : 16)
  const end = args.n * WIDTH
  let at: usize = 0
  let step: usize = 0
  for (let i: u32 = 0; i < args.given; i++) {
    v128.store(re + at, load4(a + step, b + step, c + step, d + step))
    if ((args.flags & COMPLEX_X) != 0) {
      const odd = step + 4
      v128.store(im + at, load4(a + odd, b + odd, c + odd, d + odd))
    } else v128.store(im + at, f32x4.splat(0))
    at += WIDTH
    step += args.xStep
  }
  if ((args.flags & MIRROR) != 0) mirror(args, re, im, at)
  else
    for (; at < end; at += WIDTH) {
      v128.store(re + at, f32x4.splat(0))
      v128.store(im + at, f32x4.splat(0))
    }
  if ((args.flags & WINDOW) == 0) return
  let factor = args.window
  for (at = to; at < to + end; at += WIDTH) {
    const w = v128.load32_splat(factor)
    v128.store(at, f32x4.mul(v128.load(at), w))
    v128.store(at, f32x4.mul(v128.load(at, 16), w), 16)
    factor += 4
  }
}

// @ts-ignore: decorator
@inline
function load4(a: usize, b: usize, c: usize, d: usize): v128 {
  return v128.load32_lane(d, v128.load32_lane(c, v128.load32_lane(b, v128.load32_zero(a), 1), 2), 3)
}

/** Completes lines whose first half is given up to `at` by its mirror image, so that their transforms are real. */
function mirror(args: FourierArguments, re: usize, im: usize, at: usize): void {
  const zero = f32x4.splat(0)
  const end = args.n * WIDTH
  const half = ((args.n >> 1) + 1) * WIDTH
  for (; at < half; at += WIDTH) {
    v128.store(re + at, zero)
    v128.store(im + at, zero)
  }
  for (at = half; at < end; at += WIDTH) {
    v128.store(re + at, v128.load(re + end - at))
    v128.store(im + at, f32x4.neg(v128.load(im + end - at)))
  }
  // Elements without a mirror image are real.
  v128.store(im, zero)
  if ((args.n & 1) == 0) v128.store(im + (args.n >> 1) * WIDTH, zero)
}

function writeLines(args: FourierArguments, first: u32, from: usize): void {
  const count = args.lines - first
  const a = lineOf(args, args.y, first, args.yLine, args.yGroup)
  const b = lineOf(args, args.y, first + 1, args.yLine, args.yGroup)
  const c = lineOf(args, args.y, first + 2, args.yLine, args.yGroup)
  const d = lineOf(args, args.y, first + 3, args.yLine, args.yGroup)
  const isInverse = (args.flags & INVERSE) != 0
  const isComplex = (args.flags & COMPLEX_Y) != 0
  const scale = f32x4.splat(args.scale)
  let step: usize = 0
  const end = from + args.kept * WIDTH
  for (let at = from; at < end; at += WIDTH) {
    const re = f32x4.mul(v128.load(at + (isInverse ? 16 : 0)), scale)
    store4(re, a + step, b + step, c + step, d + step, count)
    if (isComplex) {
      const odd = step + 4
      const im = f32x4.mul(v128.load(at + (isInverse ? 0 : 16)), scale)
      store4(im, a + odd, b + odd, c + odd, d + odd, count)
    }
    step += args.yStep
  }
}

// @ts-ignore: decorator
@inline
function store4(v: v128, a: usize, b: usize, c: usize, d: usize, count: u32): void {
  v128.store32_lane(a, v, 0)
  if (count > 1) v128.store32_lane(b, v, 1)
  if (count > 2) v128.store32_lane(c, v, 2)
  if (count > 3) v128.store32_lane(d, v, 3)
}

/*
 * Stages of the mixed-radix algorithm of Stockham, as in ../../../kernels/signal/mixed-radix.ts. `done` is the product
 * of the factors before the stage.
 */

function stageOf2(args: FourierArguments, from: usize, to: usize, done: u32): void {
  const rest = args.n / (2 * done)
  const apart = rest * WIDTH
  const step = done * rest * WIDTH
  let x = from
  let y = to
  for (let k: u32 = 0; k < done; k++) {
    const root = args.roots + ((k * rest) << 3)
    const wr = v128.load32_splat(root)
    const wi = v128.load32_splat(root, 4)
    for (const end = y + apart; y < end; y += WIDTH) {
      const br = v128.load(x + apart)
      const bi = v128.load(x + apart, 16)
      const tr = f32x4.sub(f32x4.mul(br, wr), f32x4.mul(bi, wi))
      const ti = f32x4.add(f32x4.mul(br, wi), f32x4.mul(bi, wr))
      const ar = v128.load(x)
      const ai = v128.load(x, 16)
      v128.store(y, f32x4.add(ar, tr))
      v128.store(y, f32x4.add(ai, ti), 16)
      v128.store(y + step, f32x4.sub(ar, tr))
      v128.store(y + step, f32x4.sub(ai, ti), 16)
      x += WIDTH
    }
    x += apart
  }
}

function stageOf4(args: FourierArguments, from: usize, to: usize, done: u32): void {
  const rest = args.n / (4 * done)
  const apart = rest * WIDTH
  const step = done * rest * WIDTH
  let x = from
  let y = to
  for (let k: u32 = 0; k < done; k++) {
    const first = args.roots + ((k * rest) << 3)
    const second = args.roots + ((2 * k * rest) << 3)
    const third = args.roots + ((3 * k * rest) << 3)
    const w1r = v128.load32_splat(first)
    const w1i = v128.load32_splat(first, 4)
    const w2r = v128.load32_splat(second)
    const w2i = v128.load32_splat(second, 4)
    const w3r = v128.load32_splat(third)
    const w3i = v128.load32_splat(third, 4)
    for (const end = y + apart; y < end; y += WIDTH) {
      const xb = x + apart
      const xc = xb + apart
      const xd = xc + apart
      const ar = v128.load(x)
      const ai = v128.load(x, 16)
      const b0 = v128.load(xb)
      const b1 = v128.load(xb, 16)
      const c0 = v128.load(xc)
      const c1 = v128.load(xc, 16)
      const d0 = v128.load(xd)
      const d1 = v128.load(xd, 16)
      const br = f32x4.sub(f32x4.mul(b0, w1r), f32x4.mul(b1, w1i))
      const bi = f32x4.add(f32x4.mul(b0, w1i), f32x4.mul(b1, w1r))
      const cr = f32x4.sub(f32x4.mul(c0, w2r), f32x4.mul(c1, w2i))
      const ci = f32x4.add(f32x4.mul(c0, w2i), f32x4.mul(c1, w2r))
      const dr = f32x4.sub(f32x4.mul(d0, w3r), f32x4.mul(d1, w3i))
      const di = f32x4.add(f32x4.mul(d0, w3i), f32x4.mul(d1, w3r))
      const sumR = f32x4.add(ar, cr)
      const sumI = f32x4.add(ai, ci)
      const gapR = f32x4.sub(ar, cr)
      const gapI = f32x4.sub(ai, ci)
      const oddR = f32x4.add(br, dr)
      const oddI = f32x4.add(bi, di)
      const turnR = f32x4.sub(bi, di)
      const turnI = f32x4.sub(dr, br)
      const y1 = y + step
      const y2 = y1 + step
      const y3 = y2 + step
      v128.store(y, f32x4.add(sumR, oddR))
      v128.store(y, f32x4.add(sumI, oddI), 16)
      v128.store(y1, f32x4.add(gapR, turnR))
      v128.store(y1, f32x4.add(gapI, turnI), 16)
      v128.store(y2, f32x4.sub(sumR, oddR))
      v128.store(y2, f32x4.sub(sumI, oddI), 16)
      v128.store(y3, f32x4.sub(gapR, turnR))
      v128.store(y3, f32x4.sub(gapI, turnI), 16)
      x += WIDTH
    }
    x += 3 * apart
  }
}

/** Each element is a sum of `factor` terms. */
function stageOfAny(args: FourierArguments, from: usize, to: usize, done: u32, factor: u32): void {
  const n = args.n
  const rest = n / (factor * done)
  const apart = rest * WIDTH
  let y = to
  for (let c: u32 = 0; c < factor; c++) {
    for (let k: u32 = 0; k < done; k++) {
      // For element k + done * c of the longer transform, term q is multiplied by root q * turn.
      const turn = (k + done * c) * rest
      let x = from + k * factor * apart
      for (const end = y + apart; y < end; y += WIDTH) {
        let re = v128.load(x)
        let im = v128.load(x, 16)
        let term = x
        for (let q: u32 = 1, w = turn; q < factor; q++) {
          term += apart
          const root = args.roots + (w << 3)
          const wr = v128.load32_splat(root)
          const wi = v128.load32_splat(root, 4)
          const r = v128.load(term)
          const i = v128.load(term, 16)
          re = f32x4.add(re, f32x4.sub(f32x4.mul(r, wr), f32x4.mul(i, wi)))
          im = f32x4.add(im, f32x4.add(f32x4.mul(r, wi), f32x4.mul(i, wr)))
          w += turn
          if (w >= n) w -= n
        }
        v128.store(y, re)
        v128.store(y, im, 16)
        x += WIDTH
      }
    }
  }
}
