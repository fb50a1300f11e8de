import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'

const x = (...dims: number[]): object => port('x', 'float', dims)
const y = [port('y', 'float')]
const one = (type: string, attributes: Parameters<typeof node>[3] = {}, inputs = ['x']): object[] => [
  node(type, inputs, ['y'], attributes)
]

/** Adds `x` to itself as often as `trips`, an input, says; without end where there is none. */
export const adding = (trips: '' | 'trips'): ModelParts => ({
  inputs: [x(1), ...(trips === '' ? [] : [port(trips, 'int64', [])])],
  initializers: [{ name: 'go', dims: [], dataType: 9, int32Data: [1] }],
  outputs: y,
  nodes: [
    node('Loop', [trips, 'go', 'x'], ['y'], {
      body: {
        graph: {
          inputs: [port('i', 'int64', []), port('c', 'bool', []), port('v', 'float', [1])],
          outputs: [port('more', 'bool', []), port('next', 'float', [1])],
          nodes: [node('Identity', ['c'], ['more']), node('Add', ['v', 'x'], ['next'])]
        }
      }
    })
  ]
})

/** Models that work for many seconds, mostly in one kernel; their one input is `x`. */
export const HEAVY: Readonly<Record<string, { readonly parts: ModelParts; readonly dims: readonly number[] }>> = {
  'MatMul 4096^3': {
    parts: { inputs: [x(4096, 4096)], outputs: y, nodes: one('MatMul', {}, ['x', 'x']) },
    dims: [4096, 4096]
  },
  'Conv with a kernel of 2048 x 2048': {
    parts: {
      inputs: [x(1, 1, 2048, 2048)],
      outputs: y,
      nodes: one('Conv', { pads: [1023, 1023, 1024, 1024] }, ['x', 'x'])
    },
    dims: [1, 1, 2048, 2048]
  },
  'TopK of half of 16 million': {
    parts: {
      inputs: [x(2 ** 24)],
      initializers: [int64s('k', [1], [2 ** 23])],
      outputs: y,
      nodes: [node('TopK', ['x', 'k'], ['y', 'at'], { axis: 0 })]
    },
    dims: [2 ** 24]
  },
  'Unique, which sorts': { parts: { inputs: [x(2 ** 24)], outputs: y, nodes: one('Unique') }, dims: [2 ** 24] },
  'Resize by 64 million points of cubics': {
    parts: {
      opset: 18,
      inputs: [x(1, 1, 4, 4)],
      initializers: [floats('roi', [8], [0, 0, 0, 0, 1, 1, 1, 1]), int64s('sizes', [4], [1, 1, 8192, 8192])],
      outputs: y,
      // A region leaves the call to the reference kernel.
      nodes: one('Resize', { mode: 'cubic', coordinate_transformation_mode: 'tf_crop_and_resize' }, [
        'x',
        'roi',
        '',
        'sizes'
      ])
    },
    dims: [1, 1, 4, 4]
  },
  'Softmax of one long line, again and again': {
    parts: {
      inputs: [x(2 ** 24)],
      outputs: y,
      nodes: Array.from({ length: 20 }, (_, i) =>
        node('Softmax', [i === 0 ? 'x' : `v${i - 1}`], [i === 19 ? 'y' : `v${i}`])
      )
    },
    dims: [2 ** 24]
  },
  'ReduceLogSumExp and Expand': {
    parts: {
      inputs: [x(4096)],
      initializers: [int64s('dims', [2], [16384, 4096])],
      outputs: y,
      nodes: [node('Expand', ['x', 'dims'], ['wide']), node('ReduceLogSumExp', ['wide'], ['y'])]
    },
    dims: [4096]
  },
  'LSTM of a long sequence': {
    parts: {
      inputs: [x(16384, 1, 256)],
      outputs: y,
      initializers: [
        floats('w', [1, 1024, 256], new Array<number>(2 ** 18).fill(0.1)),
        floats('r', [1, 1024, 256], new Array<number>(2 ** 18).fill(0.1))
      ],
      nodes: one('LSTM', { hidden_size: 256 }, ['x', 'w', 'r'])
    },
    dims: [16384, 1, 256]
  },
  'an endless Loop': { parts: adding(''), dims: [1] },
  'an endless Loop whose body has no node': {
    parts: {
      ...adding(''),
      nodes: [
        node('Loop', ['', 'go', 'x'], ['y'], {
          body: {
            graph: {
              inputs: [port('i', 'int64', []), port('c', 'bool', []), port('v', 'float', [1])],
              outputs: [port('c', 'bool', []), port('v', 'float', [1])],
              nodes: []
            }
          }
        })
      ]
    },
    dims: [1]
  }
}
