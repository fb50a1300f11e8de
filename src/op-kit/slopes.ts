import type { Dim } from '../shapes/dim.ts'

/** How the slopes of PRelu belong to its input. */
export interface SlopeParams {
  /** The dim that a slope of rank 1 belongs to: dim 1, the last dim, or dim 1 if the sizes agree and else the last. */
  list: 'channels' | 'last' | 'either'
}

/** The dim of x that the slope's first dim belongs to; undefined while a size that decides it is unknown. */
export function slopeAxis(
  list: SlopeParams['list'],
  x: readonly Dim[] | undefined,
  slope: readonly Dim[] | undefined
): number | undefined {
  if (x === undefined || slope === undefined) return undefined
  if (list === 'last' || slope.length !== 1 || slope[0] === 1 || x.length < 2) return -1
  if (list === 'channels' || slope[0] === x[1]) return 1
  return typeof slope[0] === 'number' && typeof x[1] === 'number' ? -1 : undefined
}
