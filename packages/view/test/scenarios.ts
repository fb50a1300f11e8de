import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, load, modelFiles, parseModel, readNpz, Tensor, writeNpz } from 'nodewise'
import { expect, test } from 'vitest'
import { DATA, describeData } from '../../../test/conformance/data.ts'
import { floats, node, onnxBytes, port } from '../../../test/fixtures/onnx.ts'
import { numberText } from '../src/panels/texts.ts'
import { numbersOf, statisticsOf } from '../src/worker/numbers.ts'
import type { Visit } from './browser.ts'
import { printedBy } from './command.ts'

/** Where scenarios take place: a page that stays open from one to the next, and a folder for files. */
export interface Stage {
  readonly seen: () => Visit
  readonly folder: string
}

const MODELS = join(import.meta.dirname, '../../../models')
const ZOO = join(DATA, 'zoo')

const json = async <T>(...args: string[]): Promise<T> => JSON.parse(await printedBy(...args, '--json')) as T

/** Nodes of a large graph, in blocks whose names nest. */
const MANY = 100_000

function largeModel(): Uint8Array {
  const nodes = Array.from({ length: MANY }, (_, i) => {
    const name = `/model/layer.${Math.floor(i / 1000)}/block.${Math.floor(i / 50) % 20}/Relu_${i}`
    return { ...node('Relu', [i === 0 ? 'x' : `v${i - 1}`], [i === MANY - 1 ? 'y' : `v${i}`]), name }
  })
  return onnxBytes({ inputs: [port('x', 'float', ['n', 4])], outputs: [port('y', 'float', ['n', 4])], nodes })
}

/** What people drop by mistake or by malice, with the code that the page shows. */
function hostileFiles(): Readonly<Record<string, readonly [content: string | Uint8Array, code: string]>> {
  const sound = onnxBytes({
    inputs: [port('x', 'float', [2])],
    initializers: [floats('w', [2], [1, 2])],
    outputs: [port('y', 'float', [2])],
    nodes: [node('Add', ['x', 'w'], ['y'])]
  })
  const laughs = Array.from({ length: 30 }, (_, i) => `<!ENTITY a${i + 1} "&a${i};&a${i};">`).join('')
  return {
    'truncated.onnx': [sound.slice(0, sound.length - 9), 'invalid-file'],
    'empty.onnx': ['', 'invalid-file'],
    'zip.onnx': [`PK\x03\x04${'\0'.repeat(60)}`, 'invalid-file'],
    'page.onnx': ['<!doctype html><html><body>404</body></html>', 'invalid-file'],
    'pointer.onnx': ['version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n', 'invalid-file'],
    'lengths.onnx': ['\x08\x07\x3a\xff\xff\xff\xff\x0f', 'invalid-file'],
    'laughs.xml': [`<!DOCTYPE l [<!ENTITY a0 "ha">${laughs}]><net version="11">&a30;</net>`, 'invalid-file'],
    'open.xml': ['<net version="11"><layers><layer', 'invalid-file'],
    'deep.xml': ['<net>'.repeat(100_000), 'limit-exceeded'],
    'hello.txt': ['hello', 'invalid-file']
  }
}

/** Sets the size of an open dim. */
async function setSize({ page }: Visit, name: string, size: number): Promise<void> {
  await page.$eval(
    `input[aria-label="Size of ${name}"]`,
    (field, value) => {
      field.value = value
      field.dispatchEvent(new Event('input', { bubbles: true }))
    },
    `${size}`
  )
}

async function search(seen: Visit, text: string, type: string): Promise<void> {
  const { page } = seen
  await page.focus('.search input')
  await page.$eval('.search input', field => field.select())
  await page.keyboard.type(text)
  await page.waitForSelector('.search [role=option]')
  await page.keyboard.press('Enter')
  await seen.waitFor(
    wanted => [...document.querySelectorAll('#tab-body h2')].some(title => title.textContent === wanted),
    type
  )
}

/** Presses the middle of the graph, once the picture has come to rest, and tells what is selected then. */
async function pressMiddle({ page }: Visit): Promise<string> {
  const [x, y] = await page.$eval('.stage .graph canvas', async canvas => {
    const { left, top, width, height } = canvas.getBoundingClientRect()
    // The camera glides for 260 ms, and has come to rest with the next frame, whenever a busy machine draws it.
    await new Promise(resolve => {
      setTimeout(() => requestAnimationFrame(resolve), 400)
    })
    return [left + width / 2, top + height / 2]
  })
  await page.mouse.click(x, y)
  return page.$eval('.graph [role=status]', status => status.textContent ?? '')
}

async function runToEnd(seen: Visit): Promise<void> {
  await seen.tab('run')
  await seen.press('Run')
  await seen.waitForText('.panel h2', 'Done')
}

/** What people do with the page, from one model to the next; each leaves the page ready for the next. */
export function scenarios({ seen, folder }: Stage): void {
  test('takes models that are dropped, and takes away one with true shapes', async () => {
    const files = ['wrong-dim.xml', 'wrong-dim.bin'].map(name => [name, readFileSync(join(MODELS, name), 'base64')])
    await seen().page.evaluate(given => {
      const transfer = new DataTransfer()
      for (const [name, base64] of given)
        transfer.items.add(new File([Uint8Array.from(atob(base64), char => char.charCodeAt(0))], name))
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true }))
    }, files)
    await seen().waitForText('.file h1', 'wrong-dim.xml')
    await seen().settled()
    await seen().tab('findings')
    expect(await seen().text('.finding h3')).toBe('error dim 3 of value "gather" is declared 12; it is 10')
    const saved = await seen().saved('Download with true shapes', 2)
    const [xml, bin] = ['wrong-dim.xml', 'wrong-dim.bin'].map(name => saved.find(file => file.name === name)!.bytes)
    expect(check(await load({ xml, bin })).findings).toEqual([])
  })

  test('opens a graph of 100,000 nodes, and finds a node in it', async () => {
    const file = join(folder, 'large.onnx')
    if (!existsSync(file)) writeFileSync(file, largeModel())
    await seen().give(file)
    expect(await seen().text('.facts')).toContain('Nodes 100,000')
    await search(seen(), 'Relu_77777', 'Relu')
    expect(await seen().text('.trail nav')).toMatch(/layer\.77.*block\.15.*Relu/)
    expect(await seen().text('.panel .ports .type')).toBe('float32 n×4 | float32 n×4')
  })

  test('says what is wrong with hostile files, and opens the next', async () => {
    for (const [name, [content, code]] of Object.entries(hostileFiles())) {
      const file = join(folder, name)
      writeFileSync(file, typeof content === 'string' ? Buffer.from(content, 'latin1') : content)
      await seen().give(file)
      expect(`${name} ${await seen().text('.failure code')}`).toBe(`${name} ${code}`)
    }
    await seen().give(join(MODELS, 'iris.onnx'))
    expect(await seen().text('.failure')).toBe('')
    expect(await seen().text('.file')).toContain('iris.onnx')
  })

  test('shows what is impossible in models that can be read: a circle, dims beyond all memory', async () => {
    const text = `<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y)
      { a = Add (x, b)  b = Neg (a)  [end] y = Neg (b) }`
    const circle = join(folder, 'circle.onnx')
    writeFileSync(circle, Buffer.concat([...modelFiles(parseModel(text), 'circle.onnx').files[0].chunks]))
    await seen().give(circle)
    await seen().tab('findings')
    await seen().waitForText('.finding summary', 'cycle')
    const huge = join(folder, 'huge.onnx')
    writeFileSync(
      huge,
      onnxBytes({
        inputs: [port('x', 'float', [2 ** 20, 2 ** 20, 2 ** 10])],
        outputs: [port('y', 'float')],
        nodes: [node('Neg', ['x'], ['y'])]
      })
    )
    await seen().give(huge)
    await seen().tab('run')
    await seen().press('Run')
    await seen().waitForText('.panel h2', 'It stopped')
    expect(await seen().text('.panel .bad code')).toBe('limit-exceeded')
  })

  describeData('with the data', () => dataScenarios({ seen, folder }))
}

interface Printed {
  readonly summary: { readonly errors: number; readonly warnings: number; readonly values: number }
  readonly outputs: readonly { readonly name: string; readonly dims: readonly number[]; readonly data: number[] }[]
  readonly first: { readonly a: { readonly value: string } }
}

function dataScenarios({ seen, folder }: Stage): void {
  const bert = join(ZOO, 'bert/model.onnx')
  const ids = new Tensor(
    'int64',
    Array.from({ length: 12 }, (_, i) => BigInt((i * 7) % 50)),
    [2, 6]
  )
  const mask = new Tensor('int64', new Array<bigint>(12).fill(1n), [2, 6])
  const inputs = join(folder, 'inputs.npz')

  test('BERT: its graph, shapes, weights and findings are those of the command', async () => {
    await seen().give(bert)
    await search(seen(), 'layer.1/attention/self/Softmax', 'Softmax')
    expect(await seen().text('.trail nav')).toMatch(/encoder.*layer\.1.*attention.*self.*Softmax/)
    expect(await seen().text('.panel .ports .type')).toContain('float32 batch×4×seq×seq')
    // The groups around it have opened, and it is in the middle.
    expect(await pressMiddle(seen())).toMatch(/^Softmax/)
    await seen().tab('model')
    await setSize(seen(), 'batch', 2)
    await setSize(seen(), 'seq', 6)
    await seen().waitForText('.size ~ p', 'possible')
    await seen().tab('node')
    await seen().waitForText('.panel .ports .type', '2×4×6×6')
    await search(seen(), 'type:LayerNormalization', 'LayerNormalization')
    await seen().press('weights')
    await seen().waitForText('.tensor', 'deviation')
    await seen().tab('findings')
    const { errors, warnings, values } = (await json<Printed>('check', bert)).summary
    expect(await seen().text('.panel .body > section .note')).toContain(
      `${errors} errors, ${warnings} warnings; ${values} values looked at`
    )
  })

  test('BERT: a run shows what it gives, and gives what the command does', async () => {
    writeFileSync(
      inputs,
      writeNpz(
        new Map([
          ['input_ids', ids],
          ['attention_mask', mask]
        ])
      )
    )
    await seen().tab('run')
    const field = await seen().page.waitForSelector('input[aria-label="Values of all inputs"]')
    await (field as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(inputs)
    await seen().waitForText('.input', 'From inputs.npz')
    await runToEnd(seen())
    const { outputs } = await json<Printed>('run', '--trace', bert, '--inputs', inputs)
    const [{ name, dims, data }] = outputs
    const [{ bytes }] = await seen().saved('Values .npz')
    const made = readNpz(bytes).get(name)!
    const { min, max, mean } = statisticsOf(numbersOf(made)!)
    expect(await seen().text('.panel .ports:first-of-type .note')).toContain(
      `${numberText(min)} … ${numberText(max)}, mean ${numberText(mean)}`
    )
    expect(made.dims).toEqual(dims)
    // Browsers add products without rounding them, which Node 20 cannot: the last digits differ.
    const apart = [...numbersOf(made)!].map((element, i) => Math.abs(element - data[i]))
    expect(Math.max(...apart)).toBeLessThan(1e-5)
    await seen().page.locator('::-p-xpath(//label[normalize-space(.)="time"])').click()
  })

  test('BERT beside its quantized form: the first difference is that of the command', async () => {
    const other = join(DATA, 'contrib-zoo/bert__int8_dynamic/model.onnx')
    const field = await seen().page.waitForSelector('input[aria-label="Files of the other model"]')
    await (field as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(other)
    await seen().waitForText('.panel h3', 'First difference')
    await seen().settled()
    const { first } = await json<Printed>('compare', bert, other, '--inputs', inputs)
    expect(await seen().text('.panel h3 + .port .path')).toBe(first.a.value)
    await seen().page.click('.beside button')
  })

  test.each([
    ['a detector', 'zoo/detector_nms_roialign/model.onnx', 'type:NonMaxSuppression', 'NonMaxSuppression'],
    ['LSTM and GRU', 'zoo/lstm_gru_tagger/model.onnx', 'type:LSTM', 'LSTM'],
    ['loops and branches', 'zoo/control_flow/model.onnx', 'type:Loop', 'Loop'],
    ['a loop of IR', 'openvino-zoo/special_loop/model.xml', 'type:Loop', 'Loop']
  ])('%s: a run comes to its end, and its values are taken away', async (_, path, text, type) => {
    const file = join(DATA, path)
    await seen().give(...(path.endsWith('.xml') ? [file, file.replace(/xml$/, 'bin')] : [file]))
    await search(seen(), text, type)
    await runToEnd(seen())
    const [{ bytes }] = await seen().saved('Values .npz')
    expect(readNpz(bytes).size).toBeGreaterThan(3)
    const [{ bytes: page }] = await seen().saved('Report .html')
    expect(page.toString()).toContain('<summary>Values of the run</summary>')
  })
}
