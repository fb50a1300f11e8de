// The compiler leaves files that it did not make: the generated decoder and its types go to dist/ as they are.
import { copyFileSync } from 'node:fs'

for (const file of ['schema.js', 'schema.d.ts']) copyFileSync(`src/onnx/${file}`, `dist/onnx/${file}`)
