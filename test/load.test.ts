import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { InferenceSession, load, type LoadOptions, Tensor } from '../src/index.ts'
import { modelBytes, TYPE } from './onnx/encode.ts'

const palette = (file: string): Blob => new Blob([readFileSync(join(import.meta.dirname, '../models', file))])

/** A model whose output is a tensor of 4 bytes in the file `weights/w.bin`. */
const apart = modelBytes({
  graph: {
    name: 'g',
    initializer: [
      {
        name: 'w',
        dims: [4],
        dataType: TYPE.UINT8,
        dataLocation: 1,
        externalData: [{ key: 'location', value: 'weights/w.bin' }]
      }
    ],
    output: [{ name: 'w', type: { tensorType: { elemType: TYPE.UINT8 } } }]
  }
})

async function weights(options: LoadOptions): Promise<number[]> {
  const session = new InferenceSession(await load(apart, options))
  const { w } = await session.run<{ w: Tensor<'uint8'> }>({})
  return [...w.data]
}

test.each(['file://elsewhere/x.onnx', 'file:///a%2fb.onnx', 'file:///%zz.onnx'])(
  'the address %s is that of no file, which is a typed error',
  async address => {
    const place = { file: address }
    await expect(load(address)).rejects.toMatchObject({ code: 'missing-file', place })
    await expect(load(new URL(address))).rejects.toMatchObject({ code: 'missing-file', place })
  }
)

describe('a model in a Blob', () => {
  test('is read, of either dialect', async () => {
    expect((await load(palette('palette.onnx'))).dialect).toBe('onnx')
    const model = await load({ xml: palette('palette.xml'), bin: palette('palette.bin') })
    expect(new InferenceSession(model).inputNames).toEqual(['ids'])
  })

  test('has the name of its file', async () => {
    const model = new File(['no model'], 'dropped.onnx')
    await expect(load(model)).rejects.toMatchObject({ code: 'invalid-file', place: { file: 'dropped.onnx' } })
  })
})

describe('external data that the caller gives', () => {
  const bytes = Uint8Array.of(1, 2, 3, 4)

  test.each([
    ['bytes', bytes],
    ['a buffer', bytes.buffer],
    ['a Blob', new Blob([bytes])]
  ])('are read from %s', async (_, data) => {
    expect(await weights({ externalData: [{ path: 'weights/w.bin', data }] })).toEqual([1, 2, 3, 4])
  })

  test('may begin with ./', async () => {
    expect(await weights({ externalData: [{ path: './weights/w.bin', data: bytes }] })).toEqual([1, 2, 3, 4])
  })

  test('are asked for by name where they are not given', async () => {
    const other = weights({ externalData: [{ path: 'v.bin', data: bytes }] })
    await expect(other).rejects.toMatchObject({ code: 'missing-file', message: /"weights\/w.bin" is not among/ })
  })

  test('are a list of paths and data', async () => {
    for (const externalData of [{ path: 'a', data: bytes }, [{ path: 'a' }], [{ data: bytes }]])
      await expect(load(apart, { externalData } as never)).rejects.toMatchObject({ code: 'bad-usage' })
  })
})

describe('weights that are a pointer of Git LFS', () => {
  // As long as a pointer is: its first bytes would be read as the axis of a Gather, and as 4 weights.
  const pointer = new TextEncoder().encode(
    `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1234\n`
  )
  const reason = 'is a pointer of Git LFS to a file of 1234 bytes, not the file itself; get the file with git lfs pull'

  test('are told for what they are: the .bin of an IR', async () => {
    const xml = readFileSync(join(import.meta.dirname, '../models/palette.xml'))
    const session = await InferenceSession.create({ xml, bin: pointer })
    await expect(session.run({ ids: new Tensor('int64', [1n]) })).rejects.toMatchObject({
      code: 'invalid-file',
      message: expect.stringMatching(`^model.xml:\\d+:\\d+: Const "axis" \\(opset1\\): model.bin ${reason}$`) as string
    })
  })

  test('external data of ONNX', async () => {
    await expect(weights({ externalData: [{ path: 'weights/w.bin', data: pointer }] })).rejects.toMatchObject({
      code: 'invalid-file',
      reason: expect.stringContaining(`weights/w.bin ${reason}`) as string
    })
  })

  test('other short files are weights, whatever text they hold', async () => {
    const data = new TextEncoder().encode('version ')
    expect(await weights({ externalData: [{ path: 'weights/w.bin', data }] })).toEqual([118, 101, 114, 115])
  })
})
