import { randomBytes } from 'node:crypto'
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, extname, join } from 'node:path'
import { NodewiseError } from '../../errors.ts'
import { statOf } from '../stat.ts'

/** A file that is served: where it lies, and the path that the model has it by. */
export interface ServedFile {
  readonly path: string
  readonly file: string
}

/** What is served beside the page: the file of the model, and those that it names. */
export interface ServedModel {
  readonly main: string
  readonly files: readonly ServedFile[]
  /** A report on the model. */
  readonly report?: ServedFile
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml'
}

/** A page that is served to this machine. */
export interface PageServer {
  readonly url: string
  readonly close: () => void
}

/**
 * Serves the page and a model's own files to this machine alone: at 127.0.0.1, below a path that nobody can guess, and
 * to requests that name this host, so that no other page in the browser reads them.
 * @param folder of the page
 * @param port 0: any that is free
 */
export async function servePage(folder: string, model: ServedModel | undefined, port: number): Promise<PageServer> {
  const token = randomBytes(16).toString('hex')
  const files = new Map<string, string>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name)
    if (statSync(file).isFile()) files.set(name.replaceAll('\\', '/'), file)
  }
  for (const { path, file } of model?.files ?? []) files.set(`model/${path}`, file)
  if (model?.report) files.set(`report/${model.report.path}`, model.report.file)
  const sized = ({ path, file }: ServedFile): object => ({ path, size: statSync(file).size })
  const listing = model && {
    main: model.main,
    files: model.files.map(sized),
    ...(model.report && { report: sized(model.report) })
  }
  const server = createServer((request, response) => {
    const path = requestedPath(request, token, hostOf(server))
    if (path === undefined) return refuse(response, 403)
    if (path === 'model.json' && listing) return sendText(response, JSON.stringify(listing))
    const file = files.get(path === '' ? 'index.html' : path)
    if (file === undefined) return refuse(response, 404)
    sendFile(request, response, file)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenFailure(error, port)))
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://${hostOf(server)}/${token}/${model ? '?served' : ''}`,
    close() {
      server.close()
      server.closeAllConnections()
    }
  }
}

/** Why a port cannot be had, in the words of its option. */
function listenFailure(error: NodeJS.ErrnoException, port: number): Error {
  const reason =
    error.code === 'EADDRINUSE'
      ? 'another program has this port'
      : error.code === 'EACCES'
        ? 'this port is not for every user'
        : undefined
  return reason === undefined ? error : new NodewiseError('bad-usage', `--port ${port}: ${reason}`)
}

const hostOf = (server: Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`

/** The path below the token; undefined for a request that must not be answered. */
function requestedPath(
  { url = '', method, headers }: IncomingMessage,
  token: string,
  host: string
): string | undefined {
  const isOurs = headers.host === host && (method === 'GET' || method === 'HEAD')
  const prefix = `/${token}/`
  if (!isOurs || !url.startsWith(prefix)) return undefined
  try {
    return decodeURIComponent(url.slice(prefix.length).replace(/[?#].*$/s, ''))
  } catch {
    return undefined
  }
}

/**
 * What goes with every answer. The page is isolated, so that its workers may share memory; its policy lets it reach
 * this server, and the host of an address that it was asked to open.
 */
function headersFor({ url = '' }: IncomingMessage): Record<string, string> {
  let asked = ''
  try {
    const { origin, protocol } = new URL(new URL(url, 'http://page').searchParams.get('url') ?? '')
    if (/^https?:$/.test(protocol)) asked = ` ${origin}`
  } catch {
    // No address to open.
  }
  const policy = {
    'default-src': "'none'",
    'script-src': "'self' 'wasm-unsafe-eval'",
    'worker-src': "'self' blob:",
    'style-src': "'self'",
    'img-src': "'self' blob: data:",
    'connect-src': `'self'${asked}`,
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'"
  }
  return {
    'Content-Security-Policy': Object.entries(policy)
      .map(parts => parts.join(' '))
      .join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store'
  }
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end()
}

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(text)
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: string): void {
  // A file may go while it is served: the page is told, and what else is served stays.
  const size = statOf(file)?.size
  if (size === undefined) return refuse(response, 404)
  const type = TYPES[extname(basename(file))] ?? 'application/octet-stream'
  const headers = { ...headersFor(request), 'Content-Type': type, 'Accept-Ranges': 'bytes' }
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
  const start = Number(range?.[1] ?? 0)
  const end = Math.min(size - 1, range?.[2] ? Number(range[2]) : size - 1)
  if (range && start > end) {
    response.writeHead(416, { 'Content-Range': `bytes */${size}` }).end()
    return
  }
  const part = range && { 'Content-Range': `bytes ${start}-${end}/${size}` }
  response.writeHead(range ? 206 : 200, { ...headers, ...part, 'Content-Length': end - start + 1 })
  if (request.method === 'HEAD' || size === 0) response.end()
  else
    createReadStream(file, { start, end })
      .on('error', () => response.destroy())
      .pipe(response)
}
