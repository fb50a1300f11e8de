import { fail } from '../errors.ts'
import type { AutoPad } from '../shapes/window.ts'
import { choice, derive, ints, mapped, optional } from './sources.ts'

type Ints = readonly number[] | undefined

/** One half of ONNX's list of pads, which holds those of the beginnings of all axes, then those of the ends. */
function half(pads: Ints, isEnd: boolean): Ints {
  if (pads === undefined) return undefined
  if (pads.length % 2 !== 0) fail('dims-mismatch', `pads has ${pads.length} elements; two a spatial axis are expected`)
  return isEnd ? pads.slice(pads.length / 2) : pads.slice(0, pads.length / 2)
}

/** How ONNX pads; operators without this attribute use explicit pads. */
export const onnxAutoPad = choice<AutoPad>(
  'auto_pad',
  {
    NOTSET: 'explicit',
    SAME_UPPER: 'same_upper',
    SAME_LOWER: 'same_lower',
    VALID: 'valid'
  },
  'explicit'
)

/** ONNX's attributes of sliding windows. Pads other than 0 are not allowed together with `auto_pad`. */
export const onnxWindows = {
  strides: optional(ints('strides')),
  dilations: optional(ints('dilations')),
  begin: mapped(optional(ints('pads')), pads => half(pads, false)),
  end: mapped(optional(ints('pads')), pads => half(pads, true)),
  autoPad: derive(node => {
    const autoPad = node.get(onnxAutoPad) ?? 'explicit'
    const pads = node.get(optional(ints('pads')))
    if (autoPad !== 'explicit' && pads?.some(pad => pad !== 0)) {
      fail('value-out-of-range', `pads [${pads.join(', ')}] are given; with auto_pad ${autoPad} there can be none`)
    }
    return autoPad
  })
}

/** A list that a layer may leave out. The default of the schema tables is not used, because it is for two axes. */
export const written = (name: string): ReturnType<typeof derive<Ints>> =>
  derive(node => (node.node.attributes.has(name) ? node.get(ints(name)) : undefined))

/** IR's attributes of sliding windows. */
export const openvinoWindows = {
  strides: written('strides'),
  dilations: written('dilations'),
  begin: written('pads_begin'),
  end: written('pads_end'),
  autoPad: choice<AutoPad>(
    'auto_pad',
    {
      explicit: 'explicit',
      same_upper: 'same_upper',
      same_lower: 'same_lower',
      valid: 'valid'
    },
    'explicit'
  )
}
