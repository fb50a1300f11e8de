import { basename } from 'node:path'
import { NodewiseError, type Place } from '../errors.ts'
import type { Model } from '../graph/graph.ts'
import { type Json, stringifyExact } from '../io/json-text.ts'
import { printable } from '../io/print.ts'
import type { Terminal } from './terminal.ts'

/** Exit codes of the command; scripts rely on them. */
export const EXIT = { yes: 0, no: 1, failed: 2, interrupted: 130 } as const

/** A mistake in the command line. */
export const badUsage = (message: string): never => {
  throw new NodewiseError('bad-usage', message)
}

/** Whatever was thrown, as a failure with a code. */
export function failureOf(error: unknown): NodewiseError {
  if (error instanceof NodewiseError) return error
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof RangeError ? 'limit-exceeded' : 'internal'
  const failure = new NodewiseError(code, code === 'internal' ? `internal error: ${message}` : message)
  if (error instanceof Error && error.stack !== undefined) failure.stack = error.stack
  return failure
}

/**
 * A failure that happened while working on a model: with the model's file, and its line and column where the file has
 * lines.
 */
export function failureIn(model: Model, error: unknown): NodewiseError {
  const failure = failureOf(error).at({ file: model.file })
  return failure.place.file === model.file ? relocated(failure, model.locate(failure.place)) : failure
}

function relocated(failure: NodewiseError, place: Place): NodewiseError {
  const located = new NodewiseError(failure.code, failure.message, place, failure.details)
  if (failure.stack !== undefined) located.stack = failure.stack
  return located
}

/**
 * `model.xml:1043:7: Gather "emb" (opset8)`, `model.onnx: node 17 Gather "emb" (ai.onnx 13)`; empty where nothing is
 * known.
 */
export function placeText(place: Place): string {
  const { file, line, column } = place
  const position = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`
  return [file === undefined ? '' : file + position, subject(place)].filter(part => part !== '').join(': ')
}

function subject({ line, graphPath, node, nodeIndex, type, version, value }: Place): string {
  const words: string[] = []
  // A line says more than an index, and files with lines have no other way to count their layers.
  if (nodeIndex !== undefined && line === undefined) words.push(`node ${graphPath ? `${graphPath}/` : ''}${nodeIndex}`)
  if (type !== undefined) words.push(type)
  if (node !== undefined && node !== '') words.push(`"${node}"`)
  if (words.length === 0) return value === undefined ? '' : `value "${value}"`
  if (version !== undefined && version !== '') words.push(`(${version})`)
  return words.join(' ')
}

/** One line, place first; nothing in it that a terminal would obey. */
export const failureText = ({ place, message }: NodewiseError): string =>
  printable(`${placeText(place) || 'nodewise'}: ${withoutFile(message, place)}`)

/** A message about a file that begins with the file's name need not say it again. */
function withoutFile(message: string, { file }: Place): string {
  const name =
    file === undefined ? undefined : [file, basename(file)].find(candidate => message.startsWith(`${candidate} `))
  return name === undefined ? message : message.slice(name.length + 1)
}

/** The JSON document of a failure. */
export const failureJson = ({ code, message, place, details }: NodewiseError): Json => ({
  error: { code, message, place: place as Json, details: jsonOf(details) }
})

/** Details are plain data; whatever JSON lacks becomes text. */
function jsonOf(value: unknown): Json {
  if (value === null || ['boolean', 'number', 'bigint', 'string'].includes(typeof value)) return value as Json
  if (Array.isArray(value)) return value.map(jsonOf)
  if (typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, jsonOf(item)])
    )
  return String(value)
}

/**
 * Prints a failure where it belongs: the JSON document on stdout, or the line on stderr; with `debug` the stack on
 * stderr too.
 * @returns the exit code
 */
export function reportFailure(
  error: unknown,
  { json, debug }: { json: boolean; debug: boolean },
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>
): number {
  const failure = failureOf(error)
  if (json) stdout.write(`${stringifyExact(failureJson(failure), 2)}\n`)
  else stderr.write(`${failureText(failure)}\n`)
  if (debug && failure.stack !== undefined) stderr.write(`${failure.stack}\n`)
  return failure.code === 'aborted' ? EXIT.interrupted : EXIT.failed
}
