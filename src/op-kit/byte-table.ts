import { fail } from '../errors.ts'
import { eachInnerLoop, innermost, loopsOf } from '../kernels/core/elementwise.ts'
import { COST, inChunks, type Paced } from '../kernels/core/pace.ts'
import { bytesOf, everyCode } from '../kernels/quantized/codes.ts'
import { broadcastShapes } from '../shapes/dim.ts'
import { tensorFact } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import { allocate, type Tensor, withDims } from '../tensor/tensor.ts'
import { defineOp, type KernelContext, type Op, type Parameters, params } from './define.ts'
import { withOutput } from './with-output.ts'

/** One of the elementwise operators that a table stands for. */
export interface TablePart {
  readonly op: Op
  readonly parameters: Parameters
  /** By operand: a constant, an operand of the table's by name, or the number of an earlier part, for its result. */
  readonly inputs: Readonly<Record<string, Tensor | string | number>>
  /** Element type of its result. */
  readonly type: DType
}

/** What {@link byteTable} computes. */
export interface TableParams {
  /** The last part gives the result. */
  readonly parts: readonly TablePart[]
  /** Types of the codes. */
  readonly types: { readonly a: DType; readonly b: DType | undefined }
}

const CODES = 256

/**
 * A function of one or two bytes, elementwise and broadcast, by a table of what operators give for all of them: what
 * the planner makes of those between DequantizeLinear and QuantizeLinear. The numbers are the same by definition.
 * Scales and zero points are constants.
 */
export const byteTable: Op = defineOp({
  name: 'ByteTable',
  operands: {
    a: 'tensor',
    b: 'optional',
    aScale: 'tensor',
    aZero: 'optional',
    bScale: 'optional',
    bZero: 'optional',
    yScale: 'tensor',
    yZero: 'optional'
  },
  params: params<TableParams>(),

  shape: ({ a, b }, { parts }) => [
    tensorFact(parts[parts.length - 1].type, b ? broadcastShapes([a.shape, b.shape]) : a.shape)
  ],

  *pack(constants, p, context) {
    const { type } = p.parts[p.parts.length - 1]
    const table = context.allocate(type, new Array<number>(p.types.b ? 2 : 1).fill(CODES))
    yield* fillTable(p, constants, table)
    return { table }
  },

  *run({ a, b, ...constants }, p, call) {
    const out = call.rawOutput()
    let table = call.packed?.table
    if (table === undefined) {
      table = allocate(out.type, new Array<number>(b ? 2 : 1).fill(CODES))
      yield* fillTable(p, constants, table)
    }
    yield* lookUp(bytesOf(table), a, b, out)
  }
})

/** What the parts make of each code of a type; they name the code `a`. */
export function* tableOfCodes(parts: readonly TablePart[], from: DType): Generator<void, Tensor> {
  const table = allocate(parts[parts.length - 1].type, [CODES])
  yield* fillTable({ parts, types: { a: from, b: undefined } }, {}, table) as Generator<void>
  return table
}

/** What an elementwise operator gives. */
export function* computed(
  op: Op,
  operands: Readonly<Record<string, Tensor | undefined>>,
  parameters: Parameters,
  result: Tensor
): Paced {
  yield* op.run(operands, parameters, withOutput(CONTEXT, result)) ?? []
}

/** Runs the parts on all codes: those of `a` down the table, those of `b` across. */
function* fillTable(
  { parts, types }: TableParams,
  constants: Readonly<Record<string, Tensor | undefined>>,
  table: Tensor
): Paced {
  const codes = everyCode(types.a)
  const operands: Record<string, Tensor | undefined> = {
    a: types.b ? withDims(codes, [CODES, 1]) : codes,
    b: types.b && everyCode(types.b)
  }
  for (const [name, tensor] of Object.entries(constants)) operands[name] ??= tensor && withDims(tensor, [])
  const results: Tensor[] = []
  for (const [i, { op, parameters, inputs, type }] of parts.entries()) {
    const given: Record<string, Tensor | undefined> = {}
    for (const [name, input] of Object.entries(inputs))
      given[name] = typeof input === 'string' ? operands[input] : typeof input === 'number' ? results[input] : input
    const dims = broadcastShapes(Object.values(given).map(tensor => tensor?.dims ?? [])) as number[]
    const result = i === parts.length - 1 ? table : allocate(type, dims)
    yield* computed(op, given, parameters, result)
    results.push(result)
  }
}

/** Elementwise operators ask for their output only. */
const unasked = (): never => fail('internal', 'an operator of a table asks for more than its output')
const CONTEXT: KernelContext = {
  dialect: 'onnx',
  version: 1,
  outputCount: 1,
  wanted: index => index === 0,
  output: unasked,
  rawOutput: unasked,
  give: unasked,
  state: { read: unasked, write: unasked },
  random: unasked,
  threads: 1,
  packed: undefined
}

function* lookUp(table: Uint8Array, a: Tensor, b: Tensor | undefined, out: Tensor): Generator<void> {
  const [first, target] = [bytesOf(a), bytesOf(out)]
  if (b === undefined)
    return yield* inChunks(
      target.length,
      (from, to) => {
        for (let i = from; i < to; i++) target[i] = table[first[i]]
      },
      COST.copy
    )
  const second = bytesOf(b)
  const loops = loopsOf(out.dims, [a.dims, b.dims])
  const [s, t, u] = innermost(loops)
  yield* eachInnerLoop(loops, ([p0, q0, o0], n) => {
    for (let i = 0, p = p0, q = q0, o = o0; i < n; i++, p += s, q += t, o += u)
      target[o] = table[(first[p] << 8) | second[q]]
  })
}
