/** Determinants of square matrices of float32 or float64, in double precision. */
@unmanaged
export class DeterminantArguments {
  x: usize
  y: usize
  n: u32
  isWide: u32
}

/** @param scratch for a matrix of float64 */
export function determinants(args: DeterminantArguments, scratch: usize, from: u32, to: u32): void {
  const n = args.n
  const count = <usize>n * n
  for (; from < to; from++) {
    if (args.isWide) {
      memory.copy(scratch, args.x + ((from * count) << 3), count << 3)
      f64.store(args.y + (from << 3), eliminate(scratch, n))
      continue
    }
    const x = args.x + ((from * count) << 2)
    for (let i: usize = 0; i < count; i++) f64.store(scratch + (i << 3), <f64>f32.load(x + (i << 2)))
    f32.store(args.y + (from << 2), <f32>eliminate(scratch, n))
  }
}

/** Gaussian elimination with partial pivoting, in place; the same steps as those of the reference. */
function eliminate(matrix: usize, n: u32): f64 {
  const row = (<usize>n) << 3
  const end = matrix + n * row
  let determinant: f64 = 1
  let top = matrix
  for (let k: usize = 0; k < row; k += 8, top += row) {
    let pivot = top
    for (let p = top + row; p < end; p += row) if (abs<f64>(f64.load(p + k)) > abs<f64>(f64.load(pivot + k))) pivot = p
    const value = f64.load(pivot + k)
    if (value == 0) return 0
    determinant *= pivot == top ? value : -value
    if (pivot != top)
      for (let at = k; at < row; at += 8) {
        const held = f64.load(pivot + at)
        f64.store(pivot + at, f64.load(top + at))
        f64.store(top + at, held)
      }
    for (let p = top + row; p < end; p += row) {
      const factor = f64.load(p + k) / value
      if (factor == 0) continue
      const factors = f64x2.splat(factor)
      let at = k
      for (; at + 16 <= row; at += 16)
        v128.store(p + at, f64x2.sub(v128.load(p + at), f64x2.mul(factors, v128.load(top + at))))
      if (at < row) f64.store(p + at, f64.load(p + at) - factor * f64.load(top + at))
    }
  }
  return determinant
}
