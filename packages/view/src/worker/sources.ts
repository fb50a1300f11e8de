import { type ByteReader, NodewiseError } from 'nodewise'

/** Bytes that are read at once, and how many such blocks are kept. */
const BLOCK = 1 << 20
const KEPT = 16
/** Files up to this size are read as a whole. */
const WHOLE = 64 << 20

/** A file for the engine: one that was dropped or downloaded, or one that the page's own host reads ranges of. */
export interface GivenFile {
  /** Path as it was dropped: `folder/model.onnx`. */
  readonly path: string
  readonly content: Blob | { readonly url: string; readonly size: number }
}

/**
 * A file for the engine. A large one is read in blocks, where it is looked at, so that a model of many gigabytes
 * opens; and synchronously, as workers may, so that a weight can be looked at whenever that is asked for.
 */
export function contentOf({ content }: GivenFile): Uint8Array | ByteReader {
  const readRange = rangesOf(content)
  return content.size <= WHOLE ? readRange(0, content.size) : inBlocks(content.size, readRange)
}

/**
 * A file that came with a model, as of a folder that was dropped. Most of these the model does not name: the engine
 * looks at the beginning of each, and only what it reads from afterwards is held as a whole.
 */
export function besideOf({ content }: GivenFile): ByteReader {
  const { size } = content
  const readRange = rangesOf(content)
  if (size > WHOLE) return inBlocks(size, readRange)
  let isLookedAt = false
  let whole: Uint8Array | undefined
  return {
    size,
    read(offset, length) {
      if (!isLookedAt) {
        isLookedAt = true
        return readRange(offset, offset + length)
      }
      whole ??= readRange(0, size)
      return whole.subarray(offset, offset + length)
    }
  }
}

/** All bytes of a file. */
export const wholeOf = ({ content }: GivenFile): Uint8Array => rangesOf(content)(0, content.size)

type ReadRange = (from: number, to: number) => Uint8Array

const rangesOf = (content: GivenFile['content']): ReadRange =>
  content instanceof Blob
    ? (from, to) => new Uint8Array(new FileReaderSync().readAsArrayBuffer(content.slice(from, to)))
    : (from, to) => fetchRange(content.url, from, to)

function fetchRange(url: string, from: number, to: number): Uint8Array {
  if (from === to) return new Uint8Array()
  const request = new XMLHttpRequest()
  request.open('GET', url, false)
  request.responseType = 'arraybuffer'
  request.setRequestHeader('Range', `bytes=${from}-${to - 1}`)
  request.send()
  const bytes = new Uint8Array(request.response as ArrayBuffer)
  if (request.status === 206) return bytes
  if (request.status === 200) return bytes.subarray(from, to)
  throw new NodewiseError('missing-file', `the server answers ${request.status} ${request.statusText}`, { file: url })
}

function inBlocks(size: number, readRange: ReadRange): ByteReader {
  const blocks = new Map<number, Uint8Array>()
  const blockAt = (index: number): Uint8Array => {
    const bytes = blocks.get(index) ?? readRange(index * BLOCK, Math.min(size, (index + 1) * BLOCK))
    blocks.delete(index)
    blocks.set(index, bytes)
    const [oldest] = blocks.keys()
    if (blocks.size > KEPT) blocks.delete(oldest)
    return bytes
  }
  return {
    size,
    read(offset, length) {
      if (length > 2 * BLOCK) return readRange(offset, offset + length)
      const target = new Uint8Array(length)
      for (let done = 0; done < length;) {
        const at = offset + done
        const part = blockAt(Math.floor(at / BLOCK)).subarray(at % BLOCK, (at % BLOCK) + length - done)
        target.set(part, done)
        done += part.length
      }
      return target
    }
  }
}
