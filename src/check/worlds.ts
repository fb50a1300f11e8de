import type { Dialect, Finding } from '../graph/graph.ts'
import { declaredFact } from '../infer/declared.ts'
import { sameDim } from '../shapes/dim.ts'
import { type Fact, tensorFact } from '../shapes/fact.ts'
import { contradiction, type Declaration } from './compare.ts'

/**
 * What may be true of a value. `inferred` follows from its inputs. Where the file declares something else there is a
 * finding, and either side may be wrong. Then `declared` is what the file declares, consumers are inferred from both
 * (in two worlds), and only what contradicts both is another finding.
 */
export interface Worlds {
  readonly inferred: Fact
  readonly declared?: Fact
}

/**
 * Compares the worlds of a value with its declarations.
 * @returns the worlds that remain, and findings of the declarations that contradict all worlds
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
  // Declarations further on may repeat a wrong dim and then be right again. So the declared world ends only where
  // declarations agree with the inferred world, and one contradicts the declared world.
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

/** The inferred fact with its type and dims replaced by declared ones. */
function overridden(inferred: Fact, { declared }: Declaration): Fact {
  if (declared.kind !== 'tensor' || inferred.kind !== 'tensor') return declaredFact(declared, false)
  const { shape } = inferred
  const said = declaredFact(declared, false)
  if (said.kind !== 'tensor' || said.shape === undefined) return tensorFact(declared.type ?? inferred.type, shape)
  // Dims that the file does not declare as numbers are as inferred.
  const dims = said.shape.map((dim, i) =>
    typeof declared.dims?.[i] !== 'number' && shape?.length === said.shape?.length ? shape![i] : dim
  )
  return tensorFact(declared.type ?? inferred.type, dims)
}

/** Whether two facts are the same tensor type, so that consumers need not be inferred twice. */
export function sameFact(a: Fact, b: Fact): boolean {
  if (a.kind !== 'tensor' || b.kind !== 'tensor') return false
  if (a.type !== b.type || a.value !== b.value) return false
  if (a.shape === undefined || b.shape === undefined) return a.shape === b.shape
  return a.shape.length === b.shape.length && a.shape.every((dim, i) => sameDim(dim, b.shape![i]))
}
