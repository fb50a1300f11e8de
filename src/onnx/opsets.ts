import type { Place } from '../errors.ts'
import type { Finding } from '../graph/graph.ts'
import { domainName } from './nodes.ts'
import { numberOf } from './numbers.ts'
import type { OperatorSetIdProto } from './schema.js'

/** Operator set versions by domain; of two for one domain the first stays. */
export function readOpsets(imports: readonly OperatorSetIdProto[], place: Place, findings: Finding[]): Map<string, number> {
  const opsets = new Map<string, number>()
  for (const proto of imports) {
    const domain = domainName(proto.domain)
    const version = numberOf(proto.version)
    const earlier = opsets.get(domain)
    if (earlier === undefined) opsets.set(domain, version)
    else {
      const message = `domain "${domain}" is imported twice, in versions ${earlier} and ${version}`
      findings.push({ code: 'duplicate-opset', severity: earlier === version ? 'warning' : 'error', message, place })
    }
  }
  if (opsets.size === 0) findings.push({ code: 'missing-opset', severity: 'error', message: 'no operator set is imported', place })
  return opsets
}
