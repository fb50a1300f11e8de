// Errors of whole models: the largest difference of each system from Nodewise with `precision: 'exact'`, whose sums are
// in double precision, as a share of its largest output.
//
//   node models/errors.mjs [--of perf,zoo,examples] [--models REGEX] [--threads N] [--peers web,node]
//                          [--filled FOLDER] [--dist FOLDER] [--data FOLDER]
import { parseArgs } from 'node:util'
import { differenceOf } from '../peers.mjs'
import { eachCase } from './cases.mjs'
import { OPTIONS, start, systemsOf } from './systems.mjs'

const { values: options } = parseArgs({ options: OPTIONS })

/** The output of one run, in a session that is let go of. */
async function outputOf(system, path, inputs) {
  const { session, output } = await start(system, path, inputs)
  const kept = output.slice()
  await session.release?.()
  return kept
}

const { nodewise: exact } = await systemsOf({ ...options, peers: '', precision: 'exact' })
const systems = await systemsOf(options)
await eachCase(options, async (name, label, inputs, path) => {
  const reference = await outputOf(exact, path, inputs)
  const errors = {}
  for (const [system, way] of Object.entries(systems))
    errors[system] = differenceOf(await outputOf(way, path, inputs), reference)
  const cells = Object.entries(errors).map(([system, error]) => `${system} ${error.toExponential(1)}`)
  if (errors.web) cells.push(`/web ${(errors.nodewise / errors.web).toFixed(2)}`)
  console.log([`${name} ${label}`.padEnd(28), ...cells].join('  '))
})
for (const { close } of Object.values(systems)) close?.()
