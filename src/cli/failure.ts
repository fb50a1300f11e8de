import { NodewiseError, placeText } from '../errors.ts'
import type { Model } from '../graph/graph.ts'
import { type Json, stringifyExact } from '../io/json-text.ts'
import { printable } from '../io/print.ts'
import { locatedIn } from '../runtime/drive.ts'
import { type Style, styleOf, type Terminal } from './terminal.ts'

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
export const failureIn = (model: Model, error: unknown): NodewiseError =>
  locatedIn(model, failureOf(error)) as NodewiseError

/** One line, place first; nothing in it that a terminal would obey. */
export const failureText = ({ place, message }: NodewiseError): string =>
  printable(placeText(place) === '' ? `nodewise: ${message}` : message)

/** {@link failureText}, the place apart from what is wrong there. */
function failureLine(failure: NodewiseError, { bold, red }: Style): string {
  const text = failureText(failure)
  const place = printable(placeText(failure.place))
  return place !== '' && text.startsWith(place) ? `${bold(place)}${red(text.slice(place.length))}` : red(text)
}

/** The JSON document of a failure. */
export const failureJson = ({ code, reason, place, details }: NodewiseError): Json => ({
  error: { code, message: reason, place: place as Json, details: jsonOf(details) }
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
  terminal: Pick<Terminal, 'env' | 'stdout' | 'stderr'>
): number {
  const { stdout, stderr } = terminal
  const failure = failureOf(error)
  if (json) stdout.write(`${stringifyExact(failureJson(failure), 2)}\n`)
  else stderr.write(`${failureLine(failure, styleOf(terminal, stderr))}\n`)
  if (debug && failure.stack !== undefined) stderr.write(`${failure.stack}\n`)
  return failure.code === 'aborted' ? EXIT.interrupted : EXIT.failed
}
