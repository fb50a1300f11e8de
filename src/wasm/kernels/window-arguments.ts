import { ALONE, type WindowAxis } from '../../shapes/window.ts'

/** What kernels want to know of the windows along axes: each number of all axes, one after the other. */
export const windowArguments = (axes: readonly WindowAxis[]): number[] =>
  (['size', 'kernel', 'stride', 'dilation', 'begin', 'count'] as const).flatMap(name => axes.map(axis => axis[name]))

/** Up to three axes as three: what is missing comes before the others. */
export function threeAxes(axes: readonly WindowAxis[]): readonly [WindowAxis, WindowAxis, WindowAxis] {
  const [w = ALONE, h = ALONE, d = ALONE] = axes.toReversed()
  return [d, h, w]
}
