import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load, type Model, parseTensor, type Tensor } from 'nodewise'
import { expect, test } from 'vitest'
import { DATA, describeData } from '../../../test/conformance/data.ts'
import { dimsAt, typeAt } from '../src/graph/known.ts'
import { factsOf, type ShownFinding } from '../src/worker/facts.ts'
import { type Flat, flatten } from '../src/worker/flatten.ts'
import { type Filling, inputFields } from '../src/worker/inputs.ts'
import { numbersOf, statisticsOf } from '../src/worker/numbers.ts'
import { Running } from '../src/worker/running.ts'
import { printedBy } from './command.ts'

/** A value of `check --json --values`. */
interface ValueJson {
  readonly name: string
  readonly type: string | null
  readonly dims: readonly (number | string)[] | null
  readonly declaredDims: readonly (number | string)[] | null
}
interface FindingJson {
  readonly code: string
  readonly severity: string
  readonly message: string
  readonly declared: string | null
  readonly inferred: string | null
}
/** An output of `run --json`. */
interface OutputJson {
  readonly name: string
  readonly type: Tensor['type']
  readonly dims?: readonly number[]
  readonly data: readonly unknown[]
}
interface Printed {
  readonly values: readonly ValueJson[]
  readonly findings: readonly FindingJson[]
  readonly summary: object
  readonly outputs: readonly OutputJson[]
}

const printed = async (...args: string[]): Promise<Printed> => JSON.parse(await printedBy(...args, '--json')) as Printed

/** What the page shows of every value: its name, type, dims, and the declared dims where they differ. */
function shownValues(flat: Flat, facts: ReturnType<typeof factsOf>): string[] {
  return flat.values.names.map((name, i) =>
    [name, typeAt(facts, i), dimsAt(facts, i) ?? '', facts.declared.get(i) ?? ''].join(' ')
  )
}

/** The same of what the command prints. */
const printedValues = (values: readonly ValueJson[]): string[] =>
  values.map(({ name, type, dims, declaredDims }) => {
    const [known, said] = [dims?.join('×'), declaredDims?.join('×')]
    return [name, type ?? '', known ?? '', said === known ? '' : (said ?? '')].join(' ')
  })

/** What the page shows of the outputs of a run. */
async function shownOutputs(model: Model, flat: Flat, inputs: ReadonlyMap<string, Filling>): Promise<object[]> {
  const request = { inputs, sizes: new Map(), seed: 0, breakpoints: [], stopsAtNan: false, stepwise: false }
  const { outputs } = await new Running(model, flat, request, () => undefined).run()
  return [...outputs].map(([name, shown]) => ({ name, ...shown }))
}

/** The same of an output that the command prints. */
function printedOutput({ name, type, dims, data }: OutputJson): object {
  if (!dims) return { name, type, dims: [] }
  const numbers = numbersOf(parseTensor(JSON.stringify({ type, dims, data }), type))
  return { name, type, dims, ...(numbers && { statistics: statisticsOf(numbers) }) }
}

/** The type of what is written in files, by the folder of the data. */
const FILES = {
  zoo: { model: 'model.onnx', tensors: 'pb' },
  'openvino-zoo': { model: 'model.xml', tensors: 'npy' }
} as const

const saidOf = ({ code, severity, message, declared, inferred }: FindingJson | ShownFinding): object => ({
  code,
  severity,
  message,
  declared: declared ?? null,
  inferred: inferred ?? null
})

async function expectSameFacts(model: Model, flat: Flat, file: string): Promise<void> {
  const facts = factsOf(model, flat)
  const { values, findings, summary } = await printed('check', '--values', file)
  // Branches that are never taken are not checked: the page shows their nodes, and nothing of their values.
  const isKnown = (_: string, i: number): boolean => typeAt(facts, i) !== '' || dimsAt(facts, i) !== undefined
  expect(shownValues(flat, facts).filter(isKnown).sort()).toEqual(printedValues(values).sort())
  expect(facts.findings.map(saidOf)).toEqual(findings.map(saidOf))
  expect(facts.summary).toEqual(summary)
}

async function expectSameOutputs(model: Model, flat: Flat, file: string, inputs: readonly string[]): Promise<void> {
  const given = inputFields(model).map(({ name }, i) => [name, inputs[i]] as const)
  // As the page's runs, one that is traced runs every node by itself; else nodes may be joined, and round otherwise.
  const { outputs } = await printed(
    'run',
    '--trace',
    file,
    ...given.flatMap(([name, path]) => ['-i', `${name}=${path}`])
  )
  const fillings = given.map(([name, path]) => {
    const bytes = new Uint8Array(readFileSync(path))
    return [name, { how: 'file', name: path, bytes }] as const
  })
  expect(await shownOutputs(model, flat, new Map(fillings))).toEqual(outputs.map(printedOutput))
}

/** Models as IR: those that are not in the other zoo, with loops, branches, strings, states and old versions. */
const OF_IR =
  /^(bert_bounded|control_flow|special_(const_(bool|strings)|if_branches|loop|stateful_kv_cache|v10_fp16_cnn))$/

describeData('the page shows what check and run print', () => {
  for (const [set, { model: name, tensors }] of Object.entries(FILES))
    for (const one of readdirSync(join(DATA, set)).filter(each => !each.includes('.')))
      if (set === 'zoo' || OF_IR.test(one))
        test(`${set}/${one}`, async () => {
          const folder = join(DATA, set, one)
          const file = join(folder, name)
          const model = await load(file)
          const flat = flatten(model)
          await expectSameFacts(model, flat, file)
          const case0 = join(folder, 'test_data_set_0')
          const count = readdirSync(case0).filter(each => each.startsWith('input_')).length
          const inputs = Array.from({ length: count }, (_, i) => join(case0, `input_${i}.${tensors}`))
          await expectSameOutputs(model, flat, file, inputs)
        })
})
