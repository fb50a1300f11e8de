import { createHash } from 'node:crypto'
import type { Finding } from '../../graph/graph.ts'

/** Hexadecimal digits of a fingerprint. */
const LENGTH = 16

/**
 * Fingerprints of the findings of one file. They stay the same where lines or nodes are added elsewhere, and where a
 * new version words its message otherwise. Findings that are alike are counted, as in `0f3a…:2`.
 */
export function fingerprints(findings: readonly Finding[]): string[] {
  const seen = new Map<string, number>()
  return findings.map(finding => {
    const hash = hashOf(finding)
    const count = (seen.get(hash) ?? 0) + 1
    seen.set(hash, count)
    return `${hash}:${count}`
  })
}

function hashOf({ code, place, declared, inferred }: Finding): string {
  const { graphPath = '', node = '', type = '', port = '', value = '' } = place
  const parts = [code, graphPath.replace(/\d+:/g, ':'), node, type, port, value, declared ?? '', inferred ?? '']
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, LENGTH)
}
