import type { AxisLayout } from '../../kernels/core/axis-layout.ts'
import type { Op, Selection } from '../../op-kit/define.ts'
import { normalizeAxes } from '../../shapes/dim.ts'
import { type DType, is64BitInteger } from '../../tensor/dtype.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type Candidate, floatBits, jobSelection, type Selector, selectorFor, staged } from '../selector.ts'
import { type ArithmeticKind, arithmeticTemplate } from './arithmetic.ts'
import { aroundAxes } from './axes.ts'
import { INTEGERS } from './integers.ts'
import { type Pass, passesSelection } from './passes.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 4
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 4
/** Elements of a tile, which take some 0.05 ms. */
const TILE = 1 << 17
/** Blocks that threads should find at least, where columns can be cut. */
const MIN_BLOCKS = 32
/** Columns of a cache line. */
const LINE = 16
/** Numbers of the reductions in ../assembly/f32/reduce.ts. */
const KINDS = { sum: 0, mean: 0, max: 1, min: 2, sumSquare: 3, l2: 3, l1: 4 } as const
/** Numbers of the reductions in ../assembly/wide/reduce.ts; of the types there, with the bytes of an element. */
const WIDE_KINDS = { sum: 0, mean: 0, prod: 1, max: 2, min: 3 } as const
const WIDE_TYPES: Readonly<Partial<Record<DType, readonly [type: number, width: number]>>> = {
  int32: [0, 4],
  uint32: [0, 4],
  int64: [1, 8],
  uint64: [1, 8],
  float64: [2, 8],
  float32: [3, 4]
}
/**
 * What is reduced in double precision and rounded once, the numbers there: from its type to the same, from its type to
 * float64, and from float64 to its type.
 */
const BY_DOUBLES = { float32: [3, 4, 5], int32: [6, 7, 8] } as const
/** Most elements of int32 whose sum a double holds, and whose mean it does not round up. */
const MAX_MEAN = 2 ** 21
type Kind = keyof typeof KINDS | 'prod'

/** What reductions are told. */
export interface ReduceParams {
  readonly axes: readonly number[]
  readonly noneIsAll: boolean
}

/** The axes that are reduced, counted from 0. */
export const reducedAxes = ({ axes, noneIsAll }: ReduceParams, rank: number): number[] =>
  axes.length === 0 && noneIsAll ? axesFrom(0, rank) : normalizeAxes(axes, rank)

/** A reduction of float32, extremes of integers, sums and products of integers, and what float64 has of these. */
export const selectReduce = (kind: Kind): Selector =>
  selectorFor<ReduceParams>(call => {
    const { data } = call.operands
    return data && reduceSelection(call, 'data', kind, reducedAxes(call.parameters, data.dims.length))
  })

/** GlobalAveragePool and GlobalMaxPool of float32. */
export const selectGlobalPool =
  (kind: 'mean' | 'max') =>
  (call: Candidate<unknown>): Selection | undefined => {
    const { x } = call.operands
    return x && reduceSelection(call, 'x', kind, axesFrom(2, x.dims.length))
  }

/** GlobalLpPool of float32 whose norm is that of magnitudes or of squares. */
export const selectGlobalNorm: Selector = selectorFor<{ readonly p: number }>(call => {
  const { x } = call.operands
  const { p } = call.parameters
  if (x?.type !== 'float32' || (p !== 1 && p !== 2)) return undefined
  return reduceSelection(call, 'x', p === 1 ? 'l1' : 'l2', axesFrom(2, x.dims.length))
})

const axesFrom = (first: number, rank: number): number[] => Array.from({ length: rank - first }, (_, i) => first + i)

/** @param name operand that is reduced */
function reduceSelection(
  { op, operands }: Candidate<unknown>,
  name: string,
  kind: Kind,
  axes: readonly number[]
): Selection | undefined {
  const data = operands[name]
  if (data === undefined || product(data.dims) < MIN_ELEMENTS) return undefined
  const templateOf = doublesOf(data, kind, axes) ?? templatesOf(data.type, kind)
  if (templateOf === undefined) return measuresSelection(op, name, data, kind, axes)
  const layout = aroundAxes(data.dims, axes)
  if (layout === undefined) return passesSelection(op, name, reducePasses(data.dims, kind, axes, templateOf))
  // Groups of one element lie side by side as columns do.
  const template = templateOf(layout.size === 1 ? { outer: 1, size: 1, inner: product(data.dims) } : layout, kind)
  return jobSelection(op, template, [name])
}

/** Dims with those of some axes, counted from 0, as 1. */
export const keptOf = (dims: readonly number[], axes: readonly number[]): number[] =>
  dims.map((dim, axis) => (axes.includes(axis) ? 1 : dim))

/** Functions of elements before, and of sums after, of measures of integers and float64. */
const MEASURES: Readonly<Partial<Record<Kind, readonly [before: ArithmeticKind | undefined, after?: ArithmeticKind]>>> =
  {
    l1: ['abs'],
    sumSquare: ['square'],
    l2: ['square', 'sqrt'],
    mean: [undefined, 'divide']
  }

/** Sums of magnitudes or squares of integers and float64, roots of those of float64, and means of 64-bit integers. */
function measuresSelection(
  op: Op,
  name: string,
  { type, dims }: Tensor,
  kind: Kind,
  axes: readonly number[]
): Selection | undefined {
  const [measures, templateOf, wide] = [MEASURES[kind], templatesOf(type, 'sum'), WIDE_TYPES[type]]
  const isSummed = axes.some(axis => dims[axis] !== 1)
  if (!measures || !templateOf || !wide || !isSummed || (kind === 'mean' && type !== 'int64')) return undefined
  const [before, after] = measures
  const kept = keptOf(dims, axes)
  const count = product(dims) / product(kept)
  const size = new Tensor(type, [is64BitInteger(type) ? BigInt(count) : count] as number[], [])
  const passOf = (step: ArithmeticKind | undefined, own: readonly number[]): Pass[] | undefined => {
    if (step === undefined) return []
    // The second operand counts for quotients alone, but its one element is read for all functions.
    const template = arithmeticTemplate(step, type, own, [], own, 1)
    return template && [{ template, tables: [arrayOf(size)], count: Math.ceil((product(own) * wide[1]) / 4) }]
  }
  const [first, last] = [passOf(before, dims), passOf(after, kept)]
  if (first === undefined || last === undefined) return undefined
  return passesSelection(op, name, [...first, ...reducePasses(dims, 'sum', axes, templateOf), ...last])
}

type TemplateOf = (layout: AxisLayout, kind: Kind, isRooted?: boolean, place?: Place) => JobTemplate

/** Which of several jobs one is that reduce axes one after the other. */
interface Place {
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** The job of products of float32, which may be none in between, and means of int32, whose sums may be none. */
function doublesOf({ type, dims }: Tensor, kind: Kind, axes: readonly number[]): TemplateOf | undefined {
  const count = product(dims) / product(keptOf(dims, axes))
  const isMean = type === 'int32' && kind === 'mean' && count <= MAX_MEAN
  if (!isMean && !(type === 'float32' && kind === 'prod')) return undefined
  const [whole, first, last] = BY_DOUBLES[type]
  return (layout, own, _, { isFirst, isLast } = { isFirst: true, isLast: true }) => {
    const number = isFirst && isLast ? whole : isFirst ? first : isLast ? last : WIDE_TYPES.float64![0]
    return wideTemplate(layout, own as keyof typeof WIDE_KINDS, number, isLast ? 4 : 8, isMean && isLast ? count : 1)
  }
}

/** The jobs of float32, but for products. */
export const FLOATS = reduceTemplate as TemplateOf

/** How a reduction of elements of a type becomes jobs; undefined where no kernel has it. */
function templatesOf(type: DType, kind: Kind): TemplateOf | undefined {
  const isExtreme = kind === 'max' || kind === 'min'
  if (type === 'float32' && kind !== 'prod') return FLOATS
  const integer = isExtreme ? INTEGERS[type] : undefined
  if (integer) return (layout, own) => extremesTemplate(layout, own === 'max', ...integer)
  const wide = WIDE_TYPES[type]
  const isServed = kind === 'sum' || kind === 'prod' || (type === 'float64' && (kind === 'mean' || isExtreme))
  return wide && isServed ? (layout, own) => wideTemplate(layout, own as keyof typeof WIDE_KINDS, ...wide) : undefined
}

/** Axes that do not lie side by side are reduced one after the other, the last first. */
export function reducePasses(
  given: readonly number[],
  kind: Kind,
  axes: readonly number[],
  templateOf: TemplateOf
): Pass[] {
  const dims = [...given]
  const left = axes.filter(axis => dims[axis] !== 1).sort((a, b) => b - a)
  return left.map((axis, i) => {
    const layout = { outer: product(dims, 0, axis), size: dims[axis], inner: product(dims, axis + 1) }
    dims[axis] = 1
    const isLast = i === left.length - 1
    const step = i === 0 ? firstStep(kind) : (THEN[kind] ?? kind)
    const template = templateOf(layout, step, isLast && kind === 'l2', { isFirst: i === 0, isLast })
    return { template, tables: [], count: Math.ceil((template.blocks * template.blockBytes) / 4) }
  })
}

/** What a first pass makes of elements; what further ones make of its results, where that is something else. */
const firstStep = (kind: Kind): Kind => (kind === 'l2' ? 'sumSquare' : kind)
const THEN: Readonly<Partial<Record<Kind, Kind>>> = { sumSquare: 'sum', l2: 'sum', l1: 'sum' }

/** Columns of a block, so that threads find blocks enough. */
export const panelOf = ({ outer, inner }: AxisLayout, minBlocks = MIN_BLOCKS): number =>
  Math.min(inner, Math.ceil(inner / Math.ceil(minBlocks / outer) / LINE) * LINE)

/**
 * A job that reduces columns panel by panel.
 * @param width bytes of an element of the result
 * @param elementWork of an element, in bytes that could be copied in the same time
 * @param own arguments of the kernel after the sizes
 */
function panelsTemplate(
  kernel: 'reduce' | 'extremes' | 'wideReduce',
  layout: AxisLayout,
  width: number,
  elementWork: number,
  own: readonly number[]
): JobTemplate {
  const { outer, size, inner } = layout
  const panel = panelOf(layout)
  return {
    kernel,
    blocks: outer * Math.ceil(inner / panel),
    blockBytes: panel * width,
    tile: Math.max(1, Math.floor(TILE / (size * panel))),
    work: outer * size * inner * elementWork,
    inputs: staged(1),
    args: [size, inner, panel, ...own]
  }
}

/**
 * The arguments are those of ReduceArguments in ../assembly/f32/reduce.ts.
 * @param isRooted whether the square root of the result is taken
 */
export function reduceTemplate(layout: AxisLayout, kind: keyof typeof KINDS, isRooted = kind === 'l2'): JobTemplate {
  const divisor = floatBits(kind === 'mean' ? layout.size : 1)
  return panelsTemplate('reduce', layout, 4, ELEMENT_WORK, [KINDS[kind], divisor, Number(isRooted)])
}

/** The job of sums of one type. */
export const sumTemplate = (type: 'float32' | 'float64' | 'int32' | 'int64', layout: AxisLayout): JobTemplate =>
  type === 'float32' ? reduceTemplate(layout, 'sum') : wideTemplate(layout, 'sum', ...WIDE_TYPES[type]!)

/** The arguments are those of ExtremesArguments in ../assembly/int8/extremes.ts. */
const extremesTemplate = (layout: AxisLayout, isMax: boolean, shift: number, isUnsigned: boolean): JobTemplate =>
  panelsTemplate('extremes', layout, 1 << shift, 1 << shift, [shift, Number(isMax), Number(isUnsigned)])

/**
 * The arguments are those of WideReduceArguments in ../assembly/wide/reduce.ts.
 * @param width bytes of an element of the result
 */
const wideTemplate = (
  layout: AxisLayout,
  kind: keyof typeof WIDE_KINDS,
  type: number,
  width: number,
  divisor = kind === 'mean' ? layout.size : 1
): JobTemplate => panelsTemplate('wideReduce', layout, width, width, [WIDE_KINDS[kind], type, divisor])
