import type { Call } from '../bind/call.ts'
import { fail } from '../errors.ts'
import type { Conversions, Made } from '../op-kit/conversion.ts'
import type { Op } from '../op-kit/define.ts'
import type { Fact } from '../shapes/fact.ts'
import type { NodeWriter } from './node-writer.ts'
import { CallToSay } from './source-call.ts'
import { sayByVersion } from './versions.ts'

/**
 * Says a call by rules that come first, else by an operator version of the dialect, else by the other rules.
 * @param inputs values of the new graph
 * @param results what the call gives
 * @throws NodewiseError `unsupported-op`, with the reason of the operator version
 */
export function sayCall(
  call: Call,
  inputs: readonly (Made | undefined)[],
  results: readonly Fact[],
  { rules, leniencies }: Conversions,
  w: NodeWriter
): readonly (Made | undefined)[] {
  const isOwn = ({ op }: { readonly op: Op }): boolean => op === call.op
  const own = rules.filter(rule => rule.to === w.dialect && isOwn(rule))
  const saying = new CallToSay(call, inputs, results, leniencies.filter(isOwn))
  for (const rule of own) {
    const values = rule.isFirst ? rule.convert(saying, w) : undefined
    if (values) return values
  }

  try {
    return sayByVersion(saying, w)
  } catch (error) {
    for (const rule of own) {
      const values = rule.isFirst ? undefined : rule.convert(saying, w)
      if (values) return values
    }
    throw error
  }
}

/** A rule or an operator version that gives another type or rank than the source is wrong, and said to be. */
export function checkType(made: Fact, wanted: Fact): void {
  if (made.kind !== wanted.kind) fail('unsupported-op', `it becomes a ${made.kind} instead of a ${wanted.kind}`)
  if (made.kind !== 'tensor' || wanted.kind !== 'tensor') return
  if (made.type !== undefined && wanted.type !== undefined && made.type !== wanted.type)
    fail('unsupported-op', `it would give ${made.type} instead of ${wanted.type}`)
  if (made.shape && wanted.shape && made.shape.length !== wanted.shape.length)
    fail('unsupported-op', `it would give rank ${made.shape.length} instead of ${wanted.shape.length}`)
}
