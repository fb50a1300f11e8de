import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { statedRate } from '../src/state/sounds.ts'
import { atSize, pictureTensor, pictureText, settingsFor, withoutAlpha } from '../src/worker/pictures.ts'
import { printedBy } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-pictures-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [WIDTH, HEIGHT] = [7, 5]
const RGB = Uint8Array.from({ length: 3 * WIDTH * HEIGHT }, (_, i) => (i * 37) % 256)
const FILE = join(folder, 'picture.ppm')
writeFileSync(FILE, Buffer.concat([Buffer.from(`P6 ${WIDTH} ${HEIGHT} 255\n`), RGB]))
/** The same as a canvas has it. */
const DATA = Uint8Array.from({ length: 4 * WIDTH * HEIGHT }, (_, i) =>
  i % 4 === 3 ? 255 : RGB[3 * Math.floor(i / 4) + (i % 4)]
)

describe('a picture', () => {
  test.each([
    ['float', '1×3×4×6', { scale: '1/255', mean: '0.485:0.456:0.406', std: '0.229:0.224:0.225' }],
    ['float', 'n×5×7×3', { order: 'bgr', scale: '1', mean: '127.5', std: '128' }],
    ['float16', '3×h×w', { resize: '9x4' }],
    ['uint8', '5×7×1', {}],
    ['float', '10×10', {}]
  ] as const)('for %s %s becomes the tensor that the command makes of it', async (type, dims, part) => {
    const settings = { ...settingsFor(dims), ...part }
    const pixels = withoutAlpha({ width: WIDTH, height: HEIGHT, data: DATA }, settings.order === 'gray')
    const name = type === 'float' ? 'float32' : type
    const tensor = pictureTensor(await atSize(pixels, settings), settings, name)
    const model = join(folder, `${type}.onnxtxt`)
    const declared = dims.replaceAll('×', ', ')
    writeFileSync(
      model,
      `<ir_version: 10, opset_import: ["" : 20]> g (${type}[${declared}] x) => (float[${declared}] y)
        { y = Cast <to = 1> (x) }`
    )
    const text = pictureText(FILE, settings)
    const option = type === 'uint8' ? text.replace(/,scale=.*/, '') : text
    const printed = JSON.parse(await printedBy('run', model, '--json', '--image', `x=${option}`)) as {
      outputs: { dims: number[]; data: number[] }[]
    }
    const [{ dims: expected, data }] = printed.outputs
    expect(tensor.dims).toEqual(expected)
    expect([...(type === 'uint8' ? tensor.data : tensor.toFloat32())]).toEqual(data.map(Math.fround))
  })

  test('says which setting is none', () => {
    const pixels = withoutAlpha({ width: WIDTH, height: HEIGHT, data: DATA }, false)
    const wrong = [{ std: '0' }, { mean: '1:2' }, { scale: 'a' }, { layout: 'hw' as const }, { resize: '0x3' }]
    const codes = wrong.map(async part => {
      const settings = { ...settingsFor('1×3×h×w'), ...part }
      try {
        return pictureTensor(await atSize(pixels, settings), settings, 'float32').type
      } catch (error) {
        return (error as { code: string }).code
      }
    })
    return expect(Promise.all(codes)).resolves.toEqual(wrong.map(() => 'bad-usage'))
  })
})

test('the rate of a recording is the one that its file states', () => {
  const head = Buffer.alloc(52)
  head.write('RIFF', 0).toString()
  head.write('WAVEJUNK', 8)
  head.writeUInt32LE(0, 16)
  head.write('fmt ', 20)
  head.writeUInt32LE(16, 24)
  head.writeUInt32LE(22_050, 32)
  expect(statedRate(head.buffer.slice(head.byteOffset, head.byteOffset + 52))).toBe(22_050)
  expect(statedRate(new ArrayBuffer(4))).toBeUndefined()
})
