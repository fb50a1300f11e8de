import { fail } from '../errors.ts'
import type { AutoPad } from '../shapes/window.ts'
import { choice, derive, ints, mapped, optional } from './sources.ts'

type Ints = readonly number[] | undefined

/** ONNX writes pads of both ends in one list, all beginnings first. */
function half(pads: Ints, isEnd: boolean): Ints {
  if (pads === undefined) return undefined
  if (pads.length % 2 !== 0) fail('dims-mismatch', `pads has ${pads.length} elements; two a spatial axis are expected`)
  return isEnd ? pads.slice(pads.length / 2) : pads.slice(0, pads.length / 2)
}

/** How ONNX pads; every operator of its family that does not have the attribute takes pads as given. */
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

/** The attributes of ONNX that say how windows slide. Pads other than zeros do not go with `auto_pad`. */
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

/** A list that a layer may leave out, whatever its number of axes: the values of the tables are those of two. */
export const written = (name: string): ReturnType<typeof derive<Ints>> =>
  derive(node => (node.node.attributes.has(name) ? node.get(ints(name)) : undefined))

/** The attributes of IR that say how windows slide. */
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
