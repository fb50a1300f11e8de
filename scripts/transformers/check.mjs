// Runs pipelines of transformers.js on Nodewise and on onnxruntime-node and compares what their sessions gave,
// run for run: node scripts/transformers/check.mjs OWN THEIRS [--filter REGEX] [--node PATH] [--require]
// [--browser chromium | firefox], in which OWN runs in a page.
// OWN and THEIRS are folders with a package.json in whose node_modules transformers.js is, in OWN with the override of
// docs/transformers.md. Exits with 1 where a pipeline fails or gives something else.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { makeModels } from './make.mjs'
import { reportInPage } from './page.mjs'
import { runPipelines } from './pipelines.mjs'

const isMain = import.meta.url === pathToFileURL(process.argv[1] ?? '').href
const { positionals, values: options } = parseArgs({
  args: isMain ? process.argv.slice(2) : [],
  allowPositionals: true,
  options: {
    filter: { type: 'string', default: '' },
    node: { type: 'string', default: process.execPath },
    browser: { type: 'string' },
    require: { type: 'boolean', default: false }
  }
})

/**
 * A program as a user writes it, of the folder in which it starts: transformers.js imported or required, and the
 * package that it asks for.
 */
const programOf = (how, ...args) => `
import { createRequire } from 'node:module'
import { join } from 'node:path'
${how === 'import' ? "import * as transformers from '@huggingface/transformers'" : ''}
import { runThere } from '${import.meta.url}'
const require = createRequire(join(process.cwd(), 'x.js'))
${how === 'import' ? '' : "const transformers = require('@huggingface/transformers')"}
const inner = createRequire(require.resolve('@huggingface/transformers'))
await runThere(transformers, inner('onnxruntime-node'), ${JSON.stringify(args).slice(1, -1)})`

/** Runs the pipelines on what a program imports, and writes what came out. */
export async function runThere(transformers, { InferenceSession }, models, filter, report) {
  Object.assign(transformers.env, {
    allowRemoteModels: false,
    localModelPath: models,
    logLevel: transformers.LogLevel.ERROR
  })
  writeFileSync(report, JSON.stringify(await runPipelines(transformers, InferenceSession, new RegExp(filter))))
}

function reportOf(folder, at, how) {
  const report = join(at, 'report.json')
  const program = programOf(how, join(at, 'models'), options.filter, report)
  const { status } = spawnSync(options.node, ['--input-type=module', '-e', program], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error(`the pipelines of ${folder} ended with ${status}`)
  return JSON.parse(readFileSync(report, 'utf8'))
}

/** The largest difference of elements beside the magnitude of the tensor they are in; infinite where dims differ. */
export function difference(own, theirs) {
  if (own.length !== theirs.length) return Infinity
  let most = 0
  for (const [i, { name, type, dims, data }] of own.entries()) {
    const other = theirs[i]
    if (name !== other.name || type !== other.type || `${dims}` !== `${other.dims}`) return Infinity
    const size = data.reduce((max, value) => Math.max(max, Math.abs(value)), 1)
    for (const [j, value] of data.entries())
      if (!Object.is(value, other.data[j])) most = Math.max(most, Math.abs(value - other.data[j]) / size || 0)
  }
  return most
}

async function compare() {
  const at = mkdtempSync(join(tmpdir(), 'nodewise-transformers-'))
  try {
    makeModels(join(at, 'models'))
    const how = options.require ? 'require' : 'import'
    const own = options.browser
      ? await reportInPage(positionals[0], join(at, 'models'), options.browser, options.filter, at)
      : reportOf(positionals[0], at, how)
    const theirs = reportOf(positionals[1], at, how)
    own.forEach((each, i) => {
      const most = difference(each.outputs, theirs[i].outputs)
      const wrong = each.error ?? theirs[i].error ?? (most > 1e-4 ? 'differs' : '')
      const result = JSON.stringify(each.result ?? null).slice(0, 60)
      console.log(
        `${each.task} | ${each.model} | ${each.outputs.length} | ${most.toExponential(1)} | ${wrong || result}`
      )
      if (wrong) process.exitCode = 1
    })
  } finally {
    rmSync(at, { recursive: true, force: true })
  }
}

if (isMain) await compare()
