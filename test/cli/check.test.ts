import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'
import { MODELS, nodewise, nodewiseJson, temporaryFolder } from './command.ts'

const folder = temporaryFolder()
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const wrong = join(MODELS, 'wrong-dim.xml')
const right = join(MODELS, 'palette.onnx')

describe('check', () => {
  test('says yes to a model without faults', () => {
    const { status, stdout } = nodewise(['check', right])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^0 errors, 0 warnings \(2 nodes, /)
  })

  test('says no to a false dim, with the place of the <dim>', () => {
    const { status, stdout } = nodewise(['check', wrong])
    expect(status).toBe(1)
    expect(stdout).toMatch(new RegExp(`^${wrong}:47:6: Gather "gather" \\(opset8\\): .*12.*10.* \\[error: dims-mismatch\\]\n\n1 error, 0 warnings`))
  })

  test.each([['--json'], ['--format', 'json']])('gives findings and summary as JSON with %s %s', (...args) => {
    const { status, json } = nodewiseJson(['check', wrong, ...args])
    expect(status).toBe(1)
    expect(json).toMatchObject({
      model: wrong,
      findings: [{ code: 'dims-mismatch', severity: 'error', declared: '[6, 15, 4, 12]', inferred: '[6, 15, 4, 10]', place: { file: wrong, line: 47, column: 6, layer: '3', port: '3' } }],
      summary: { errors: 1, warnings: 0, nodes: 5, values: 4, unknownShapes: 0 }
    })
    expect(json).not.toHaveProperty('values')
  })

  test('lists every value with --values', () => {
    expect(nodewise(['check', wrong, '--values']).stdout).toMatch(/^data +f32 +\[6, 12, 10\]\n[^]*\ngather +f32 +\[6, 15, 4, 10\] +declared \[6, 15, 4, 12\]\n/)
    const { json } = nodewiseJson(['check', wrong, '--values', '--json'])
    expect(json.values).toContainEqual({ name: 'gather', type: 'f32', dims: [6, 15, 4, 10], declaredDims: [6, 15, 4, 12], node: 'gather' })
  })

  test('takes dims of inputs as sizes, names and intervals', () => {
    const model = file('concat.onnx', onnxBytes({
      inputs: [port('a', 'float', ['p', 'q']), port('b', 'float', ['r', 's'])],
      outputs: [port('y', 'float')],
      nodes: [{ ...node('Concat', ['a', 'b'], ['y'], { axis: 0 }) }]
    }))
    const dims = (...shapes: string[]): unknown => {
      const { json } = nodewiseJson(['check', model, '--values', '--json', ...shapes.flatMap(shape => ['--input-shape', shape])])
      return (json.values as { name: string; dims: unknown }[]).find(({ name }) => name === 'y')?.dims
    }
    expect(dims('a=2x3', 'b=4x3')).toEqual([6, 3])
    expect(dims('a=[n,3]', 'b=[n,3]')).toEqual(['2*n', 3])
    expect(dims('a=[1..4,3]', 'b=[2,3]')).toEqual(['3..6', 3])
    expect(nodewise(['check', model, '--input-shape', 'a=2x3', '--input-shape', 'b=4x5']).status).toBe(1)
  })

  test.each([
    ['an input that is not there', ['--input-shape', 'zzz=2x3'], 'unexpected-input'],
    ['dims that are none', ['--input-shape', 'ids=[2,,3]'], 'bad-usage'],
    ['an empty interval', ['--input-shape', 'ids=[5..2]'], 'bad-usage'],
    ['a form that is not there yet', ['--format', 'sarif'], 'bad-usage'],
    ['another form that is not there yet', ['--format', 'html'], 'bad-usage'],
    ['a form that nobody knows', ['--format', 'xml'], 'bad-usage']
  ])('refuses %s with exit code 2', (_, args, code) => {
    const { status, json } = nodewiseJson(['check', right, ...args, '--json'])
    expect([status, (json.error as { code: string }).code]).toEqual([2, code])
  })

  test('reports duplicate names and cycles as findings, which run refuses', () => {
    const twice = file('twice.onnx', onnxBytes({ inputs: [port('x', 'float', [1])], outputs: [port('y', 'float')], nodes: [node('Relu', ['x'], ['y']), node('Neg', ['x'], ['y'])] }))
    const circle = file('circle.onnx', onnxBytes({ inputs: [port('x', 'float', [1])], outputs: [port('y', 'float')], nodes: [node('Relu', ['y'], ['z']), node('Neg', ['z'], ['y'])] }))
    for (const model of [twice, circle]) {
      const { status, json } = nodewiseJson(['check', model, '--json'])
      expect(status).toBe(1)
      expect((json.findings as { severity: string }[]).some(({ severity }) => severity === 'error')).toBe(true)
    }
  })

  test('refuses what cannot be decoded', () => {
    expect(nodewise(['check', file('broken.xml', '<net version="11"><layers></net>')])).toMatchObject({ status: 2, stdout: '' })
  })
})
