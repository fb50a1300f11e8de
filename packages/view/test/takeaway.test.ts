import { XMLValidator } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { Links } from '../src/graph/links.ts'
import { Painter } from '../src/graph/paint.ts'
import { Arranger } from '../src/graph/scene.ts'
import { SvgPen } from '../src/graph/svg.ts'
import { buildTree, openedAtFirst } from '../src/graph/tree.ts'
import { counted, numberText } from '../src/panels/texts.ts'
import { commandOf, type Given } from '../src/state/commandline.ts'
import { columnsOf } from './columns.ts'

test('a picture has the boxes that are seen, and is sound XML whatever they are called', () => {
  const columns = columnsOf(['/a/<b & "c">: Conv < x', '/a/d\x07: Relu < /a/<b & "c">', 'y < /a/d\x07'])
  const tree = buildTree(columns)
  const open = openedAtFirst(tree)
  const scene = new Arranger(columns, tree, new Links(columns, tree)).changes(open)
  const pen = new SvgPen()
  const marks = {
    selected: 1,
    hovered: -1,
    labelOf: (value: number) => `1×${value}`,
    isFalse: () => false,
    severity: new Map([[1, 'error' as const]]),
    heat: new Map([[2, 0.5]]),
    breakpoints: new Set([2]),
    current: 2
  }
  const palette = new Proxy({}, { get: () => '#123' })
  const camera = { x: 10, y: 20, scale: 1 }
  new Painter(columns).paint(pen, { camera, width: 900, height: 900, ratio: 1 }, { tree, open, scene }, marks, palette)
  const svg = pen.text(900, 900, '#fff')
  expect(XMLValidator.validate(svg)).toBe(true)
  expect(svg).toContain('>Conv</text>')
  expect(svg).toContain('&#60;b &#38; &#34;c&#34;&#62;')
  expect(svg).toContain('matrix(1 0 0 1 10 20)')
  expect(svg).not.toMatch(/NaN|undefined/)
})

describe('the command line of a run', () => {
  const given: Given = {
    file: 'my model.onnx',
    inputs: [
      { name: 'ids', type: 'int64', dims: 'batch×?' },
      { name: 'x', type: 'float32', dims: '3' }
    ],
    openDims: [
      { name: 'batch', min: 1, max: Infinity },
      { name: 'ids[1]', min: 1, max: Infinity }
    ],
    fillings: new Map(),
    sizes: new Map([['batch', 4]]),
    seed: 7
  }

  test('fills as the page does', () => {
    expect(commandOf(given)).toBe("nodewise run 'my model.onnx' --shape ids=4x1 --shape batch=4 --fill zeros")
    const random = new Map([['ids', { how: 'random' as const }]])
    expect(commandOf({ ...given, fillings: random })).toContain('--fill random:7')
  })

  test('gives literals and files as they are', () => {
    const fillings = new Map([
      ['ids', { how: 'literal' as const, text: '[[1, 2]]' }],
      ['x', { how: 'file' as const, name: 'x.npy', bytes: new Uint8Array() }]
    ])
    expect(commandOf({ ...given, fillings })).toBe("nodewise run 'my model.onnx' -i 'ids=[[1,2]]' -i x=x.npy")
  })

  test('keeps the blanks within strings', () => {
    const text = '[ "two words", "a\\" b" ]'
    const fillings = new Map([['x', { how: 'literal' as const, text }]])
    const inputs = [{ name: 'x', type: 'string', dims: '2' }]
    expect(commandOf({ ...given, inputs, openDims: [], fillings })).toBe(
      `nodewise run 'my model.onnx' -i 'x=["two words","a\\" b"]'`
    )
  })

  test('gives a dim of an interval the size that the page does: the least', () => {
    const inputs = [{ name: 'x', type: 'float32', dims: '?×3' }]
    const openDims = [{ name: 'x[0]', min: 4, max: 9 }]
    expect(commandOf({ ...given, inputs, openDims })).toBe("nodewise run 'my model.onnx' --shape x=4x3 --fill zeros")
  })

  test('names an archive of many inputs once', () => {
    const archive = { how: 'file' as const, name: 'a run.npz', bytes: new Uint8Array() }
    const fillings = new Map(['ids', 'x'].map(name => [name, archive]))
    expect(commandOf({ ...given, fillings })).toBe("nodewise run 'my model.onnx' --inputs 'a run.npz'")
  })
})

test('numbers are told in four digits, and zeros that count stay', () => {
  const numbers = [1230.2, 1000.4, 100.04, 0.5, -2.5e-10, 1.2346e10, 1.5e20, 1e7, 1234567, 0, NaN, -Infinity]
  expect(numbers.map(numberText)).toEqual(
    '1230 1000 100 0.5 -2.5e-10 1.235e+10 1.5e+20 1e+7 1234567 0 NaN -Infinity'.split(' ')
  )
  expect([counted(1, 'index', 'indices'), counted(2, 'index', 'indices')]).toEqual(['1 index', '2 indices'])
})
