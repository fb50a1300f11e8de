// Small programs of pages: what they import, and what they find out about a model, which must be `expected`.

/** The operators of a BERT in the names of `nodewise/ops`: some alone, some as a family. */
const ALONE = ['cast', 'concat', 'gather', 'identity', 'layerNormalization', 'matmul', 'range', 'reshape', 'shape']
ALONE.push('squeeze', 'transpose', 'unsqueeze')
const FAMILIES = ['binaryOps', 'softmaxOps', 'unaryOps']

const session = (create, name = 'Tensor') => `
const session = await InferenceSession.create(${create})
const { rgb } = await session.run({ ids: new ${name}('int64', [5n], [1]) })
const found = [...rgb.data].join()`

const COLOUR = '250,210,50'

export const PROGRAMS = {
  'everything: `nodewise`': {
    lines: `import { InferenceSession, Tensor } from 'nodewise'${session("'palette.onnx'")}`,
    expected: COLOUR
  },
  '`nodewise/onnxruntime`': {
    lines: `import { InferenceSession, Tensor } from 'nodewise/onnxruntime'${session("'palette.onnx'")}`,
    expected: COLOUR
  },
  'loading: `load` of `nodewise/graph`': {
    lines: `import { load } from 'nodewise/graph'
const { graph } = await load('palette.onnx')
const found = graph.nodes.map(({ type }) => type).join()`,
    expected: 'Gather,Gather'
  },
  'checking with every operator: `check` of `nodewise`': {
    lines: `import { check, load } from 'nodewise'
const { findings } = check(await load('palette.onnx'))
const found = String(findings.length)`,
    expected: '0'
  },
  'checking with one: `nodewise/core`': {
    lines: `import { check, load } from 'nodewise/core'
import { gather } from 'nodewise/ops'
const { findings } = check(await load('palette.onnx'), { ops: [gather] })
const found = String(findings.length)`,
    expected: '0'
  },
  'running with one: `nodewise/core`': {
    lines: `import { InferenceSession, Tensor } from 'nodewise/core'
import { gather } from 'nodewise/ops'${session("'palette.onnx', { ops: [gather] }")}`,
    expected: COLOUR
  },
  "running with a BERT's: `nodewise/core`": {
    lines: `import { InferenceSession, Tensor } from 'nodewise/core'
import { ${[...ALONE, ...FAMILIES].join(', ')} } from 'nodewise/ops'
const ops = [${ALONE.join(', ')}, ...${FAMILIES.join(', ...')}]
const session = await InferenceSession.create('bert.onnx', { ops })
const ids = new Tensor('int64', [2n, 5n, 6n, 3n], [1, 4])
const feeds = { input_ids: ids, attention_mask: ids, token_type_ids: new Tensor('int64', [0n, 0n, 0n, 0n], [1, 4]) }
const { last_hidden_state: { dims } } = await session.run(feeds)
const found = dims.join()`,
    expected: '1,4,32'
  }
}

/** The module of a page: it posts what it found, or why it found nothing. */
export function moduleOf({ lines }) {
  const imports = lines.split('\n').filter(line => line.startsWith('import '))
  const rest = lines.split('\n').filter(line => !line.startsWith('import '))
  return `${imports.join('\n')}
async function find() {
${rest.join('\n')}
  return found
}
export async function run() {
  const found = await find().catch(error => String(error?.stack ?? error))
  await fetch('/report', { method: 'POST', body: JSON.stringify({ found }) })
}
`
}
