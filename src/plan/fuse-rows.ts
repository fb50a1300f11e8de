import { addedPart, fusedOp } from '../op-kit/fused.ts'
import { type Dim, sameDim } from '../shapes/dim.ts'
import { fusedCall } from './fuse.ts'
import { areDims, isFloat32, operandOf, type PlanGraph, shapeOf } from './graph.ts'
import type { Match, Pattern } from './match.ts'
import { operatorOf, sharedOf } from './patterns.ts'

/**
 * Gemm whose rows one Reshape makes of all axes but the last, and another one parts again, as exporters of PyTorch
 * write `addmm`: one MatMul with a bias, to which what follows can be added.
 */
export const rowsPattern: Pattern = {
  name: 'rows of a product',
  calls: {
    merged: sharedOf('Reshape', { data: 'x' }),
    product: {
      ops: ['Gemm'],
      where: ({ known }) => isPlain(known as unknown as GemmParams),
      reads: { a: 'merged', b: 'weights' }
    },
    parted: { ops: ['Reshape'], reads: { data: 'product' } }
  },
  root: 'parted',
  guard(match, graph) {
    const before = shapeOf(graph, match.values.get('x'))
    const weights = shapeOf(graph, match.values.get('weights'))
    if (before === undefined || before.length < 2 || weights === undefined) return false
    const { transposeB } = match.calls.get('product')!.call.known as unknown as GemmParams
    const [depth, columns] = transposeB ? [weights[1], weights[0]] : weights
    const result = match.calls.get('parted')!.call.outputs[0]
    return (
      isFloat32(graph, result) &&
      isWhole(before[before.length - 1], depth) &&
      areDims(shapeOf(graph, result), [...before.slice(0, -1), columns]) &&
      isList(biasShapeOf(match, graph), columns)
    )
  },
  fuse(match, graph) {
    const matmul = operatorOf(graph, 'MatMul', 13)
    if (matmul === undefined) return undefined
    const { values, calls } = match
    const { transposeB } = calls.get('product')!.call.known as unknown as GemmParams
    const known = { alpha: 1, transposeA: false, transposeB, movesA: false, movesB: false }
    const operands = { a: values.get('x'), b: values.get('weights') }
    const root = calls.get('parted')!.call
    const bias = biasOf(match)
    if (bias === undefined) return { call: fusedCall(root, matmul, operands, known) }
    const fused = { ...known, epilogue: [addedPart('bias')], activation: undefined }
    return { call: fusedCall(root, fusedOp(matmul), { ...operands, bias }, fused) }
  }
}

interface GemmParams {
  readonly alpha: number
  readonly beta: number
  readonly transposeA: boolean
  readonly transposeB: boolean
}

const isPlain = ({ alpha, beta, transposeA }: GemmParams): boolean => alpha === 1 && beta === 1 && !transposeA

const biasOf = ({ calls }: Match): string | undefined => {
  const { call } = calls.get('product')!
  return operandOf(call, 'c')
}

/** The dims of what is added; `none`: nothing is. */
function biasShapeOf(match: Match, graph: PlanGraph): readonly Dim[] | 'none' | undefined {
  const bias = biasOf(match)
  return bias === undefined ? 'none' : shapeOf(graph, bias)
}

const isList = (shape: readonly Dim[] | 'none' | undefined, columns: Dim): boolean =>
  shape === 'none' || (shape?.length === 1 && sameDim(shape[0], columns))

/** Whether a merged row is all of a row: of nothing, any number of rows could be made. */
const isWhole = (last: Dim, depth: Dim): boolean => typeof last === 'number' && last > 0 && last === depth
