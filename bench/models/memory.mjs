// Peak memory of whole models: each case in each system in a process of its own, opened and run three times.
//
//   node models/memory.mjs [--of perf,examples] [--models REGEX] [--threads N] [--peers web,node]
//                          [--filled FOLDER] [--dist FOLDER] [--data FOLDER]
//
// Prints MiB (`VmHWM` of Linux, which counts pages of mapped files too) and the share of each peer's. Of a child, which
// is started with `--only SYSTEM --case LABEL`, the number alone.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { eachCase } from './cases.mjs'
import { OPTIONS, start, SYSTEMS } from './systems.mjs'

const RUNS = 3
const { values: options } = parseArgs({
  options: {
    ...OPTIONS,
    only: { type: 'string' },
    case: { type: 'string' }
  }
})

// Nodewise reads the data sets of the zoos, in each process, and OpenVINO is a process below the one that is measured.
if (/zoo/.test(options.of) || /openvino/.test(options.peers))
  throw new Error('memory is that of perf and examples, beside web and node')

const peak = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024

async function runAlone(system) {
  await eachCase(options, async (name, label, inputs, path) => {
    if (label !== options.case) return
    const { session, feeds } = await start(system, path, inputs)
    for (let run = 1; run < RUNS; run++) await session.run(feeds)
    console.log(peak())
  })
}

/** What a child prints that runs one case in one system. */
function peakOf(system, name, label, path) {
  const given = { ...options, models: `^${name}$`, filled: dirname(path), only: system, case: label }
  const flags = Object.entries(given).flatMap(([option, value]) => [`--${option}`, value])
  return Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...flags], { encoding: 'utf8' }))
}

async function compare() {
  const peers = options.peers.split(',')
  await eachCase(options, (name, label, _, path) => {
    const peaks = ['nodewise', ...peers].map(system => [system, peakOf(system, name, label, path)])
    const cells = peaks.map(([system, mebibytes]) => `${system} ${mebibytes.toFixed(0)}`)
    const shares = peaks.slice(1).map(([peer, mebibytes]) => `/${peer} ${(peaks[0][1] / mebibytes).toFixed(2)}`)
    console.log([`${name} ${label}`.padEnd(28), ...cells, ...shares].join('  '))
  })
}

await (options.only === undefined ? compare() : runAlone(await SYSTEMS[options.only](options)))
