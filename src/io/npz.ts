import { fail, placing } from '../errors.ts'
import { requireOptions } from '../suggest.ts'
import type { DType } from '../tensor/dtype.ts'
import { requireBytes } from '../tensor/given.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { readNpyLike, writeNpy } from './npy.ts'
import { zipEntries, zipRead, zipWrite } from './zip.ts'

/** Options of reading an archive of arrays. */
export interface ReadNpzOptions {
  /** Element type to read an array as where the file can carry it, see `readNpy`. */
  readonly typeOf?: (name: string) => DType | undefined
  /** Which arrays to read. Default: all. */
  readonly wanted?: (name: string) => boolean
  /** Maximum of bytes of all arrays together, unpacked. Default: 4 GiB. */
  readonly maxBytes?: number
}

/**
 * The arrays of an `.npz` archive by name (without `.npy`), in the order of the archive.
 * @throws NodewiseError `invalid-file` where the archive or an array is damaged; `limit-exceeded` beyond `maxBytes`,
 *   before memory is allocated; `bad-usage` for what are no bytes, and no options
 */
export function readNpz(bytes: Uint8Array, options: ReadNpzOptions = {}): Map<string, Tensor> {
  requireBytes(bytes)
  requireOptions(options)
  const { maxBytes = 2 ** 32, typeOf, wanted } = options
  const tensors = new Map<string, Tensor>()
  let total = 0
  for (const entry of zipEntries(bytes)) {
    if (!entry.name.endsWith('.npy'))
      fail('invalid-file', `the archive holds ${JSON.stringify(entry.name)}, which is no .npy array`)
    const name = entry.name.slice(0, -'.npy'.length)
    if (wanted?.(name) === false) continue
    total += entry.size
    if (total > maxBytes) fail('limit-exceeded', `the arrays of the archive take more than ${maxBytes} bytes`)
    const tensor = placing({ value: name }, () => readNpyLike(zipRead(bytes, entry), typeOf?.(name)))
    tensors.set(name, tensor)
  }
  return tensors
}

/**
 * An `.npz` archive, as `numpy.load` reads it; types as in `writeNpy`.
 * @param tensors by name, unique and safe (see `safeFileNames`)
 * @throws NodewiseError as `writeNpy` and `zipWrite`; `bad-usage` for what is no Map
 */
export function writeNpz(
  tensors: ReadonlyMap<string, Tensor>,
  options: { readonly compress?: boolean } = {}
): Uint8Array {
  if (!((tensors as unknown) instanceof Map)) fail('bad-usage', 'the arrays of an archive are a Map of tensors by name')
  requireOptions(options)
  const files = new Map(
    [...tensors].map(([name, tensor]) => [`${name}.npy`, placing({ value: name }, () => writeNpy(tensor))] as const)
  )
  return zipWrite(files, options.compress ?? false)
}
