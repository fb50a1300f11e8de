import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { compressedMatMul, type CompressedParams } from '../op-kit/compressed.ts'
import { normalizeAxis } from '../shapes/dim.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { toNumbers } from '../tensor/elements.ts'
import { isCodedFloat } from '../tensor/floats.ts'
import { product } from '../tensor/tensor.ts'
import { codesOf } from './code-ops.ts'
import { listOfGroups, ones, rowsOfCodes, type Stored } from './codes-in-rows.ts'
import { bytesOf, CODES, FLOATS, rawOf } from './fuse-compressed.ts'
import { fusedCall } from './fuse.ts'
import { isFloat32, knownTensor, operandOf, type PlanGraph, shapeOf } from './graph.ts'
import type { Match, Pattern } from './match.ts'
import { isNamed, isPlainProduct, shared, sharedOf, turnsMatrix } from './patterns.ts'

const isDequantizing = isNamed('DequantizeLinear')

/**
 * Weights in codes that one node makes numbers of, as ONNX has them: DequantizeLinear, or Cast of 8-bit floats. The
 * product reads the codes, which are transposed first where its weights are not.
 */
export const dequantizedPattern: Pattern = {
  name: 'dequantized weights',
  calls: {
    numbers: shared({ ops: ['DequantizeLinear', 'Cast'] }),
    turned: sharedOf('Transpose', { data: 'numbers' }),
    product: {
      ops: ['MatMul', 'Gemm'],
      where: call => isPlainProduct(call) && (call.known.beta ?? 1) === 1,
      reads: ['numbers', 'turned'].map(b => ({ a: 'a', b }))
    }
  },
  root: 'product',
  guard: (match, graph) => weightsOf(match, graph) !== undefined,
  fuse(match, graph) {
    const { inputs, parameters } = weightsOf(match, graph)!
    const { call } = match.calls.get('product')!
    const made = Object.fromEntries(Object.entries(inputs).map(([name, make]) => [name, make?.()]))
    const all = { ...made, a: match.values.get('a'), bias: biasOf(call) }
    return { call: fusedCall(call, compressedMatMul, all, { ...parameters }) }
  }
}

/** What Gemm adds. */
const biasOf = (call: Call): ValueId | undefined => (isNamed('Gemm')(call) ? operandOf(call, 'c') : undefined)

/** Makes of constants the inputs of a fused call. */
interface Weights {
  readonly inputs: Readonly<Record<'codes' | 'scales' | 'zeros', (() => ValueId) | undefined>>
  readonly parameters: CompressedParams
}

/** Undefined where weights are no codes in rows that fill bytes, or scales are not those of rows or their groups. */
function weightsOf({ calls, values }: Match, graph: PlanGraph): Weights | undefined {
  const [numbers, product] = ['numbers', 'product'].map(label => calls.get(label)!.call)
  const { codes, scale, zero } = isDequantizing(numbers) ? codesOf(numbers) : codesOfCast(numbers)
  const [constant, scales] = [graph.constantOf(codes), scale === undefined ? undefined : graph.constantOf(scale)]
  if (constant === undefined || !CODES.includes(constant.type) || constant.dims.length !== 2) return undefined
  if (![numbers.outputs[0], values.get('a')].every(id => isFloat32(graph, id))) return undefined
  if (scale === undefined ? !isCodedFloat(constant.type) : !FLOATS.includes(scales?.type ?? 'bool')) return undefined
  const stored = storedAs(graph, { calls, values }, constant.dims, scales?.dims)
  if (stored === undefined || (!stored.isTurned && rawOf(graph, codes) === undefined)) return undefined
  if ((stored.k * DTYPES[constant.type].bits) % 8 !== 0) return undefined
  const zeros = zerosOf(graph, zero, constant.type)
  const bias = biasOf(product)
  if (zeros === undefined || (bias !== undefined && !isColumn(graph, bias, stored.n))) return undefined
  const { n, k, groups } = stored
  return {
    inputs: {
      codes: () => (stored.isTurned ? rowsOfCodes(graph, codes, stored) : bytesOf(graph, codes)),
      scales: () => (scale === undefined ? ones(graph, codes, n) : listOfGroups(graph, scale, stored)),
      zeros: zeros === 'codes' ? () => listOfGroups(graph, zero!, stored) : undefined
    },
    parameters: { n, k, type: constant.type, blockSize: k / Math.max(1, groups), zeros }
  }
}

/** What a Cast of 8-bit floats reads: it has no scales. */
const codesOfCast = ({ inputs }: Call) => ({ codes: inputs[0]!, scale: undefined, zero: undefined })

function storedAs(
  graph: PlanGraph,
  { calls }: Match,
  [rows, columns]: readonly number[],
  scales: readonly number[] | undefined
): Stored | undefined {
  const [numbers, turned, { known }] = ['numbers', 'turned', 'product'].map(label => calls.get(label)?.call) as [
    Call,
    Call | undefined,
    Call
  ]
  if (turned && !turnsMatrix(graph, turned)) return undefined
  const isTurned = (known.transposeB === true) === (turned !== undefined)
  const [n, k] = isTurned ? [columns, rows] : [rows, columns]
  if (n === 0 || k === 0) return undefined
  if (scales === undefined || product(scales) === 1) return { n, k, isTurned, groups: 0 }
  const { axis, blockSize } = numbers.known as { readonly axis: number | undefined; readonly blockSize: number }
  if (axis === undefined) return undefined
  const isOfRows = normalizeAxis(axis, 2) === (isTurned ? 1 : 0)
  if (blockSize === 0) return isOfRows && scales.length === 1 ? { n, k, isTurned, groups: 1 } : undefined
  return !isOfRows && k % blockSize === 0 ? { n, k, isTurned, groups: k / blockSize } : undefined
}

/** Floats have a zero point of zero, which some files write. */
function zerosOf(graph: PlanGraph, zero: ValueId | undefined, type: DType): CompressedParams['zeros'] | undefined {
  if (zero === undefined) return 0
  if (!isCodedFloat(type)) return graph.constantOf(zero) && 'codes'
  const known = knownTensor(graph, zero)
  return known && [...toNumbers(known)].every(code => code === 0) ? 0 : undefined
}

function isColumn(graph: PlanGraph, id: ValueId, n: number): boolean {
  const shape = shapeOf(graph, id)
  return isFloat32(graph, id) && shape?.at(-1) === n && shape.slice(0, -1).every(dim => dim === 1)
}
