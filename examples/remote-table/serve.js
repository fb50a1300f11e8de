// A small web server that gives ranges of one folder's files, several in one answer too:
// node examples/remote-table/serve.js FOLDER [PORT] [LATENCY in milliseconds]
import { closeSync, createReadStream, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const BOUNDARY = 'a-part-of-the-table'

/** `[first, last]` of each range that is asked for; undefined: all of the file. */
function rangesOf(header, size) {
  const text = /^bytes=(.*)$/.exec(header ?? '')?.[1]
  const ranges = text?.split(',').map(range => {
    const [first, last] = range.trim().split('-')
    return first === ''
      ? [Math.max(0, size - last), size - 1]
      : [+first, last === '' ? size - 1 : Math.min(+last, size - 1)]
  })
  return ranges?.filter(([first, last]) => first <= last && first < size)
}

/** Several ranges as `multipart/byteranges` (RFC 9110, section 14.6). */
function parts(file, size, ranges) {
  const descriptor = openSync(file)
  const pieces = ranges.flatMap(([first, last]) => {
    const bytes = Buffer.alloc(last - first + 1)
    readSync(descriptor, bytes, 0, bytes.length, first)
    const head = `\r\n--${BOUNDARY}\r\nContent-Range: bytes ${first}-${last}/${size}\r\n\r\n`
    return [Buffer.from(head), bytes]
  })
  closeSync(descriptor)
  return Buffer.concat([...pieces, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)])
}

/**
 * A server of the files of a folder, and of further answers by path.
 * @param {string} folder
 * @param {{ latency?: number, pages?: Record<string, [type: string, content: () => string | Uint8Array]> }} options
 */
export function serveFolder(folder, { latency = 0, pages = {} } = {}) {
  const stats = { requests: 0, bytes: 0 }
  const answer = (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname)
    const page = pages[path]
    if (page) return void response.writeHead(200, { 'Content-Type': page[0] }).end(page[1]())
    const file = join(folder, basename(path))
    const status = statSync(file, { throwIfNoEntry: false })
    if (!status?.isFile()) return void response.writeHead(404).end()
    stats.requests++
    const { size, mtimeMs, ino } = status
    const headers = { 'Accept-Ranges': 'bytes', ETag: `"${ino}-${size}-${mtimeMs}"` }
    const isOther = 'if-range' in request.headers && request.headers['if-range'] !== headers.ETag
    const ranges = isOther ? undefined : rangesOf(request.headers.range, size)
    if (ranges?.length === 0) return void response.writeHead(416, { 'Content-Range': `bytes */${size}` }).end()
    if (ranges && ranges.length > 1) {
      const body = parts(file, size, ranges)
      stats.bytes += body.length
      const type = `multipart/byteranges; boundary=${BOUNDARY}`
      return void response.writeHead(206, { ...headers, 'Content-Type': type, 'Content-Length': body.length }).end(body)
    }
    const [start, end] = ranges?.[0] ?? [0, size - 1]
    stats.bytes += end - start + 1
    response.writeHead(ranges ? 206 : 200, {
      ...headers,
      'Content-Length': end - start + 1,
      ...(ranges && { 'Content-Range': `bytes ${start}-${end}/${size}` })
    })
    if (size === 0) response.end()
    else createReadStream(file, { start, end }).pipe(response)
  }
  const server = createServer((request, response) => setTimeout(() => answer(request, response), latency))
  return Object.assign(server, { stats })
}

if (process.argv[1]?.endsWith('serve.js') && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [folder = '.', port = '8080', latency = '0'] = process.argv.slice(2)
  const server = serveFolder(resolve(folder), { latency: +latency })
  server.listen(+port, 'localhost', () => console.log(`http://localhost:${server.address().port}/`))
}
