import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { load } from '../../src/load.ts'
import { floats, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { nodewise, nodewiseJson, temporaryFolder } from './command.ts'

const folder = temporaryFolder()
const model = join(folder, 'model.onnx')
writeFileSync(
  model,
  onnxBytes({
    inputs: [port('x', 'float', [2])],
    initializers: [floats('w', [2], [1, 3]), floats('one', [1], [1])],
    outputs: [port('y', 'float', [2])],
    nodes: [node('Mul', ['x', 'w'], ['m']), node('Add', ['m', 'one'], ['y'])]
  })
)
const empty = (name: string): string => {
  const made = join(folder, name)
  mkdirSync(made)
  return made
}

test('an ONNX model is written byte by byte as it was', async () => {
  const out = join(empty('same'), 'out.onnx')
  const { status, json } = await nodewiseJson(['convert', model, out, '--json'])
  expect(status).toBe(0)
  expect(json).toEqual({ nodes: 2, values: 5, bytes: readFileSync(model).length, changed: [] })
  expect(readFileSync(out)).toEqual(readFileSync(model))
})

test('--external-data writes large initializers beside the model', async () => {
  const made = empty('external')
  const { status, stderr } = await nodewise(['convert', model, join(made, 'out.onnx'), '--external-data', '8'])
  expect(status).toBe(0)
  expect(stderr).toContain('out.onnx.data')
  expect(readdirSync(made)).toEqual(['out.onnx', 'out.onnx.data'])
  expect([...new Float32Array(new Uint8Array(readFileSync(join(made, 'out.onnx.data'))).buffer)]).toEqual([1, 3])
  const { initializers } = (await load(join(made, 'out.onnx'))).graph
  expect([...(initializers.get('w')?.read().data ?? [])]).toEqual([1, 3])
  expect([...(initializers.get('one')?.read().data ?? [])]).toEqual([1])
})

test('external data stay where they are in the same folder, and are copied to another one', async () => {
  const made = empty('moved')
  await nodewise(['convert', model, join(made, 'a.onnx'), '--external-data', '0'])
  await nodewise(['convert', join(made, 'a.onnx'), join(made, 'b.onnx')])
  expect(readdirSync(made)).toEqual(['a.onnx', 'a.onnx.data', 'b.onnx'])
  const other = empty('other')
  await nodewise(['convert', join(made, 'a.onnx'), join(other, 'c.onnx')])
  expect(readdirSync(other)).toEqual(['c.onnx', 'c.onnx.data'])
  const { initializers } = (await load(join(other, 'c.onnx'))).graph
  expect([...(initializers.get('w')?.read().data ?? [])]).toEqual([1, 3])
})

test('a model is written over itself', async () => {
  const made = empty('over')
  const path = join(made, 'a.onnx')
  await nodewise(['convert', model, path, '--external-data', '0'])
  await nodewise(['convert', path, path, '--external-data', '8'])
  expect([...((await load(path)).graph.initializers.get('w')?.read().data ?? [])]).toEqual([1, 3])
})

test('what cannot be written leaves nothing: no half of a pair', async () => {
  const made = empty('half')
  mkdirSync(join(made, 'out.onnx'))
  const { status } = await nodewise(['convert', model, join(made, 'out.onnx'), '--external-data', '0'])
  expect(status).toBe(2)
  expect(readdirSync(made)).toEqual(['out.onnx'])
})

test('a suffix that is no format is refused', async () => {
  const { status, stderr } = await nodewise(['convert', model, join(folder, 'out.txt')])
  expect(status).toBe(2)
  expect(stderr).toContain('by its suffix')
})

test('--from, --to and --infer-shapes edit what is written, and say what they changed', async () => {
  const out = join(empty('edited'), 'part.onnx')
  const { status, json } = await nodewiseJson([
    ...['convert', model, out, '--to', 'm', '--infer-shapes', '--input-shape', 'x=[2]', '--json']
  ])
  expect(status).toBe(0)
  expect(json).toMatchObject({ nodes: 1, changed: [{ node: 'Mul_m', how: '"m" is declared float[2]' }] })
  const { graph } = await load(out)
  expect(graph.outputs.map(({ name, declared }) => [name, declared])).toEqual([
    ['m', { kind: 'tensor', type: 'float32', dims: [2] }]
  ])
})

test('a model is written as text and read again', async () => {
  const made = empty('text')
  await nodewise(['convert', model, join(made, 'a.onnxtxt')])
  expect(readFileSync(join(made, 'a.onnxtxt'), 'utf8')).toContain('= Mul (x, w)')
  const { status, json } = await nodewiseJson(['run', join(made, 'a.onnxtxt'), '-i', 'x=[1,2]', '--json'])
  expect(status).toBe(0)
  expect(json).toMatchObject({ outputs: [{ name: 'y', data: [2, 7] }] })
})

test('an IR is written with its .bin, both or neither', async () => {
  const made = empty('ir')
  const xml = `<?xml version="1.0"?>
<net name="m" version="11">
	<layers>
		<layer id="0" name="c" type="Const" version="opset1">
			<data element_type="u8" shape="2" offset="1" size="2" />
			<output>
				<port id="0" precision="U8" names="c">
					<dim>2</dim>
				</port>
			</output>
		</layer>
		<layer id="1" name="y" type="Result" version="opset1" output_names="y">
			<input>
				<port id="0" precision="U8">
					<dim>2</dim>
				</port>
			</input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="1" to-port="0" />
	</edges>
	<rt_info />
</net>
`
  writeFileSync(join(made, 'in.xml'), xml)
  writeFileSync(join(made, 'in.bin'), Uint8Array.of(9, 5, 6))
  const { status, json } = await nodewiseJson(['convert', join(made, 'in.xml'), join(made, 'out.xml'), '--json'])
  expect(status).toBe(0)
  expect(json).toEqual({ nodes: 2, values: 1, bytes: xml.length + 2, changed: [] })
  expect(readFileSync(join(made, 'out.xml'), 'utf8')).toBe(xml.replace('offset="1"', 'offset="0"'))
  expect([...readFileSync(join(made, 'out.bin'))]).toEqual([5, 6])

  mkdirSync(join(made, 'no.xml'))
  expect((await nodewise(['convert', join(made, 'in.xml'), join(made, 'no.xml')])).status).toBe(2)
  expect(readdirSync(made).sort()).toEqual(['in.bin', 'in.xml', 'no.xml', 'out.bin', 'out.xml'])
})

test('a model of ONNX is written as IR with its .bin, and that as ONNX again, and each gives the same', async () => {
  const made = empty('dialects')
  const [xml, text] = [join(made, 'm.xml'), join(made, 'm.onnxtxt')]
  const { status, json } = await nodewiseJson(['convert', model, xml, '--json'])
  expect(status).toBe(0)
  expect(readdirSync(made)).toEqual(['m.bin', 'm.xml'])
  const bytes = readFileSync(xml).length + readFileSync(join(made, 'm.bin')).length
  // Two constants, a Parameter and a Result beside the two nodes.
  expect(json).toEqual({ nodes: 6, values: 5, bytes, changed: [] })
  expect((await nodewise(['convert', xml, join(made, 'm.onnx')])).status).toBe(0)
  expect((await nodewise(['convert', xml, text, '--opset', '17'])).status).toBe(0)
  expect(readFileSync(text, 'utf8')).toContain('opset_import: ["" : 17]')
  for (const path of [xml, join(made, 'm.onnx'), text]) {
    const ran = await nodewiseJson(['run', path, '-i', 'x=[1,2]', '--json'])
    expect(ran.json).toMatchObject({ outputs: [{ name: 'y', type: 'float32', data: [2, 7] }] })
  }
})

test('what the other dialect cannot say is named, each node of it, and nothing is written', async () => {
  const made = empty('refused')
  const source = join(made, 'a.onnx')
  writeFileSync(
    source,
    onnxBytes({
      inputs: [port('x', 'string', [2])],
      outputs: [port('y', 'string')],
      nodes: [node('StringNormalizer', ['x'], ['a']), node('StringNormalizer', ['a'], ['y'])]
    })
  )
  const { status, json } = await nodewiseJson(['convert', source, join(made, 'a.xml'), '--json'])
  expect(status).toBe(2)
  expect(json).toMatchObject({
    error: {
      code: 'unsupported-op',
      details: { nodes: [0, 1].map(nodeIndex => ({ nodeIndex, type: 'StringNormalizer' })) }
    }
  })
  const { stderr } = await nodewise(['convert', source, join(made, 'a.xml')])
  expect(stderr).toMatch(/^[^\n]*StringNormalizer "[^\n]*StringNormalizer "[^\n]*\n$/)
  expect(readdirSync(made)).toEqual(['a.onnx'])
})

test('a part of a model converts though the rest cannot be said', async () => {
  const made = empty('part')
  const source = join(made, 'a.onnx')
  writeFileSync(
    source,
    onnxBytes({
      inputs: [port('x', 'string', [2])],
      outputs: [port('y', 'int64')],
      nodes: [node('StringNormalizer', ['x'], ['a']), node('Shape', ['a'], ['s']), node('Add', ['s', 's'], ['y'])]
    })
  )
  expect((await nodewise(['convert', source, join(made, 'a.xml'), '--from', 's'])).status).toBe(0)
  const { json } = await nodewiseJson(['run', join(made, 'a.xml'), '-i', 's=[3]', '--json'])
  expect(json).toMatchObject({ outputs: [{ name: 'y', data: [6] }] })
})

test('an option that the format of the output has no use for is told', async () => {
  const { stderr } = await nodewise(['convert', model, join(empty('unused'), 'm.xml'), '--external-data', '0'])
  expect(stderr).toContain('--external-data is not used')
})

test('dims that are given for the inputs of an IR are declared, and what follows from them', async () => {
  const made = empty('dims')
  const [ir, out] = [join(made, 'm.xml'), join(made, 'out.xml')]
  await nodewise(['convert', model, ir])
  const { json } = await nodewiseJson(['convert', ir, out, '--input-shape', 'x=[1..5,2]', '--json'])
  expect(json).toMatchObject({
    changed: [
      { how: '"x" is declared f32[?,2], not f32[2]' },
      { how: '"m" is declared f32[?,2], not f32[2]' },
      { how: '"y" is declared f32[?,2], not f32[2]' },
      { node: 'x', how: 'its shape is "1..5,2"' }
    ]
  })
  const { stdout } = await nodewise(['check', out, '--values'])
  expect(stdout).toMatch(/^y +f32 +\[1\.\.5, 2\]/m)
  expect((await nodewise(['run', out, '-i', 'x=[[1,2],[3,4]]'])).stdout).toContain('[ 4. 13.]')
})

test('an IR is cut, simplified and stored in half precision, also on its way from ONNX', async () => {
  const made = empty('ir-edits')
  const [ir, out] = [join(made, 'm.xml'), join(made, 'out.xml')]
  await nodewise(['convert', model, ir])
  const { status, json } = await nodewiseJson(['convert', ir, out, '--from', 'm', '--simplify', '--f16', '--json'])
  expect(status).toBe(0)
  expect(json).toMatchObject({ nodes: 4 })
  const { json: ran } = await nodewiseJson(['run', out, '-i', 'm=[1,2]', '--json'])
  expect(ran).toMatchObject({ outputs: [{ name: 'y', data: [2, 3] }] })
  expect((await nodewise(['convert', model, out, '--to', 'm', '--simplify', '--f16'])).status).toBe(0)
  expect((await nodewiseJson(['run', out, '-i', 'x=[1,2]', '--json'])).json).toMatchObject({
    outputs: [{ name: 'm', data: [1, 6] }]
  })
})
