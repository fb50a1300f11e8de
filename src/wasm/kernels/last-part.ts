import type { KernelContext, Pack, Parameters } from '../../op-kit/define.ts'
import { type FusedParams, runEpiloguePart } from '../../op-kit/fused.ts'
import { derivedPack } from '../../op-kit/packs.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import type { Selector } from '../selector.ts'

/**
 * The selector of a fused operator also where no kernel in WebAssembly knows its activation: a kernel computes all
 * before it, and the reference the activation, over the result.
 */
export const withLastPart =
  (select: Selector): Selector =>
  call => {
    const { epilogue, activation } = call.parameters as unknown as FusedParams
    if (activation !== 'other') return select(call)
    const selection = select({ ...call, parameters: before(call.parameters) })
    const kernel = selection?.kernel
    if (kernel === undefined) return undefined
    const { pack } = selection!
    return {
      *kernel(given, own, context) {
        const out = context.rawOutput()
        const into: KernelContext = { ...withOutput(context, out), packed: context.packed }
        const begun = kernel(given, before(own), into)
        if (begun) yield* begun
        const rest = runEpiloguePart(epilogue[epilogue.length - 1], given, out, into)
        if (rest) yield* rest
      },
      ...(pack && { pack: derivedPack('all before', pack, packBefore) })
    }
  }

/** Parameters without the last part of the epilogue. */
const before = <P extends Parameters>(own: P): P => ({
  ...own,
  epilogue: (own as unknown as FusedParams).epilogue.slice(0, -1),
  activation: undefined
})

const packBefore =
  (pack: Pack): Pack =>
  (constants, own, context) =>
    pack(constants, before(own), context)
