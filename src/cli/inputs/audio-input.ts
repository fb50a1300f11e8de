import { printDeclared } from '../../check/compare.ts'
import { fail, NodewiseError } from '../../errors.ts'
import type { DeclaredType } from '../../graph/graph.ts'
import { asDeclared, readWhole } from '../../io/read.ts'
import { loadPackage } from '../../kernels/core/package.ts'
import { convert } from '../../tensor/convert.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { Tensor, type Value } from '../../tensor/tensor.ts'
import { badUsage } from '../failure.ts'
import { dimsText } from '../terminal.ts'
import { admits, declaredTensor, inFile, mediaText, requireKind } from './media.ts'

/** What is used of the package wavefile. */
interface WaveFile {
  readonly bitDepth: string
  readonly fmt: { readonly sampleRate: number; readonly numChannels: number }
  fromALaw(): void
  fromMuLaw(): void
  fromIMAADPCM(): void
  getSamples(interleaved: boolean, type: typeof Float64Array): Float64Array | Float64Array[]
}

const OPTION = '--audio'
/** Samples a second; more are a mistake. */
const MAX_RATE = 768_000
/** Samples that a recording may become. */
const MAX_SAMPLES = 2 ** 28

/**
 * The tensor of a recording: `speech.wav,rate=16000`, as one channel of samples from -1 to 1 (the mean of several), in
 * the last dim.
 * @param text what stands after the name of the input
 * @throws NodewiseError `bad-usage`, `dims-mismatch`, and what reading a file throws
 */
export async function readAudio(name: string, text: string, declared: DeclaredType | undefined): Promise<Value> {
  const option = `${OPTION} ${name}`
  const { file, settings } = mediaText(option, text, ['rate'])
  const rate = settings.get('rate')
  if (rate !== undefined && !(/^\d+$/.test(rate) && Number(rate) >= 1 && Number(rate) <= MAX_RATE))
    badUsage(`${option}: rate=${rate}: samples a second are needed, as in rate=16000`)
  const { type = 'float32', dims } = declaredTensor(declared)
  if (!isFloat(type)) badUsage(`${option}: the input is ${type}; samples are floats`)
  try {
    const bytes = readWhole(file)
    requireKind(OPTION, name, file, bytes)
    const recording = await decoded(bytes)
    const samples = resampled(recording.samples, recording.rate, rate === undefined ? recording.rate : Number(rate))
    const shape = (dims ?? [null]).map((_, i, all) => (i < all.length - 1 ? 1 : samples.length))
    const at = shape.findIndex((size, i) => !admits(dims?.[i], size))
    if (shape.length === 0 || at >= 0)
      fail(
        'dims-mismatch',
        `input "${name}" is declared ${dimsText((dims ?? []).map(printDeclared))}; ` +
          `the recording has ${samples.length} samples at ${rate ?? recording.rate} a second`
      )
    return asDeclared(convert(new Tensor('float64', samples, shape), type), declared)
  } catch (error) {
    throw inFile(error, file)
  }
}

async function decoded(bytes: Uint8Array): Promise<{ samples: Float64Array; rate: number }> {
  const { WaveFile } = await loadPackage<{ WaveFile: new (bytes: Uint8Array) => WaveFile }>(
    'wavefile',
    'WAV recordings'
  )
  try {
    const wave = new WaveFile(withPlainFormat(bytes))
    if (wave.bitDepth === '8a') wave.fromALaw()
    else if (wave.bitDepth === '8m') wave.fromMuLaw()
    else if (wave.bitDepth === '4') wave.fromIMAADPCM()
    const { sampleRate, numChannels } = wave.fmt
    if (!(sampleRate >= 1 && sampleRate <= MAX_RATE && numChannels >= 1))
      fail('invalid-file', `it states ${sampleRate} samples a second in ${numChannels} channels`)
    const found = wave.getSamples(false, Float64Array)
    return { samples: mono(Array.isArray(found) ? found : [found], scaleOf(wave.bitDepth)), rate: sampleRate }
  } catch (error) {
    if (error instanceof NodewiseError) throw error
    return fail(
      'invalid-file',
      `this is no sound WAV recording: ${error instanceof Error ? error.message : String(error)}`
    )
  }
}

/** The format of a recording that says in its subformat, 24 bytes further on, what its samples are. */
const EXTENSIBLE = 0xfffe
const SUBFORMAT = 24

/**
 * The recording with the format of its samples in the place of the extensible one, in which FFmpeg and libsndfile write
 * several channels: the package takes these for whole numbers.
 */
function withPlainFormat(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const textAt = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4))
  const isLittle = textAt(0) !== 'RIFX'
  // Chunks stand behind `RIFF`, a size and `WAVE`; each has a name, a size and bytes, of which there are an even count.
  for (let at = 12; at + 8 + SUBFORMAT + 2 <= bytes.length;) {
    const size = view.getUint32(at + 4, isLittle)
    const format = at + 8
    if (textAt(at) === 'fmt ') {
      if (size < SUBFORMAT + 2 || view.getUint16(format, isLittle) !== EXTENSIBLE) return bytes
      const plain = Uint8Array.from(bytes)
      new DataView(plain.buffer).setUint16(format, view.getUint16(format + SUBFORMAT, isLittle), isLittle)
      return plain
    }
    at += 8 + size + (size % 2)
  }
  return bytes
}

/** What makes samples of a depth numbers from -1 to 1: the silent value, and the size of the greatest. */
function scaleOf(bitDepth: string): readonly [zero: number, full: number] {
  if (bitDepth === '8') return [128, 128]
  return bitDepth === '32f' || bitDepth === '64' ? [0, 1] : [0, 2 ** (Number(bitDepth) - 1)]
}

function mono(channels: readonly Float64Array[], [zero, full]: readonly [number, number]): Float64Array {
  return Float64Array.from(channels[0], (_, i) => {
    let sum = 0
    for (const channel of channels) sum += channel[i] - zero
    return sum / (channels.length * full)
  })
}

/** Weights that are kept to be used again: those of rates that are in use are far fewer. */
const MAX_KEPT = 2 ** 22
/** Zero crossings of the sinc on each side. */
const CROSSINGS = 32

/**
 * Samples at another rate, by a sinc in a Hann window (J. O. Smith, Digital audio resampling): it is as wide as the
 * lower of both rates asks for, so that what is above half of that rate is taken out.
 */
export function resampled(samples: Float64Array, from: number, to: number): Float64Array {
  if (from === to) return samples
  const count = Math.ceil((samples.length * to) / from)
  if (count > MAX_SAMPLES) fail('limit-exceeded', `it would become ${count} samples; at most ${MAX_SAMPLES} are held`)
  const density = Math.min(1, to / from)
  const reach = Math.ceil(CROSSINGS / density)
  const phases = new Map<number, Float64Array>()
  return Float64Array.from({ length: count }, (_, i) => {
    const start = Math.floor((i * from) / to)
    const phase = (i * from) % to
    let weights = phases.get(phase)
    if (weights === undefined) {
      weights = weightsOf(phase / to, reach, density)
      if (phases.size * weights.length < MAX_KEPT) phases.set(phase, weights)
    }
    let sum = 0
    const first = Math.max(0, reach - start)
    const last = Math.min(weights.length, samples.length + reach - start)
    for (let tap = first; tap < last; tap++) sum += weights[tap] * samples[start - reach + tap]
    return sum
  })
}

/** Weights of the samples from `-reach` to `reach` around a position between two samples; they add up to 1. */
function weightsOf(fraction: number, reach: number, density: number): Float64Array {
  const weights = Float64Array.from({ length: 2 * reach + 1 }, (_, tap) => {
    const x = (tap - reach - fraction) * density
    if (Math.abs(x) >= CROSSINGS) return 0
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
    return sinc * (0.5 + 0.5 * Math.cos((Math.PI * x) / CROSSINGS))
  })
  const sum = weights.reduce((a, b) => a + b, 0)
  return weights.map(weight => weight / sum)
}
