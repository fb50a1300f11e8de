import type { ReportTable } from 'nodewise'
import { type Columns, nameOf, typeOf } from '../graph/columns.ts'
import { dimsText, numberText, timeText } from '../panels/texts.ts'
import type { Flat } from './flatten.ts'
import type { ShownValue, Step } from './running.ts'

/** What a step of a run is called. */
export const stepNameOf = (columns: Columns, { record }: Pick<Step, 'record'>): string =>
  record < 0 ? 'a node within a body' : `${typeOf(columns, record)} ${nameOf(columns, record)}`

/** The columns of a table in which values are told. */
export const VALUE_HEAD = ['type', 'dims', 'least', 'greatest', 'mean', 'deviation', 'NaN', 'infinite']

/** A value in the columns of {@link VALUE_HEAD}. */
export const valueCells = ({ type, dims, statistics: of }: ShownValue): string[] => [
  type,
  dimsText(dims),
  ...(of ? [of.min, of.max, of.mean, of.deviation].map(numberText) : ['', '', '', '']),
  ...(of ? [of.nans, of.infinities].map(count => (count === 0 ? '' : `${count}`)) : ['', ''])
]

/** All values of a run, in its order. */
export const valueTable = ({ columns, values }: Flat, steps: readonly Step[]): ReportTable => ({
  title: 'Values of the run',
  head: ['node', 'value', ...VALUE_HEAD, 'time'],
  rows: steps.flatMap(step =>
    step.values.map(each => [
      stepNameOf(columns, step),
      values.names[each.value],
      ...valueCells(each),
      timeText(step.milliseconds)
    ])
  ),
  isFolded: true
})
