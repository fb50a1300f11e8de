/** Of a tile of F(4x4, 3x3), see ./winograd.ts. */
const POINTS: usize = 36

/**
 * Transforms weights [m][channels][3][3] into 36 matrices in strips, [36][ceil(m / 4)][channels][4]. Strips beyond m
 * are 0.
 */
export function winogradWeights(w: usize, m: u32, channels: u32, to: usize): void {
  const strips = (m + 3) >> 2
  const matrix = (<usize>strips * channels) << 4
  memory.fill(to, 0, POINTS * matrix)
  for (let o: u32 = 0; o < m; o++)
    for (let c: u32 = 0; c < channels; c++) {
      const g = w + <usize>(o * channels + c) * 36
      const out = to + ((<usize>(o >> 2) * channels + c) << 4) + ((o & 3) << 2)
      for (let i: usize = 0; i < 6; i++) {
        const a = rowOfG(i, f32.load(g), f32.load(g, 12), f32.load(g, 24))
        const b = rowOfG(i, f32.load(g, 4), f32.load(g, 16), f32.load(g, 28))
        const d = rowOfG(i, f32.load(g, 8), f32.load(g, 20), f32.load(g, 32))
        for (let j: usize = 0; j < 6; j++) f32.store(out + (i * 6 + j) * matrix, <f32>rowOfG(j, <f32>a, <f32>b, <f32>d))
      }
    }
}

function rowOfG(i: usize, a: f64, b: f64, c: f64): f64 {
  switch (<i32>i) {
    case 0:
      return a / 4
    case 1:
      return -(a + b + c) / 6
    case 2:
      return (b - a - c) / 6
    case 3:
      return a / 24 + b / 12 + c / 6
    case 4:
      return a / 24 - b / 12 + c / 6
    default:
      return c
  }
}
