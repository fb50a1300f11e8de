import type { Numbers } from '../../tensor/elements.ts'
import { product } from '../../tensor/tensor.ts'
import { doubles } from '../core/numbers.ts'
import { applyToGroups, momentsOf } from './normalize.ts'

/** How channels lie that are normalized in groups. */
export interface GroupedChannels {
  readonly batch: number
  readonly channels: number
  readonly groups: number
  /** Elements of a channel of an instance. */
  readonly size: number
  /** Whether the elements of a position lie side by side, instead of those of a channel. */
  readonly channelsLast: boolean
}

/** Where the channels are in data of rank 4, and how many elements each has. */
export function channelsOf(
  [batch, ...rest]: readonly number[],
  channelsLast: boolean
): Omit<GroupedChannels, 'groups'> {
  const [channels] = channelsLast ? rest.slice(-1) : rest
  return { batch, channels, size: channelsLast ? product(rest, 0, 2) : product(rest, 1), channelsLast }
}

/** The dims with which `[batch, channels]` or `[channels]` broadcast to data of rank 4; those of rank 4 stay. */
export function alignedDims(dims: readonly number[], channelsLast: boolean): readonly number[] {
  if (dims.length === 4) return dims
  const batch = dims.length === 2 ? dims[0] : 1
  const channels = dims[dims.length - 1]
  return channelsLast ? [batch, 1, 1, channels] : [batch, channels, 1, 1]
}

/** What a group is scaled by and shifted by afterwards. */
export interface GroupedFactors {
  readonly scale: Numbers
  readonly shift: Numbers
  /** Whether there is one of each for a group or for a channel. */
  readonly per: 'group' | 'channel'
}

/** Normalizes each group of channels of each instance to mean 0 and variance 1, then scales and shifts it. */
export function* normalizeGroups(
  x: Numbers,
  { batch, channels, groups, size, channelsLast }: GroupedChannels,
  { scale, shift, per }: GroupedFactors,
  epsilon: number,
  out: Numbers
): Generator<void> {
  const inGroup = channels / groups
  const { mean, variance } = channelsLast
    ? yield* momentsOf(x, [batch, size, groups, inGroup], [1, 3])
    : yield* momentsOf(x, [batch, groups, inGroup * size], [2])
  const count = batch * channels
  const affine = { shift: doubles(count), scale: doubles(count), offset: doubles(count) }
  for (let i = 0; i < count; i++) {
    const group = Math.floor(i / inGroup)
    const entry = per === 'channel' ? i % channels : group % groups
    affine.shift[i] = mean[group]
    affine.scale[i] = scale[entry] / Math.sqrt(variance[group] + epsilon)
    affine.offset[i] = shift[entry]
  }
  if (channelsLast) yield* applyToGroups(x, [batch, size, channels], [1], affine, out)
  else yield* applyToGroups(x, [count, size], [1], affine, out)
}
