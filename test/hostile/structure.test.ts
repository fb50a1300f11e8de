import { describe } from 'vitest'
import { modelBytes, tensorInfo, TYPE } from '../onnx/encode.ts'
import { found, holdAll, onnx } from './hold.ts'
import { encodeModel, functionOf, node, withAttribute } from './models.ts'

const relu = node('Relu', ['x'], ['y'])

describe('a graph that hangs together wrongly', () =>
  holdAll([
    onnx('two values of one name', () => encodeModel([relu, node('Neg', ['x'], ['y'])]), ...found('duplicate-name')),
    onnx(
      'two inputs of one name',
      () => encodeModel([relu], { input: [tensorInfo('x', TYPE.FLOAT, [2]), tensorInfo('x', TYPE.FLOAT, [3])] }),
      ...found('duplicate-name')
    ),
    onnx(
      'two initializers of one name',
      () =>
        encodeModel([node('Add', ['x', 'w'], ['y'])], {
          initializer: [1, 2].map(value => ({ name: 'w', dims: [1], dataType: TYPE.FLOAT, floatData: [value] }))
        }),
      ...found('duplicate-name')
    ),
    onnx(
      'a node that makes a graph input',
      () => encodeModel([relu, node('Neg', ['y'], ['x'])]),
      ['check', 1],
      ['run --fill zeros', 2, 'invalid-graph']
    ),
    onnx(
      'a node that makes one value twice',
      () => encodeModel([node('Split', ['x'], ['y', 'y'])]),
      ...found('duplicate-name')
    ),
    onnx(
      'two outputs of one name',
      () => encodeModel([relu], { output: [tensorInfo('y'), tensorInfo('y')] }),
      ['check', 0],
      ['run --fill zeros', 0]
    ),
    onnx(
      'an input that nothing makes',
      () => encodeModel([node('Add', ['x', 'ghost'], ['y'])]),
      ...found('missing-producer')
    ),
    onnx('an output that nothing makes', () => encodeModel([node('Relu', ['x'], ['z'])]), ...found('missing-producer')),
    onnx('a node that reads itself', () => encodeModel([node('Add', ['x', 'y'], ['y'])]), ...found('cycle')),
    onnx(
      'a cycle of three',
      () =>
        encodeModel([
          node('Add', ['x', 'c'], ['a']),
          node('Relu', ['a'], ['b']),
          node('Neg', ['b'], ['c']),
          node('Abs', ['c'], ['y'])
        ]),
      ...found('cycle')
    ),
    onnx(
      'a cycle of 10,000',
      () =>
        encodeModel(
          Array.from({ length: 10_000 }, (_, i) => node('Relu', [`v${i}`], [`v${(i + 1) % 10_000}`])),
          { output: [tensorInfo('v0')] }
        ),
      ...found('cycle')
    ),
    onnx(
      'a chain of 10,000 nodes in reverse',
      () =>
        encodeModel(
          Array.from({ length: 10_000 }, (_, i) =>
            node('Neg', [i === 9999 ? 'x' : `v${i + 1}`], [i === 0 ? 'y' : `v${i}`])
          )
        ),
      ['check', 1, 'not-sorted'],
      ['run --fill zeros', 0]
    ),
    onnx(
      'nodes out of order',
      () => encodeModel([node('Neg', ['a'], ['y']), node('Relu', ['x'], ['a'])]),
      ['check', 1, 'not-sorted'],
      ['run --fill zeros', 0]
    ),
    onnx(
      'a value without a name as graph input',
      () => encodeModel([relu], { input: [tensorInfo('x', TYPE.FLOAT, [2]), tensorInfo('', TYPE.FLOAT, [2])] }),
      ['check', 1, 'missing-name'],
      ['run --fill zeros', 2, 'invalid-graph']
    ),
    onnx(
      'a graph output without a name',
      () => encodeModel([relu], { output: [tensorInfo('')] }),
      ...found('missing-name')
    ),
    onnx(
      'an input left out in the middle that is needed',
      () => encodeModel([node('Gemm', ['x', '', 'x'], ['y'])]),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    onnx(
      'a node without inputs that needs them',
      () => encodeModel([node('Add', [], ['y'])]),
      ['check', 1, 'wrong-input-count'],
      ['run --fill zeros', 2, 'wrong-input-count']
    ),
    onnx(
      'a node with a hundred inputs too many',
      () =>
        encodeModel([
          node(
            'Relu',
            Array.from({ length: 101 }, () => 'x'),
            ['y']
          )
        ]),
      ['check', 1, 'wrong-input-count'],
      ['run --fill zeros', 2, 'wrong-input-count']
    ),
    onnx(
      'a node with outputs too many',
      () => encodeModel([node('Relu', ['x'], ['y', 'z', 'w'])]),
      ['check', 1, 'wrong-output-count'],
      ['run --fill zeros', 2, 'wrong-output-count']
    ),
    onnx(
      'a node without outputs',
      () => encodeModel([relu, node('Neg', ['x'], [])]),
      ['check', 0],
      ['run --fill zeros', 0]
    ),
    onnx(
      'a node without a type',
      () => encodeModel([node('', ['x'], ['y'])]),
      ['check', 1, 'unknown-op'],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    onnx(
      'a domain that is not imported',
      () => encodeModel([node('Relu', ['x'], ['y'], { domain: 'nowhere' })]),
      ['check', 1, 'missing-opset'],
      ['run --fill zeros', 2]
    ),
    onnx(
      'no imports',
      () =>
        modelBytes({
          opsetImport: [],
          graph: { name: 'g', input: [tensorInfo('x', TYPE.FLOAT, [2])], output: [tensorInfo('y')], node: [relu] }
        }),
      ...found('missing-opset')
    ),
    onnx(
      'opset 0',
      () =>
        modelBytes({
          opsetImport: [{ domain: '', version: 0 }],
          graph: { name: 'g', input: [tensorInfo('x', TYPE.FLOAT, [2])], output: [tensorInfo('y')], node: [relu] }
        }),
      ['check', 1],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    onnx(
      'opset -1',
      () =>
        modelBytes({
          opsetImport: [{ domain: '', version: -1 }],
          graph: { name: 'g', input: [tensorInfo('x', TYPE.FLOAT, [2])], output: [tensorInfo('y')], node: [relu] }
        }),
      ['check', 1],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    onnx(
      'opset 2^40',
      () =>
        modelBytes({
          opsetImport: [{ domain: '', version: 2 ** 40 }],
          graph: { name: 'g', input: [tensorInfo('x', TYPE.FLOAT, [2])], output: [tensorInfo('y')], node: [relu] }
        }),
      ['check', 0, 'unsupported-op'],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    onnx(
      'two imports that disagree',
      () =>
        modelBytes({
          opsetImport: [
            { domain: '', version: 17 },
            { domain: 'ai.onnx', version: 9 }
          ],
          graph: { name: 'g', input: [tensorInfo('x', TYPE.FLOAT, [2])], output: [tensorInfo('y')], node: [relu] }
        }),
      ...found('duplicate-opset')
    )
  ]))

describe('bodies and functions', () => {
  const branch = (nodes: readonly object[], output: string, more: object = {}): object => ({
    name: 'b',
    node: nodes,
    output: [tensorInfo(output)],
    ...more
  })
  const choose = (thenGraph: object, elseGraph: object): Uint8Array =>
    encodeModel(
      [
        node('If', ['c'], ['y'], {
          attribute: [
            { name: 'then_branch', type: 5, g: thenGraph },
            { name: 'else_branch', type: 5, g: elseGraph }
          ]
        })
      ],
      {
        input: [tensorInfo('x', TYPE.FLOAT, [2]), tensorInfo('c', TYPE.BOOL, [])]
      }
    )
  const fine = branch([node('Neg', ['x'], ['z'])], 'z')
  const loops = (depth: number): object => {
    let body: object = {
      name: 'b',
      input: [tensorInfo('i', TYPE.INT64, []), tensorInfo('k', TYPE.BOOL, []), tensorInfo('v', TYPE.FLOAT)],
      node: [
        node('Identity', ['k'], ['k2']),
        node('Concat', ['v', 'v'], ['v2'], { attribute: [{ name: 'axis', type: 2, i: 0 }] })
      ],
      output: [tensorInfo('k2', TYPE.BOOL, []), tensorInfo('v2', TYPE.FLOAT)]
    }
    for (let level = 1; level < depth; level++) {
      body = {
        name: 'b',
        input: [tensorInfo('i', TYPE.INT64, []), tensorInfo('k', TYPE.BOOL, []), tensorInfo('v', TYPE.FLOAT)],
        node: [
          node('Identity', ['k'], ['k2']),
          node('Loop', ['', 'k', 'v'], ['v2'], { attribute: [{ name: 'body', type: 5, g: body }] })
        ],
        output: [tensorInfo('k2', TYPE.BOOL, []), tensorInfo('v2', TYPE.FLOAT)]
      }
    }
    return body
  }
  holdAll([
    onnx(
      'a branch that captures what is not there',
      () => choose(branch([node('Neg', ['ghost'], ['z'])], 'z'), fine),
      ['check', 1, 'missing-producer'],
      ['run --fill zeros', 2, 'invalid-graph']
    ),
    onnx(
      'a branch that reads what is made later',
      () =>
        encodeModel(
          [
            node('If', ['c'], ['y'], {
              attribute: [
                { name: 'then_branch', type: 5, g: branch([node('Neg', ['late'], ['z'])], 'z') },
                { name: 'else_branch', type: 5, g: fine }
              ]
            }),
            node('Abs', ['x'], ['late'])
          ],
          {
            input: [tensorInfo('x', TYPE.FLOAT, [2]), tensorInfo('c', TYPE.BOOL, [])]
          }
        ),
      ['check', 1, 'not-sorted'],
      ['run --fill zeros', 0]
    ),
    onnx(
      'a branch that needs the result of its own If',
      () => choose(branch([node('Neg', ['y'], ['z'])], 'z'), fine),
      ...found('cycle')
    ),
    onnx(
      'a branch that makes a value that is there outside',
      () => choose(branch([node('Neg', ['x'], ['c'])], 'c'), fine),
      ['check', 0, 'shadowed-name']
    ),
    onnx(
      'a branch that gives fewer outputs than the If has',
      () => choose(branch([node('Neg', ['x'], ['z'])], 'z', { output: [] }), fine),
      ['check', 1, 'invalid-graph'],
      ['run --fill zeros', 2, 'invalid-graph']
    ),
    onnx(
      'an If without branches',
      () => encodeModel([node('If', ['c'], ['y'])], { input: [tensorInfo('c', TYPE.BOOL, [])] }),
      ['check', 1, 'missing-attribute'],
      ['run --fill zeros', 2, 'missing-attribute']
    ),
    onnx(
      'a Loop whose body takes no inputs',
      () => encodeModel([node('Loop', ['', ''], ['y'], { attribute: [{ name: 'body', type: 5, g: { name: 'b' } }] })]),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    onnx(
      'Loops 30 deep',
      () => encodeModel([node('Loop', ['', '', 'x'], ['y'], { attribute: [{ name: 'body', type: 5, g: loops(30) }] })]),
      ['check', 0]
    ),
    onnx(
      'a function that lacks its inputs at the call',
      () =>
        encodeModel([node('f', [], ['y'], { domain: 'd' })], {
          functions: [functionOf('f', [node('Neg', ['x'], ['y'])])]
        }),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    onnx(
      'a call with more inputs than the function has',
      () =>
        encodeModel([node('f', ['x', 'x', 'x'], ['y'], { domain: 'd' })], {
          functions: [functionOf('f', [node('Neg', ['x'], ['y'])])]
        }),
      ['check', 1, 'wrong-input-count'],
      ['run --fill zeros', 2, 'invalid-graph']
    ),
    onnx(
      'a call with more outputs than the function has',
      () =>
        encodeModel([node('f', ['x'], ['y', 'z'], { domain: 'd' })], {
          functions: [functionOf('f', [node('Neg', ['x'], ['y'])])]
        }),
      ['check', 1, 'wrong-output-count'],
      ['run --fill zeros', 2, 'invalid-graph']
    ),
    onnx(
      'a function that makes one value twice',
      () =>
        encodeModel([node('f', ['x'], ['y'], { domain: 'd' })], {
          functions: [functionOf('f', [node('Neg', ['x'], ['y']), node('Abs', ['x'], ['y'])])]
        }),
      ['check', 1, 'duplicate-name'],
      ['run --fill zeros', 2, 'invalid-graph']
    ),
    onnx(
      'a function defined twice',
      () =>
        encodeModel([node('f', ['x'], ['y'], { domain: 'd' })], {
          functions: [functionOf('f', [node('Neg', ['x'], ['y'])]), functionOf('f', [node('Abs', ['x'], ['y'])])]
        }),
      ...found('duplicate-function')
    ),
    onnx(
      'a function whose body is broken',
      () =>
        encodeModel([node('f', ['x'], ['y'], { domain: 'd' })], {
          functions: [functionOf('f', [node('Neg', ['ghost'], ['y'])])]
        }),
      ['check', 1, 'missing-producer'],
      ['run --fill zeros', 2]
    ),
    onnx(
      'a function whose body is a cycle',
      () =>
        encodeModel([node('f', ['x'], ['y'], { domain: 'd' })], {
          functions: [functionOf('f', [node('Add', ['x', 'y'], ['y'])])]
        }),
      ['check', 1, 'cycle'],
      ['run --fill zeros', 2]
    ),
    onnx(
      'a reference to an attribute outside of a function',
      () => withAttribute('LeakyRelu', { name: 'alpha', type: 1, refAttrName: 'beta' }),
      ['check', 1, 'invalid-attribute'],
      ['run --fill zeros', 2]
    )
  ])
})
