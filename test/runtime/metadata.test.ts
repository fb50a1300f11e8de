import { expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'

test('inputs and outputs are described in the words of onnxruntime-common', async () => {
  const session = await InferenceSession.create(
    onnxBytes({
      inputs: [port('x', 'float', ['n', 3])],
      outputs: [port('y', 'float'), port('z', 'float', [])],
      nodes: [node('Relu', ['x'], ['y']), node('ReduceSum', ['x'], ['z'])]
    })
  )
  expect(session.inputMetadata).toMatchObject([{ name: 'x', isTensor: true, type: 'float32', shape: ['n', 3] }])
  const [unknown, scalar] = session.outputMetadata
  expect(unknown).toMatchObject({ name: 'y', isTensor: true, type: 'float32' })
  expect('shape' in unknown).toBe(false)
  expect(scalar).toMatchObject({ shape: [] })
})

test('intervals and unknown sizes of an IR are texts, and its own types those that callers see', async () => {
  const dims = (...sizes: string[]): string => sizes.map(size => `<dim>${size}</dim>`).join('')
  const session = await InferenceSession.create({
    xml: new TextEncoder().encode(`<net name="m" version="10"><layers>
      <layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f16" shape="?,1..4,2.."/>
        <output><port id="0" precision="FP16">${dims('-1', '1..4', '2..')}</port></output></layer>
      <layer id="1" name="y" type="Result" version="opset1">
        <input><port id="0">${dims('-1', '-1', '-1')}</port></input></layer>
      </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>`)
  })
  expect(session.inputMetadata).toMatchObject([{ type: 'float32', shape: ['?', '1..4', '2..'] }])
})
