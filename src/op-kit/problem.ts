import { fail } from '../errors.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Fact } from '../shapes/fact.ts'
import { infoOf, Tensor } from '../tensor/tensor.ts'
import type { Op } from './define.ts'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const KINDS: ReadonlySet<unknown> = new Set(['tensor', 'optional', 'variadic', 'any', 'any-optional', 'any-variadic'])

const isVersion = (version: unknown): boolean =>
  isObject(version) && typeof version.since === 'number' && isObject(version.bind)

/**
 * What an operator of the caller's own lacks, which may come from plain JavaScript, where no compiler has checked it;
 * undefined where it lacks nothing.
 */
export function problemOf(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is no object'
  const { name, operands, onnx = [], openvino = [], shape, run } = value
  if (typeof name !== 'string' || name === '') return name === '' ? 'its name is empty' : 'it has no name'
  if (!isObject(operands)) return 'it has no operands'
  const strange = Object.entries(operands).find(([, kind]) => !KINDS.has(kind))
  if (strange !== undefined) return `its operand "${strange[0]}" is none of ${[...KINDS].join(', ')}`
  if (!Array.isArray(onnx) || !Array.isArray(openvino)) return 'its "onnx" and "openvino" are lists of versions'
  const versions: readonly unknown[] = [...onnx, ...openvino]
  if (versions.length === 0) return 'it has no versions, neither "onnx" nor "openvino"'
  if (!versions.every(isVersion)) return 'each of its versions needs "since", a number, and "bind", an object'
  const loose = versions.flatMap(version => Object.entries((version as { bind: object }).bind)).find(isNoSource)
  if (loose !== undefined) return `its parameter "${loose[0]}" is bound to none of the sources of \`sources\``
  if (typeof shape !== 'function') return 'it has no function "shape"'
  return typeof run === 'function' ? undefined : 'it has no function "run"'
}

const isNoSource = ([, source]: [string, unknown]): boolean => !isObject(source) || typeof source.kind !== 'string'

/**
 * Shape rules of a caller's own may come from plain JavaScript, too.
 * @throws NodewiseError `bad-usage` for what is no list of facts, `type-mismatch` for an element type that does not
 *   exist
 */
export function requireFacts({ name }: Op, facts: readonly Fact[]): void {
  if (!Array.isArray(facts) || !(facts as readonly unknown[]).every(isObject))
    fail('bad-usage', `"shape" of the operator "${name}" returns no list of facts, one for each output`)
  for (const fact of facts) if (fact.kind === 'tensor' && fact.type !== undefined) infoOf(fact.type)
}

/**
 * What the kernel of a caller's own operator has left to do: the steps of a generator. One of plain JavaScript may
 * return anything, such as the array that it has filled.
 * @throws NodewiseError `bad-usage` for a promise, and for a tensor, which nobody would take for an output
 */
export function stepsOf({ name }: Op, returned: unknown): Paced | undefined {
  if (!isObject(returned)) return undefined
  if (typeof returned.next === 'function') return returned as unknown as Paced
  const isPromise = typeof returned.then === 'function'
  if (!isPromise && !(returned instanceof Tensor)) return undefined
  // Nobody waits for it any more: were it to fail, Node would end the process.
  if (isPromise) void Promise.resolve(returned).catch(() => undefined)
  const why = isPromise
    ? 'returns a promise; a kernel computes at once, or is a generator that yields the promise'
    : 'returns a tensor; outputs are given to `call.give`'
  return fail('bad-usage', `"run" of the operator "${name}" ${why}`)
}
