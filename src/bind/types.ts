import { fail } from '../errors.ts'
import type { Fact } from '../shapes/fact.ts'
import { dtypeName } from '../tensor/dtype.ts'
import type { Call } from './call.ts'

/**
 * Holds the types of a call's inputs against what its operator version allows.
 * @throws NodewiseError `type-not-allowed`, `index-type-not-allowed` (for an input called indices), `type-mismatch` (two inputs that
 *   must agree)
 */
export function checkTypes(call: Call, facts: readonly (Fact | undefined)[]): void {
  if (call.rule?.inputs) checkOnnx(call, facts)
  checkKinds(call, facts)
  for (const [index, { name, types }] of call.inputTypes) {
    const fact = facts[index]
    if (fact?.kind !== 'tensor' || fact.type === undefined || types.includes(fact.type)) continue
    const allowed = types.map(type => dtypeName(type, call.node.dialect)).join(', ')
    fail(codeFor(name), `${name} has type ${dtypeName(fact.type, call.node.dialect)}; allowed are ${allowed}`)
  }
}

const codeFor = (name: string): 'index-type-not-allowed' | 'type-not-allowed' =>
  name === 'indices' ? 'index-type-not-allowed' : 'type-not-allowed'

/** An empty sequence has no type to compare, yet is no tensor. */
function checkKinds({ operands }: Call, facts: readonly (Fact | undefined)[]): void {
  for (const { name, kind, index } of operands) {
    if (kind.startsWith('any')) continue
    for (const fact of kind === 'variadic' ? facts.slice(index) : [facts[index]]) {
      if (fact !== undefined && fact.kind !== 'tensor') fail('type-not-allowed', `${name} is a ${fact.kind}; a tensor is expected`)
    }
  }
}

function checkOnnx(call: Call, facts: readonly (Fact | undefined)[]): void {
  const ports = call.rule?.inputs ?? []
  const variables = new Map<string, { type: string; name: string }>()
  for (let i = 0; i < facts.length; i++) {
    const port = ports[Math.min(i, ports.length - 1)]
    const type = typeText(facts[i])
    if (port === undefined || type === undefined) continue
    if (!port.types.has(type)) fail(codeFor(port.name), `${port.name} has type ${type}; ${call.node.type}-${call.version} allows ${[...port.types].join(', ')}`)
    if (call.op.dynamic) continue
    const seen = variables.get(port.variable)
    if (seen && seen.type !== type) fail('type-mismatch', `${port.name} has type ${type} and ${seen.name} ${seen.type}; they must be the same`)
    variables.set(port.variable, { type, name: port.name })
  }
}

/** `float32`, `seq(int64)`, `optional(seq(string))`; undefined when not known. */
export function typeText(fact: Fact | undefined): string | undefined {
  if (fact === undefined) return undefined
  if (fact.kind === 'tensor') return fact.type
  const element = typeText(fact.element)
  return element && `${fact.kind === 'sequence' ? 'seq' : 'optional'}(${element})`
}
