import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { Registry } from '../bind/registry.ts'
import { rulesWith } from '../built-in-rules.ts'
import { registryWith } from '../built-in.ts'
import { NodewiseError, type Place } from '../errors.ts'
import type { Op } from '../op-kit/define.ts'
import { problemOf } from '../op-kit/problem.ts'
import { statOf } from './stat.ts'

/** The option of every command that binds the nodes of a model. */
export interface OpsFlags {
  /** Modules whose exports are operators. */
  readonly ops?: readonly string[]
}

/** Files that were asked for, and their operators with the built-in ones: a run of many cases asks again and again. */
const registries = new Map<string, Registry>()

/**
 * The built-in operators, and those of the files of `--ops`, which win.
 * @throws NodewiseError `missing-file`; `invalid-file` where a file throws, or exports no operator
 */
export function registryOf({ ops = [] }: OpsFlags): Registry {
  if (ops.length === 0) return registryWith()
  const key = JSON.stringify(ops.map(file => resolve(file)))
  let registry = registries.get(key)
  if (!registry) registries.set(key, (registry = registryWith(ops.flatMap(operatorsIn))))
  return registry
}

/** The same for what runs no model: the built-in operators are there without kernels that decide no shapes. */
export const rulesOf = ({ ops = [] }: OpsFlags): Registry => rulesWith(ops.flatMap(operatorsIn))

/**
 * The operators that a module exports, each once; an export may be a list.
 * @throws NodewiseError `missing-file`; `invalid-file` where the file throws, or exports no operator
 */
export function operatorsIn(file: string): Op[] {
  const wrong = (what: string, place: Place = {}): never => {
    throw new NodewiseError('invalid-file', what, { file, ...place })
  }
  const module = loaded(file, wrong)
  const named: [string, unknown][] = looksLikeOp(module) ? [['module.exports', module]] : exportsOf(module)
  const candidates = named.flatMap(([name, value]): [string, unknown][] =>
    Array.isArray(value) ? value.map((one, i): [string, unknown] => [`${name}[${i}]`, one]) : [[name, value]]
  )
  const ops = new Set<Op>()
  for (const [name, value] of candidates) {
    // A module may export what its operators are made of, too.
    if (!looksLikeOp(value)) continue
    const problem = problemOf(value)
    if (problem !== undefined) wrong(`its export "${name}" is no operator: ${problem}`)
    ops.add(value as Op)
  }
  const names = named.map(([name]) => `"${name}"`).join(', ')
  if (ops.size === 0)
    wrong(
      `it exports no operator${names === '' ? '' : `, only ${names}`}; what defineOp of nodewise returns is one: ` +
        'export const scale = defineOp({…})'
    )
  return [...ops]
}

/** Names that stand for the module as a whole, in modules that were CommonJS, and for it as CommonJS sees it. */
const WHOLE: ReadonlySet<string> = new Set(['__esModule', 'module.exports'])

const exportsOf = (module: unknown): [string, unknown][] =>
  typeof module === 'object' && module !== null
    ? Object.entries(module).filter(([name]) => !WHOLE.has(name))
    : [['module.exports', module]]

/** ES modules and CommonJS are both had by `require`, which Node 20.19 and 22.12 taught to load either. */
function loaded(file: string, wrong: (what: string, place?: Place) => never): unknown {
  if (!statOf(file)?.isFile())
    throw new NodewiseError('missing-file', 'there is no such file of operators (--ops)', { file })
  const path = resolve(file)
  try {
    return createRequire(path)(path)
  } catch (error) {
    const { code } = (typeof error === 'object' ? error : {}) as NodeJS.ErrnoException
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    if (code === 'ERR_REQUIRE_ASYNC_MODULE') return wrong('it awaits at its top level; operators are exported at once')
    if (code === 'ERR_REQUIRE_ESM')
      return wrong(
        `Node ${process.version} reads operators as CommonJS only (require, .cjs); 20.19 and 22.12 read ES modules`
      )
    if (/Cannot find (?:package|module) 'nodewise(?:\/\w+)?'/.test(message))
      return wrong('it imports nodewise, which is not installed where the file is: npm install nodewise')
    return wrong(`it cannot be loaded: ${message.replace(/\s*\n[^]*/, '')}`, lineOf(error, path))
  }
}

/** Where in the file an error was thrown, or stands against the grammar. */
function lineOf(error: unknown, path: string): Place {
  const { stack = '' } = error instanceof Error ? error : {}
  const at = stack.indexOf(path)
  const [, line, column] = (at < 0 ? null : /^:(\d+)(?::(\d+))?/.exec(stack.slice(at + path.length))) ?? []
  return { ...(line !== undefined && { line: Number(line) }), ...(column !== undefined && { column: Number(column) }) }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** Whether a value is meant as an operator: whether it has some of an operator's members. */
const looksLikeOp = (value: unknown): boolean =>
  isObject(value) && typeof value.name === 'string' && ('operands' in value || 'shape' in value || 'run' in value)
