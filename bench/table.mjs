// Prints a report as text.
import { bestNative, bestTime, cellOf, PEERS, ratios, timeOf } from './summary.mjs'

/** Three significant digits; a dash for what was not measured. */
function figure(value) {
  if (value === undefined) return '-'
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(value)))
  return value.toFixed(Math.min(digits, 5))
}

/** Lines of a table as Markdown has them, the first column to the left, the others to the right. */
function grid(head, lines) {
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map(line => line[i].length)))
  const text = cells =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : '-'.repeat(width + 1) + ':'))
  return [text(head), `|${rule.join('|')}|`, ...lines.map(text)].join('\n')
}

const WORDS = { heap: 'heap', array: 'given', freed: 'freed', fresh: 'fresh' }
const modesOf = id =>
  id === 'nodewise' ? ['heap', 'array', 'freed', 'fresh'] : id === 'ort-web' ? ['fresh'] : ['array', 'fresh']

const nameOf = row => row.name + (row.wrong ? ' WRONG' : '')

function timesTable(rows, systems, threads, by) {
  const columns = systems
    .filter(system => system.threads.includes(threads))
    .flatMap(({ id, title }) => modesOf(id).map(mode => ({ id, mode, title: `${title} ${WORDS[mode]}` })))
  const head = ['row', 'MB moved', 'bound', 'copy', ...columns.map(column => column.title)]
  const cell = (row, { id, mode }) => {
    const found = cellOf(row, id, threads)
    return found?.error ? 'error' : figure(timeOf(found, mode, by))
  }
  const bounds = row => [row.moved / 1e6, row.bound?.[by], row.copy?.[by]].map(figure)
  return grid(
    head,
    rows.map(row => [nameOf(row), ...bounds(row), ...columns.map(column => cell(row, column))])
  )
}

function ratiosTable(rows, systems, threadCounts, by) {
  const head = [
    'row',
    ...threadCounts.flatMap(threads => [...Object.values(PEERS), 'best'].map(title => `${title} @${threads}`))
  ]
  return grid(
    head,
    rows.map(row => [
      row.name,
      ...threadCounts.flatMap(threads => {
        const ratio = ratios(row, systems, threads, by)
        const best = bestNative(row, systems, threads, cell => bestTime(cell, by))
        return [...Object.keys(PEERS).map(peer => figure(ratio[peer])), best?.system ?? '-']
      })
    ])
  )
}

const meansTable = means =>
  grid(
    ['geometric means of the ratios', 'outputs', 'threads', 'rows', ...Object.values(PEERS)],
    means
      .filter(mean => mean.rows > 0)
      .map(mean => [
        mean.group,
        mean.outputs,
        String(mean.threads),
        String(mean.rows),
        ...Object.keys(PEERS).map(peer => figure(mean[peer]))
      ])
  )

const coldTable = (cold, by) =>
  grid(
    ['cold row', 'system', 'ms', 'least ms', 'peak MB'],
    cold.flatMap(row =>
      row.cells.map(cell => [
        nameOf(row),
        cell.name,
        cell.error ? 'error' : figure(cell[by]),
        figure(cell.min),
        figure(cell.peak && cell.peak / 1e6)
      ])
    )
  )

const missText = ({ row, threads, value, bound, what }) =>
  `  ${row}${threads ? ` @${threads}` : ''}: ${figure(value)} ${what} (bound ${bound})`

const failureText = ({ row, system, threads, error }) => `  ${row}: ${system}${threads ? ` @${threads}` : ''}: ${error}`

const LEGEND =
  'heap: all from session.allocate; given: output made beforehand; ' +
  'bound: bytes moved over the bandwidth of a large copy; ' +
  'copy: of as many bytes'

/** Prints the whole report to standard output. */
export function printReport({ machine, rows, cold, summary, quick }, systems, { by, threadCounts }) {
  const print = (...lines) => console.log(lines.join('\n') + '\n')
  const versions = Object.entries(machine.systems)
    .filter(([, version]) => version !== 'here')
    .map(([id, version]) => `${id} ${version}`)
  print(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; ${versions.join(', ')}`)
  if (quick) print('QUICK: too few repeats to compare.')
  if (rows.length > 0) {
    for (const threads of threadCounts) {
      print(`Milliseconds (${by}), threads: ${threads}. ${LEGEND}.`, timesTable(rows, systems, threads, by))
    }
    print(
      'Nodewise over its peers at equal threads, heap or given where a system can.',
      ratiosTable(rows, systems, threadCounts, by)
    )
    print(meansTable(summary.means))
  }
  if (cold.length > 0) print(`Cold: whole process, 512 rows of a table on disk (${by}).`, coldTable(cold, by))
  if (summary.wrong.length > 0) print('WRONG, the systems do not agree:', ...summary.wrong.map(name => `  ${name}`))
  if (summary.failures.length > 0) print('Failed:', ...summary.failures.map(failureText))
  print(summary.misses.length === 0 ? 'No bound is missed.' : 'Missed bounds:', ...summary.misses.map(missText))
}
