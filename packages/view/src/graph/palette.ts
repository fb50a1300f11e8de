import { computed } from '@preact/signals'
import { themeChanged } from '../state/theme.ts'
import type { Palette } from './paint.ts'

const FONTS = ['font', 'mono']
const COLOURS = [
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

/**
 * The theme's colours, for the canvas: the same custom properties that the style sheet has. Each says a colour for
 * light and one for dark, so an element is given each of them, and asked what it has become.
 */
function read(root: Element): Palette {
  const probe = document.createElement('i')
  root.append(probe)
  const style = getComputedStyle(probe)
  const colours = COLOURS.map(name => {
    probe.style.color = `var(--${name})`
    return [name, style.color] as const
  })
  probe.remove()
  const fonts = FONTS.map(name => [name, getComputedStyle(root).getPropertyValue(`--${name}`).trim()] as const)
  return Object.fromEntries([...colours, ...fonts])
}

/** What the canvases draw with, read anew when the theme changes. */
export const palette = computed(() => {
  void themeChanged.value
  return read(document.documentElement)
})
