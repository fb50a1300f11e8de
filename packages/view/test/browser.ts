import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, extname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { type Browser, launch, type Page } from 'puppeteer-core'
import { build } from 'vite'
import { isBuilt } from '../../../scripts/stamp.mjs'
import { INPUTS } from '../inputs.ts'

/** A browser without a window that the tests drive. */
export interface TestBrowser {
  readonly name: 'Chromium' | 'Firefox'
  start(): Promise<Browser>
}

/** Where browsers are installed; the first of each kind is one that a user names. */
const PLACES = {
  Chromium: [
    process.env.NODEWISE_BROWSER,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'
  ],
  Firefox: [
    process.env.NODEWISE_FIREFOX,
    '/usr/bin/firefox-esr',
    '/usr/bin/firefox',
    '/Applications/Firefox.app/Contents/MacOS/firefox'
  ]
} as const

const installed = (name: TestBrowser['name']): string | undefined =>
  PLACES[name].find(path => path !== undefined && existsSync(path))

/** A page in a container may not have a sandbox of its own; one process serves all pages. */
const CHROMIUM_ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--renderer-process-limit=1']

/** Firefox, too, starts processes before it needs them. */
const FIREFOX_PREFERENCES = {
  'dom.ipc.processCount': 1,
  'dom.ipc.processPrelaunch.enabled': false,
  'extensions.webextensions.remote': false,
  'fission.autostart': false,
  'media.rdd-process.enabled': false,
  'network.process.enabled': false
}

/** The browsers that tests can have: those that are installed, or the Chromium that comes by npm. */
export function testBrowsers(): readonly TestBrowser[] {
  const found: TestBrowser[] = []
  const chromium = installed('Chromium')
  if (chromium !== undefined)
    found.push({ name: 'Chromium', start: () => launch({ executablePath: chromium, args: CHROMIUM_ARGS }) })
  else if (process.platform === 'linux' && process.arch === 'x64') found.push({ name: 'Chromium', start: startCarried })
  const firefox = installed('Firefox')
  if (firefox !== undefined)
    found.push({
      name: 'Firefox',
      start: () => launch({ browser: 'firefox', executablePath: firefox, extraPrefsFirefox: FIREFOX_PREFERENCES })
    })
  return found
}

/**
 * Starts the Chromium of the package @sparticuz/chromium, which is unpacked once. It is built for Lambda; with the
 * libraries and fonts that come with it, it needs no more than the C library, so it runs wherever Node does on Linux.
 */
async function startCarried(): Promise<Browser> {
  const require = createRequire(import.meta.url)
  const packed = join(dirname(require.resolve('@sparticuz/chromium')), '../../bin')
  const folder = join(import.meta.dirname, '../../../node_modules/.cache/nodewise-chromium')
  const program = join(folder, 'chromium')
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true })
    for (const name of ['al2023.tar.br', 'fonts.tar.br'])
      execFileSync('tar', ['-x', '-C', folder], { input: brotliDecompressSync(readFileSync(join(packed, name))) })
    // Theirs names the folders of Lambda.
    writeFileSync(join(folder, 'fonts.conf'), `<fontconfig><dir>${folder}/fonts</dir></fontconfig>`)
    // Under another name until it is whole.
    const unpacking = `${program}.${process.pid}`
    writeFileSync(unpacking, brotliDecompressSync(readFileSync(join(packed, 'chromium.br'))), { mode: 0o755 })
    renameSync(unpacking, program)
  }
  return launch({
    executablePath: program,
    headless: 'shell',
    args: [...CHROMIUM_ARGS, '--no-zygote'],
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, 'lib'), FONTCONFIG_PATH: folder }
  })
}

/** Puts the page into a folder: as `npm run build` made it, where that was of the same sources, or built anew. */
export async function buildPage(folder: string): Promise<void> {
  const root = join(import.meta.dirname, '..')
  if (isBuilt(join(root, 'dist'), INPUTS)) {
    cpSync(join(root, 'dist'), folder, { recursive: true })
    return
  }
  await build({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'error', build: { outDir: folder } })
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml'
}

/** Serves a folder as any web server does, below a path of its own; any page may read what is there. */
export async function serveFolder(folder: string): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://page').pathname).replace(/^\/some\/path\//, '')
    readFile(join(folder, path === '' ? 'index.html' : path)).then(
      bytes => {
        const type = TYPES[extname(path || 'index.html')] ?? 'text/plain'
        response.writeHead(200, { 'Content-Type': type, 'Access-Control-Allow-Origin': '*' }).end(bytes)
      },
      () => response.writeHead(404).end()
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/path/` }
}

/** How often a page is asked what is waited for: asked at each frame, browsers would draw 60 of them a second. */
const ASKED = { polling: 50 } as const

/** A file that the page gave to its user. */
export interface SavedFile {
  readonly name: string
  readonly bytes: Buffer
}

/** What a user sees of the page, and does there. */
export class Visit {
  readonly page: Page
  /** Addresses that the page asked for. */
  readonly requests: string[] = []
  /** What went wrong in the page's own program. */
  readonly errors: string[] = []

  constructor(page: Page) {
    this.page = page
    // A busy machine is no failure.
    page.setDefaultTimeout(50_000)
    page.on('request', request => this.requests.push(request.url()))
    page.on('pageerror', error => this.errors.push(String(error)))
    page.on('console', message => {
      if (message.type() === 'error') this.errors.push(message.text())
    })
  }

  /** Ends what the page is at, and forgets what it asked for. */

  /** Forgets what the page asked for and what went wrong. */
  forget(): void {
    this.requests.length = 0
    this.errors.length = 0
  }

  /** Gives files to the page, and waits until it knows all about them or says why not. */
  async give(...files: string[]): Promise<void> {
    const field = await this.page.waitForSelector('input[type=file]')
    await (field as unknown as { uploadFile(...paths: string[]): Promise<void> }).uploadFile(...files)
    await this.settled()
  }

  async settled(): Promise<void> {
    await this.waitFor(
      () =>
        (document.querySelector('.work') !== null || document.querySelector('.failure') !== null) &&
        document.querySelector('.busy') === null
    )
  }

  /** Waits until a function says yes, which is called in the page with what it is given. */
  async waitFor<Given extends unknown[]>(holds: (...given: Given) => boolean, ...given: Given): Promise<void> {
    await this.page.waitForFunction(holds as (...given: unknown[]) => boolean, ASKED, ...given)
  }

  /** Presses the button that says so. */
  async press(text: string): Promise<void> {
    await this.page.locator(`::-p-xpath(//button[not(@role) and starts-with(normalize-space(.), "${text}")])`).click()
  }

  /** Presses a button that saves files; tells them in place of saving them. */
  async saved(button: string, count = 1): Promise<readonly SavedFile[]> {
    await this.page.evaluate(() => {
      const files: { name: string; base64: string }[] = []
      const blobs: Blob[] = []
      const bytes = async (blob: Blob): Promise<string> => {
        const all = new Uint8Array(await blob.arrayBuffer())
        return btoa(Array.from(all, byte => String.fromCharCode(byte)).join(''))
      }
      URL.createObjectURL = blob => `blob:${blobs.push(blob as Blob) - 1}`
      HTMLAnchorElement.prototype.click = function () {
        const { download: name } = this
        void bytes(blobs[Number(this.href.slice(5))]).then(base64 => files.push({ name, base64 }))
      }
      Object.assign(globalThis, { savedFiles: files })
    })
    await this.press(button)
    await this.waitFor(
      wanted => (globalThis as unknown as { savedFiles: unknown[] }).savedFiles.length >= wanted,
      count
    )
    const files = await this.page.evaluate(
      () => (globalThis as unknown as { savedFiles: { name: string; base64: string }[] }).savedFiles
    )
    return files.map(({ name, base64 }) => ({ name, bytes: Buffer.from(base64, 'base64') }))
  }

  async tab(name: 'model' | 'node' | 'findings' | 'run'): Promise<void> {
    await this.page.locator(`#tab-${name}`).click()
  }

  /** Text of what a selector finds, in one line. */
  text(selector: string): Promise<string> {
    return this.page.$$eval(selector, found =>
      found.map(each => (each as HTMLElement).innerText.replace(/\s+/g, ' ').trim()).join(' | ')
    )
  }

  async waitForText(selector: string, text: string): Promise<void> {
    await this.waitFor(
      (where, what) => [...document.querySelectorAll(where)].some(each => each.textContent?.includes(what)),
      selector,
      text
    )
  }
}
