import { stridesOf } from '../../tensor/tensor.ts'
import type { Loop } from './copy-strided.ts'

/** How blocks of space become channels, or channels blocks of space. */
export interface BlockParams {
  /** Elements of a side of a block. */
  block: number
  /** Whether the block is the outer or the inner part of the depth. */
  order: 'blocks-first' | 'depth-first'
}

/** Loops that copy from the tensor with the depth (`deep`) to the one with the space (`wide`). */
export function blockLoops(deep: readonly number[], wide: readonly number[], { block, order }: BlockParams): Loop[] {
  const from = stridesOf(deep)
  const to = stridesOf(wide)
  const spatial = deep.length - 2
  const blocksFirst = order === 'blocks-first'
  const channelStep = (blocksFirst ? 1 : block ** spatial) * from[1]
  const blockStep = (blocksFirst ? wide[1] : 1) * from[1]
  return [
    { count: wide[0], from: from[0], to: to[0] },
    { count: wide[1], from: channelStep, to: to[1] },
    ...deep.slice(2).flatMap((dim, i): Loop[] => [
      { count: dim, from: from[i + 2], to: block * to[i + 2] },
      { count: block, from: blockStep * block ** (spatial - 1 - i), to: to[i + 2] }
    ])
  ]
}
