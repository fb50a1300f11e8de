import { expect, test } from 'vitest'
import { mutationsFrom } from '../scripts/mutations.mjs'
import { feedsOf } from '../src/grpc/infer.ts'
import { decodeRequest, INFERENCE } from '../src/grpc/schema.ts'
import { Refusal } from '../src/refusal.ts'
import { readRequest } from '../src/rest/infer.ts'

/** Malformed requests of each kind; more are tried with NODEWISE_FUZZ. */
const RUNS = Number(process.env.NODEWISE_FUZZ ?? 1500)

const { random, mutated } = mutationsFrom(7)

/** Whether what a function throws, if anything, is a refusal that says that the request is at fault. */
function isSound(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    return (
      error instanceof Refusal && error.status >= 400 && error.status < 500 + Number(error.code === 'not-supported') * 2
    )
  }
}

test('malformed bodies of REST are read, or refused as the fault of the request', () => {
  const json = JSON.stringify({
    id: 'a',
    parameters: { binary_data_output: true },
    inputs: [
      {
        name: 'x',
        datatype: 'FP32',
        shape: [2, 2],
        data: [
          [1, 2],
          [3, 'NaN']
        ]
      },
      { name: 'n', datatype: 'INT64', shape: [1], data: [1] },
      { name: 's', datatype: 'BYTES', shape: [2], parameters: { binary_data_size: 11 } },
      { name: 'h', datatype: 'FP16', shape: [2], parameters: { binary_data_size: 4 } }
    ],
    outputs: [{ name: 'y', parameters: { classification: 2 } }]
  }).replace('[1]}', '[9223372036854775807]}')
  const binary = Buffer.from([1, 0, 0, 0, 97, 2, 0, 0, 0, 0xc3, 0xbc, 0, 60, 0, 64])
  const body = Buffer.concat([Buffer.from(json), binary])
  expect(() => readRequest(body, String(json.length), 2 ** 16)).not.toThrow()
  for (let i = 0; i < RUNS; i++) {
    const bytes = mutated(body)
    const length = random(8) === 0 ? String(random(bytes.length * 2)) : String(bytes.length - binary.length)
    expect(
      isSound(() => readRequest(bytes, length, 2 ** 16)),
      bytes.toString('latin1')
    ).toBe(true)
  }
})

test('malformed messages of gRPC are read, or refused as the fault of the request', () => {
  const message = {
    model_name: 'm',
    id: '1',
    parameters: { timeout: { int64_param: 5 } },
    inputs: [
      { name: 'x', datatype: 'FP32', shape: [2], contents: { fp32_contents: [1, 2] } },
      { name: 'n', datatype: 'INT64', shape: [2], contents: { int64_contents: [1, -1] } },
      { name: 's', datatype: 'BYTES', shape: [1], contents: { bytes_contents: [Buffer.from('ü')] } }
    ],
    outputs: [{ name: 'y' }]
  }
  const bytes = INFERENCE.ModelInfer.requestSerialize(message)
  const read = (from: Buffer): unknown => feedsOf(decodeRequest(from, 2 ** 16))
  expect(() => read(bytes)).not.toThrow()
  for (let i = 0; i < RUNS; i++) {
    const broken = mutated(bytes)
    expect(
      isSound(() => read(broken)),
      broken.toString('hex')
    ).toBe(true)
  }
})
