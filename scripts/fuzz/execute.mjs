// Takes one mutant through load, check and run in this process and says what became of it.
import { pathToFileURL } from 'node:url'
import { baseModel } from './corpus.mjs'
import { feedsFor } from './feeds.mjs'
import { lieOf, observer } from './lies.mjs'
import { buildMutant } from './mutant.mjs'

/**
 * What the tensors of a run may take; with the room that a process of JavaScript needs it stays well within the bound
 * of a mutant.
 */
const RUN_MEMORY = 2 ** 24
/**
 * Milliseconds after which a run is told to stop, and milliseconds of processor time after which a run has ignored
 * that.
 */
const ABORT_AFTER = 1000
const DEAF_AFTER = 3000

/** A function that gives the values that a base is tested with, in the order of its inputs; each base is read once. */
function givenValues(target) {
  const given = new Map()
  return async plan => {
    if (plan.blank) return []
    let values = given.get(plan.base.path)
    if (values === undefined) given.set(plan.base.path, (values = await readGiven(target, plan.base)))
    return values
  }
}

async function readGiven(target, base) {
  const { data } = baseModel(base)
  if (data === undefined) return []
  try {
    const model = await target.load(base.path)
    const byName = await target.readByPosition(model, target.numberedFiles(data, 'input'))
    return target.neededInputs(model).map(({ name }) => byName.get(name))
  } catch {
    // Bases that are wrong themselves, or whose files are of another kind.
    return []
  }
}

/** Loads the bundle at `path`; what it gives takes mutants. */
export async function createExecutor(path) {
  const target = await import(pathToFileURL(path).href)
  const ops = { onnx: [], openvino: [] }
  for (const { dialect, ...op } of target.supportedOps()) ops[dialect].push(op)
  const givenTo = givenValues(target)
  const answers = new Map()

  /** The answer of an unchanged base, for neutral mutants. */
  async function answerOf(plan) {
    let answer = answers.get(plan.base.path)
    if (answer === undefined) {
      const { model, bin } = baseModel(plan.base)
      answer = await attempt({ model, bin }, plan, undefined)
      answers.set(plan.base.path, answer)
    }
    return answer
  }

  /** `{ stage, code }` of how far it came, with `problem` where that must not be; `outputs` where it ran. */
  async function attempt({ model: bytes, bin, feeds, expect }, plan, expected) {
    const reached = { stage: 'load', code: '' }
    let started
    try {
      const model = await target.load(plan.format === 'ir' ? { xml: bytes, ...(bin && { bin }) } : bytes)
      reached.stage = 'check'
      const checked = typed(target, () => target.check(model), reached)
      reached.stage = 'run'
      started = process.cpuUsage()
      const session = new target.InferenceSession(model, { maxMemory: RUN_MEMORY })
      const values = feeds ? tensorsOf(target, feeds) : feedsFor(target, model, await givenTo(plan), plan.fill)
      if (values === undefined) return { ...reached, code: 'unfed' }
      const { seen, onStep } = observer()
      reached.outputs = await runAborting(session, values, onStep)
      reached.stage = 'ran'
      reached.problem = lieOf(model, checked, reached.outputs, seen)
    } catch (error) {
      reached.code = codeOf(target, error)
      if (reached.code === undefined) reached.problem = untyped(error)
    }
    reached.problem ??= expect
      ? differenceFromReference(reached, expect)
      : expected && differenceFromBase(reached, expected)
    const took = started === undefined ? 0 : process.cpuUsage(started).user / 1000
    if (took > DEAF_AFTER) reached.problem ??= deaf(took)
    reached.problem ??= pollution()
    return reached
  }

  return {
    build: plan => buildMutant(plan, ops),
    /** @param files what `build` made, or what is left of it */
    async execute(files, plan) {
      const expected = plan.kind === 'neutral' && plan.edits.length > 0 ? await answerOf(plan) : undefined
      return attempt(files, plan, expected)
    }
  }
}

const tensorsOf = ({ Tensor }, feeds) =>
  Object.fromEntries(Object.entries(feeds).map(([name, { type, dims, data }]) => [name, new Tensor(type, data, dims)]))

async function runAborting(session, feeds, onStep) {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), ABORT_AFTER)
  try {
    return await session.run(feeds, undefined, { signal: controller.signal, onStep })
  } finally {
    clearTimeout(timer)
  }
}

/** What `act` gives; a typed failure leaves its code and goes no further, since a run may still tell more. */
function typed(target, act, reached) {
  try {
    return act()
  } catch (error) {
    reached.code = codeOf(target, error)
    if (reached.code === undefined) throw error
    return undefined
  }
}

const deaf = took => ({
  kind: 'deaf',
  message: `told to stop after ${ABORT_AFTER} ms, the run worked for ${Math.round(took)} ms`
})

const codeOf = ({ NodewiseError }, error) =>
  error instanceof NodewiseError && error.code !== 'internal' ? error.code : undefined

function untyped(error) {
  const stack = String(error?.stack ?? error)
  const frames = stack
    .split('\n')
    .filter(line => /^\s+at /.test(line))
    .slice(0, 12)
    .map(line => line.trim().replace(/file:\/\/\S*\/(?=[^/]*:\d)/, ''))
  return { kind: 'untyped', message: `${error?.name}: ${String(error?.message).slice(0, 300)}`, frames }
}

function pollution() {
  const keys = []
  for (const key in {}) keys.push(key)
  if (keys.length === 0) return undefined
  for (const key of keys) delete Object.prototype[key]
  return { kind: 'lie', message: `Object.prototype has got ${keys}` }
}

function differenceFromReference({ stage, code, outputs, problem }, { errors, dims, positions, of, zero }) {
  if (problem) return problem
  const differs = message => ({ kind: 'differs', message })
  if (errors)
    return errors.includes(code)
      ? undefined
      : differs(`${errors.join(' or ')} is due, but ${stage === 'ran' ? 'it runs' : `it fails with ${code}`}`)
  if (stage !== 'ran') return differs(`it fails with ${code} (${stage})`)
  const [{ type, dims: found, data }] = Object.values(outputs)
  if (type !== of.type) return differs(`its type is ${type}, not ${of.type}`)
  if (String(found) !== String(dims)) return differs(`its dims are [${found}], not [${dims}]`)
  // Complex elements are two numbers; bits are compared, so that every NaN is itself.
  const slots = positions.length === 0 ? 1 : data.length / positions.length
  const [a, b] = [bitsOf(data), bitsOf(of.data)]
  const blank = zero === undefined ? (Array.isArray(data) ? '' : 0) : bitsOf(of.data.constructor.of(zero))[0]
  const at = positions.findIndex((position, i) => {
    for (let slot = 0; slot < slots; slot++) {
      const wanted = position < 0 ? blank : b[position * slots + slot]
      // eslint-disable-next-line eqeqeq -- a zero is 0 or 0n
      if (a[i * slots + slot] != wanted) return true
    }
    return false
  })
  return at < 0
    ? undefined
    : differs(
        `element ${at} is ${a[at * slots]}, not ${positions[at] < 0 ? blank : b[positions[at] * slots]} ` +
          `(element ${positions[at]} of the data)`
      )
}

const bitsOf = data =>
  data instanceof Float32Array
    ? new Uint32Array(data.buffer, data.byteOffset, data.length)
    : data instanceof Float64Array
      ? new BigUint64Array(data.buffer, data.byteOffset, data.length)
      : data

function differenceFromBase(reached, expected) {
  if (reached.problem) return reached.problem
  const tell = ({ stage, code, outputs }) => (stage === 'ran' ? digest(outputs) : `${stage} ${code}`)
  // Bases that fail may fail elsewhere first.
  if (expected.stage !== 'ran' || tell(reached) === tell(expected)) return undefined
  return {
    kind: 'differs',
    message: `the base gives ${tell(expected).slice(0, 200)}, an equivalent file ${tell(reached).slice(0, 200)}`
  }
}

/** Outputs as text, bit by bit. */
export const digest = outputs => JSON.stringify(Object.values(outputs).map(textOf))

function textOf(value) {
  if (value === undefined) return 'absent'
  if (value.type === 'sequence') return value.values.map(textOf)
  if (value.type === 'optional') return { optional: textOf(value.value) }
  if (value.type === 'map') return { map: [...value.entries].map(pair => pair.map(String)).sort() }
  return `${value.type}[${value.dims}] ${Array.from(bitsOf(value.data)).join(',')}`
}
