import { expect, test } from 'vitest'
import { bytesSource } from '../../../src/files/byte-source.ts'
import { gather } from '../../../src/onnx/write/message.ts'
import { writeOnnx } from '../../../src/onnx/write/write.ts'
import { loadBytes, loadModel, TYPE } from '../encode.ts'

test('external tensors whose lengths the file leaves out are moved by themselves', () => {
  const tensor = (name: string, dataType: number, dims: readonly number[], offset?: string): object => ({
    name,
    dims,
    dataType,
    dataLocation: 1,
    externalData: Object.entries({ location: 'w.bin', ...(offset && { offset }) }).map(([key, value]) => ({
      key,
      value
    }))
  })
  const open = (bytes: Uint8Array) => (): ReturnType<typeof bytesSource> => bytesSource('w.bin', bytes)
  const model = loadModel(
    { graph: { name: 'g', initializer: [tensor('a', TYPE.UINT8, [2, 2]), tensor('b', TYPE.INT4, [3], '4')] } },
    { openExternal: open(Uint8Array.of(1, 2, 3, 4, 0x65, 7, 8)) }
  )
  const { model: moved, data } = writeOnnx(model, { dataFile: 'w.bin' })
  const again = loadBytes(gather(moved), { openExternal: open(gather(data!)) })
  expect(again.graph.findings).toEqual([])
  const elements = [...again.graph.initializers].map(([name, constant]) => [name, [...constant.read().data]])
  expect(elements).toEqual([
    ['a', [1, 2, 3, 4]],
    ['b', [5, 6, 7]]
  ])
})
