import type { ComparedPair, ComparedValue } from '../compare/result.ts'

/** How many elements make the difference. */
export const differingText = ({ differing, elements }: ComparedPair['distance'], of = ''): string =>
  differing > 0
    ? `${differing} of ${elements} elements${of} differ`
    : `no element${of} differs beyond the tolerance, but the signal-to-noise ratio is too low`

/** The worst element of both sides, in as many digits as tell single precision apart, and how far the two are apart. */
export function worstText(distance: ComparedPair['distance']): string {
  const { position = [], worst = [] } = distance
  const both = worst.map(one => (typeof one === 'number' ? String(Number(one.toPrecision(8))) : one)).join(' and ')
  return `worst at [${position.join(', ')}]: ${both}; ${measureText(distance)}`
}

/** `node 3 MatMul "name"`, or that it was recorded. */
export const nodeText = (value: ComparedValue): string =>
  value.type === '' ? `recorded "${value.value}"` : nodeTitle(value)

type Titled = Pick<ComparedValue, 'node' | 'nodeIndex' | 'layer' | 'type' | 'graphPath'>

/** `node 3 MatMul "name"` */
export function nodeTitle({ node, nodeIndex, layer, type, graphPath }: Titled): string {
  const way = graphPath === undefined ? '' : `${graphPath}/`
  return `${layer === undefined ? `node ${way}${nodeIndex}` : `layer ${way}${layer}`} ${type} "${node}"`
}

/** How far two values are apart, in a few words. */
export const measureText = ({ maxAbsolute, sqnr }: ComparedPair['distance']): string =>
  maxAbsolute === 0 ? 'the same' : `up to ${maxAbsolute.toExponential(2)} apart, ${sqnr.toFixed(1)} dB`
