// The bench: node run.mjs [options], see README.md.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureCold } from './cold.mjs'
import { makeRow, tableOf } from './models.mjs'
import { BASE_ROWS, bytesMoved, variantsOf } from './rows.mjs'
import { judge } from './summary.mjs'
import { canRun, findSystems, measureCopy, measureRow } from './systems.mjs'
import { printReport } from './table.mjs'

const HELP = `node run.mjs [options]
  --rows REGEX      only rows whose name matches; the names of cold rows begin with "cold"
  --only SYSTEMS    only these, separated by commas: nodewise, ort-node, ort-web, ort-py, openvino, numpy
  --threads LIST    thread counts (default 1,2)
  --quick           few repeats: does every cell work?
  --by min          show minima in place of medians (a busy machine)
  --skip-cold       no cold rows (they write 3 GiB into the folder)
  --keep FOLDER     put the models there and leave those of the cold rows
  --json FILE       write all figures as JSON too (- for standard output in place of the table)
`

function readOptions() {
  const text = fallback => ({ type: 'string', ...(fallback !== undefined && { default: fallback }) })
  const flag = { type: 'boolean', default: false }
  const { values } = parseArgs({
    options: {
      rows: text(''),
      only: text(),
      threads: text('1,2'),
      by: text('median'),
      keep: text(),
      json: text(),
      quick: flag,
      'skip-cold': flag,
      help: flag
    }
  })
  if (values.by !== 'median' && values.by !== 'min') throw new Error('--by is median or min')
  return {
    ...values,
    pattern: new RegExp(values.rows),
    systems: values.only?.split(','),
    threadCounts: values.threads.split(',').map(Number),
    often: values.quick ? { repeats: 3, seconds: 0.05 } : { repeats: 15, seconds: 0.5 }
  }
}

const note = text => process.stderr.write(`${text}\n`)

/** Measures one row: every system that can run it, one after the other. */
function measureWarm(row, job, systems, { often, threadCounts }) {
  const moved = bytesMoved(row)
  const cells = []
  for (const threads of threadCounts) {
    for (const system of systems) {
      if (!system.threads.includes(threads) || !canRun(system, row)) continue
      const { error, ...modes } = measureRow(system, { ...job, ...often, threads })
      if (error) note(`  ${system.id} @${threads}: ${error}`)
      cells.push({ system: system.id, threads, ...(error ? { error } : { modes }) })
    }
  }
  const { name, blocks, table, indexType } = row
  const { bound, same } = measureCopy({ ...often, bytes: moved })
  const checksums = new Set(cells.flatMap(cell => Object.values(cell.modes ?? {}).map(mode => mode.checksum)))
  return { name, blocks, table, indexType, moved, bound, copy: same, cells, wrong: checksums.size > 1 }
}

function measureAll(folder, systems, options) {
  const results = []
  for (const base of BASE_ROWS) {
    const rows = variantsOf(base).filter(row => options.pattern.test(row.name))
    if (rows.length === 0) continue
    const table = tableOf(base)
    for (const row of rows) {
      note(row.name)
      const { job, remove } = makeRow(folder, row, table)
      try {
        results.push(measureWarm(row, job, systems, options))
      } finally {
        remove()
      }
    }
  }
  return results
}

function main() {
  const options = readOptions()
  if (options.help) return process.stdout.write(HELP)
  const systems = findSystems(options.systems)
  if (options.keep) mkdirSync(options.keep, { recursive: true })
  const folder = options.keep ?? mkdtempSync(join(tmpdir(), 'nodewise-bench-'))
  process.once('SIGINT', () => process.exit(130))
  if (!options.keep) process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const rows = measureAll(folder, systems, options)
  const cold = options['skip-cold'] ? [] : measureCold(folder, systems, options, note)
  const versions = Object.fromEntries(systems.map(({ id, version }) => [id, version]))
  const machine = { cpu: cpus()[0].model.trim(), cores: cpus().length, node: process.version, systems: versions }
  const report = {
    machine,
    by: options.by,
    quick: options.quick,
    rows,
    cold,
    summary: judge(rows, cold, systems, options)
  }
  if (options.json) writeFileSync(options.json === '-' ? 1 : options.json, JSON.stringify(report, null, 1) + '\n')
  if (options.json !== '-') printReport(report, systems, options)
}

main()
