import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServer } from '../src/server.ts'
import { parseBody } from '../src/tensors/json.ts'
import { ask, input, serve, temporaryFolder, TWICE, writeModels } from './harness.ts'

const folder = temporaryFolder()
const TYPES = [
  'float',
  'double',
  'float16',
  'bfloat16',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'bool',
  'string',
  'int4',
  'float8e4m3fn'
]
let server: RunningServer

beforeAll(async () => {
  const same = (type: string): string => `<ir_version: 10, opset_import: ["" : 21]>
same (${type}[n] x) => (${type}[n] y) { y = Identity(x) }`
  writeModels(folder.path, {
    'twice/1': TWICE,
    'twice/3': TWICE.replace('Add(x, x)', 'Sub(x, x)'),
    'gather/1': `<ir_version: 8, opset_import: ["" : 17]>
gather (float[4] data, int64[n] ids) => (float[n] y) { y = Gather(data, ids) }`,
    ...Object.fromEntries(TYPES.map(type => [`same_${type}/1`, same(type)]))
  })
  server = await serve(folder.path)
  await server.loaded
})

afterAll(async () => {
  await server.close(1000)
  folder[Symbol.dispose]()
})

const infer = (
  model: string,
  body: object | string | Buffer,
  headers?: Record<string, string>
): ReturnType<typeof ask> => ask(server, `v2/models/${model}/infer`, body, headers)

describe('health and metadata', () => {
  test('say that the server lives, that it is ready, and what it is', async () => {
    expect((await ask(server, 'v2/health/live')).status).toBe(200)
    expect((await ask(server, 'v2/health/ready')).json).toEqual({ ready: true })
    expect((await ask(server, 'v2')).json).toMatchObject({ name: 'nodewise', version: '0.1.0' })
  })

  test('of a model have its versions, and ports with open dims as -1', async () => {
    const { json } = await ask(server, 'v2/models/twice')
    expect(json).toEqual({
      name: 'twice',
      versions: ['3'],
      platform: 'nodewise_onnx',
      inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 3] }],
      outputs: [{ name: 'y', datatype: 'FP32', shape: [-1, 3] }]
    })
    expect((await ask(server, 'v2/models/twice/versions/3/ready')).json).toEqual({ name: 'twice', ready: true })
    expect((await ask(server, 'v2/models/twice/versions/1')).status).toBe(404)
    expect((await ask(server, 'v2/models/twice/config')).json).toMatchObject({ input: [{ data_type: 'TYPE_FP32' }] })
  })

  test('of models that there are not are refused with 404, whatever their name', async () => {
    for (const name of ['absent', '..', '%2e%2e', '%2e%2e%2ftwice', 'twice%2f1', '.', '%00'])
      expect((await ask(server, `v2/models/${name}/config`)).status, name).toBe(404)
    const { json } = await ask(server, 'v2/models/absent')
    expect(json.error).toMatch(/^there is no model "absent"; there are .*"twice"/)
  })

  test('whose input has the name of a part of all objects are refused for it alone', async () => {
    for (const name of ['__proto__', 'constructor'])
      expect((await infer('twice', { inputs: [input(name, 'FP32', [1, 3], [1, 2, 3])] })).json).toMatchObject({
        code: 'unexpected-input'
      })
  })
})

describe('inference', () => {
  test('takes and gives JSON, flat or nested, and gives the id back', async () => {
    const { status, json } = await infer('twice', {
      id: '42',
      inputs: [
        input(
          'x',
          'FP32',
          [2, 3],
          [
            [1, 2, 3],
            [4, 5, 'NaN']
          ]
        )
      ]
    })
    expect(status).toBe(200)
    expect(json).toEqual({
      id: '42',
      model_name: 'twice',
      model_version: '3',
      outputs: [{ name: 'y', datatype: 'FP32', shape: [2, 3], data: [0, 0, 0, 0, 0, 'NaN'] }]
    })
  })

  test.each([
    ['float', 'FP32', [0.5, -2, 2 ** 100]],
    ['double', 'FP64', [0.1, Number.MAX_VALUE]],
    ['float16', 'FP16', [0.5, 65504]],
    ['bfloat16', 'BF16', [1.5, -2]],
    ['int8', 'INT8', [-128, 127]],
    ['int16', 'INT16', [-32768]],
    ['int32', 'INT32', [-(2 ** 31)]],
    ['int64', 'INT64', [1, -2]],
    ['uint8', 'UINT8', [255]],
    ['uint16', 'UINT16', [65535]],
    ['uint32', 'UINT32', [2 ** 32 - 1]],
    ['uint64', 'UINT64', [0, 7]],
    ['bool', 'BOOL', [true, false]],
    ['string', 'BYTES', ['grün', '', '"']],
    ['int4', 'INT4', [-8, 7]],
    ['float8e4m3fn', 'FP8E4M3FN', [0.5, 448]]
  ])('keeps elements of %s, in JSON and in binary', async (type, datatype, data) => {
    const inJson = await infer(`same_${type}`, { inputs: [input('x', datatype, [data.length], data)] })
    expect(inJson.json).toMatchObject({ outputs: [{ datatype, shape: [data.length] }] })
    expect((inJson.json.outputs as [{ data: unknown }])[0].data).toEqual(data)
    const answer = await infer(`same_${type}`, {
      inputs: [input('x', datatype, [data.length], data)],
      outputs: [{ name: 'y', parameters: { binary_data: true } }]
    })
    const length = Number(answer.headers.get('inference-header-content-length'))
    const bytes = answer.body.subarray(length)
    const header = JSON.stringify({
      inputs: [input('x', datatype, [data.length], undefined, { binary_data_size: bytes.length })]
    })
    const back = await infer(`same_${type}`, Buffer.concat([Buffer.from(header), bytes]), {
      'inference-header-content-length': String(Buffer.byteLength(header))
    })
    expect(back.json).toEqual(inJson.json)
  })

  test('keeps integers of 64 bits that no double holds', async () => {
    for (const [type, datatype, text] of [
      ['int64', 'INT64', '[9223372036854775807,-9223372036854775808,9007199254740993]'],
      ['uint64', 'UINT64', '[18446744073709551615]']
    ]) {
      const count = text.split(',').length
      const body = `{"inputs":[{"name":"x","datatype":"${datatype}","shape":[${count}],"data":${text}}]}`
      expect((await infer(`same_${type}`, body)).body.toString()).toContain(`"data":${text}`)
    }
  })

  test('reads integers of many digits as numbers of any type, and none in strings', async () => {
    const long = '{"inputs":[{"name":"x","datatype":"BF16","shape":[2],"data":[1,9223372036854775808]}]}'
    expect((await infer('same_bfloat16', long)).json.outputs).toMatchObject([{ data: [1, 2 ** 63] }])
    const texts = ['1234567890123456789', '"1234567890123456789', '\\"', '1234567890123456789\\', 'x']
    const { json } = await infer('same_string', { inputs: [input('x', 'BYTES', [5], texts)] })
    expect(json.outputs).toMatchObject([{ data: texts }])
  })

  test('reads strings of millions of escapes beside a long integer', () => {
    const text = `["${'\\n'.repeat(8e6)}",1234567890123456789]`
    const [lines, long] = parseBody(text) as string[]
    expect([lines.length, long]).toEqual([8e6, '\0int:1234567890123456789'])
  })

  test('reads fractions and exponents of many digits', async () => {
    const text = '[0.12345678901234567,12345678901234567.5,1e-0000000000000001]'
    const { json } = await infer(
      'same_double',
      `{"inputs":[{"name":"x","datatype":"FP64","shape":[3],"data":${text}}]}`
    )
    expect((json.outputs as [{ data: number[] }])[0].data).toEqual([0.12345678901234567, 12345678901234567.5, 0.1])
  })

  test('takes and gives compressed bodies', async () => {
    const many = Array.from({ length: 3000 }, (_, i) => i)
    const body = gzipSync(JSON.stringify({ inputs: [input('x', 'INT32', [3000], many)] }))
    const { headers, json } = await infer('same_int32', body, { 'content-encoding': 'gzip', 'accept-encoding': 'gzip' })
    expect(headers.get('content-encoding')).toBe('gzip')
    expect((json.outputs as [{ data: number[] }])[0].data).toEqual(many)
  })

  test('takes names of codings in capitals, and null for what is left out', async () => {
    const one = { ...input('x', 'INT32', [1], [7]), parameters: null }
    const body = gzipSync(JSON.stringify({ id: null, parameters: null, outputs: null, inputs: [one] }))
    const { json } = await infer('same_int32', body, { 'content-encoding': 'GZIP' })
    expect(json).toMatchObject({ outputs: [{ name: 'y', data: [7] }] })
    expect(json).not.toHaveProperty('id')
  })

  test('of the classification extension gives the greatest elements', async () => {
    const { json } = await infer('same_float', {
      inputs: [input('x', 'FP32', [3], [0.5, 2, 1])],
      outputs: [{ name: 'y', parameters: { classification: 2 } }]
    })
    expect(json.outputs).toEqual([{ name: 'y', datatype: 'BYTES', shape: [2], data: ['2:1', '1:2'] }])
  })
})

describe('what is wrong is refused with a status, a code and a place', () => {
  const x = input('x', 'FP32', [1, 3], [1, 2, 3])
  test.each<[string, object | string, number, string]>([
    ['no JSON', '{', 400, 'bad-request'],
    ['no object', '[1]', 400, 'bad-request'],
    ['no inputs', '{}', 400, 'bad-request'],
    ['inputs of another kind', { inputs: [1] }, 400, 'bad-request'],
    ['a missing input', { inputs: [] }, 400, 'missing-input'],
    ['an unknown input', { inputs: [x, input('z', 'FP32', [0], [])] }, 400, 'unexpected-input'],
    ['an input given twice', { inputs: [x, x] }, 400, 'bad-request'],
    ['an unknown output', { inputs: [x], outputs: [{ name: 'z' }] }, 400, 'bad-request'],
    ['an unknown datatype', { inputs: [input('x', 'FP33', [1], [1])] }, 400, 'bad-request'],
    ['a negative dim', { inputs: [input('x', 'FP32', [-1, 3], [1])] }, 400, 'bad-request'],
    ['a shape of 2^80 elements', { inputs: [input('x', 'FP32', [2 ** 40, 2 ** 40], [1])] }, 400, 'bad-request'],
    ['fewer elements', { inputs: [input('x', 'FP32', [2, 3], [1, 2, 3])] }, 400, 'bad-request'],
    ['a text for a number', { inputs: [input('x', 'FP32', [1, 3], [1, 'a', 3])] }, 400, 'bad-request'],
    ['another type', { inputs: [input('x', 'FP64', [1, 3], [1, 2, 3])] }, 400, 'type-mismatch'],
    ['other dims', { inputs: [input('x', 'FP32', [1, 4], [1, 2, 3, 4])] }, 400, 'shape-mismatch'],
    [
      'shared memory',
      { inputs: [input('x', 'FP32', [1, 3], undefined, { shared_memory_region: 'a' })] },
      501,
      'not-supported'
    ],
    [
      'binary data that are not there',
      { inputs: [input('x', 'FP32', [1, 3], undefined, { binary_data_size: 12 })] },
      400,
      'bad-request'
    ]
  ])('%s', async (_, body, status, code) => {
    const answer = await infer('twice', body)
    expect([answer.status, answer.json.code]).toEqual([status, code])
    expect(answer.json.error).toEqual(expect.any(String))
  })

  test('a text that looks like the mark of a long integer, and an id that is one', async () => {
    for (const text of ['\0int:abc', '\0int:12', '\0int:']) {
      const { status, json } = await infer('same_int64', { inputs: [input('x', 'INT64', [1], [text])] })
      expect([status, json.code]).toEqual([400, 'bad-request'])
      const same = await infer('same_string', { inputs: [input('x', 'BYTES', [1], [text])] })
      expect((same.json.outputs as [{ data: string[] }])[0].data).toEqual([text])
    }
    const id = await infer('same_int64', '{"id":12345678901234567,"inputs":[]}')
    expect([id.status, id.json.error]).toEqual([400, '"id" is no string'])
  })

  test('an index out of range has the node and the details of Nodewise, and no path of the server', async () => {
    const { status, body, json } = await infer('gather', {
      inputs: [input('data', 'FP32', [4], [1, 2, 3, 4]), input('ids', 'INT64', [2], [0, 9])]
    })
    expect(status).toBe(400)
    expect(json).toMatchObject({
      code: 'index-out-of-range',
      place: { file: 'model.onnx', nodeIndex: 0, type: 'Gather' },
      details: { index: '9', position: [1], axis: 0, size: 4 }
    })
    expect(body.toString()).not.toContain(folder.path)
  })

  test('a wrong type has no path of the server in its details either', async () => {
    const { status, body, json } = await infer('gather', {
      inputs: [input('data', 'FP32', [4], [1, 2, 3, 4]), input('ids', 'INT8', [1], [0])]
    })
    expect(status).toBe(400)
    expect(json).toMatchObject({ code: 'type-mismatch', details: { place: { file: 'model.onnx', value: 'ids' } } })
    expect(body.toString()).not.toContain(folder.path)
  })

  test.each(['-1', '1e3', '99999999', 'x', ''])('a header length of %j', async length => {
    const { status } = await infer('twice', { inputs: [x] }, { 'inference-header-content-length': length })
    expect(status).toBe(400)
  })

  test('bodies beyond the limit are refused, compressed ones by what they unpack to', async () => {
    const large = Buffer.alloc(2 ** 20 + 1, ' ')
    expect((await infer('twice', large)).json).toMatchObject({ code: 'body-too-large' })
    const packed = await infer('twice', gzipSync(large), { 'content-encoding': 'gzip' })
    expect([packed.status, packed.json.code]).toEqual([413, 'body-too-large'])
    const json = Buffer.concat([Buffer.alloc(2 ** 18, ' '), Buffer.from('{}')])
    expect((await infer('twice', json)).json).toMatchObject({ code: 'body-too-large' })
  })

  test('strings that are no UTF-8, and lengths beyond the bytes', async () => {
    for (const [bytes, shape] of [
      [Buffer.from([1, 0, 0, 0, 0xff]), [1]],
      [Buffer.from([255, 255, 255, 255]), [1]],
      [Buffer.from([0, 0, 0, 0, 7]), [1]],
      [Buffer.alloc(0), [2 ** 40]]
    ] as const) {
      const header = JSON.stringify({
        inputs: [input('x', 'BYTES', [...shape], undefined, { binary_data_size: bytes.length })]
      })
      const { status, json } = await infer('same_string', Buffer.concat([Buffer.from(header), bytes]), {
        'inference-header-content-length': String(header.length)
      })
      expect([status, json.code]).toEqual([400, 'bad-request'])
    }
  })
})

describe('the repository', () => {
  test('is listed, and models are unloaded and loaded by name', async () => {
    const { json } = await ask(server, 'v2/repository/index', {})
    expect(json).toContainEqual({ name: 'twice', version: '1', state: 'UNAVAILABLE', reason: '' })
    expect(json).toContainEqual({ name: 'twice', version: '3', state: 'READY', reason: '' })
    expect((await ask(server, 'v2/repository/models/twice/unload', {})).status).toBe(200)
    expect((await ask(server, 'v2/models/twice')).status).toBe(404)
    expect((await ask(server, 'v2/repository/models/twice/load', {})).status).toBe(200)
    expect((await ask(server, 'v2/models/twice/ready')).status).toBe(200)
  })

  test('is not left by names, and takes no files of requests', async () => {
    for (const name of ['..%2ftwice', '%2e%2e', 'absent'])
      expect((await ask(server, `v2/repository/models/${name}/load`, {})).status, name).toBe(404)
    const override = { parameters: { config: '{}' } }
    expect((await ask(server, 'v2/repository/models/twice/load', override)).status).toBe(501)
  })

  test('counts what models have done, for Triton and for Prometheus', async () => {
    for (const id of [3, 9])
      await infer('gather', { inputs: [input('data', 'FP32', [4], [1, 2, 3, 4]), input('ids', 'INT64', [1], [id])] })
    const { json } = await ask(server, 'v2/models/gather/stats')
    const [{ inference_count }] = json.model_stats as [{ inference_count: number }]
    expect(inference_count).toBeGreaterThan(0)
    const { body } = await ask(server, 'metrics')
    expect(body.toString()).toContain(`nv_inference_request_success{model="gather",version="1"} ${inference_count}\n`)
    expect(body.toString()).toMatch(
      /^nv_inference_request_failure\{model="gather",version="1",reason="BACKEND"\} [1-9]\d*$/m
    )
    expect(body.toString()).toContain('process_resident_memory_bytes')
  })
})
