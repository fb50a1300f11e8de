// Compiles src/wasm/assembly to WebAssembly: src/wasm/module.js holds it as base64, so that it is there wherever the
// code is (in a
// bundle, in a browser, in tests), and src/wasm/kernels.wasm as it is, for those who would rather load it themselves.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const folder = fileURLToPath(new URL('../src/wasm/', import.meta.url))
const { error, stderr } = await asc.main([
  'assembly/index.ts',
  '--baseDir',
  folder,
  '--outFile',
  'kernels.wasm',
  '-O3',
  '--runtime',
  'stub',
  '--noAssert',
  '--importMemory',
  '--sharedMemory',
  '--maximumMemory',
  '65536',
  '--enable',
  'simd,threads,bulk-memory'
])
if (error) throw new Error(`${error.message}\n${stderr}`)
const binary = readFileSync(`${folder}kernels.wasm`).toString('base64')
writeFileSync(
  `${folder}module.js`,
  `// Made by scripts/build-kernels.mjs; do not edit.\nexport const BINARY = '${binary}'\n`
)
