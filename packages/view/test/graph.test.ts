import { describe, expect, test } from 'vitest'
import { arrange } from '../src/graph/arrange.ts'
import { fitted, zoomed } from '../src/graph/camera.ts'
import { familyOf } from '../src/graph/categories.ts'
import { type Columns, countOf, firstOfType, KIND, nameOf, recordNamed, textColumn } from '../src/graph/columns.ts'
import { itemAt, rectOf, seenOf } from '../src/graph/geometry.ts'
import { KnownTextsBuilder } from '../src/graph/known.ts'
import { BORDER, Links } from '../src/graph/links.ts'
import { pathOf } from '../src/graph/names.ts'
import { Arranger } from '../src/graph/scene.ts'
import { search } from '../src/graph/search.ts'
import {
  ancestorsOf,
  buildTree,
  childrenOf,
  isGroup,
  labelOf,
  MAX_CHILDREN,
  openedAtFirst,
  rootOf,
  sizeOf,
  type Tree
} from '../src/graph/tree.ts'
import { columnsOf } from './columns.ts'

const namesOf = (columns: Columns): string[] =>
  Array.from({ length: countOf(columns) }, (_, record) => nameOf(columns, record))

/** The groups of a tree as nested lists of names. */
type Nested = string | { readonly [label: string]: readonly Nested[] }
const nested = (tree: Tree, names: readonly string[], item: number): Nested =>
  isGroup(tree, item)
    ? { [labelOf(tree, item)]: childrenOf(tree, item).map(child => nested(tree, names, child)) }
    : names[item]

const LAYERS = [
  '/enc/layer.0/q < x',
  '/enc/layer.0/k < x',
  '/enc/layer.0/dot < /enc/layer.0/q, /enc/layer.0/k',
  '/enc/layer.1/q < /enc/layer.0/dot',
  '/enc/layer.1/dot < /enc/layer.1/q',
  'out < /enc/layer.1/dot'
]

describe('groups', () => {
  test.each([
    ['/encoder/layer.3/attention/MatMul', ['encoder', 'layer.3', 'attention', 'MatMul']],
    ['__module.bert.layer.3.dense/aten::linear/MatMul', ['bert', 'layer.3', 'dense', 'aten::linear', 'MatMul']],
    ['encoder/layer/3/MatMul', ['encoder', 'layer.3', 'MatMul']],
    ['Add_17', ['Add_17']],
    ['', []]
  ])('of the name %s', (name, path) => expect(pathOf(name)).toEqual(path))

  test('are those of the names', () => {
    const columns = columnsOf(LAYERS)
    const tree = buildTree(columns)
    expect(nested(tree, namesOf(columns), rootOf(tree))).toEqual({
      '': [
        'x',
        {
          enc: [
            { 'layer.0': ['/enc/layer.0/q', '/enc/layer.0/k', '/enc/layer.0/dot'] },
            { 'layer.1': ['/enc/layer.1/q', '/enc/layer.1/dot'] }
          ]
        },
        'out'
      ]
    })
  })

  test('are those of the whole name, however neighbours are called', () => {
    const names = ['a/b/x', 'a/b/3', 'a/b/4/y', 'a/b/4z/w', 'a/b/', '__module.a.b', 'a//b/v', 'a/bb/u', 'a/b/t']
    const columns = columnsOf(names.flatMap(name => [`${name} < i`, `${name}2 < i`]))
    const tree = buildTree(columns)
    for (const name of names) {
      const labels = ancestorsOf(tree, recordNamed(columns, name)).map(group => labelOf(tree, group))
      expect(labels.slice(1).join('/').split('/')).toEqual(pathOf(name).slice(0, -1))
    }
  })

  test('in groups end somewhere, however long a name is', () => {
    const name = 'a/'.repeat(50_000)
    const tree = buildTree(columnsOf([`${name}b < i`, `${name}c < i`]))
    expect(sizeOf(tree, rootOf(tree))).toBe(3)
  })

  test('of one node dissolve, and a group alone in a group shares its box', () => {
    const columns = columnsOf(['/a/b/c < x', '/a/b/d < /a/b/c', '/e/f < /a/b/d', 'g < /e/f'])
    const tree = buildTree(columns)
    expect(nested(tree, namesOf(columns), rootOf(tree))).toEqual({
      '': ['x', { 'a/b': ['/a/b/c', '/a/b/d'] }, '/e/f', 'g']
    })
  })

  test('of a node without one are those of the node that reads it', () => {
    const columns = columnsOf(['cast < x', '/a/b < cast', '/a/c < /a/b', 'y < /a/c'])
    const tree = buildTree(columns)
    expect(ancestorsOf(tree, recordNamed(columns, 'cast')).map(group => labelOf(tree, group))).toEqual(['', 'a'])
  })

  test('are never larger than can be drawn, where names give none', () => {
    const count = 5000
    const columns = columnsOf(Array.from({ length: count }, (_, i) => `n${i} < ${i === 0 ? 'x' : `n${i - 1}`}`))
    const tree = buildTree(columns)
    for (let group = rootOf(tree); group < tree.parent.length; group++)
      expect(childrenOf(tree, group).length).toBeLessThanOrEqual(MAX_CHILDREN)
    expect(sizeOf(tree, rootOf(tree))).toBe(count + 1)
    // Chunks are neighbours in the order of the run: each edge leads on, or stays within.
    const links = new Links(columns, tree)
    for (let group = rootOf(tree); group < tree.parent.length; group++)
      for (const { from, to } of links.of(group)) if (from >= 0 && to >= 0) expect(from).toBeLessThan(to)
  })

  test('are open at first as far as there is room', () => {
    const tree = buildTree(columnsOf(LAYERS))
    expect(openedAtFirst(tree, 100).size).toBe(4)
    // What all is in is open in any case; the layers would be too many.
    expect([...openedAtFirst(tree, 6)].map(group => labelOf(tree, group))).toEqual(['', 'enc'])
  })
})

describe('links', () => {
  test('lie in the innermost group that has both ends, and go on at borders', () => {
    const columns = columnsOf(LAYERS)
    const tree = buildTree(columns)
    const links = new Links(columns, tree)
    const at = (name: string): number => recordNamed(columns, name)
    const [enc] = childrenOf(tree, rootOf(tree)).filter(item => isGroup(tree, item))
    const [first, second] = childrenOf(tree, enc)
    expect(links.of(enc)).toEqual([
      { from: BORDER.in, to: first, value: at('x'), count: 1 },
      { from: first, to: second, value: at('/enc/layer.0/dot'), count: 1 },
      { from: second, to: BORDER.out, value: at('/enc/layer.1/dot'), count: 1 }
    ])
    expect(links.of(rootOf(tree))).toContainEqual({ from: at('x'), to: enc, value: at('x'), count: 1 })
  })
})

describe('layout', () => {
  const columns = columnsOf(LAYERS)
  const tree = buildTree(columns)
  const arranger = new Arranger(columns, tree, new Links(columns, tree))
  const open = openedAtFirst(tree, 100)
  const scene = new Map(arranger.changes(open))

  test('puts what reads below what makes, and no box over another', () => {
    for (const { boxes, routes } of scene.values()) {
      const byId = new Map(boxes.map(box => [box.id, box]))
      for (const { from, to } of routes) {
        const [a, b] = [byId.get(from), byId.get(to)]
        if (a && b) expect(b.y).toBeGreaterThanOrEqual(a.y + a.h)
      }
      for (const a of boxes)
        for (const b of boxes)
          if (a !== b) expect(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y).toBe(true)
    }
  })

  test('keeps what has not changed when a group closes, and is the same when it opens again', () => {
    const [enc] = childrenOf(tree, rootOf(tree)).filter(item => isGroup(tree, item))
    const [first, second] = childrenOf(tree, enc)
    const changed = arranger.changes(new Set([...open].filter(group => group !== first)))
    expect(changed.has(second)).toBe(false)
    expect(changed.has(enc)).toBe(true)
    expect(arranger.changes(open).get(enc)).toEqual(scene.get(enc))
  })

  test('finds the item at each place', () => {
    const drawing = { tree, open, scene }
    for (const name of namesOf(columns)) {
      const item = recordNamed(columns, name)
      const { x, y, w, h } = rectOf(drawing, item)!
      expect(itemAt(drawing, x + w / 2, y + h / 2)).toBe(item)
    }
    expect(itemAt(drawing, -5, -5)).toBeUndefined()
    const closed = { tree, open: new Set([rootOf(tree)]), scene }
    expect(labelOf(tree, seenOf(closed, recordNamed(columns, '/enc/layer.1/q')))).toBe('enc')
  })

  test('of a graph with a circle ends', () => {
    const boxes = [1, 2, 3].map(id => ({ id, w: 80, h: 40 }))
    const links = [
      [1, 2],
      [2, 3],
      [3, 1]
    ].map(([from, to]) => ({ from, to, value: from, count: 1 }))
    expect(arrange(boxes, links).boxes).toHaveLength(3)
  })
})

describe('100,000 nodes whose names say no groups', () => {
  const count = 100_000
  const edges = Int32Array.from({ length: count }, (_, i) => i)
  const zeros = new Int32Array(count)

  test.each([
    ['in a chain', edges],
    ['side by side', zeros]
  ])('%s are two dozen boxes at first', (_, from) => {
    const columns: Columns = {
      ...columnsOf([]),
      graphs: [{ path: '', valuePath: '', label: '', owner: -1, first: 0, count: count + 1 }],
      names: textColumn(Array.from({ length: count + 1 }, (__, i) => `n${i}`)),
      type: new Uint16Array(count + 1),
      kind: Uint8Array.from({ length: count + 1 }, (__, i) => (i === 0 ? KIND.input : KIND.node)),
      graph: new Uint32Array(count + 1),
      from,
      to: edges.map(i => i + 1),
      value: from
    }
    const tree = buildTree(columns)
    const open = openedAtFirst(tree)
    const changes = new Arranger(columns, tree, new Links(columns, tree)).changes(open)
    expect([...changes.keys()]).toEqual([rootOf(tree)])
    const { boxes, routes } = changes.get(rootOf(tree))!
    expect(boxes).toHaveLength(25)
    expect(routes).toHaveLength(24)
    expect(sizeOf(tree, rootOf(tree))).toBe(count + 1)
  })
})

describe('the camera', () => {
  test('shows a whole, no larger than it is', () => {
    expect(fitted({ x: 0, y: 0, w: 100, h: 100 }, 1000, 500)).toEqual({ scale: 1, x: 450, y: 200 })
    const { scale } = fitted({ x: 0, y: 0, w: 4000, h: 100 }, 1000, 500)
    expect(scale).toBeCloseTo(936 / 4000)
  })

  test('keeps the place that is zoomed at', () => {
    const { x, y, scale } = zoomed({ x: 10, y: 20, scale: 1 }, 2, 110, 220)
    expect([(110 - x) / scale, (220 - y) / scale]).toEqual([100, 200])
  })
})

describe('search', () => {
  const columns = columnsOf([
    '/enc/dense/MatMul: MatMul < x',
    '/enc/Add: Add < /enc/dense/MatMul',
    'Add_9: Add < /enc/Add'
  ])
  const found = (text: string, facts?: Parameters<typeof search>[2]): string[] =>
    search(columns, text, facts).map(({ record }) => nameOf(columns, record))

  test('finds by name, by operator and by several words', () => {
    expect(found('matmul')).toEqual(['/enc/dense/MatMul'])
    expect(found('add')[0]).toBe('Add_9')
    expect(found('enc add')).toEqual(['/enc/Add'])
    expect(found('type:Add')).toHaveLength(2)
    expect(found('nothing')).toEqual([])
    expect(found('  ')).toEqual([])
  })

  test('finds by shape, a question mark standing for any dim', () => {
    const known = new KnownTextsBuilder(4)
    for (const [value, dims] of ['2×batch', '2×batch×8', '4×8', ''].entries()) known.set(value, 'float32', dims)
    const facts = known.known()
    expect(found('?x?x8', facts)).toEqual(['/enc/dense/MatMul'])
    expect(found('2×batch×8', facts)).toEqual(['/enc/dense/MatMul'])
    expect(found('4x8', facts)).toEqual(['/enc/Add'])
  })
})

test('a name leads to the first record that has it as a whole', () => {
  const columns = { ...columnsOf([]), names: textColumn(['ab', '', 'a', 'b', 'ba', 'b']) }
  expect(['a', 'b', 'ba', 'ab', 'aba', '', 'c'].map(name => recordNamed(columns, name))).toEqual([
    2, 3, 4, 0, -1, -1, -1
  ])
})

test.each([
  ['Conv', 'conv'],
  ['Convert', 'convert'],
  ['Expand', 'shape'],
  ['Exp', 'activation'],
  ['QLinearConv', 'quant'],
  ['LSTMSequence', 'matrix'],
  ['ReduceMean', 'reduce'],
  ['Relu', 'activation'],
  ['PReLU', 'activation'],
  ['LayerNormalization', 'norm'],
  ['Gather', 'pick'],
  ['MadeUp', 'plain']
])('%s is of the family %s', (type, family) => expect(familyOf(type)).toBe(family))

test('a group without nodes takes no room, in a graph or alone', () => {
  const none = { w: 0, h: 0, boxes: [], routes: [], inlets: new Map(), outlets: new Map() }
  expect(arrange([], [])).toEqual(none)
  const content = arrange([{ id: 1, w: 72, h: 30 }], [])
  expect([content.w, content.h]).toEqual([72, 30])
})

test('the first node of an operator is that of the file, whatever it is called', () => {
  const columns = columnsOf(['x: Neg', 'a long name: Relu < x', 'b: Relu < a long name', 'y < b'])
  expect([firstOfType(columns, 'Relu'), firstOfType(columns, 'Conv')]).toEqual([1, -1])
})
