import { fail } from '../errors.ts'
import { type Fact, type MapFact, mapFact } from '../shapes/fact.ts'
import { kindOf } from '../tensor/map.ts'
import type { MapValue, Value } from '../tensor/tensor.ts'

/** The fact of an operand that must be a map. An unknown value is taken for a map of unknown types. */
export function mapFactOf(fact: Fact): MapFact {
  if (fact.kind === 'map') return fact
  if (fact.kind === 'tensor' && fact.type === undefined && fact.shape === undefined)
    return mapFact(undefined, undefined)
  return wrongKind(fact.kind)
}

/** The map that an operand must be. */
export const mapIn = (value: Value): MapValue => (value.type === 'map' ? value : wrongKind(kindOf(value)))

const wrongKind = (found: string): never => fail('type-not-allowed', `a ${found} is given; a map is expected`)
