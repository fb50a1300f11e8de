import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { modelFiles, parseModel } from 'nodewise'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage, serveFolder, testBrowsers, Visit } from './browser.ts'
import { printedBy } from './command.ts'
import { scenarios } from './scenarios.ts'

const MODELS = join(import.meta.dirname, '../../../models')
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const browsers = testBrowsers()
if (browsers.length === 0)
  test.skipIf(!process.env.CI)('a browser is found (NODEWISE_BROWSER names one)', () => expect.fail('there is none'))

const folder = mkdtempSync(join(tmpdir(), 'nodewise-page-'))
let server: Server
let url: string

beforeAll(async () => {
  await buildPage(folder)
  ;({ server, url } = await serveFolder(folder))
})

afterAll(() => {
  server?.close()
  rmSync(folder, { recursive: true, force: true })
})

test('the page is smaller than 400 KB without its engine', () => {
  const sizes = readdirSync(join(folder, 'assets'))
    .filter(name => !/engine|bytes|kinds/.test(name))
    .map(name => gzipSync(readFileSync(join(folder, 'assets', name))).length)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(400_000)
})

/** A recording of one channel, in 16 bits. */
function wave(samples: readonly number[], rate: number): Buffer {
  const bytes = Buffer.alloc(44 + 2 * samples.length)
  bytes.write('RIFF')
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.write('WAVEfmt ', 8)
  ;[16, 0x10001, rate, 2 * rate, 0x100002].forEach((word, i) => bytes.writeUInt32LE(word, 16 + 4 * i))
  bytes.write('data', 36)
  bytes.writeUInt32LE(2 * samples.length, 40)
  samples.forEach((sample, i) => bytes.writeInt16LE(sample, 44 + 2 * i))
  return bytes
}

describe.each(browsers)('the page in $name', ({ start }) => {
  let browser: Browser

  beforeAll(async () => {
    browser = await start()
  })

  afterAll(() => browser?.close())

  /** Addresses of blobs and data are of the browser's own memory. */
  const isForeign = (address: string): boolean => !address.startsWith(url) && !/^(blob|data):/.test(address)

  let tab: Visit | undefined

  /** Goes on with the page as the test before left it: to load it takes longer than most of what is done there. */
  const stay = async (): Promise<Visit> => {
    if (!tab?.page.url().startsWith(url)) return visit()
    tab.forget()
    return tab
  }

  /** Loads the page anew, in one tab for all tests: another tab takes a browser as long as the page. */
  const visit = async (width = 1280, at = url): Promise<Visit> => {
    tab ??= new Visit(await browser.newPage())
    tab.forget()
    await tab.page.setViewport({ width, height: 800 })
    await tab.page.goto(at)
    await tab.page.waitForSelector('.start')
    return tab
  }

  const upload = async ({ page }: Visit, label: string, file: string): Promise<void> => {
    const field = await page.waitForSelector(`input[aria-label="${label}"]`)
    await (field as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(file)
  }

  /** What axe finds. The page's policy keeps scripts of others out; this one comes through the debugger. */
  const barriers = async ({ page }: Visit): Promise<string[]> => {
    if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(readFileSync(AXE, 'utf8'))
    return page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
      }
      const { violations } = await axe.run({ resultTypes: ['violations'], selectors: false })
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' ')}`)
    })
  }

  /** A report needs nothing else, has no barriers, and tells of the comparison. */
  const holdReport = async (bytes: Buffer): Promise<void> => {
    const file = join(folder, 'report.html')
    writeFileSync(file, bytes)
    const page = await browser.newPage()
    const report = new Visit(page)
    await page.goto(pathToFileURL(file).href)
    expect(await report.text('h1')).toBe('one.onnx | nodewise compare: not equal')
    expect(await report.text('section h2')).toContain('What is seen of the graph | What is seen of the other')
    const loaded = await page.$$eval('img', all => all.map(image => image.naturalWidth > 200))
    expect(loaded).toEqual([true, true])
    expect(report.requests.filter(address => address.startsWith('http'))).toEqual([])
    expect(await barriers(report)).toEqual([])
    expect(report.errors).toEqual([])
    await page.close()
  }

  test('shows a false dim on the graph and in the list, and nothing leaves it', async () => {
    const seen = await visit()
    await seen.give(join(MODELS, 'wrong-dim.xml'), join(MODELS, 'wrong-dim.bin'))
    await seen.press('Show 1 error')
    expect(await seen.text('.finding h3')).toBe('error dim 3 of value "gather" is declared 12; it is 10')
    expect(await seen.text('.finding .pair')).toBe('declared [6, 15, 4, 12] inferred [6, 15, 4, 10]')
    expect(await seen.text('.finding pre .marked')).toMatch(/^47 .*<dim>12<\/dim>$/)
    expect(await barriers(seen)).toEqual([])
    await seen.press('Gather')
    await seen.waitForText('.panel h2', 'Gather')
    expect(seen.page.url()).toMatch(/#node=gather$/)
    expect(await seen.text('.panel .ports')).toContain('6×15×4×10')
    expect(await seen.text('.panel .bad')).toContain('declared 6×15×4×12')
    expect(seen.requests.filter(isForeign)).toEqual([])
    expect(seen.errors).toEqual([])
  })

  test('lists the findings of a report beside the model, and marks their nodes', async () => {
    const report = join(folder, 'report.sarif')
    const text = await printedBy('check', '--format', 'sarif', join(MODELS, 'wrong-dim.xml'))
    writeFileSync(report, text.replaceAll('it is 10', 'it was 10'))
    const seen = await stay()
    await seen.give(join(MODELS, 'wrong-dim.xml'), join(MODELS, 'wrong-dim.bin'), report)
    await seen.waitForText('.finding h3', 'it was 10')
    expect(await barriers(seen)).toEqual([])
    await seen.page.click('.choice label:last-child input')
    await seen.waitForText('.finding h3', 'it is 10')
    await seen.press('Gather')
    await seen.waitForText('.panel .name', 'gather')
    expect(seen.errors).toEqual([])
  })

  test('runs a model, and shows what a gather took', async () => {
    const seen = await visit()
    await seen.press('A gather')
    await seen.settled()
    await seen.tab('run')
    await seen.page.select('.input select', 'literal')
    await seen.page.$eval('.input textarea', field => {
      field.value = '[1,1,0]'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    })
    await seen.press('Run')
    await seen.waitForText('.panel h2', 'Done')
    await seen.page.keyboard.press('/')
    await seen.page.keyboard.type('type:Gather')
    await seen.page.keyboard.press('Enter')
    await seen.waitForText('.panel h2', 'Rows that were taken')
    expect(await seen.text('.gather .taken th')).toBe('0 | 1')
    expect(await seen.text('.gather .taken td:nth-child(2)')).toBe('1× | 2×')
    expect(await barriers(seen)).toEqual([])
    expect(seen.errors).toEqual([])
  })

  test('is walked through by keyboard', async () => {
    const seen = await stay()
    const isNothingSelected = (): boolean => document.querySelector('.graph [role=status]')?.textContent === ''
    await seen.page.focus('.graph canvas')
    await seen.page.keyboard.press('Escape')
    await seen.waitFor(isNothingSelected)
    for (const key of ['ArrowDown', 'ArrowDown'] as const) await seen.page.keyboard.press(key)
    await seen.waitForText('.graph [role=status]', 'Gather')
    await seen.page.keyboard.press('Escape')
    await seen.waitFor(isNothingSelected)
  })

  test('waits at the node that first gives NaN, and goes on', async () => {
    const text = `<ir_version: 8, opset_import: ["" : 17]>
      g (float[2] x) => (float[2] y) { [sum] a = Add (x, x)  [log] b = Log (a)  [end] y = Neg (b) }`
    const file = join(folder, 'nan.onnx')
    const [{ chunks }] = modelFiles(parseModel(text), 'nan.onnx').files
    writeFileSync(file, Buffer.concat([...chunks]))
    const seen = await stay()
    await seen.give(file)
    await seen.tab('run')
    await seen.page.select('.input select', 'literal')
    await seen.page.$eval('.input textarea', field => {
      field.value = '[1,-1]'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    })
    await seen.press('Run')
    await seen.waitForText('.panel h2', 'Done')
    expect(await seen.text('.ports .bad')).toBe('1 NaN, 0 ∞ of 2 elements')
    expect((await seen.saved('Report .html'))[0].bytes.toString()).toContain('NaN or infinity first at Log log.')
    await seen.page.click('.check input')
    await seen.press('Run')
    await seen.waitForText('.panel .name', 'log')
    expect(seen.page.url()).toMatch(/#node=log$/)
    await expect.poll(() => seen.text('.panel h2')).toContain('Log')
    await seen.tab('run')
    expect(await seen.text('.panel .bad')).toBe('NaN or infinity first at Log log')
    await seen.tab('node')
    await seen.page.locator('.body > section:nth-of-type(3) button[aria-expanded]').click()
    await seen.page.waitForSelector('.change')
    await seen.page.type('.change [name=element]', '1')
    await seen.page.type('.change [name=text]', '7')
    await seen.press('Change')
    await seen.waitForText('.change [role=status]', 'later nodes read this')
    // The value is fetched anew once the change is told.
    await expect.poll(() => seen.text('.tensor .elements')).toMatch(/ 7$/)
    expect(await barriers(seen)).toEqual([])
    await seen.tab('run')
    await seen.press('Go on')
    await seen.waitForText('.panel h2', 'Done')
    expect(await seen.text('.ports .note')).toContain('-7 …')
    expect(await seen.text('.panel .body')).toContain("nodewise run nan.onnx -i 'x=[1,-1]'")
    expect(seen.errors).toEqual([])
  })

  test('compares two models on the same inputs, and names the first node that differs', async () => {
    const seen = await stay()
    const files = ['one', 'two'].map((name, i) => {
      const text = `<ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (float[2] y) <float[2] w = {1, ${i + 1}}>
        { [neg] a = Neg (x)  [add] b = Add (a, w)  [end] y = Abs (b) }`
      const file = join(folder, `${name}.onnx`)
      writeFileSync(file, Buffer.concat([...modelFiles(parseModel(text), `${name}.onnx`).files[0].chunks]))
      return file
    })
    await seen.give(files[0])
    await seen.tab('run')
    await upload(seen, 'Files of the other model', files[1])
    await seen.waitForText('.panel h3', 'First difference')
    expect(await seen.text('.panel .bad')).toBe('2 of 3 values differ. | apart by 1.00')
    expect(await seen.text('.beside h2')).toBe('two.onnx')
    // The first difference is in sight at once, in both.
    expect(await seen.text('.stage .graph [role=status]')).toMatch(/^Add/)
    const ends = await seen.page.$$eval('.stages canvas:first-child', all => all.map(each => each.clientWidth))
    expect(ends).toHaveLength(2)
    expect(Math.min(...ends)).toBeGreaterThan(200)
    expect(await barriers(seen)).toEqual([])
    const [{ name, bytes }] = await seen.saved('Report .html')
    expect(name).toBe('one.html')
    await holdReport(bytes)
    await seen.press('b')
    await seen.waitForText('.panel .name', 'add')
    await seen.page.click('.beside button')
    await seen.waitFor(() => document.querySelector('.beside') === null)
    expect(seen.errors).toEqual([])
  })

  test('stops a run that would not end, and runs again', async () => {
    const file = join(folder, 'endless.onnx')
    const text = `<ir_version: 8, opset_import: ["" : 17]>
      g (float[2] x) => (float[2] y) {
        most = Constant <value = int64 {9223372036854775807}> ()
        yes = Constant <value = bool {1}> ()
        y = Loop <body = b (int64 i, bool go, float[2] s) => (bool more, float[2] t) {
          more = Identity (go)  t = Neg (s) }> (most, yes, x) }`
    const [{ chunks }] = modelFiles(parseModel(text), 'endless.onnx').files
    writeFileSync(file, Buffer.concat([...chunks]))
    const seen = await stay()
    await seen.give(file)
    await seen.tab('run')
    for (let i = 0; i < 2; i++) {
      await seen.press('Run')
      await seen.waitForText('.panel h2', 'Running')
      await seen.press('Stop')
      await seen.waitForText('.panel h2', 'It stopped')
    }
    expect(seen.errors).toEqual([])
  })

  test('takes pictures and recordings, and shows what the model gets', async () => {
    const text = `<ir_version: 8, opset_import: ["" : 17]>
      g (float[1, 3, 1, 2] x, float[1, t] s) => (float[1, 3, 1, 2] y, float[1, t] z) { y = Neg (x)  z = Neg (s) }`
    const file = join(folder, 'media.onnx')
    writeFileSync(file, Buffer.concat([...modelFiles(parseModel(text), 'media.onnx').files[0].chunks]))
    const seen = await stay()
    const png = await seen.page.evaluate(() => {
      const canvas = document.createElement('canvas')
      ;[canvas.width, canvas.height] = [2, 1]
      const context = canvas.getContext('2d')!
      context.fillStyle = '#ff0033'
      context.fillRect(0, 0, 2, 1)
      return canvas.toDataURL('image/png').split(',')[1]
    })
    writeFileSync(join(folder, 'red.png'), Buffer.from(png, 'base64'))
    writeFileSync(join(folder, 'beep.wav'), wave([0, 16_384, -32_768], 16_000))
    await seen.give(file)
    await seen.tab('run')
    await seen.page.select('.input:nth-of-type(2) select', 'picture')
    await seen.page.select('.input:nth-of-type(3) select', 'sound')
    await upload(seen, 'Picture for x', join(folder, 'red.png'))
    await upload(seen, 'Recording for s', join(folder, 'beep.wav'))
    await seen.waitForText('.media [role=status]', '1×3×1×2, 0.00 … 1.00')
    await seen.waitForText('.media .note', '3 samples')
    expect(await barriers(seen)).toEqual([])
    await seen.press('Run')
    await seen.waitForText('.panel h2', 'Done')
    expect(await seen.text('.ports .note')).toContain('-1 … 0, mean -0.4 | -0.5 … 1, mean 0.1667')
    expect(await seen.text('.panel .body')).toContain(
      '--image x=red.png,layout=nchw,order=rgb,resize=1x2,scale=1/255 --audio s=beep.wav,rate=16000'
    )
    expect(seen.errors).toEqual([])
  })

  test('opens a model at the address of another host, and asks nobody else', async () => {
    const { server, url: elsewhere } = await serveFolder(MODELS)
    const asked: (string | undefined)[] = []
    server.on('request', ({ url: path }) => asked.push(path))
    const seen = await visit()
    await seen.page.type('[aria-label="Address of a model"]', `${elsewhere}palette.onnx`)
    await Promise.all([seen.page.waitForNavigation(), seen.press('Open address')])
    await seen.settled()
    expect(await seen.text('header')).toContain('palette.onnx')
    expect(asked).toContain('/some/path/palette.onnx')
    expect(seen.requests.filter(address => isForeign(address) && !address.startsWith(elsewhere))).toEqual([])
    expect(seen.errors).toEqual([])
    server.close()
  })

  test('needs no server once it is there: opens another model, runs it and reports', async () => {
    const { server, url: briefly } = await serveFolder(folder)
    const seen = await visit(1280, briefly)
    // What it loads at its start is all there once it has opened a model.
    await seen.give(join(MODELS, 'wrong-dim.xml'), join(MODELS, 'wrong-dim.bin'))
    server.close()
    server.closeAllConnections()
    await seen.give(join(MODELS, 'palette.onnx'))
    await seen.waitForText('header', 'palette.onnx')
    await seen.tab('run')
    await seen.press('Run')
    await seen.waitForText('.panel h2', 'Done')
    expect((await seen.saved('Report .html'))[0].bytes.toString()).toContain('palette.onnx')
    expect(seen.errors).toEqual([])
  })

  test.each([390, 2560])('has no barriers and nothing beside it at %s pixels', async width => {
    const seen = await visit(width)
    expect(await barriers(seen)).toEqual([])
    await seen.press('A text decoder')
    await seen.settled()
    expect(await barriers(seen)).toEqual([])
    expect(await seen.page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  })

  describe('from one model to the next', { shuffle: false }, () => {
    let seen: Visit

    beforeAll(async () => {
      seen = await visit()
    })

    scenarios({ seen: () => seen, folder })

    test('without a request to elsewhere, and without an error in the page', () => {
      expect(seen.requests.filter(isForeign)).toEqual([])
      expect(seen.errors).toEqual([])
    })
  })
})
