import { type Numbers, toNumbers } from '../../tensor/elements.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { COST, Pace } from '../core/pace.ts'

/**
 * What the codes of weights of gates stand for, `(code - zero point) * scale`.
 * @param codes `[directions, inputs, gates]`; scales and zero points are those of directions, or of all their gates
 * @returns `[directions, gates, inputs]`
 */
export function* dequantizedWeights<T extends 'float32' | 'float64'>(
  codes: Tensor,
  scale: Tensor,
  zero: Tensor,
  type: T
): Generator<void, Tensor<T>> {
  const [directions, inputs, gates] = codes.dims
  const out = allocate(type, [directions, gates, inputs])
  if (out.data.length === 0) return out
  const [values, scales, zeros] = [codes, scale, zero].map(toNumbers)
  const at = (list: Numbers, direction: number, gate: number): number =>
    list[list.length === directions ? direction : direction * gates + gate]
  const pace = new Pace()
  for (let d = 0, row = 0; d < directions; d++) {
    for (let g = 0; g < gates; g++, row++) {
      const [point, factor] = [at(zeros, d, g), at(scales, d, g)]
      for (let i = 0, from = d * inputs * gates + g; i < inputs; i++, from += gates)
        out.data[row * inputs + i] = (values[from] - point) * factor
      if (pace.isDue((inputs + 1) * COST.element)) yield
    }
  }
  return out
}
