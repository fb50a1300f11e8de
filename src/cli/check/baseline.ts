import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { NodewiseError } from '../../errors.ts'
import type { Finding, FindingCode } from '../../graph/graph.ts'
import { pathFrom, wholePath } from '../places.ts'
import { readJsonFile } from '../text-file.ts'

/** A finding that is known and not reported. Files are named from the folder of the baseline. */
interface KnownFinding {
  readonly file: string
  readonly code: FindingCode
  readonly fingerprint: string
  /** For people; another message is no other finding. */
  readonly message: string
}

const VERSION = 1

/** Findings that were there when a file of them was written, so that only new ones are reported. */
export class Baseline {
  readonly path: string
  private readonly folder: string
  private readonly known = new Map<string, Map<string, KnownFinding>>()

  /**
   * @param mayBeMissing for a baseline that is to be written
   * @throws NodewiseError `missing-file`, `invalid-file`
   */
  constructor(path: string, mayBeMissing: boolean) {
    this.path = path
    this.folder = dirname(resolve(path))
    if (mayBeMissing && !existsSync(path)) return
    for (const finding of readKnown(path)) this.add(finding)
  }

  /** Whether a finding of a file is known. */
  has(file: string, fingerprint: string): boolean {
    return this.known.get(this.nameOf(file))?.has(fingerprint) ?? false
  }

  /** Known findings of a file that are not among these. */
  goneFrom(file: string, fingerprints: ReadonlySet<string>): number {
    const known = this.known.get(this.nameOf(file)) ?? new Map<string, KnownFinding>()
    return [...known.keys()].filter(fingerprint => !fingerprints.has(fingerprint)).length
  }

  /** Makes the findings of a file those that are known of it. */
  replace(file: string, findings: readonly { readonly finding: Finding; readonly fingerprint: string }[]): void {
    const name = this.nameOf(file)
    this.known.delete(name)
    for (const {
      fingerprint,
      finding: { code, message }
    } of findings)
      this.add({ file: name, code, fingerprint, message })
  }

  /** The text of the file, in an order that makes small differences of small changes. */
  text(): string {
    const findings = [...this.known.keys()].sort().flatMap(file => [...(this.known.get(file)?.values() ?? [])])
    return `${JSON.stringify({ version: VERSION, findings }, null, 2)}\n`
  }

  private add(finding: KnownFinding): void {
    const findings = this.known.get(finding.file) ?? new Map<string, KnownFinding>()
    this.known.set(finding.file, findings.set(finding.fingerprint, finding))
  }

  private nameOf(file: string): string {
    return pathFrom(this.folder, wholePath(file))
  }
}

function readKnown(path: string): readonly KnownFinding[] {
  const { version, findings } = (readJsonFile(path) ?? {}) as { version?: unknown; findings?: unknown }
  if (version !== VERSION || !Array.isArray(findings) || !findings.every(isKnown))
    throw new NodewiseError('invalid-file', 'this is no baseline that --update-baseline wrote', { file: path })
  return findings
}

const isKnown = (item: unknown): item is KnownFinding =>
  typeof item === 'object' &&
  item !== null &&
  ['file', 'code', 'fingerprint', 'message'].every(key => typeof (item as Record<string, unknown>)[key] === 'string')
