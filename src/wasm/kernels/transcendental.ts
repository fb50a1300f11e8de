import type { Selector } from '../selector.ts'
import { selectNumbered } from './sine.ts'

/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 64
/** Numbers of the functions in ../assembly/f32/transcendental.ts. */
const KINDS = { asin: 0, acos: 1, atan: 2, sinh: 3, cosh: 4, asinh: 5, acosh: 6, atanh: 7 } as const

/** Inverse trigonometric functions, hyperbolic ones and their inverses of float32. */
export const selectTranscendental = (name: keyof typeof KINDS): Selector =>
  selectNumbered('transcendental', KINDS[name], ELEMENT_WORK, [])
