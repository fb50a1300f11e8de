import { copyBytes } from '../host.ts'
import { convertPaced } from '../kernels/core/convert-paced.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Kernel, KernelContext, Op, Pack, Packed, Selection, ValueOperands } from '../op-kit/define.ts'
import type { PackContext } from '../op-kit/pack-context.ts'
import { derivedPack } from '../op-kit/packs.ts'
import { withOutput } from '../op-kit/with-output.ts'
import { bytesOf } from '../tensor/arrays.ts'
import { convert, convertInto } from '../tensor/convert.ts'
import { isHalf } from '../tensor/dtype.ts'
import { allocateRaw, product, Tensor, withDims, zero } from '../tensor/tensor.ts'
import { unreadTensor } from '../tensor/unread.ts'
import { heapAllocate, heapFree, isOnHeap } from './heap.ts'
import { arrayOf, type Candidate, type Selector, type TensorOperands } from './selector.ts'
import type { Temporaries } from './temporary.ts'
import { wasm } from './wasm.ts'

/**
 * Calls of float16 and bfloat16 by the kernels of float32: operands are widened, constants once, and the result is
 * rounded. Kernels of float32 round to 24 bits first, so that a result may differ by a unit where it is near a tie.
 */

/** Elements of operands and result together below which converting them costs more than the kernel gains. */
const MIN_ELEMENTS = 1 << 5
/** Numbers that are converted between two chances to yield. */
const CHUNK = 1 << 20
/** Before the name of a constant operand: the packed form that is the constant, widened. */
const WIDE = 'widened '

const isHalfTensor = (tensor: Tensor | undefined): tensor is Tensor => tensor !== undefined && isHalf(tensor.type)

/**
 * What a selector of float32 gives for a call whose floats have 16 bits.
 * @returns undefined where no operand is of such a type, and where the kernel would be none of float32
 */
export function selectWidened(selector: Selector, call: Candidate): Selection | undefined {
  const { op } = call
  const operands = singly(call.operands)
  const names = Object.keys(operands).filter(name => isHalfTensor(operands[name]))
  if (names.length === 0 || op.moves) return undefined
  const elements = names.reduce((sum, name) => sum + product(operands[name]!.dims), product(call.dims))
  if (elements < MIN_ELEMENTS) return undefined
  const wide = Object.fromEntries(
    Object.entries(operands).map(([name, tensor]) => [name, isHalfTensor(tensor) ? lateWide(tensor) : tensor])
  )
  const selection = selector({ ...call, operands: inLists(call.operands, wide) as TensorOperands })
  const kernel = selection?.kernel
  if (kernel === undefined) return undefined
  // Constants of a list have no names of their own by which they could be packed.
  const pack = operands === call.operands ? widenedPack(selection!.pack) : undefined
  return { kernel: widenedKernel(op, kernel, names), ...(pack && { pack }) }
}

const hasLists = (operands: ValueOperands): boolean => Object.values(operands).some(Array.isArray)

/** Operands by name; those of a list by the name of it and their places. */
function singly(operands: ValueOperands): TensorOperands {
  if (!hasLists(operands)) return operands as TensorOperands
  const all = Object.entries(operands).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((tensor, i) => [`${name} ${i}`, tensor]) : [[name, value]]
  )
  return Object.fromEntries(all) as TensorOperands
}

/** What stands for operands, by the names of {@link singly}, in the lists that these form. */
function inLists(operands: ValueOperands, others: TensorOperands): ValueOperands {
  if (!hasLists(operands)) return others
  const all = Object.entries(operands).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((_, i) => others[`${name} ${i}`]) : others[name]
  ])
  return Object.fromEntries(all) as ValueOperands
}

/** A tensor as one of float32 that is made when its elements are read. */
function lateWide(tensor: Tensor): Tensor {
  let made: Tensor | undefined
  return unreadTensor({ type: 'float32', dims: tensor.dims }, () => (made ??= convert(tensor, 'float32')))
}

/** Constants that the pack of float32 has packed, by the packed form, where there is one. */
const consumed = new WeakMap<Packed, ReadonlySet<string>>()

function widenedKernel(op: Op, kernel: Kernel, names: readonly string[]): Kernel {
  return function* (operands, parameters, context) {
    const blocks: Uint8Array[] = []
    const out = context.rawOutput()
    try {
      const work = yield* prepare(singly(operands), names, context, out, blocks)
      if (work === undefined) {
        const rest = op.run(operands, parameters, withOutput(context, out))
        if (rest) yield* rest
        return
      }
      const rest = kernel(inLists(operands, work.operands), parameters, work.context)
      if (rest) yield* rest
      for (const { wide, own } of work.results.values()) yield* narrowed(wide, own)
    } finally {
      blocks.forEach(heapFree)
    }
  }
}

/** A tensor of 16 bits, and one of float32 that stands for it. */
interface Widened {
  readonly wide: Tensor
  readonly own: Tensor
}

interface Work {
  readonly operands: TensorOperands
  readonly context: KernelContext
  /** By position of the output. */
  readonly results: ReadonlyMap<number, Widened>
}

/** @returns undefined when the heap is full */
function* prepare(
  operands: TensorOperands,
  names: readonly string[],
  context: KernelContext,
  out: Tensor,
  blocks: Uint8Array[]
): Generator<void, Work | undefined> {
  const { packed } = context
  const read = packed && consumed.get(packed)
  const wide: Record<string, Tensor | undefined> = { ...operands }
  const made: Widened[] = []
  for (const name of names) {
    const own = operands[name]!
    const kept = packed?.[WIDE + name]
    const isPacked = read?.has(name) === true
    const tensor = kept ?? (isPacked ? lateWide(own) : take(own.dims, blocks))
    if (tensor === undefined) return undefined
    if (kept === undefined && !isPacked) yield* widen(own, tensor)
    if (!isPacked) made.push({ wide: tensor, own })
    wide[name] = tensor
  }
  // Comparisons give booleans.
  const result = isHalfTensor(out) ? take(out.dims, blocks) : out
  if (result === undefined) return undefined
  const results = new Map(result === out ? [] : [[0, { wide: result, own: out }]])
  const inner = wideContext(context, result, made, results, blocks)
  return { operands: wide, context: { ...inner, packed: read && packed }, results }
}

/**
 * A context whose outputs of 16 bits are of float32: output 0 has been made, others are when they are asked for. What a
 * kernel gives of an operand, such as keys that are present ones, is given of what the operand stands for.
 */
function wideContext(
  context: KernelContext,
  first: Tensor,
  operands: readonly Widened[],
  results: Map<number, Widened>,
  blocks: Uint8Array[]
): KernelContext {
  const rawOutput: KernelContext['rawOutput'] = (index = 0, dims, type) => {
    if (index === 0) return first
    const known = results.get(index)
    if (known) return known.wide
    // Kernels ask for the type of their operands; that of the output is known.
    const own = context.rawOutput(index, dims, type === 'float32' ? undefined : type)
    if (!isHalfTensor(own)) return own
    const wide = take(own.dims, blocks) ?? allocateRaw('float32', own.dims)
    results.set(index, { wide, own })
    return wide
  }
  const output: KernelContext['output'] = (index, dims, type) => {
    const tensor = rawOutput(index, dims, type)
    zero(tensor)
    return tensor
  }
  const give: KernelContext['give'] = (index, value) => {
    const { data, dims } = value as Tensor
    const stood = [...operands, ...results.values()].find(({ wide }) => wide.data === data)
    context.give(index, stood ? withDims(stood.own, dims) : value)
  }
  return { ...withOutput(context, first), rawOutput, output, give, extend: () => undefined }
}

/** A tensor on the heap that holds anything; undefined when the heap is full. */
function take(dims: readonly number[], blocks: Uint8Array[]): Tensor | undefined {
  const length = product(dims)
  const block = heapAllocate(length * 4, { zero: false })
  if (block === undefined) return undefined
  blocks.push(block)
  return new Tensor('float32', new Float32Array(block.buffer as ArrayBuffer, block.byteOffset, length), dims)
}

/**
 * The numbers of a tensor of floats of 16 bits or of float32, those of float32 as they are.
 * @param to where they go, or what makes room for them
 */
export function* widened(tensor: Tensor, to: Float32Array | Temporaries): Generator<void, Float32Array> {
  const { type, dims } = tensor
  if (type === 'float32') return tensor.data
  const numbers = to instanceof Float32Array ? to : to.allocate(product(dims))
  const wide = new Tensor('float32', numbers, dims)
  yield* isOnHeap(numbers) ? widen(tensor, wide) : convertPaced(tensor, wide)
  return numbers
}

/** Writes the numbers of a tensor to one of float32 on the heap. */
function* widen(from: Tensor, to: Tensor): Generator<void> {
  const codes = arrayOf(from)
  const { buffer, byteOffset: at } = arrayOf(to)
  const count = codes.length
  // Elsewhere the heap has no room that is needed: they are widened from the end of where they go to.
  if (!isOnHeap(codes)) copyBytes(bytesOf(codes), new Uint8Array(buffer, at + 2 * count, 2 * count))
  const source = isOnHeap(codes) ? codes.byteOffset : at + 2 * count
  const { widenHalves } = wasm()!.compute().exports
  for (let i = 0; i < count; i += CHUNK) {
    if (i > 0) yield
    widenHalves(source + 2 * i, at + 4 * i, Math.min(CHUNK, count - i), Number(from.type === 'bfloat16'))
  }
}

/** Rounds the numbers of a tensor of float32, which then holds anything, to those of another. */
export function* narrowed(from: Tensor, to: Tensor): Generator<void> {
  if (!isOnHeap(arrayOf(from))) return yield* convertPaced(from, to)
  const codes = arrayOf(to)
  const { buffer, byteOffset: at } = arrayOf(from)
  const target = isOnHeap(codes) ? codes.byteOffset : at
  const { narrowHalves } = wasm()!.compute().exports
  for (let i = 0; i < codes.length; i += CHUNK) {
    if (i > 0) yield
    narrowHalves(at + 4 * i, target + 2 * i, Math.min(CHUNK, codes.length - i), Number(to.type === 'bfloat16'))
  }
  if (target === at) copyBytes(new Uint8Array(buffer, at, 2 * codes.length), bytesOf(codes))
}

/** Plans of a session, and calls of all dims, share what is packed. */
const widenedPack = (pack: Pack | undefined): Pack => (pack ? derivedPack('widened', pack, packWith) : packWide)

/** Packs widened constants as `pack` does; those that it does not look at are kept as float32. */
const packWith = (pack: Pack | undefined): Pack =>
  function* (constants, parameters, context): Paced<Packed | undefined> {
    const blocks: Uint8Array[] = []
    const read = new Set<string>()
    try {
      const making = pack?.(widenedConstants(constants, blocks, read), parameters, context)
      const packed = making && Symbol.iterator in making ? yield* making : making
      const result: Record<string, Tensor> = { ...packed }
      for (const name of Object.keys(constants)) {
        const constant = constants[name]
        if (isHalf(constant.type) && !(packed && read.has(name)))
          result[WIDE + name] = yield* keptWide(constant, context)
      }
      if (packed) consumed.set(result, read)
      return result
    } finally {
      blocks.forEach(heapFree)
    }
  }

const packWide = packWith(undefined)

/** Constants that are widened when they are read, and noted. */
function widenedConstants(
  constants: Readonly<Record<string, Tensor>>,
  blocks: Uint8Array[],
  read: Set<string>
): Record<string, Tensor> {
  const result: Record<string, Tensor> = {}
  for (const name of Object.keys(constants)) {
    let made: Tensor | undefined
    const get = (): Tensor => {
      read.add(name)
      return (made ??= wideOf(constants[name], blocks))
    }
    Object.defineProperty(result, name, { enumerable: true, get })
  }
  return result
}

function wideOf(constant: Tensor, blocks: Uint8Array[]): Tensor {
  if (!isHalf(constant.type)) return constant
  const tensor = take(constant.dims, blocks)
  if (tensor === undefined) return convert(constant, 'float32')
  for (const _ of widen(constant, tensor));
  return tensor
}

function* keptWide(constant: Tensor, context: PackContext): Generator<void, Tensor> {
  const kept = context.allocate('float32', constant.dims)
  if (isOnHeap(arrayOf(kept))) yield* widen(constant, kept)
  else convertInto(constant, kept)
  return kept
}
