import { transpose4 } from '../transpose4'
import { exponential } from './exponential'
import { loadSome, splat, storeSome } from './simd'

/**
 * Writes the scores [count][8] of a panel as rows.
 * @param step bytes from row to row
 * @param lanes queries of the panel
 */
export function showPanel(s: usize, count: u32, to: usize, step: usize, lanes: u32): void {
  const end = s + ((<usize>count) << 5)
  for (let lane: u32 = 0; lane < lanes; lane += 4, s += 16, to += step << 2) {
    const left = min<u32>(4, lanes - lane)
    let at = s
    let y = to
    if (left == 4) for (; at + 128 <= end; at += 128, y += 16) transpose4(at, 32, y, step)
    for (; at < end; at += 32, y += 4)
      for (let j: usize = 0; j < left; j++) f32.store(y + j * step, f32.load(at + (j << 2)))
  }
}

/** Makes weights of a row of scores in place: e^(score - highest) / sum, and 0 where there is no sum. */
export function weighShown(row: usize, keys: u32, highest: f32, sum: f32): void {
  const base = splat(highest == -Infinity ? 0 : highest)
  const factor = splat(sum == 0 ? 0 : 1 / sum)
  const bytes = (<usize>keys) << 2
  const whole = bytes & ~15
  for (let at: usize = 0; at < bytes;) {
    const isWhole = at < whole
    const weight = exponential(f32x4.sub(loadSome(row + at, isWhole), base))
    at += storeSome(row + at, f32x4.mul(weight, factor), isWhole)
  }
}
