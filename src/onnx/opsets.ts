import type { Place } from '../errors.ts'
import type { Finding } from '../graph/graph.ts'
import { addFinding, type FileContext } from './context.ts'
import { domainName } from './nodes.ts'
import { numberOf } from './numbers.ts'
import type { OperatorSetIdProto } from './schema.js'

/** Operator set versions by domain. Of two imports for one domain the first counts, and a finding is added. */
export function readOpsets(
  imports: readonly OperatorSetIdProto[],
  place: Place,
  findings: Finding[],
  context: FileContext
): Map<string, number> {
  const opsets = new Map<string, number>()
  for (const proto of imports) {
    const domain = domainName(proto.domain)
    const version = numberOf(proto.version)
    const earlier = opsets.get(domain)
    if (earlier === undefined) opsets.set(domain, version)
    else {
      const message = `domain "${domain}" is imported twice, in versions ${earlier} and ${version}`
      addFinding(
        findings,
        { code: 'duplicate-opset', severity: earlier === version ? 'note' : 'error', message, place },
        context
      )
    }
  }
  if (opsets.size === 0)
    addFinding(
      findings,
      { code: 'missing-opset', severity: 'error', message: 'no operator set is imported', place },
      context
    )
  return opsets
}
