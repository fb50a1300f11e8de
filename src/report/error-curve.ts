import type { ComparedPair } from '../compare/result.ts'
import { escaped, toTenth } from './html.ts'

const WIDTH = 900
const HEIGHT = 220
const LEFT = 64
const BOTTOM = 24
/** Decibels beyond which a value counts as the same: that is what double precision can tell. */
const TOP = 160
/** Points that are drawn; of more pairs the worst of each stretch. */
const POINTS = 450

/** How far values are apart over the nodes in the order of the run: the higher a point, the further. */
export function errorCurve(pairs: readonly ComparedPair[]): string {
  const points = worstOfEach(pairs)
  const x = (i: number): number => LEFT + ((i + 0.5) * (WIDTH - LEFT - 8)) / points.length
  const y = (decibels: number): number => 8 + (decibels * (HEIGHT - BOTTOM - 8)) / TOP
  const label = (decibels: number): string => (decibels === TOP ? 'the same' : `${decibels} dB`)
  const parts = [0, 40, 80, 120, TOP].flatMap(decibels => [
    `<line class="grid" x1="${LEFT}" x2="${WIDTH - 8}" y1="${toTenth(y(decibels))}" y2="${toTenth(y(decibels))}"/>`,
    `<text class="axis" x="${LEFT - 8}" y="${toTenth(y(decibels) + 4)}">${label(decibels)}</text>`
  ])
  const places = points.map((pair, i) => [toTenth(x(i)), toTenth(y(heightOf(pair)))] as const)
  parts.push(`<path class="curve" d="${places.map(([px, py], i) => `${i === 0 ? 'M' : 'L'}${px} ${py}`).join('')}"/>`)
  points.forEach((pair, i) => {
    const [px, py] = places[i]
    const text = `${pair.a.type} ${pair.a.value}: ${pair.distance.sqnr.toFixed(1)} dB`
    const look = pair.distance.equal ? 'equal' : 'apart'
    parts.push(`<circle class="${look}" cx="${px}" cy="${py}" r="3"><title>${escaped(text)}</title></circle>`)
  })
  const size = `width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`
  return `<svg ${size} role="img" aria-label="signal to noise of each pair">${parts.join('')}</svg>`
}

const heightOf = ({ distance: { sqnr } }: ComparedPair): number => Math.min(TOP, Math.max(0, sqnr))

function worstOfEach(pairs: readonly ComparedPair[]): ComparedPair[] {
  const stretch = Math.ceil(pairs.length / POINTS)
  const points: ComparedPair[] = []
  for (let i = 0; i < pairs.length; i += stretch)
    points.push(pairs.slice(i, i + stretch).reduce((worst, one) => (heightOf(one) < heightOf(worst) ? one : worst)))
  return points
}
