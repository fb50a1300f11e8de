// The compiler leaves files that it did not make: generated modules and their types go to dist/ as they are.
import { copyFileSync, cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

for (const file of ['onnx/schema.js', 'onnx/schema.d.ts', 'wasm/binaries.js', 'wasm/binaries.d.ts'])
  copyFileSync(`src/${file}`, `dist/${file}`)
copyFileSync('src/wasm/kernels.wasm', 'dist/kernels.wasm')

// TypeScript reads the same declarations as those of CommonJS where they lie in a folder of CommonJS, as dist/node is.
for (const file of readdirSync('dist', { recursive: true }).filter(name => name.endsWith('.d.ts')))
  cpSync(join('dist', file), join('dist/node/types', file))
