// The compiler leaves files that it did not make: generated modules and their types go to dist/ as they are.
import { copyFileSync } from 'node:fs'

for (const file of ['onnx/schema.js', 'onnx/schema.d.ts', 'wasm/binaries.js', 'wasm/binaries.d.ts'])
  copyFileSync(`src/${file}`, `dist/${file}`)
copyFileSync('src/wasm/kernels.wasm', 'dist/kernels.wasm')
