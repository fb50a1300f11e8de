import { Tensor } from '../../src/tensor/tensor.ts'
import { noise } from './compare.ts'

/** A mask that is added to scores, and hides some keys by -Infinity. */
export const mask = (dims: readonly number[], seed: number): Tensor => {
  const values = noise(dims, seed, 4).data.map(value => (value > 2 ? -Infinity : value))
  return new Tensor('float32', values, dims)
}

/** A mask that says which keys are seen. */
export const visible = (dims: readonly number[], seed: number): Tensor =>
  new Tensor(
    'bool',
    Uint8Array.from(noise(dims, seed).data, value => Number(value > -0.3)),
    dims
  )
