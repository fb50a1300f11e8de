import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'fast-png'
import { describe, expect, test } from 'vitest'
import { WaveFile } from 'wavefile'
import { resampled } from '../../../src/cli/inputs/audio-input.ts'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { nodewise, nodewiseJson, temporaryFolder } from '../command.ts'

const folder = temporaryFolder()
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

/** A model that gives its input back. */
const taking = (name: string, type: Parameters<typeof port>[1], dims: (number | string)[]): string =>
  file(
    `${name}.onnx`,
    onnxBytes({
      inputs: [port('x', type, dims)],
      outputs: [port('y', type)],
      nodes: [node('Identity', ['x'], ['y'])]
    })
  )

/** What the model gets by the options: dims and data, or the code and message of the failure. */
async function taken(model: string, ...options: string[]): Promise<unknown> {
  const { json } = await nodewiseJson(['run', model, ...options, '--json'])
  if (json.error) return json.error
  const [{ dims, data }] = json.outputs as { dims: number[]; data: number[] }[]
  return [dims, data]
}

// Two rows of two pixels with alpha: red, green; blue, grey.
const pixels = [255, 0, 0, 9, 0, 255, 0, 255, 0, 0, 255, 0, 51, 51, 51, 255]
const png = file('a,b.png', encode({ width: 2, height: 2, data: Uint8Array.from(pixels), channels: 4, depth: 8 }))

describe('run --image', () => {
  const nchw = taking('nchw', 'float', ['n', 3, 'h', 'w'])
  const red = [255, 0, 0, 51]
  const green = [0, 255, 0, 51]
  const blue = [0, 0, 255, 51]

  test('takes the layout and the order of channels from the declared dims, and drops alpha', async () => {
    expect(await taken(nchw, '--image', `x=${png}`)).toEqual([
      [1, 3, 2, 2],
      [...red, ...green, ...blue]
    ])
    const rgb = pixels.filter((_, i) => i % 4 !== 3)
    expect(await taken(taking('nhwc', 'uint8', ['n', 2, 2, 3]), '--image', `x=${png}`)).toEqual([[1, 2, 2, 3], rgb])
    expect(await taken(taking('hwc', 'int64', [2, 2, 3]), '--image', `x=${png}`)).toEqual([[2, 2, 3], rgb])
    // Rec. 601, as ImageDecoder has it.
    const gray = [76, 150, 29, 51]
    expect(await taken(taking('one', 'float', [1, 1, 'h', 'w']), '--image', `x=${png}`)).toEqual([[1, 1, 2, 2], gray])
    expect(await taken(taking('plane', 'uint8', [2, 2]), '--image', `x=${png}`)).toEqual([[2, 2], gray])
  })

  test('sets layout, order, scale, mean and deviation', async () => {
    expect(await taken(nchw, '--image', `x=${png},order=bgr,scale=1/255`)).toEqual([
      [1, 3, 2, 2],
      [...blue, ...green, ...red].map(value => Math.fround(value / 255))
    ])
    const [, data] = (await taken(nchw, '--image', `x=${png},scale=2,mean=10:20:30,std=5`)) as [unknown, number[]]
    expect(data.slice(0, 8)).toEqual(
      [100, -2, -2, 18.4, -4, 98, -4, 16.4].map(value => expect.closeTo(value, 4) as number)
    )
    const open = taking('open', 'double', ['a', 'b', 'c'])
    expect(((await taken(open, '--image', `x=${png},layout=whc,order=gray`)) as unknown[])[0]).toEqual([2, 2, 1])
  })

  test('resizes, antialiased where the picture shrinks', async () => {
    const line = Uint8Array.of(0, 0, 100, 200)
    const wide = file('wide.png', encode({ width: 4, height: 1, data: line, channels: 1, depth: 8 }))
    const plane = taking('any', 'float', ['h', 'w'])
    expect(await taken(plane, '--image', `x=${wide},resize=2x2,filter=nearest`)).toEqual([
      [2, 2],
      [0, 100, 0, 100]
    ])
    // The triangle over 4 pixels: (3*0 + 3*0 + 1*100) / 7 and its counterpart, rounded as a picture is.
    expect(await taken(plane, '--image', `x=${wide},resize=1x2`)).toEqual([
      [1, 2],
      [14, 129]
    ])
  })

  test.each([
    [
      'a picture of another size',
      'fixed',
      png,
      'dims-mismatch',
      /the picture is 2x2 \(height x width\); add resize=4x6\n$/
    ],
    [
      'channels at another place',
      'fixed',
      `${png},resize=4x6,layout=nhwc`,
      'dims-mismatch',
      /layout=nhwc dim 3 is 3; it is declared 6/
    ],
    ['too few dims', 'fixed', `${png},layout=chw`, 'rank-mismatch', /rank 4; layout=chw gives 3 dims/],
    ['a setting that nobody knows', 'fixed', `${png},resze=4`, 'bad-usage', /no "resze=".*did you mean "resize"/],
    ['a setting twice', 'fixed', `${png},order=rgb,order=bgr`, 'bad-usage', /"order=" is given twice/],
    ['a size that is none', 'fixed', `${png},resize=0x4`, 'bad-usage', /height and width/],
    ['means for other channels', 'fixed', `${png},mean=1:2`, 'bad-usage', /one number is needed, or 3/],
    ['a deviation of zero', 'fixed', `${png},std=0`, 'bad-usage', /divide by 0/],
    ['numbers that are none', 'fixed', `${png},scale=1/0`, 'bad-usage', /scale=1\/0/],
    ['a file that is no picture', 'fixed', file('no.png', 'text'), 'invalid-file', /no picture/],
    ['a file that is not there', 'fixed', 'none.png', 'missing-file', /none\.png/]
  ])('refuses %s', async (_, name, text, code, message) => {
    const model = taking(name, 'float', [1, 3, 4, 6])
    const { status, stderr } = await nodewise(['run', model, '--image', `x=${text}`])
    expect(status).toBe(2)
    expect(stderr).toMatch(message)
    expect(await taken(model, '--image', `x=${text}`)).toMatchObject({ code })
  })

  test('is named where a picture is given as a tensor', async () => {
    expect((await nodewise(['run', nchw, '-i', `x=${png}`])).stderr).toContain(
      `this is a PNG picture; give it with --image x=${png}`
    )
  })
})

describe('run --audio', () => {
  const wav = (name: string, rate: number, depth: string, channels: number[][]): string => {
    const wave = new WaveFile()
    wave.fromScratch(channels.length, rate, depth, channels.length === 1 ? channels[0] : channels)
    return file(name, wave.toBuffer())
  }
  const open = taking('samples', 'float', ['n'])

  test('gives samples from -1 to 1, several channels as their mean', async () => {
    const mono = wav('mono.wav', 8000, '16', [[0, 16384, -32768, 8192]])
    expect(await taken(open, '--audio', `x=${mono}`)).toEqual([[4], [0, 0.5, -1, 0.25]])
    expect(await taken(taking('batch', 'double', [1, 1, 'n']), '--audio', `x=${mono}`)).toEqual([
      [1, 1, 4],
      [0, 0.5, -1, 0.25]
    ])
    const stereo = wav('stereo.wav', 8000, '32f', [
      [0.5, 1],
      [0, -1]
    ])
    expect(await taken(open, '--audio', `x=${stereo}`)).toEqual([[2], [0.25, 0]])
    expect(await taken(open, '--audio', `x=${wav('bytes.wav', 8000, '8', [[128, 0, 192]])}`)).toEqual([
      [3],
      [0, -1, 0.5]
    ])
    expect(await taken(open, '--audio', `x=${wav('deep.wav', 8000, '24', [[4194304]])}`)).toEqual([[1], [0.5]])
  })

  test.each([
    ['floats', '32f', 3, [-1, 0.5]],
    ['A-law', '8a', 6, [-32256, 8]],
    ['µ-law', '8m', 7, [-32124, 0]]
  ])('of the extensible format takes %s for what they are', async (_, depth, format, samples) => {
    const wave = new WaveFile()
    if (depth === '32f') wave.fromScratch(2, 8000, depth, [samples, samples])
    else {
      wave.fromScratch(1, 8000, '16', samples)
      if (depth === '8a') wave.toALaw()
      else wave.toMuLaw()
    }
    const plain = file('plain.wav', wave.toBuffer())
    const subformat = [format, 0x100000, 0xaa000080, 0x719b3800]
    Object.assign(wave.fmt, { audioFormat: 0xfffe, chunkSize: 40, cbSize: 22, subformat })
    const extensible = file('extensible.wav', wave.toBuffer())
    expect(readFileSync(extensible).readUInt16LE(20)).toBe(0xfffe)
    const expected = await taken(open, '--audio', `x=${plain}`)
    expect(await taken(open, '--audio', `x=${extensible}`)).toEqual(expected)
    if (depth === '32f') expect(expected).toEqual([[2], samples])
  })

  test('resamples, and takes out what the lower rate cannot hold', async () => {
    const tone = (hertz: number, rate: number, count: number): Float64Array =>
      Float64Array.from({ length: count }, (_, i) => 0.5 * Math.sin((2 * Math.PI * hertz * i) / rate))
    const worst = (a: Float64Array, b: Float64Array): number =>
      Math.max(...a.subarray(200, -200).map((value, i) => Math.abs(value - b[i + 200])))
    expect(worst(resampled(tone(440, 44100, 22050), 44100, 16000), tone(440, 16000, 8000))).toBeLessThan(1e-4)
    expect(worst(resampled(tone(440, 8000, 4000), 8000, 44100), tone(440, 44100, 22050))).toBeLessThan(1e-4)
    expect(worst(resampled(tone(15000, 44100, 22050), 44100, 16000), new Float64Array(8000))).toBeLessThan(1e-3)
    const half = wav('half.wav', 8000, '16', [new Array<number>(100).fill(8192)])
    const [dims, data] = (await taken(open, '--audio', `x=${half},rate=4000`)) as [unknown, number[]]
    expect([dims, data[25]]).toEqual([[50], expect.closeTo(0.25, 3)])
  })

  test.each([
    [
      'other samples than are declared',
      'float',
      'dims-mismatch',
      /declared \[1, 9\]; the recording has 2 samples at 8000/
    ],
    ['an input of integers', 'int64', 'bad-usage', /samples are floats/]
  ] as const)('refuses %s', async (_, type, code, message) => {
    const args = ['--audio', `x=${wav('two.wav', 8000, '16', [[1, 2]])}`]
    expect(await taken(taking(`fixed-${type}`, type, [1, 9]), ...args)).toMatchObject({
      code,
      message: expect.stringMatching(message) as string
    })
  })

  test('refuses what is no recording, and a rate that is none', async () => {
    expect(await taken(open, '--audio', `x=${file('no.wav', 'RIFF\x10\0\0\0WAVEfmt ')}`)).toMatchObject({
      code: 'invalid-file',
      message: expect.stringMatching(/no sound WAV/) as string
    })
    const png = file('picture.wav', Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]))
    expect(await taken(open, '--audio', `x=${png}`)).toMatchObject({
      code: 'invalid-file',
      message: expect.stringMatching(/this is a PNG picture; give it with --image x=/) as string
    })
    expect(await taken(open, '--audio', `x=a.wav,rate=fast`)).toMatchObject({ code: 'bad-usage' })
  })
})
