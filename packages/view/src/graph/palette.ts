import type { Palette } from './paint.ts'

const NAMES = [
  'ground',
  'node',
  'group',
  'frame',
  'port',
  'line',
  'edge',
  'text',
  'text2',
  'text3',
  'accent',
  'error',
  'warning',
  'heat',
  'font',
  'mono',
  'family-matrix',
  'family-conv',
  'family-norm',
  'family-activation',
  'family-pick',
  'family-shape',
  'family-reduce',
  'family-control',
  'family-quant',
  'family-plain'
]

/** The theme's colours, for the canvas: the same custom properties that the style sheet has. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element)
  return Object.fromEntries(NAMES.map(name => [name, style.getPropertyValue(`--${name}`).trim()]))
}
