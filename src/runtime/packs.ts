import { NodewiseError } from '../errors.ts'
import type { Constant } from '../graph/graph.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Pack, Packed, Parameters } from '../op-kit/define.ts'
import type { PackContext } from '../op-kit/pack-context.ts'
import { isSamePack } from '../op-kit/packs.ts'
import { allocateRaw, elementCount, memoryBytes, type Tensor } from '../tensor/tensor.ts'
import type { Blocks } from './blocks.ts'
import { type Budget, liesOnHeap, onHeap } from './memory.ts'
import { isConstant } from './slots.ts'

/** Constants of a call by operand, as the file has them, and what packs them. */
export interface PackRequest {
  readonly pack: Pack
  readonly parameters: Parameters
  readonly constants: ReadonlyMap<string, Constant | Tensor>
}

/** What has been packed for one request. */
export interface PackEntry extends PackRequest {
  /** Undefined where `pack` made nothing, and once its memory has been taken for something else. */
  packed: Packed | undefined
  /** Operands whose constants were read, and for which the packed form stands. */
  readonly read: Set<string>
  isReady: boolean
  /** Tensors that are counted. */
  tensors: Tensor[]
}

/** Gives the elements of constants. */
export interface ConstantReader {
  read(constant: Constant, budget: Budget): Tensor
  /** As {@link PackContext.takeOver}. */
  readApart(constant: Constant): Tensor | undefined
}

/** Packed constants of a session. Steps and plans that ask for the same share it. */
export class Packs {
  /** Bytes held. */
  bytes = 0
  private readonly blocks: Blocks
  /** By the first of their constants, if any. */
  private readonly entries = new Map<Constant | Tensor | undefined, PackEntry[]>()

  /** @param blocks where what lies on the heap is kept */
  constructor(blocks: Blocks) {
    this.blocks = blocks
  }

  /**
   * What `pack` makes of some constants, made once. Where the budget has no room there is no packed form, for good.
   * @param threads most threads to use
   * @throws NodewiseError what `pack` throws but `limit-exceeded`
   */
  *entryFor(request: PackRequest, budget: Budget, reader: ConstantReader, threads: number): Paced<PackEntry> {
    const first = request.constants.values().next().value
    const others = this.entries.get(first) ?? []
    this.entries.set(first, others)
    const known = others.find(entry => isSame(entry, request))
    if (known) {
      // Another run packs just now.
      while (!known.isReady && others.includes(known)) yield
      return known.isReady ? known : yield* this.entryFor(request, budget, reader, threads)
    }
    const { pack, parameters, constants } = request
    const read = new Set<string>()
    const entry: PackEntry = { pack, parameters, constants, packed: undefined, read, isReady: false, tensors: [] }
    others.push(entry)
    try {
      entry.packed = yield* this.make(entry, budget, reader, threads)
      entry.isReady = true
      return entry
    } finally {
      if (entry.packed === undefined) this.drop(entry)
      // A failure, or a run that was stopped: another run may try again.
      if (!entry.isReady) others.splice(others.indexOf(entry), 1)
    }
  }

  /** Lets go of so many bytes, if that many are held; what is let go of is not packed again. */
  giveUp(bytes: number): number {
    let freed = 0
    for (const entry of [...this.entries.values()].flat()) {
      if (freed >= bytes) break
      if (entry.isReady) freed += this.drop(entry)
    }
    return freed
  }

  clear(): void {
    this.giveUp(Infinity)
    this.entries.clear()
  }

  private *make(entry: PackEntry, budget: Budget, reader: ConstantReader, threads: number): Paced<Packed | undefined> {
    const context: PackContext = {
      threads,
      allocate: (type, dims) => {
        this.count(entry, undefined, memoryBytes(type, elementCount(dims)), budget)
        const tensor = onHeap(type, dims, false) ?? allocateRaw(type, dims)
        entry.tensors.push(tensor)
        if (liesOnHeap(tensor.data)) this.blocks.keep(tensor.data)
        return tensor
      },
      takeOver: (name, type) => {
        const constant = entry.constants.get(name)
        if (!constant || !isConstant(constant) || constant.type !== type) return undefined
        budget.require(bytesOf(constant), () => 'a packed constant')
        const tensor = reader.readApart(constant)
        if (tensor === undefined) return undefined
        entry.read.add(name)
        this.count(entry, tensor, bytesOf(constant), budget)
        return tensor
      }
    }
    try {
      const made = entry.pack(
        constantsOf(entry, constant => reader.read(constant, budget)),
        entry.parameters,
        context
      )
      const packed = made && isPaced(made) ? yield* made : made
      for (const tensor of Object.values(packed ?? {}))
        if (!entry.tensors.includes(tensor)) this.count(entry, tensor, bytesOf(tensor), budget)
      return packed
    } catch (error) {
      if (error instanceof NodewiseError && error.code === 'limit-exceeded') return undefined
      throw error
    }
  }

  private count(entry: PackEntry, tensor: Tensor | undefined, bytes: number, budget: Budget): void {
    budget.require(bytes, () => 'a packed constant')
    this.bytes += bytes
    if (tensor) entry.tensors.push(tensor)
  }

  private drop(entry: PackEntry): number {
    let freed = 0
    for (const tensor of entry.tensors) {
      freed += bytesOf(tensor)
      if (liesOnHeap(tensor.data)) this.blocks.giveUp(tensor.data)
    }
    entry.packed = undefined
    entry.tensors = []
    this.bytes -= freed
    return freed
  }
}

const bytesOf = ({ type, dims }: Pick<Tensor, 'type' | 'dims'>): number => memoryBytes(type, elementCount(dims))

const isPaced = (made: Packed | Paced<Packed | undefined>): made is Paced<Packed | undefined> => Symbol.iterator in made

/** Constants that are read when `pack` asks for them, and noted. */
function constantsOf(
  { constants, read: wasRead }: PackEntry,
  read: (constant: Constant) => Tensor
): Record<string, Tensor> {
  const result: Record<string, Tensor> = {}
  for (const [name, constant] of constants) {
    const get = (): Tensor => {
      wasRead.add(name)
      return isConstant(constant) ? read(constant) : constant
    }
    Object.defineProperty(result, name, { enumerable: true, get })
  }
  return result
}

const isSame = (a: PackRequest, b: PackRequest): boolean =>
  isSamePack(a.pack, b.pack) &&
  a.constants.size === b.constants.size &&
  [...a.constants].every(([name, constant]) => b.constants.get(name) === constant) &&
  areSameParameters(a.parameters, b.parameters)

/** Parameters compare by value, lists and records of plain values too: parts of an epilogue are such. */
function areSameParameters(a: Parameters, b: Parameters): boolean {
  const names = Object.keys(a)
  return a === b || (names.length === Object.keys(b).length && names.every(name => isSameValue(a[name], b[name])))
}

function isSameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => isSameValue(item, b[i]))
  return isRecord(a) && isRecord(b) && areSameParameters(a, b)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
