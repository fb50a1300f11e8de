import { reasonOf } from '../../errors.ts'
import { allGraphs, type Constant, type Model } from '../../graph/graph.ts'
import { printable } from '../../io/print.ts'
import { shortNumber } from '../../report/words.ts'
import { dtypeName, DTYPES } from '../../tensor/dtype.ts'
import { toDoubles } from '../../tensor/elements.ts'
import { elementCount, type Tensor } from '../../tensor/tensor.ts'
import { counted, dimsText, grouped, type Style, table } from '../terminal.ts'
import { filterBy } from './nodes.ts'

/** Of the elements of a weight; NaN counts in none of the others. */
export interface Statistics {
  readonly min?: number
  readonly max?: number
  readonly mean?: number
  /** Standard deviation of the population. */
  readonly std?: number
  readonly zeros: number
  readonly nans: number
}

/** A weight as a listing has it. */
export interface ListedWeight {
  readonly name: string
  /** Path of its graph, see `Graph.path`. */
  readonly graphPath: string
  readonly type: string
  readonly dims: readonly number[]
  readonly bytes: number
  readonly statistics?: Statistics
  /** Why there are no statistics. */
  readonly problem?: string
}

/** Weights in the order of the file: initializers and constants of ONNX, Const layers of IR. */
export function listWeights(model: Model, filter: readonly string[], withStatistics: boolean): ListedWeight[] {
  const isWanted = filterBy(filter)
  const list: ListedWeight[] = []
  const add = (name: string, graphPath: string, constant: Constant): void => {
    if (!isWanted(name)) return
    const { type, dims, byteLength: bytes } = constant
    const about = { name, graphPath, type: dtypeName(type, model.dialect), dims, bytes }
    list.push({ ...about, ...(withStatistics && statisticsOf(constant)) })
  }
  for (const { path, nodes, initializers, values } of allGraphs(model)) {
    for (const [id, constant] of initializers) add(values.get(id)?.name ?? id, path, constant)
    for (const node of nodes) {
      if (node.constant) add(node.name, path, node.constant)
      else if (node.dialect === 'onnx' && node.type === 'Constant')
        for (const value of node.attributes.values())
          if (value.kind === 'tensor') add(node.outputs[0] ?? node.name, path, value.value)
    }
  }
  return list
}

/** Weights of more elements are not read as a whole to look at them. */
const MAX_ELEMENTS = 2 ** 28

function statisticsOf(constant: Constant): Pick<ListedWeight, 'statistics' | 'problem'> {
  const { kind } = DTYPES[constant.type]
  if (kind === 'string' || kind === 'complex') return {}
  if (elementCount(constant.dims) > MAX_ELEMENTS) return { problem: 'too large to be read here' }
  try {
    return { statistics: statistics(constant.read()) }
  } catch (error) {
    return { problem: reasonOf(error) }
  }
}

/** Two passes: the sum of squares of large numbers that differ little would lose the difference. */
function statistics(tensor: Tensor): Statistics {
  const numbers = toDoubles(tensor)
  let [min, max, sum, zeros, nans] = [Infinity, -Infinity, 0, 0, 0]
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]
    if (number !== number) nans++
    else {
      if (number === 0) zeros++
      if (number < min) min = number
      if (number > max) max = number
      sum += number
    }
  }
  const count = numbers.length - nans
  if (count === 0) return { zeros, nans }
  const mean = sum / count
  let squares = 0
  for (let i = 0; i < numbers.length; i++) if (numbers[i] === numbers[i]) squares += (numbers[i] - mean) ** 2
  return { min, max, mean, std: Math.sqrt(squares / count), zeros, nans }
}

/** A listing for people. */
export function weightsText(weights: readonly ListedWeight[], { bold }: Style): string {
  const rows = weights.map(({ name, graphPath, type, dims, bytes, statistics: found, problem }) =>
    [
      graphPath === '' ? name : `${graphPath}/${name}`,
      type,
      dimsText(dims),
      grouped(bytes),
      found ? statisticsText(found) : (problem ?? '')
    ].map(printable)
  )
  const bytes = weights.reduce((sum, weight) => sum + weight.bytes, 0)
  const total = bold(`${counted(weights.length, 'weight')}, ${counted(bytes, 'byte')}`)
  return [...(rows.length > 0 ? [table(rows, [3]).join('\n')] : []), total].join('\n\n')
}

const statisticsText = ({ min, max, mean, std, zeros, nans }: Statistics): string =>
  [
    ...(min === undefined || max === undefined || mean === undefined || std === undefined
      ? []
      : [`min ${shortNumber(min)} max ${shortNumber(max)} mean ${shortNumber(mean)} std ${shortNumber(std)}`]),
    ...(zeros > 0 ? [counted(zeros, 'zero')] : []),
    ...(nans > 0 ? [`${nans} NaN`] : [])
  ].join(', ')
