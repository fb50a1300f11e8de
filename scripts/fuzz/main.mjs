// Fuzzing: models that are wrong in many ways, through load, check and run, in child processes under a watchdog.
// `npm run fuzz -- --help` says how it is used. A mutant passes when it ends in time and within memory with an answer
// or a typed error; an answer must also be the reference's (gathers), the base's (files that mean the same), and keep
// what `check` says of it.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { corpus, corpusFolders, ROOT } from './corpus.mjs'
import { minimise, signatureOf } from './minimise.mjs'
import { planMutant } from './mutant.mjs'
import { countOutcomes, HEAD } from './outcomes.mjs'
import { endAll, lone, runRange } from './processes.mjs'
import { differences } from './twins.mjs'

const HELP = `Usage: npm run fuzz -- [options]

Makes mutants of models and takes each through load, check and run. Reports, minimised, whatever throws something
other than a typed error, hangs (10 s), ends the process, takes more than 64 MB + 40 x the size of its file, or answers
wrongly. Exit code 1 when anything is found.

  --format onnx|ir|both   which files to make                            (both)
  --seed S                another seed, other mutants                    (1)
  --count N               mutants of each format                         (10000)
  --from N                number of the first                            (0)
  --jobs N                processes at once                              (2)
  --corpus DIR            models to start from, more than once           (models/, and ../shared/data/* where it is)
  --out DIR               where findings go                              (fuzz-findings)
  --only KIND             mutant (changed anyhow), neutral (the same in other bytes)
                          or gather (held against the reference)
  --twins                 also run each mutant with NODEWISE_KERNELS=ts and compare the answers
  --replay N              run mutant N of --seed and one --format alone, say what happens, and write its files
  --file PATH             run one file (.onnx, or .xml with its .bin) alone
  --fill HOW              with --file: zeros, ones, small or extreme inputs  (zeros)
  --hang MS               how long a mutant may take                     (10000)
  --tries N               how often a finding is run again to make it smaller  (400)
  --target FILE           drive another module than scripts/fuzz/target.ts; one of .mjs is bundled already
  --json                  print the counts as JSON
`

const { values: options } = parseArgs({
  options: {
    format: { type: 'string', default: 'both' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '10000' },
    from: { type: 'string', default: '0' },
    jobs: { type: 'string', default: '2' },
    corpus: { type: 'string', multiple: true },
    out: { type: 'string', default: 'fuzz-findings' },
    only: { type: 'string' },
    twins: { type: 'boolean', default: false },
    replay: { type: 'string' },
    file: { type: 'string' },
    fill: { type: 'string', default: 'zeros' },
    hang: { type: 'string', default: '10000' },
    tries: { type: 'string', default: '400' },
    target: { type: 'string', default: join(ROOT, 'scripts/fuzz/target.ts') },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false }
  }
})
if (options.help) {
  process.stdout.write(HELP)
  process.exit()
}

/** Mutants that one process takes in a row. */
const CHUNK = 10_000
const folders = options.corpus?.map(folder => relative(ROOT, resolve(folder))) ?? corpusFolders()
const hang = Number(options.hang)
const work = mkdtempSync(join(tmpdir(), 'nodewise-fuzz-'))
const isBundled = options.target.endsWith('.mjs')
const bundle = isBundled ? resolve(options.target) : join(work, 'target.mjs')

process.on('exit', () => {
  endAll()
  rmSync(work, { recursive: true, force: true })
})
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129]
])
  process.on(signal, () => process.exit(code))

const say = text => process.stderr.write(`${text}\n`)

/** Runs `count` mutants of a format: the bytes of their outcomes, and what was found. */
async function fuzz(format, from, count) {
  const chunks = Array.from({ length: Math.ceil(count / CHUNK) }, (_, i) => [
    from + i * CHUNK,
    Math.min(from + count, from + (i + 1) * CHUNK)
  ])
  const outcomes = []
  const found = []
  const started = performance.now()
  let done = 0
  const runNext = async () => {
    for (let range; (range = chunks.shift()) !== undefined;) {
      found.push(...(await runChunk(format, range, outcomes)))
      done += range[1] - range[0]
      const seconds = ((performance.now() - started) / 1000).toFixed(0)
      say(`${format}: ${done} of ${count} in ${seconds} s, ${found.length} to look at`)
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Number(options.jobs)) }, runNext))
  return { counts: countOutcomes(Buffer.concat(outcomes)), found, seconds: (performance.now() - started) / 1000 }
}

async function runChunk(format, range, outcomes) {
  const path = join(work, `${format}-${range[0]}`)
  const job = (suffix, env) => ({
    bundle,
    hang,
    format,
    seed: options.seed,
    folders,
    only: options.only,
    range,
    env,
    progress: { path: path + suffix, from: range[0], findings: `${path + suffix}.findings` },
    ...(options.twins && { twins: `${path + suffix}.answers` })
  })
  const suspects = await runRange(job(''))
  outcomes.push(readFileSync(path).subarray(HEAD))
  if (options.twins) {
    suspects.push(...(await runRange(job('-ts', { NODEWISE_KERNELS: 'ts' }))))
    suspects.push(...differences(`${path}.answers`, `${path}-ts.answers`))
  }
  for (const file of [`${path}.findings`, `${path}-ts.findings`].filter(existsSync)) {
    suspects.push(
      ...readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
    )
  }
  return suspects.map(suspect => ({ format, ...suspect }))
}

/**
 * Runs each kind of suspect once more, alone, and writes down what it shows again, minimised. What passes alone is
 * reported on stderr but is no finding.
 */
async function confirm(suspects) {
  const bySignature = new Map()
  for (const suspect of suspects) {
    const signature = `${suspect.format} ${signatureOf(suspect.problem)}`
    bySignature.set(signature, [...(bySignature.get(signature) ?? []), suspect])
  }
  const findings = []
  for (const [signature, same] of bySignature) findings.push(...(await confirmOne(signature, same)))
  return findings
}

const planOf = (format, index) => planMutant(options.seed, format, index, corpus(format, folders), options.only)

async function confirmOne(signature, same) {
  const timely = ['hang', 'memory', 'deaf', 'crash'].includes(same[0].problem.kind)
  for (const { format, index, problem } of same.slice(0, timely ? 20 : 3)) {
    const plan = planOf(format, index)
    if (problem.kind === 'twins') return [write(signature, { plan, problem, same, answer: {} })]
    const child = lone({ bundle, folders, hang })
    try {
      const answer = await child.ask(plan)
      if (!answer.problem) continue
      say(`${signature}\n  minimising ${format} ${index}`)
      const least = (await minimise(plan, answer.problem, (...what) => child.ask(...what), Number(options.tries))) ?? {
        plan,
        answer
      }
      return [write(signature, { plan: least.plan, problem: answer.problem, same, answer: least.answer })]
    } finally {
      child.end()
    }
  }
  say(`${signature}\n  is not seen again by itself (${same.length} times, first ${same[0].index})`)
  return []
}

/** A folder of its own for a finding: its files, and how to see it again. */
function write(signature, { plan, problem, same, answer }) {
  const folder = join(
    options.out,
    `${problem.kind}-${createHash('sha256').update(signature).digest('hex').slice(0, 8)}`
  )
  mkdirSync(folder, { recursive: true })
  writeFiles(folder, plan.format, answer.files)
  const only = options.only === undefined ? '' : ` --only ${options.only}`
  const finding = {
    signature,
    problem: answer.problem ?? problem,
    times: same.length,
    told: answer.told,
    replay: `npm run fuzz -- --seed ${options.seed} --format ${plan.format}${only} --replay ${plan.index}`,
    fill: plan.fill,
    plan
  }
  writeFileSync(join(folder, 'finding.json'), `${JSON.stringify(finding, undefined, 2)}\n`)
  return { folder, ...finding }
}

function writeFiles(folder, format, files) {
  if (files === undefined) return
  writeFileSync(join(folder, format === 'onnx' ? 'model.onnx' : 'model.xml'), Buffer.from(files.model, 'base64'))
  if (files.bin !== undefined) writeFileSync(join(folder, 'model.bin'), Buffer.from(files.bin, 'base64'))
}

async function runOne(plan, files) {
  const answer = await lone({ bundle, folders, hang }).ask(plan, files)
  const { files: made, ...told } = answer
  if (!files) {
    mkdirSync(options.out, { recursive: true })
    writeFiles(options.out, plan.format, made)
  }
  console.log(JSON.stringify(told, undefined, 2))
  return answer.problem ? 1 : 0
}

async function main() {
  // esbuild is read only where something is to be bundled.
  if (!isBundled) await (await import('./bundle-target.mjs')).bundleTarget(resolve(options.target), bundle)
  if (options.replay !== undefined) return runOne(planOf(options.format, Number(options.replay)))
  if (options.file !== undefined) {
    const format = options.file.endsWith('.xml') ? 'ir' : 'onnx'
    const bin = options.file.replace(/\.xml$/, '.bin')
    const base64 = path => readFileSync(path).toString('base64')
    return runOne(
      { format, kind: 'mutant', edits: [], blank: true, fill: { how: options.fill, seed: 0 } },
      { model: base64(options.file), bin: format === 'ir' && existsSync(bin) ? base64(bin) : undefined }
    )
  }
  const formats = options.format === 'both' ? ['onnx', 'ir'] : [options.format]
  const report = []
  for (const format of formats) {
    const { counts, found, seconds } = await fuzz(format, Number(options.from), Number(options.count))
    report.push({
      format,
      seed: options.seed,
      from: Number(options.from),
      count: Number(options.count),
      bases: corpus(format, folders).length,
      seconds: Math.round(seconds),
      outcomes: Object.fromEntries([...counts].sort((a, b) => b[1] - a[1])),
      findings: await confirm(found)
    })
  }
  if (options.json) console.log(JSON.stringify(report))
  else for (const one of report) print(one)
  return report.some(({ findings }) => findings.length > 0) ? 1 : 0
}

function print({ format, seed, count, bases, seconds, outcomes, findings }) {
  console.log(`${format}: ${count} mutants of ${bases} models, seed ${seed}, ${seconds} s`)
  for (const [name, times] of Object.entries(outcomes)) console.log(`  ${String(times).padStart(8)}  ${name}`)
  console.log(`  ${findings.length} findings`)
  for (const { folder, signature, times, replay } of findings)
    console.log(`  ${folder}: ${signature} (${times} times)\n    ${replay}`)
}

process.exit(await main())
