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

/** How far two roundings of one number may be apart, as a share of it; of a number below 1, as such. */
const ROUNDED = {
  float16: 2 ** -9,
  bfloat16: 2 ** -6,
  float32: 1e-4,
  float64: 1e-9,
  complex64: 1e-4,
  complex128: 1e-9
}

/** The numbers of types whose data are codes of 16 bits: binary16 of IEEE 754, and the upper half of its binary32. */
const CODED = {
  float16: code => {
    const [exponent, fraction] = [(code >> 10) & 31, code & 1023]
    const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25)
    return (code & 0x8000 ? -1 : 1) * (exponent < 31 ? size : fraction === 0 ? Infinity : NaN)
  },
  bfloat16: code => new Float32Array(Uint32Array.of(code << 16).buffer)[0]
}

function isNear(one, other, type) {
  if (one === other) return true
  const tolerance = ROUNDED[type]
  if (tolerance === undefined) return false
  const [a, b] = [one, other].map(text => CODED[type]?.(Number(text)) ?? Number(text))
  // A NaN has many codes.
  if (Number.isNaN(a) && Number.isNaN(b)) return true
  if (Math.abs(a) === Infinity || Math.abs(b) === Infinity) return a === b
  return Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b))
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
