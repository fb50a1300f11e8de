import type { Conversions } from '../op-kit/conversion.ts'
import { gatherConversions } from './gather/conversions.ts'
import { layoutConversions } from './layout/conversions.ts'

const FAMILIES: readonly Conversions[] = [gatherConversions, layoutConversions]

/** What all families of operators know of saying their operators in the other dialect. */
export const ALL_CONVERSIONS: Conversions = {
  rules: FAMILIES.flatMap(({ rules }) => rules),
  leniencies: FAMILIES.flatMap(({ leniencies }) => leniencies)
}
