/** A recording as one channel of samples from -1 to 1. */
export interface Sound {
  readonly samples: Float32Array
  /** Samples a second. */
  readonly rate: number
}

/** The rate that a WAV file states in its head; undefined of other files. */
export function statedRate(bytes: ArrayBuffer): number | undefined {
  const view = new DataView(bytes)
  const text = (at: number): string => String.fromCharCode(...new Uint8Array(bytes, at, 4))
  if (view.byteLength < 28 || text(0) !== 'RIFF' || text(8) !== 'WAVE') return undefined
  for (let at = 12; at + 24 <= view.byteLength; at += 8 + view.getUint32(at + 4, true))
    if (text(at) === 'fmt ') return view.getUint32(at + 12, true)
  return undefined
}

const USUAL_RATE = 44_100

/**
 * Decodes a recording by the browser, at the rate that is asked for or that the file has; several channels become their
 * mean.
 * @throws DOMException where the browser reads no sound in it, or has no such rate
 */
export async function soundOf(file: Blob, wanted: number | undefined): Promise<Sound> {
  const bytes = await file.arrayBuffer()
  const rate = wanted ?? statedRate(bytes) ?? USUAL_RATE
  const buffer = await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes)
  const channels = Array.from({ length: buffer.numberOfChannels }, (_, i) => buffer.getChannelData(i))
  const samples = Float32Array.from(
    channels[0],
    (_, i) => channels.reduce((sum, channel) => sum + channel[i], 0) / channels.length
  )
  return { samples, rate }
}
