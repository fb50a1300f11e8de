import { type DType, type InferenceSession, NodewiseError, type TensorPort } from 'nodewise'
import type { ScoreOptions } from './options.ts'
import type { Field } from './table.ts'

/** How the cells of a row fill an input: the dims of one row, and whether rows stand along a first dim. */
export interface RowShape {
  readonly dims: readonly number[]
  readonly isBatched: boolean
}

/** An input of the model and the columns that it is filled from. */
export interface MappedInput {
  readonly name: string
  readonly type: DType
  /** Declared dims; undefined ones are of any size. */
  readonly dims: readonly (number | undefined)[] | undefined
  /** Indices of the columns. */
  readonly columns: readonly number[]
}

/**
 * Finds the columns of every input: those that `map` names, else the column of its name.
 * @throws NodewiseError `bad-usage` for names that are not there, `missing-input` for an input without a column
 */
export function mapInputs(
  session: InferenceSession,
  fields: readonly Field[],
  { map = {}, feeds = {} }: ScoreOptions
): MappedInput[] {
  const names = fields.map(({ name }) => name)
  const places = new Map(names.map((name, i) => [name, i]))
  for (const input of Object.keys(map))
    if (!session.inputNames.includes(input))
      badUsage(`--map ${input}: the model has no such input; it has ${session.inputNames.join(', ')}`)
  return session.inputMetadata
    .filter(({ name }) => !(name in feeds))
    .map(port => {
      const wanted = map[port.name] ?? [port.name]
      const missing = wanted.find(name => !places.has(name))
      if (missing !== undefined) noColumn(port, missing, names, port.name in map)
      if (!port.isTensor) badUsage(`input "${port.name}" is no tensor, which columns could fill; give it with -i`)
      return mapped(
        port,
        wanted.map(name => places.get(name) as number)
      )
    })
}

const mapped = ({ name, type, shape }: TensorPort, columns: readonly number[]): MappedInput => ({
  name,
  type: type ?? 'float32',
  dims: shape?.map(dim => (typeof dim === 'number' ? dim : undefined)),
  columns
})

/** Columns that an example names, where an input does not say how many it takes, or takes more. */
const FEW_COLUMNS = 3
const MANY_COLUMNS = 8

function noColumn(
  port: InferenceSession['inputMetadata'][number],
  column: string,
  names: readonly string[],
  isMapped: boolean
): never {
  const { name: input } = port
  // As spreadsheets write CSV where the comma is the decimal sign, or as TSV.
  const mark = names.length === 1 ? /[;\t]/.exec(names[0])?.[0] : undefined
  const listed = `the table has ${names.map(name => JSON.stringify(name)).join(', ') || 'no columns'}`
  const has =
    mark === undefined
      ? listed
      : `${listed}, as one column: columns of a CSV are parted by ",", not by ${JSON.stringify(mark)}`
  if (isMapped) badUsage(`--map ${input}: there is no column ${JSON.stringify(column)}; ${has}`)
  const shape = port.isTensor ? port.shape : undefined
  const width = shape?.length === 1 ? 1 : shape?.at(-1)
  const count = typeof width === 'number' && width <= MANY_COLUMNS ? width : FEW_COLUMNS
  const example = `--map ${input}=${names.slice(0, count).join(',') || 'column'}`
  throw new NodewiseError(
    'missing-input',
    `no column is named as input "${input}"; ${has}${mark === undefined ? `: name them, as in ${example}` : ''}`
  )
}

/** How many elements dims hold; NaN where one is of any size. */
export const elementCount = (dims: readonly (number | undefined)[]): number =>
  dims.reduce<number>((product, dim) => product * (dim ?? NaN), 1)

/** @throws NodewiseError `bad-usage` */
export function badUsage(message: string): never {
  throw new NodewiseError('bad-usage', message)
}
