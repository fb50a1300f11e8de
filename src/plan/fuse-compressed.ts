import type { Call } from '../bind/call.ts'
import type { Constant, ValueId } from '../graph/graph.ts'
import { compressedMatMul, type CompressedParams, valuesOf } from '../op-kit/compressed.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import { convert } from '../tensor/convert.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { toNumbers } from '../tensor/elements.ts'
import { isCodedFloat } from '../tensor/floats.ts'
import { product, soundTensor, type Tensor } from '../tensor/tensor.ts'
import { derivedConstant, tensorOf } from './derive.ts'
import { fusedCall } from './fuse.ts'
import { isFloat32, knownTensor, type PlanGraph, scalarOf, shapeOf } from './graph.ts'
import type { Match, Pattern, PatternCall } from './match.ts'
import { binaryOf, commutative, isPlainProduct, shared, sharedOf } from './patterns.ts'

/** Types in which files store weights. */
export const CODES: readonly DType[] = [
  ...(['uint2', 'int2', 'uint4', 'int4', 'uint8', 'int8', 'nf4', 'float4e2m1'] as const),
  ...(['float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz'] as const)
]
/** Types of scales, and of what they make of codes, that the kernel knows. */
export const FLOATS: readonly DType[] = ['float32', 'float16', 'bfloat16']

/** Types of scales that a Cast makes numbers of, in models of microscaling formats. */
const CODED_SCALES: readonly DType[] = ['float8e8m0', 'float8e4m3fn', 'float8e5m2']

const castOf = (...labels: readonly string[]): PatternCall => sharedOf('Cast', ...labels.map(input => ({ input })))
/**
 * Weights of few bits that nodes of their own make numbers of, as OpenVINO's files have them: Convert, Subtract of zero
 * points, Multiply by scales, then Reshape where these belong to groups of a row, and Convert. Codes may be positions
 * in a table (codebooks), and scales of groups may have a scale of their own (NVFP4). The product reads the codes
 * instead. It does not round the numbers to float16, which the nodes do.
 */
export const compressedPattern: Pattern = {
  name: 'compressed weights',
  calls: {
    numbers: castOf('codes'),
    zeroNumbers: castOf('zeros'),
    looked: sharedOf('Gather', ...['numbers', 'codes'].map(indices => ({ data: 'book', indices }))),
    centered: shared(binaryOf('Sub', ['numbers', 'zeroNumbers'], ['numbers', 'zeros'])),
    wideScales: castOf('scales'),
    bothScales: shared(binaryOf('Mul', ['wideScales', 'second'], ['second', 'wideScales'])),
    scaled: shared(
      commutative(
        'Mul',
        ['looked', 'wideScales'],
        ['looked', 'scales'],
        ['numbers', 'bothScales'],
        ['centered', 'wideScales'],
        ['centered', 'scales'],
        ['numbers', 'wideScales'],
        ['numbers', 'scales']
      )
    ),
    rows: sharedOf('Reshape', { data: 'scaled' }),
    wide: castOf('rows', 'scaled'),
    product: {
      ops: ['MatMul'],
      where: call => isPlainProduct(call) && call.known.transposeB === true,
      reads: ['wide', 'rows', 'scaled'].map(b => ({ a: 'a', b }))
    }
  },
  root: 'product',
  guard: (match, graph) => weightsOf(match, graph) !== undefined,
  fuse(match, graph) {
    const { codes, scales, zeros, parameters } = weightsOf(match, graph)!
    const { call } = match.calls.get('product')!
    const isOne = typeof parameters.zeros === 'number'
    const inputs = {
      a: match.values.get('a'),
      codes: bytesOf(graph, codes),
      scales: scales(),
      zeros: isOne ? undefined : parameters.zeros === 'codes' ? bytesOf(graph, zeros!) : zeros
    }
    return { call: fusedCall(call, compressedMatMul, inputs, { ...parameters }) }
  }
}

/** Values of compressed weights, and how they belong together. */
interface Weights {
  readonly codes: ValueId
  readonly scales: () => ValueId
  readonly zeros: ValueId | undefined
  readonly parameters: CompressedParams
}

/** Undefined where weights are no codes in rows that begin at bytes, or have other scales and zero points. */
function weightsOf({ calls, values }: Match, graph: PlanGraph): Weights | undefined {
  const [codes, scales, a] = ['codes', 'scales', 'a'].map(label => values.get(label)!)
  const zeros = values.get('zeros')
  const constant = rawOf(graph, codes)
  const product = calls.get('product')!.call
  const dims = shapeOf(graph, product.inputs[product.operands.findIndex(({ name }) => name === 'b')])
  if (constant === undefined || !isFloat32(graph, a) || !CODES.includes(constant.type)) return undefined
  const made = graph.facts.get(calls.get('scaled')!.call.outputs[0]!)
  if (made?.kind !== 'tensor' || made.type === undefined || !FLOATS.includes(made.type)) return undefined
  const [n, k] = dims ?? []
  const { bits } = DTYPES[constant.type]
  const groups = constant.dims.length === 3 ? constant.dims[1] : 1
  const isMatrix = dims?.length === 2 && typeof n === 'number' && typeof k === 'number'
  if (!isMatrix || (k * bits) % 8 !== 0 || !isGrouped(constant.dims, n, k)) return undefined
  const kind = kindOfZeros({ calls, values }, graph, constant, zeros)
  const own = graph.constantOf(scales)
  const isNumber = FLOATS.includes(own?.type ?? 'bool')
  const isCoded = calls.has('wideScales') && CODED_SCALES.includes(own?.type ?? 'bool')
  if (kind === undefined || own === undefined || !(isNumber || isCoded)) return undefined
  if (!belongsToGroups(own.dims, constant.dims)) return undefined
  // One scale of the whole matrix is a part of those of groups, if these are float32: others would round it.
  const second = values.get('second')
  const factor = second === undefined ? 1 : scalarOf(graph, second)
  if (factor === undefined || (second !== undefined && !(isCoded && made.type === 'float32'))) return undefined
  const table = calls.has('looked')
    ? tableOf(graph, calls.get('looked')!.call, constant, values.get('book')!)
    : undefined
  if (calls.has('looked') && table === undefined) return undefined
  const parameters = { n, k, type: constant.type, blockSize: k / groups, zeros: kind, ...(table && { table }) }
  const numbers = (): ValueId => (isCoded ? numbersOfScales(graph, scales, made.type!, factor) : scales)
  return { codes, scales: numbers, zeros, parameters }
}

/**
 * What codes of 4 bits find in a table. Positions beyond its end are refused, or read as zero, by the nodes, so a table
 * of fewer entries is taken only where that is zero; the kernel has no tables of more.
 */
function tableOf(graph: PlanGraph, call: Call, codes: Constant, book: ValueId): number[] | undefined {
  const entries = knownTensor(graph, book, 16)
  const { batchDims, outOfRange } = call.known
  // A list has one axis, so it is the one along which they are looked up.
  if (codes.type !== 'uint4' || entries?.dims.length !== 1 || batchDims !== 0) return undefined
  if (entries.data.length < 16 && outOfRange !== 'zero') return undefined
  const numbers = toNumbers(entries)
  return Array.from({ length: 16 }, (_, code) => numbers[code] ?? 0)
}

/** Scales in codes as numbers of the type that the file makes of them, times a scale of them all. */
function numbersOfScales(graph: PlanGraph, id: ValueId, type: DType, factor: number): ValueId {
  const key = `${type} ${factor}`
  const name = `${id}\0${key}`
  const codes = graph.constantOf(id)!
  const read = (): Tensor => {
    const numbers = convert(tensorOf(codes), type)
    if (factor === 1) return numbers
    return soundTensor(
      'float32',
      Float32Array.from(toNumbers(numbers), scale => scale * factor),
      codes.dims
    )
  }
  return graph.addConstant(name, derivedConstant(codes, key, type, codes.dims, read))
}

/** Whether codes lie as the rows of a matrix do, or as groups of its rows. */
const isGrouped = (dims: readonly number[], n: number, k: number): boolean =>
  dims[0] === n && k > 0 && (dims.length === 2 || dims.length === 3) && product(dims, 1) === k

/** Whether there is a number for each group, and for nothing else. */
const belongsToGroups = (dims: readonly number[], codes: readonly number[]): boolean =>
  dims.length === codes.length && dims.every((dim, i) => dim === (i === codes.length - 1 ? 1 : codes[i]))

function kindOfZeros(
  { calls, values }: Match,
  graph: PlanGraph,
  codes: Constant,
  id: ValueId | undefined
): CompressedParams['zeros'] | undefined {
  if (id === undefined) return 0
  if (isCodedFloat(codes.type)) return undefined
  const one = scalarOf(graph, id)
  if (one !== undefined) return valuesOf(codes.type).includes(one) ? one : undefined
  const zeros = graph.constantOf(id)
  if (zeros === undefined || !belongsToGroups(zeros.dims, codes.dims)) return undefined
  if (calls.has('zeroNumbers') && zeros.type === codes.type) return rawOf(graph, id) && 'codes'
  // Numbers are read as the scales are.
  return zeros.type === graph.constantOf(values.get('scales')!)?.type ? 'numbers' : undefined
}

/** A constant whose bytes can be read as the file has them. */
export function rawOf(graph: PlanGraph, id: ValueId): (Constant & Required<Pick<Constant, 'raw'>>) | undefined {
  const constant: Constant | Tensor | undefined = graph.constantOf(id)
  return constant && 'read' in constant && constant.raw ? (constant as ReturnType<typeof rawOf>) : undefined
}

/** By the constants of which they are the bytes, so that all plans of a session share them. */
const bytes = new WeakMap<Constant, Constant>()

/** The bytes of a constant as a constant of their own, so that codes stay packed in memory. */
export function bytesOf(graph: PlanGraph, id: ValueId): ValueId {
  const name = `${id}\0bytes`
  const constant = rawOf(graph, id)!
  const own = bytes.get(constant) ?? rawBytes(constant)
  bytes.set(constant, own)
  graph.constants.set(name, own)
  return name
}

function rawBytes({ raw, place, verify, byteLength }: Constant & Required<Pick<Constant, 'raw'>>): Constant {
  const { source, offset, length } = raw!
  return {
    type: 'uint8',
    dims: [length],
    byteLength,
    place,
    raw: { source, offset, length },
    read: () => tensorOfBytes('uint8', [length], source.read(offset, length), 'onnx'),
    ...(verify && { verify: () => verify() })
  }
}
