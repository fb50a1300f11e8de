import { describe, expect, test } from 'vitest'
import { InferenceSession, load, type LoadOptions, type ReadProgress, type Tensor } from '../src/index.ts'
import { giving, webOfTests } from './fixtures/web.ts'
import { modelBytes, TYPE } from './onnx/encode.ts'
import { layer, net } from './openvino/ir.ts'

const web = await webOfTests()

const data = Uint8Array.from({ length: 300_000 }, (_, i) => i & 255)

/** A model whose output is 100,000 bytes of a file, from byte 100,000 on. */
const apart = (location: string): Uint8Array =>
  modelBytes({
    graph: {
      name: 'g',
      initializer: [
        {
          name: 'w',
          dims: [100_000],
          dataType: TYPE.UINT8,
          dataLocation: 1,
          externalData: [
            { key: 'location', value: location },
            { key: 'offset', value: '100000' }
          ]
        }
      ],
      output: [{ name: 'w', type: { tensorType: { elemType: TYPE.UINT8 } } }]
    }
  })

async function weights(path: string, options: LoadOptions = {}): Promise<Uint8Array> {
  const session = await InferenceSession.create(web.url(path), options)
  const { w } = await session.run<{ w: Tensor<'uint8'> }>({})
  return w.data
}

const isRight = (found: Uint8Array): void => expect(Buffer.compare(found, data.subarray(100_000, 200_000))).toBe(0)

describe('a model at a URL', () => {
  test('has its external data beside it or below, with any name', async () => {
    for (const location of ['w.bin', './w.bin', 'sub/../a b?#%2e.bin']) {
      web.files.set('/m/model.onnx', giving(apart(location)))
      const name = location.endsWith('2e.bin') ? encodeURIComponent('a b?#%2e.bin') : 'w.bin'
      web.files.set(`/m/${name}`, giving(data))
      isRight(await weights('/m/model.onnx?version=3'))
      expect(web.ranges(`/m/${name}`).at(-1)).toBe('bytes=100000-199999')
      web.files.clear()
    }
  })

  test('has no external data elsewhere, and nothing is asked there', async () => {
    const locations = [
      '../w.bin',
      'a/../../w.bin',
      '/w.bin',
      '\\w.bin',
      'C:\\w.bin',
      `${web.origin}/m/w.bin`,
      '//h/x',
      '.'
    ]
    for (const location of locations) {
      web.files.set('/m/model.onnx', giving(apart(location)))
      web.files.set('/w.bin', giving(data))
      await expect(weights('/m/model.onnx')).rejects.toMatchObject({ code: 'outside-folder' })
    }
    expect(new Set(web.asked.map(({ path }) => path))).toEqual(new Set(['/m/model.onnx']))
  })

  test('has its external data told for a pointer of Git LFS', async () => {
    // As long as a pointer is: it would be read as the weights.
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1234\n`
    const initializer = {
      name: 'w',
      dims: [4],
      dataType: TYPE.UINT8,
      dataLocation: 1,
      externalData: [{ key: 'location', value: 'w.bin' }]
    }
    const output = [{ name: 'w', type: { tensorType: { elemType: TYPE.UINT8 } } }]
    const model = modelBytes({ graph: { name: 'g', initializer: [initializer], output } })
    web.files.set('/m/model.onnx', giving(model))
    web.files.set('/m/w.bin', giving(new TextEncoder().encode(pointer)))
    for (const whole of [false, true])
      await expect(weights('/m/model.onnx', { whole })).rejects.toMatchObject({
        code: 'invalid-file',
        reason: expect.stringContaining('is a pointer of Git LFS to a file of 1234 bytes') as string
      })
    web.files.set('/m/w.bin', giving(new TextEncoder().encode('version ')))
    expect([...(await weights('/m/model.onnx'))]).toEqual([118, 101, 114, 115])
  })

  test('may have its data in another folder that is allowed, or given', async () => {
    web.files.set('/m/model.onnx', giving(apart('w.bin')))
    web.files.set('/data/w.bin', giving(data))
    await expect(weights('/m/model.onnx')).rejects.toMatchObject({
      code: 'missing-file',
      message: expect.stringMatching(/value "w": .*answers 404/) as string
    })
    isRight(await weights('/m/model.onnx', { dataRoot: web.url('/data') }))
    web.asked.length = 0
    isRight(await weights('/m/model.onnx', { externalData: [{ path: 'w.bin', data: web.url('/data/w.bin') }] }))
    expect(web.asked.some(({ path }) => path === '/m/w.bin')).toBe(false)
    await expect(load(web.url('/m/model.onnx'), { dataRoot: '/tmp' })).rejects.toMatchObject({ code: 'bad-usage' })
  })

  test('is read as a whole where its server has no ranges, and that is noted', async () => {
    web.files.set('/m/model.onnx', giving(apart('w.bin')))
    web.files.set('/m/w.bin', giving(data, { ranges: false }))
    const model = await load(web.url('/m/model.onnx'))
    expect(model.notes).toEqual([expect.stringContaining('w.bin: the server has no ranges, so all 300000 bytes')])
    const { w } = await new InferenceSession(model).run<{ w: Tensor<'uint8'> }>({})
    isRight(w.data)
  })

  test('that changes while it is in use is refused by its next read', async () => {
    let version = 1
    web.files.set('/m/model.onnx', giving(apart('w.bin')))
    web.files.set('/m/w.bin', giving(data, { etag: () => `"${version}"` }))
    const session = await InferenceSession.create(web.url('/m/model.onnx'))
    version++
    await expect(session.run({})).rejects.toMatchObject({
      code: 'invalid-file',
      message: expect.stringContaining('changed while it was in use') as string
    })
  })

  test('sends what is asked of its own server only', async () => {
    web.files.set('/m/model.onnx', giving(apart('w.bin')))
    web.files.set('/m/w.bin', giving(data))
    isRight(await weights('/m/model.onnx', { network: { headers: { Authorization: 'Bearer secret' } } }))
    expect(web.asked.every(({ headers }) => headers.authorization === 'Bearer secret')).toBe(true)
    const failure = load(web.url('/m/model.onnx').replace('//', '//me:secret@'))
    await expect(failure).rejects.toMatchObject({
      code: 'bad-usage',
      message: expect.not.stringContaining('secret') as string
    })
  })

  test('tells how far it has come, and stops where its signal says so', async () => {
    web.files.set('/m/model.onnx', giving(apart('w.bin')))
    web.files.set('/m/w.bin', giving(data))
    const seen: ReadProgress[] = []
    isRight(await weights('/m/model.onnx', { onProgress: progress => seen.push(progress) }))
    const { bytes, total, file } = seen.at(-1)!
    expect([bytes, file]).toEqual([total, web.url('/m/w.bin')])
    web.files.set('/m/w.bin', () => undefined)
    const signal = AbortSignal.timeout(30)
    await expect(load(web.url('/m/model.onnx'), { signal })).rejects.toMatchObject({ code: 'aborted' })
  })

  test('of many gaps is opened with few requests, and by its skeleton', async () => {
    const initializer = Array.from({ length: 40 }, (_, i) => ({
      name: `w${i}`,
      dims: [i % 10 === 0 ? 500_000 : 20_000],
      dataType: TYPE.UINT8,
      rawData: new Uint8Array(i % 10 === 0 ? 500_000 : 20_000)
    }))
    const bytes = modelBytes({ graph: { name: 'g', initializer } })
    web.files.set('/m/model.onnx', giving(bytes))
    const { graph } = await load(web.url('/m/model.onnx'))
    expect(graph.initializers.size).toBe(40)
    expect(web.asked.length).toBeLessThan(15)
  })
})

describe('an IR at a URL', () => {
  const ir = net(
    [
      layer(0, 'Const', {
        data: 'element_type="u8" shape="100000" offset="100000" size="100000"',
        out: ['0:U8[100000]']
      }),
      layer(1, 'Result', { in: ['0[100000]'], name: 'w' })
    ],
    ['0:0>1:0']
  )
  const output = async (session: InferenceSession): Promise<Uint8Array> =>
    Object.values(await session.run({}))[0].data as Uint8Array

  test('has its .bin beside it', async () => {
    web.files.set('/m/model.xml', giving(Buffer.from(ir)))
    web.files.set('/m/model.bin', giving(data))
    isRight(await output(await InferenceSession.create(web.url('/m/model.xml'))))
    expect(web.ranges('/m/model.bin')).toEqual(['bytes=0-65535', 'bytes=100000-199999'])
  })

  test('may lack its .bin until a constant is read', async () => {
    web.files.set('/m/model.xml', giving(Buffer.from(ir)))
    const session = await InferenceSession.create(web.url('/m/model.xml'))
    await expect(output(session)).rejects.toMatchObject({ code: 'missing-file', message: /there is no .bin/ })
  })

  test('has lines and columns in its errors', async () => {
    web.files.set('/m/model.xml', giving(Buffer.from(ir.replace('type="Const"', 'type="Konst"'))))
    const session = await InferenceSession.create(web.url('/m/model.xml'))
    await expect(output(session)).rejects.toMatchObject({ code: 'unsupported-op', place: { line: 3 } })
  })
})

test('What is no model is told apart at a URL, too', async () => {
  web.files.set('/x', giving(Buffer.from('GGUF and more')))
  await expect(load(web.url('/x'))).rejects.toMatchObject({ code: 'invalid-file', message: /this is a GGUF file/ })
  await expect(load(web.url('/none'))).rejects.toMatchObject({
    code: 'missing-file',
    place: { file: web.url('/none') }
  })
})

test('A handle of a page’s own file system is a file', async () => {
  const file = new File([apart('w.bin').slice()], 'model.onnx')
  const handle = { kind: 'file', name: 'model.onnx', getFile: async () => file } as const
  const model = await load(handle, { externalData: [{ path: 'w.bin', data: new Blob([data]) }] })
  expect(model.file).toBe('model.onnx')
  const { w } = await new InferenceSession(model).run<{ w: Tensor<'uint8'> }>({})
  isRight(w.data)
})

test('A Blob that is large is read where it is needed', async () => {
  let bytes = 0
  const blob = new Blob([data, new Uint8Array(2 ** 24)])
  const counting = Object.assign(Object.create(blob) as Blob, {
    slice(from: number, to: number) {
      bytes += to - from
      return blob.slice(from, to)
    }
  })
  Object.defineProperty(counting, 'size', { value: blob.size })
  const model = await load(apart('w.bin'), { externalData: [{ path: 'w.bin', data: counting }] })
  const { w } = await new InferenceSession(model).run<{ w: Tensor<'uint8'> }>({})
  isRight(w.data)
  expect(bytes).toBe(100_000)
})
