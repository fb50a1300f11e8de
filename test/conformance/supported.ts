import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listOps } from '../../src/cli/ops.ts'
import { DATA } from './data.ts'

/** A row of an `index.json`, as far as it names operators. */
export interface IndexRow {
  readonly name: string
  /** ONNX: `Op` or `domain::Op`; IR: `Op@opsetN`, N the version of the operator itself. */
  readonly ops?: readonly string[]
  readonly op?: string
  readonly also?: readonly string[]
  readonly opset?: Readonly<Record<string, number>>
}

export const indexOf = (folder: string): IndexRow[] =>
  JSON.parse(readFileSync(join(DATA, folder, 'index.json'), 'utf8')) as IndexRow[]

const rows = listOps()

function isSupported(text: string, opset: IndexRow['opset']): boolean {
  const [openvinoType, openvinoVersion] = text.split('@opset')
  if (openvinoVersion !== undefined) {
    const version = Number(openvinoVersion)
    return rows.some(
      ({ dialect, name, since, until = Infinity }) =>
        dialect === 'openvino' && name === openvinoType && since <= version && version <= until
    )
  }
  const [domain, type] = text.includes('::') ? text.split('::') : ['ai.onnx', text]
  const version = opset?.[domain] ?? Infinity
  return rows.some(row => row.dialect === 'onnx' && row.domain === domain && row.name === type && row.since <= version)
}

/** The operators of a case that `nodewise ops` does not list. */
export const missingOps = ({ ops = [], op, also = [], opset }: IndexRow): string[] =>
  [...ops, ...(op === undefined ? [] : [op]), ...also].filter(text => !isSupported(text, opset))
