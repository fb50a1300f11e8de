import type { Broadcast } from '../../op-kit/broadcast.ts'
import type { Selection } from '../../op-kit/define.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type Candidate, jobKernel, type Selector, selectorFor, staged } from '../selector.ts'
import type { KernelName } from '../wasm.ts'
import { broadcastLoops, lineBlocks } from './broadcast-loops.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** In lines of fewer elements the reference, which exchanges loops, is as fast. */
const MIN_LINE = 8
/** Elements of a tile. */
const TILE = 1 << 15
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 4

/** Numbers of the functions in ../assembly/f32/choose.ts. */
const COMPARISONS = { equal: 0, notEqual: 1, greater: 2, greaterEqual: 3, less: 4, lessEqual: 5 } as const
/** Added to the number of a comparison where it is of int32. */
const OF_INTEGERS = 6
const LOGICAL = { and: 12, or: 13, xor: 14, not: 15 } as const

interface Params {
  readonly broadcast?: Broadcast
}

/** A comparison of float32 or int32, broadcast by NumPy's rules. */
export const selectComparison = (name: keyof typeof COMPARISONS): Selector =>
  selectorFor<Params>(call => {
    const { a, b } = call.operands
    if (a?.type !== b?.type || (a?.type !== 'float32' && a?.type !== 'int32')) return undefined
    return linesSelection(call, 'compare', ['a', 'b'], 1, [COMPARISONS[name] + (a.type === 'int32' ? OF_INTEGERS : 0)])
  })

/** A logical function of two booleans, broadcast by NumPy's rules. */
export const selectLogical = (name: 'and' | 'or' | 'xor'): Selector =>
  selectorFor<Params>(call => linesSelection(call, 'compare', ['a', 'b'], 1, [LOGICAL[name]]))

/** The kernel is of two operands: the second is the first. */
export const selectNot: Selector = selectorFor<Params>(call =>
  linesSelection(call, 'compare', ['x', 'x'], 1, [LOGICAL.not])
)

/** An element is NaN where it is not equal to itself. */
export const selectIsNaN: Selector = selectorFor<Params>(call =>
  call.operands.x?.type === 'float32'
    ? linesSelection(call, 'compare', ['x', 'x'], 1, [COMPARISONS.notEqual])
    : undefined
)

/** Where, of elements of any type up to eight bytes. */
export const selectWhere: Selector = selectorFor<Params>(call => {
  const { whenTrue } = call.operands
  if (whenTrue === undefined || whenTrue.type === 'string' || product(whenTrue.dims) === 0) return undefined
  const width = widthOf(whenTrue)
  if (width > 8) return undefined
  return linesSelection(call, 'choose', ['condition', 'whenTrue', 'whenFalse'], width, [width])
})

/** Bytes of an element. */
const widthOf = (tensor: Tensor): number => arrayOf(tensor).byteLength / product(tensor.dims)

/**
 * The arguments are those of CompareArguments and ChooseArguments in ../assembly/f32/choose.ts.
 * @param width bytes of an element of the output
 */
function linesSelection(
  { op, operands, parameters, dims }: Candidate<Params>,
  kernel: KernelName,
  names: readonly string[],
  width: number,
  first: readonly number[]
): Selection | undefined {
  if (parameters.broadcast?.mode === 'aligned' || product(dims) < MIN_ELEMENTS) return undefined
  const strided = names.map(name => ({ dims: operands[name]!.dims, width: widthOf(operands[name]!) }))
  const loops = lineBlocks(broadcastLoops(strided, dims), width, TILE)
  if (loops === undefined || loops.inner.size < MIN_LINE) return undefined
  const { inner, outerArguments, blocks, blockBytes, tile, elements } = loops
  const template: JobTemplate = {
    kernel,
    blocks,
    blockBytes,
    tile,
    work: elements * ELEMENT_WORK * Math.max(1, width / 4),
    inputs: staged(names.length),
    outputStaging: 'whole',
    args: [...first, inner.size, ...inner.steps, ...outerArguments]
  }
  return { kernel: jobKernel(op, given => ({ template, inputs: names.map(name => arrayOf(given[name]!)) })) }
}
