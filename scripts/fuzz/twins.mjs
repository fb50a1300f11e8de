// Two runs of the same mutants, one with each make of the kernels, must answer alike.
import { existsSync, readFileSync } from 'node:fs'

/** Elements of an output that are compared. */
const SAMPLE = 48

/** How far a mutant came and a sample of its outputs, small enough to be kept for every mutant. */
export function summaryOf({ stage, code, problem, outputs }) {
  const end = problem ? 'problem' : `${stage} ${code}`.trim()
  return stage === 'ran' && outputs ? { end, outputs: Object.values(outputs).map(sampleOf) } : { end }
}

function sampleOf(value) {
  if (value === undefined || !('dims' in value)) return { type: value?.type ?? 'absent' }
  const step = Math.max(1, Math.floor(value.data.length / SAMPLE))
  const sample = []
  for (let i = 0; i < value.data.length; i += step) sample.push(String(value.data[i]))
  return { type: value.type, dims: value.dims, sample }
}

const ROUNDED = { float32: 1e-4, float64: 1e-9, complex64: 1e-4, complex128: 1e-9 }

function isNear(a, b, type) {
  if (a === b) return true
  const tolerance = ROUNDED[type]
  // What has fewer bits is a code: neighbours may differ by a rounding.
  if (tolerance === undefined)
    return (type === 'float16' || type === 'bfloat16') && Math.abs(Number(a) - Number(b)) <= 1
  return Math.abs(Number(a) - Number(b)) <= tolerance * Math.max(1, Math.abs(Number(a)), Math.abs(Number(b)))
}

const readSummaries = path =>
  new Map(
    !existsSync(path)
      ? []
      : readFileSync(path, 'utf8')
          .trim()
          .split('\n')
          .filter(Boolean)
          .map(line => {
            const summary = JSON.parse(line)
            return [summary.index, summary]
          })
  )

/**
 * What differs between two files of summaries: `{ index, problem }` each. Runs that were told to stop depend on time
 * and count for
 * nothing.
 */
export function differences(onePath, otherPath) {
  const others = readSummaries(otherPath)
  return [...readSummaries(onePath).values()].flatMap(one => {
    const other = others.get(one.index)
    if (other === undefined || one.end.endsWith('aborted') || other.end.endsWith('aborted')) return []
    const message = differenceOf(one, other)
    return message === undefined ? [] : [{ index: one.index, problem: { kind: 'twins', message } }]
  })
}

function differenceOf(one, other) {
  if (one.end !== other.end) return `one make of the kernels ends with "${one.end}", the other with "${other.end}"`
  for (const [i, a] of (one.outputs ?? []).entries()) {
    const b = other.outputs[i]
    if (a.type !== b.type || String(a.dims) !== String(b.dims))
      return `output ${i} is ${a.type}[${a.dims}] with one make of the kernels, ${b.type}[${b.dims}] with the other`
    const at = a.sample?.findIndex((value, j) => !isNear(value, b.sample[j], a.type)) ?? -1
    if (at < 0) continue
    const what = `output ${i} (${a.type}[${a.dims}])`
    return `${what} has ${a.sample[at]} with one make of the kernels, ${b.sample[at]} with the other`
  }
  return undefined
}
