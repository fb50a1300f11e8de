// cold/nodewise.mjs MODEL INDICES: looks rows up with the library and prints the checksum of the result.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const { InferenceSession, Tensor } = await import(new URL('../../dist/node/index.mjs', import.meta.url).href)
const [model, indices] = process.argv.slice(2)
const { buffer, byteOffset, length } = readFileSync(indices)
const ids = new BigInt64Array(buffer, byteOffset, length / 8)
const session = await InferenceSession.create(model)
const { output } = await session.run({ indices: new Tensor('int64', ids, [ids.length]) })
console.log(
  createHash('sha1')
    .update(new Uint8Array(output.data.buffer, output.data.byteOffset, output.data.byteLength))
    .digest('hex')
)
