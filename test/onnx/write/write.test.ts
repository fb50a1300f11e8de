import { expect, test } from 'vitest'
import { bytesSource } from '../../../src/files/byte-source.ts'
import { gather } from '../../../src/onnx/write/message.ts'
import { writeOnnx } from '../../../src/onnx/write/write.ts'
import { encode, loadBytes, loadModel, modelBytes, TYPE } from '../encode.ts'
import { takenApart, written } from './copies.ts'

test('external tensors whose lengths the file leaves out are moved by themselves', () => {
  const tensor = (
    name: string,
    dataType: number,
    dims: readonly number[],
    offset?: string,
    length?: string
  ): object => ({
    name,
    dims,
    dataType,
    dataLocation: 1,
    externalData: Object.entries({ location: 'w.bin', ...(offset && { offset }), ...(length && { length }) }).map(
      ([key, value]) => ({ key, value })
    )
  })
  const open = (bytes: Uint8Array) => (): ReturnType<typeof bytesSource> => bytesSource('w.bin', bytes)
  const model = loadModel(
    { graph: { name: 'g', initializer: [tensor('a', TYPE.UINT8, [2, 2]), tensor('b', TYPE.INT4, [3], '4', '0')] } },
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

test('a graph in several parts, which readers merge, stays whole where a part of it is edited', () => {
  const node = (opType: string, input: string, output: string): object => ({ opType, input: [input], output: [output] })
  const rest = {
    docString: 'doc',
    input: [{ name: 'x', docString: 'of x' }],
    output: [{ name: 'y' }],
    node: [node('Neg', 'a', 'y')],
    initializer: [{ name: 'w', dims: [1], dataType: TYPE.UINT8, rawData: Uint8Array.of(7) }]
  }
  // To append a message is to merge it: fields of the model, then more of its graph.
  const parts = [
    modelBytes({ graph: { name: 'g', node: [node('Abs', 'x', 'a')] } }),
    encode('ModelProto', { graph: rest })
  ]
  const model = loadBytes(Uint8Array.from(parts.flatMap(part => [...part])), { docs: true })
  const again = loadBytes(written(takenApart(model)), { docs: true })
  for (const { graph } of [model, again]) {
    expect(graph.nodes.map(({ type }) => type)).toEqual(['Abs', 'Neg'])
    expect([graph.name, graph.doc, graph.inputs.length, graph.outputs.length]).toEqual(['g', 'doc', 1, 1])
    expect([...graph.initializers.keys()]).toEqual(['w'])
  }
  const external = loadBytes(written(model, { externalBytes: 1 }), {
    openExternal: () => bytesSource('model.data', Uint8Array.of(7))
  })
  expect(external.graph.nodes).toHaveLength(2)
  expect(external.graph.initializers.get('w')!.read().data).toEqual(Uint8Array.of(7))
})

test('an initializer of a type that is not known stays where a node reads it', () => {
  const tensor = (name: string, dataType: number): object => ({ name, dims: [1], dataType, rawData: Uint8Array.of(7) })
  const model = loadModel({
    graph: {
      name: 'g',
      initializer: [tensor('odd', 99), tensor('idle', 99), tensor('w', TYPE.UINT8)],
      node: [{ opType: 'Op', domain: 'own', input: ['odd', 'w'], output: ['y'] }],
      output: [{ name: 'y' }]
    }
  })
  const open = { openExternal: () => bytesSource('model.data', Uint8Array.of(7)) }
  for (const bytes of [written(takenApart(model)), written(model, { externalBytes: 1 })]) {
    const { graph } = loadBytes(bytes, open)
    expect(
      graph.findings.filter(({ code }) => code !== 'missing-opset').map(({ code, place }) => [code, place.value])
    ).toEqual([['unknown-type', 'odd']])
    expect([...graph.initializers.keys()]).toEqual(['w'])
  }
})
