import { NodewiseError } from '../../errors.ts'
import { type ByteSource, bytesSource } from '../../files/byte-source.ts'
import type { Model } from '../../graph/graph.ts'
import { defaultLimits } from '../../graph/limits.ts'
import { loadOnnx, type OnnxOptions } from '../load.ts'
import { decodeText } from '../text.ts'
import { Positions } from './positions.ts'
import { readModelText } from './read.ts'

/**
 * Reads a model in the text format of ONNX.
 * @throws NodewiseError `invalid-file` with line and column, and what {@link loadOnnx} throws
 */
export function loadOnnxText(source: ByteSource, options: OnnxOptions): Model {
  const { file, limits = defaultLimits() } = options
  const positions = new Positions()
  try {
    // Editors of Windows put a byte order mark before the text.
    const text = decodeText(source.read(0, source.size)).replace(/^\ufeff/, '')
    const bytes = readModelText(text, limits, positions)
    return loadOnnx(bytesSource(file, bytes), { ...options, locate: place => positions.locate(place) })
  } catch (error) {
    throw error instanceof NodewiseError ? error.movedTo({ file, ...positions.locate(error.place) }) : error
  }
}
