import { describe } from 'vitest'
import { tensorInfo, TYPE } from '../onnx/encode.ts'
import { layer, net } from '../openvino/ir.ts'
import { type Answer, holdAll, ir, onnx } from './hold.ts'
import { doublingFunctions, encodeModel, functionOf, ints, node, opNode } from './models.ts'

const TOO_MUCH: readonly Answer[] = [
  ['check', 2, 'limit-exceeded'],
  ['run --fill zeros', 2, 'limit-exceeded']
]

describe('calls of functions are expanded within limits', () =>
  holdAll([
    onnx(
      'doubling functions, 10 of them: 1024 nodes',
      () => doublingFunctions(10),
      ['check', 0],
      ['run --fill zeros', 0]
    ),
    onnx('doubling functions, 19 of them, which 1 KB does not justify', () => doublingFunctions(20), ...TOO_MUCH),
    onnx('doubling functions, 25 of them, in 2 KB', () => doublingFunctions(25), ...TOO_MUCH),
    onnx('doubling functions, 31 of them', () => doublingFunctions(31), ...TOO_MUCH),
    onnx('a thousand calls in each of 20 functions', () => doublingFunctions(20, 1000), ...TOO_MUCH),
    onnx('functions that call each other 40 deep', () => doublingFunctions(40, 1), ...TOO_MUCH),
    onnx('the same, called from the inside out', () => doublingFunctions(40, 1, true), ...TOO_MUCH),
    onnx('functions that call each other 20,000 deep', () => doublingFunctions(20_000, 1), ...TOO_MUCH),
    onnx(
      'a function that calls itself',
      () =>
        encodeModel([node('f', ['x'], ['y'], { domain: 'd' })], {
          functions: [functionOf('f', [node('f', ['x'], ['y'], { domain: 'd' })])]
        }),
      ['inspect', 0],
      ['check', 2, 'limit-exceeded'],
      ['run --fill zeros', 2, 'limit-exceeded']
    ),
    onnx(
      'two functions that call each other',
      () =>
        encodeModel([node('f', ['x'], ['y'], { domain: 'd' })], {
          functions: [
            functionOf('f', [node('g', ['x'], ['y'], { domain: 'd' })]),
            functionOf('g', [node('f', ['x'], ['y'], { domain: 'd' })])
          ]
        }),
      ['inspect', 0],
      ...TOO_MUCH
    ),
    onnx(
      'a function that calls itself in a branch',
      () =>
        encodeModel([node('f', ['x'], ['y'], { domain: 'd' })], {
          functions: [
            functionOf('f', [
              node('If', ['x'], ['y'], {
                attribute: [
                  {
                    name: 'then_branch',
                    type: 5,
                    g: { name: 'b', node: [node('f', ['x'], ['z'], { domain: 'd' })], output: [tensorInfo('z')] }
                  }
                ]
              })
            ])
          ]
        }),
      ...TOO_MUCH
    ),
    onnx(
      'many calls of functions of long names',
      () => doublingFunctions(16, 2, false, 'n'.repeat(10_000)),
      ...TOO_MUCH
    ),
    onnx(
      'a function that calls itself, and more calls allowed',
      () =>
        encodeModel([node('f', ['x'], ['y'], { domain: 'd' })], {
          functions: [functionOf('f', [node('f', ['x'], ['y'], { domain: 'd' })])]
        }),
      ['check --limit callDepth=400', 2, 'limit-exceeded', 'deeper than 400'],
      ['check --limit callDepth=401', 2, 'bad-usage'],
      ['check --limit __proto__=1', 2, 'bad-usage']
    )
  ]))

describe('ranks and counts are exact', () => {
  const shaped = (dims: readonly (number | bigint)[], more: object = {}): Uint8Array =>
    encodeModel([node('Add', ['x', 'w'], ['y'])], {
      initializer: [{ name: 'w', dims, dataType: TYPE.FLOAT, rawData: new Uint8Array(8), ...more }]
    })
  const sizes: [string, readonly number[]][] = [
    ['2^31', [2 ** 31]],
    ['2^31 - 1', [2 ** 31 - 1]],
    ['2^16 x 2^16', [65536, 65536]],
    ['2^32 + 2', [2 ** 32 + 2]],
    ['2^53', [2 ** 53]],
    ['2^27 x 2^27', [2 ** 27, 2 ** 27]],
    ['2^32 x 2^32', [2 ** 32, 2 ** 32]],
    ['2^63', [2 ** 63]],
    ['65536^4 (2^64, 0 when it overflows)', [65536, 65536, 65536, 65536]],
    ['3 x 6148914691236517206 (2 when it overflows)', [3, 6148914691236517206]]
  ]
  holdAll([
    ...sizes.map(([name, dims]) =>
      onnx(
        `a constant of ${name} elements and 8 bytes`,
        () => shaped(dims),
        ['check', 1, name === '2^63' ? 'negative-dim' : 'constant-size'],
        ['run --fill zeros', 2, 'invalid-graph']
      )
    ),
    ...sizes.map(([name, dims]) =>
      ir(
        `a Const of ${name} elements and 8 bytes`,
        () => constant(dims.map(dim => BigInt(dim)).join(',')),
        ['inspect', 0],
        ['run --fill zeros', 2]
      )
    ),
    onnx(
      'a constant of rank 64',
      () =>
        shaped(
          Array.from({ length: 64 }, () => 1),
          { rawData: new Uint8Array(4) }
        ),
      ['check', 0],
      ['run --fill zeros', 0]
    ),
    onnx(
      'a constant of rank 65',
      () =>
        shaped(
          Array.from({ length: 65 }, () => 1),
          { rawData: new Uint8Array(4) }
        ),
      ['check', 1, 'constant-size'],
      ['run --fill zeros', 2, 'invalid-graph']
    ),
    onnx(
      'a constant of rank 100,000',
      () =>
        shaped(
          Array.from({ length: 100_000 }, () => 1),
          { rawData: new Uint8Array(4) }
        ),
      ['check', 1, 'constant-size']
    ),
    onnx(
      'an input of rank 65',
      () =>
        encodeModel([node('Relu', ['x'], ['y'])], {
          input: [
            tensorInfo(
              'x',
              TYPE.FLOAT,
              Array.from({ length: 65 }, () => 1)
            )
          ]
        }),
      ['run --fill zeros', 2]
    ),
    onnx(
      'an input of 2^53 elements',
      () => encodeModel([node('Relu', ['x'], ['y'])], { input: [tensorInfo('x', TYPE.FLOAT, [2 ** 53])] }),
      ['check', 1, 'invalid-dim'],
      ['run --fill zeros', 2]
    ),
    onnx(
      'an input of 2^52 elements',
      () => encodeModel([node('Relu', ['x'], ['y'])], { input: [tensorInfo('x', TYPE.FLOAT, [2 ** 52])] }),
      ['check', 0],
      ['run --fill zeros', 2, 'limit-exceeded']
    ),
    onnx(
      'an input of 2^26 x 2^27 elements',
      () => encodeModel([node('Relu', ['x'], ['y'])], { input: [tensorInfo('x', TYPE.FLOAT, [2 ** 26, 2 ** 27])] }),
      ['run --fill zeros', 2, 'limit-exceeded']
    ),
    onnx(
      'a shape that Reshape is given with rank 65',
      () =>
        encodeModel([node('Reshape', ['x', 's'], ['y'])], {
          initializer: [
            ints(
              's',
              Array.from({ length: 65 }, () => 1)
            )
          ],
          input: [tensorInfo('x', TYPE.FLOAT, [1])]
        }),
      ['check', 1, 'limit-exceeded'],
      ['run --fill zeros', 2, 'limit-exceeded']
    ),
    onnx(
      'a shape whose product overflows 2^64 to 2',
      () =>
        encodeModel([node('Reshape', ['x', 's'], ['y'])], {
          initializer: [ints('s', [3, 6148914691236517206n])],
          input: [tensorInfo('x', TYPE.FLOAT, [2])]
        }),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    onnx(
      '64 axes by Unsqueeze, again and again',
      () =>
        encodeModel(
          Array.from({ length: 70 }, (_, i) =>
            node('Unsqueeze', [i === 0 ? 'x' : `v${i}`, 'a'], [i === 69 ? 'y' : `v${i + 1}`])
          ),
          { initializer: [ints('a', [0])], input: [tensorInfo('x', TYPE.FLOAT, [1])] }
        ),
      ['check', 1, 'limit-exceeded'],
      ['run --fill zeros', 2, 'limit-exceeded']
    )
  ])
})

const constant = (shape: string): string =>
  net(
    [
      layer(0, 'Const', { data: `element_type="f32" shape="${shape}" offset="0" size="8"`, out: ['0:FP32'] }),
      layer(1, 'Result', { in: ['0:FP32'] })
    ],
    ['0:0>1:0']
  )

const TERA = 2 ** 40
const named = (type: string, inputs: readonly string[], more: object = {}): object =>
  opNode(type, inputs, ['y'], { name: 'bomb', ...more })

describe('a run that asks for terabytes fails at once, at its node', () => {
  const bomb = (
    name: string,
    type: string,
    inputs: readonly string[],
    initializer: readonly object[],
    more: object = {},
    graph: object = {}
  ): ReturnType<typeof onnx> =>
    onnx(
      name,
      () => encodeModel([named(type, inputs, more)], { initializer, input: [], ...graph }),
      ['run --max-memory 64MB', 2, 'limit-exceeded', '"node": "bomb"'],
      ['run', 2, 'limit-exceeded', '"node": "bomb"']
    )
  const one = { name: 'one', dims: [1], dataType: TYPE.FLOAT, floatData: [1] }
  const scalar = (name: string, value: number): object => ({ name, dims: [], dataType: TYPE.FLOAT, floatData: [value] })
  holdAll([
    bomb('ConstantOfShape', 'ConstantOfShape', ['s'], [ints('s', [TERA])]),
    bomb('ConstantOfShape of 2^62 elements', 'ConstantOfShape', ['s'], [ints('s', [2n ** 62n])]),
    bomb('ConstantOfShape of 2^32 x 2^32', 'ConstantOfShape', ['s'], [ints('s', [2 ** 32, 2 ** 32])]),
    bomb('Expand', 'Expand', ['one', 's'], [one, ints('s', [TERA])]),
    bomb('Tile', 'Tile', ['one', 's'], [one, ints('s', [TERA])]),
    bomb('Range', 'Range', ['a', 'b', 'c'], [scalar('a', 0), scalar('b', 1e12), scalar('c', 1)]),
    bomb('Pad', 'Pad', ['one', 's'], [one, ints('s', [0, TERA])]),
    bomb('Resize', 'Resize', ['one', '', '', 's'], [one, ints('s', [TERA])]),
    bomb(
      'OneHot',
      'OneHot',
      ['i', 'd', 'v'],
      [
        ints('i', [1]),
        { name: 'd', dims: [], dataType: TYPE.INT64, int64Data: [TERA] },
        { name: 'v', dims: [2], dataType: TYPE.FLOAT, floatData: [0, 1] }
      ]
    ),
    bomb('BlackmanWindow', 'BlackmanWindow', ['n'], [{ name: 'n', dims: [], dataType: TYPE.INT64, int64Data: [TERA] }]),
    bomb('RandomNormal', 'RandomNormal', [], [], { attribute: [{ name: 'shape', type: 7, ints: [TERA] }] }),
    onnx(
      'a Concat that doubles 40 times',
      () =>
        encodeModel(
          Array.from({ length: 40 }, (_, i) =>
            opNode('Concat', [`v${i}`, `v${i}`], [i === 39 ? 'y' : `v${i + 1}`], {
              name: `bomb${i}`,
              attribute: [{ name: 'axis', type: 2, i: 0 }]
            })
          ),
          { initializer: [{ ...one, name: 'v0', dims: [1] }], input: [] }
        ),
      ['run --max-memory 64MB', 2, 'limit-exceeded', '"node": "bomb']
    ),
    onnx(
      'an input that --fill would make of 4 TB',
      () => encodeModel([node('Relu', ['x'], ['y'])], { input: [tensorInfo('x', TYPE.FLOAT, [TERA])] }),
      ['run --fill zeros', 2, 'limit-exceeded']
    )
  ])
})

describe('a rank above the limit is refused where it comes from', () => {
  const RANK_3: readonly Answer[] = [
    ['check --limit rank=3', 2, 'limit-exceeded', 'limit rank'],
    ['run --fill zeros --limit rank=3', 2, 'limit-exceeded', 'limit rank'],
    ['check --limit rank=4', 0]
  ]
  const unsqueezed = (axes: object): object => named('Unsqueeze', ['x', 'axes'], axes)
  const x = tensorInfo('x', TYPE.FLOAT, [2, 3])
  holdAll([
    onnx(
      'of an input',
      () => encodeModel([named('Relu', ['x'])], { input: [tensorInfo('x', TYPE.FLOAT, [1, 1, 1, 1])] }),
      ...RANK_3
    ),
    onnx(
      'of an initializer',
      () =>
        encodeModel([named('Relu', ['w'])], {
          input: [],
          initializer: [{ name: 'w', dims: [1, 1, 1, 1], dataType: TYPE.FLOAT, floatData: [1] }]
        }),
      ...RANK_3
    ),
    onnx(
      'of what a node makes',
      () => encodeModel([unsqueezed({})], { input: [x], initializer: [ints('axes', [0, 1])] }),
      ['check --limit rank=3', 1, 'limit-exceeded', 'limit rank'],
      ['run --fill zeros --limit rank=3', 2, 'limit-exceeded', '"node": "bomb"'],
      ['run --fill zeros --limit rank=4', 0]
    ),
    onnx(
      'above 64, which no option allows',
      () =>
        encodeModel([unsqueezed({})], {
          input: [x],
          initializer: [
            ints(
              'axes',
              Array.from({ length: 63 }, (_, i) => i)
            )
          ]
        }),
      ['run --fill zeros', 2, 'limit-exceeded', 'limit rank'],
      ['run --fill zeros --limit rank=65', 2, 'bad-usage']
    )
  ])
})

describe('an IR that asks for terabytes fails at once, at its layer', () => {
  const parameter = layer(0, 'Parameter', { name: 'x', data: 'shape="1" element_type="f32"', out: ['0:FP32[1]'] })
  holdAll([
    ir(
      'a Parameter',
      () =>
        net(
          [
            layer(0, 'Parameter', { name: 'x', data: `shape="${TERA}" element_type="f32"`, out: [`0:FP32[${TERA}]`] }),
            layer(1, 'Result', { in: [`0:FP32[${TERA}]`] })
          ],
          ['0:0>1:0']
        ),
      ['run --fill zeros', 2, 'limit-exceeded']
    ),
    ir(
      'an output that is declared to have 2^63 elements',
      () =>
        net(
          [
            parameter,
            layer(1, 'ReLU', { in: ['0:FP32[1]'], out: ['1:FP32[9223372036854775808]'] }),
            layer(2, 'Result', { in: ['0:FP32[1]'] })
          ],
          ['0:0>1:0', '1:1>2:0']
        ),
      ['check', 1]
    )
  ])
})
