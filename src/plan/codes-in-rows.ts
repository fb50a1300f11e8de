import type { ValueId } from '../graph/graph.ts'
import { bytesOf } from '../tensor/arrays.ts'
import { type DType, DTYPES, type Storage } from '../tensor/dtype.ts'
import { isPacked, pack } from '../tensor/packing.ts'
import { fileBytes, Tensor } from '../tensor/tensor.ts'
import { derivedConstant, tensorOf } from './derive.ts'
import type { PlanGraph } from './graph.ts'

/** How a matrix of weights in codes is stored. */
export interface Stored {
  readonly n: number
  readonly k: number
  /** Whether it is stored as [k, n]. */
  readonly isTurned: boolean
  /** Groups of a row of the weights; 0: one scale for all of them. */
  readonly groups: number
}

type Numbers = Exclude<Storage, string[]>

/** The rows of a matrix of weights, which is stored by columns, as packed codes. */
export const rowsOfCodes = (graph: PlanGraph, id: ValueId, { n, k }: Stored): ValueId =>
  derived(graph, id, `rows of ${n}`, n * k, data => turned(data, k, n))

/** A matrix `[n, k]` of bytes as `[k, n]`. */
export const transposedBytes = (graph: PlanGraph, id: ValueId, [n, k]: readonly number[]): ValueId =>
  derived(graph, id, 'transposed', n * k, data => turned(data, n, k), [k, n])

/** Scales or zero points of all groups, row by row: packed where they are codes. */
export const listOfGroups = (graph: PlanGraph, id: ValueId, { n, isTurned, groups }: Stored): ValueId =>
  derived(graph, id, `${groups} groups of ${n}, ${isTurned}`, n * Math.max(1, groups), data => {
    if (groups === 0) return filled(data, n)
    return isTurned ? turned(data, groups, n) : data
  })

/** Scales of numbers that have none. */
export function ones(graph: PlanGraph, id: ValueId, n: number): ValueId {
  const name = `${id}\0ones`
  graph.constants.set(name, new Tensor('float32', new Float32Array(n).fill(1), [n]))
  return name
}

/**
 * A constant of so many elements that are made of another's when it is first read.
 * @param key says how they are made
 * @param dims those of bytes; else codes are a list of packed ones
 */
function derived(
  graph: PlanGraph,
  id: ValueId,
  key: string,
  count: number,
  make: (data: Numbers) => Numbers,
  dims?: readonly number[]
): ValueId {
  const constant = graph.constantOf(id)!
  const { type } = constant
  // Floats of 16 bits and more are read as such, codes as bytes.
  const isCode = DTYPES[type].bits <= 8 && dims === undefined
  const shape = dims ?? [isCode ? fileBytes(type, count) : count]
  const read = (): Tensor => {
    const list = make(tensorOf(constant).data as Numbers)
    return isCode ? new Tensor('uint8', packedOf(type, list), shape) : new Tensor(type, list, shape)
  }
  return graph.addConstant(`${id}\0${key}`, derivedConstant(constant, `\0${key}`, isCode ? 'uint8' : type, shape, read))
}

function packedOf(type: DType, codes: Numbers): Uint8Array {
  return isPacked(type) ? pack(type, codes as Uint8Array, 'onnx') : bytesOf(codes)
}

/** A list of one element as often as it is needed. */
const filled = (data: Numbers, count: number): Numbers => {
  const list = new (data.constructor as new (count: number) => Uint8Array)(count)
  return list.fill((data as Uint8Array)[0])
}

/** Rows and columns of a tile, which stays in the first cache. */
const TILE = 64

/** The transposed matrix. */
function turned(data: Numbers, rows: number, columns: number): Numbers {
  const from = data as Uint8Array
  const to = new (data.constructor as new (count: number) => Uint8Array)(rows * columns)
  for (let r = 0; r < rows; r += TILE)
    for (let c = 0; c < columns; c += TILE) {
      const [lastRow, lastColumn] = [Math.min(rows, r + TILE), Math.min(columns, c + TILE)]
      for (let column = c; column < lastColumn; column++)
        for (let row = r; row < lastRow; row++) to[column * rows + row] = from[row * columns + column]
    }
  return to
}
