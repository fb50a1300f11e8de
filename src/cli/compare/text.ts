import type {
  ComparedOutput,
  ComparedPair,
  Comparison,
  FirstDifference,
  ValueStatistics
} from '../../compare/result.ts'
import { printable } from '../../io/print.ts'
import { differingText, measureText, nodeText, worstText } from '../../report/compared-words.ts'
import { shortNumber } from '../../report/words.ts'
import { counted, type Style, table } from '../terminal.ts'

/** Pairs before the first that differs that are shown around it. */
const AROUND = 4

/** What a comparison found, for people: the first pair that differs, what came before it, and the outputs. */
export function compareText(
  result: Comparison,
  { a, b, all }: { readonly a: string; readonly b: string; readonly all: boolean },
  style: Style
): string {
  const { equal, first, pairs, outputs, unpaired, isolated } = result
  let lines = [
    printable(`a  ${a}`),
    printable(`b  ${b}`),
    `${counted(pairs.length, 'pair')} of values compared; ${unpaired.a} of a, ${unpaired.b} of b have no counterpart`,
    ''
  ]
  if (first !== undefined) lines.push(...firstText(first, style), '')
  const at = pairs.findIndex(pair => !pair.distance.equal)
  const shown = all ? pairs : at < 0 ? [] : pairs.slice(Math.max(0, at - AROUND), at + 2)
  // Those of --all may be more than a call may have arguments.
  if (shown.length > 0) lines = lines.concat(rows(shown, style), '')
  if (isolated) lines = lines.concat(isolatedText(isolated, all, style), '')
  for (const output of outputs) lines.push(printable(outputText(output)))
  lines.push(equal ? style.green('equal') : style.red('not equal'))
  return lines.join('\n')
}

/** Nodes that are shown by their own error. */
const WORST = 20

function isolatedText(isolated: readonly ComparedPair[], all: boolean, style: Style): string[] {
  const off = isolated.filter(({ distance }) => distance.maxAbsolute > 0)
  const shown = all ? isolated : off.slice(0, WORST)
  const head =
    off.length === 0
      ? `each of ${counted(isolated.length, 'value')} of b is the same where its node reads the values of a`
      : `${off.length} of ${counted(isolated.length, 'value')} of b differ where their nodes read the values of a`
  const more =
    isolated.length > shown.length && off.length > shown.length ? [`and ${off.length - shown.length} more (--all)`] : []
  return [style.bold(head), ...rows(shown, style), ...more]
}

function firstText({ a, b, distance, why, statistics, iteration }: FirstDifference, style: Style): string[] {
  const when = iteration === undefined ? '' : ` in iteration ${iteration}`
  return [
    style.bold('first difference'),
    `  a  ${nodeText(a)}`,
    `     ${statisticsText(statistics.a)}`,
    `  b  ${nodeText(b)}`,
    `     ${statisticsText(statistics.b)}`,
    `  value ${a.value}: ${differingText(distance)}${when}; what feeds it agrees`,
    `  ${worstText(distance)}`,
    ...why.map(line => `  ${line}`)
  ].map((line, i) => (i === 0 ? line : printable(line)))
}

/** `float32 [2, 3], -1.5 to 2, mean 0.25` */
function statisticsText({ type, dims, min, max, mean, nans }: ValueStatistics): string {
  const parts = [`${type} [${dims.join(', ')}]`]
  if (min !== undefined && max !== undefined && mean !== undefined)
    parts.push(`${shortNumber(min)} to ${shortNumber(max)}`, `mean ${shortNumber(mean)}`)
  if (nans > 0) parts.push(`${nans} NaN`)
  return parts.join(', ')
}

const rows = (pairs: readonly ComparedPair[], style: Style): string[] =>
  table(
    pairs.map(({ a, b, distance }) => [
      distance.equal ? ' ' : '!',
      `${a.type || 'recorded'} ${a.value}`,
      b.type === '' ? `recorded ${b.value}` : b.value === a.value ? b.type : `${b.type} ${b.value}`,
      measureText(distance)
    ])
  ).map(row => (row.startsWith('!') ? style.red(printable(row)) : printable(row)))

const outputText = ({ a, b, distance, problem = '' }: ComparedOutput): string =>
  `output ${a}${b === a ? '' : ` and ${b}`}: ${distance ? measureText(distance) : problem}`
