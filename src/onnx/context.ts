import type { ByteSource, FindingCode } from '../graph/graph.ts'
import type { Payload } from './skim.ts'

/** What every part of a file's reading needs of the file. */
export interface FileContext {
  /** Name for places. */
  readonly file: string
  readonly source: ByteSource
  /** Where the elements of tensors lie, by number. */
  readonly payloads: readonly Payload[]
  /** Another file that holds elements, by its location as written; it is looked for when it is first read. */
  external(location: string): ByteSource
}

/** Something wrong with a part of a file, before it is known where that part stands. */
export interface Problem {
  readonly code: FindingCode
  /** `error` when left out. */
  readonly severity?: 'error' | 'warning'
  readonly message: string
}

/** The problem of an element type that has no number in this version of ONNX, or that this program does not have. */
export const unknownType = (title: string, code: number): Problem =>
  ({ code: 'unknown-type', message: code === 0 ? `${title} has no element type` : `${title} has element type ${code}, which is not known` })
