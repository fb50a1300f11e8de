import type { Dialect, Finding } from '../graph/graph.ts'
import { declaredFact } from '../infer/declared.ts'
import { sameDim } from '../shapes/dim.ts'
import { type Fact, tensorFact } from '../shapes/fact.ts'
import { contradiction, type Declaration } from './compare.ts'

/**
 * What may be true of a value. `inferred` follows from its inputs. After a finding `declared` is what the file says
 * instead: either may be the
 * fault, so consumers are worked out in both worlds, and only what contradicts both is another fault.
 */
export interface Worlds {
  readonly inferred: Fact
  readonly declared?: Fact
}

/**
 * Holds a value's worlds against all that the file declares of it.
 * @returns the worlds that are left and what contradicts all of them
 */
export function settle(
  worlds: Worlds,
  declarations: readonly Declaration[],
  dialect: Dialect
): { worlds: Worlds; findings: Finding[] } {
  const findings: Finding[] = []
  const { inferred } = worlds
  let { declared } = worlds
  for (const declaration of declarations) {
    const finding = contradiction(declaration, inferred, dialect)
    if (!finding || (declared && !contradiction(declaration, declared, dialect))) continue
    findings.push(finding)
    declared = overridden(inferred, declaration)
  }
  // Declarations may go on repeating a fault and then return to the truth, so only an agreement with what is inferred
  // ends the other world.
  if (
    findings.length === 0 &&
    declared &&
    (sameFact(inferred, declared) || endsDeclared(inferred, declared, declarations, dialect))
  )
    declared = undefined
  return { worlds: declared ? { inferred, declared } : { inferred }, findings }
}

const endsDeclared = (
  inferred: Fact,
  declared: Fact,
  declarations: readonly Declaration[],
  dialect: Dialect
): boolean =>
  declarations.every(declaration => !contradiction(declaration, inferred, dialect)) &&
  declarations.some(declaration => contradiction(declaration, declared, dialect))

/** What is inferred, with what the file declares in its place. */
function overridden(inferred: Fact, { declared }: Declaration): Fact {
  if (declared.kind !== 'tensor' || inferred.kind !== 'tensor') return declaredFact(declared, false)
  const { shape } = inferred
  const said = declaredFact(declared, false)
  if (said.kind !== 'tensor' || said.shape === undefined) return tensorFact(declared.type ?? inferred.type, shape)
  // A dim that the file leaves open, or only names, stays what is inferred.
  const dims = said.shape.map((dim, i) =>
    typeof declared.dims?.[i] !== 'number' && shape?.length === said.shape?.length ? shape![i] : dim
  )
  return tensorFact(declared.type ?? inferred.type, dims)
}

/** Whether two worlds have become one: consumers need not be worked out twice. */
export function sameFact(a: Fact, b: Fact): boolean {
  if (a.kind !== 'tensor' || b.kind !== 'tensor') return false
  if (a.type !== b.type || a.value !== b.value) return false
  if (a.shape === undefined || b.shape === undefined) return a.shape === b.shape
  return a.shape.length === b.shape.length && a.shape.every((dim, i) => sameDim(dim, b.shape![i]))
}
