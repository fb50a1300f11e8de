import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { compiledSources } from './test/compiled.ts'
import { LongestFirst } from './test/order.ts'

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string }

/** Tests that change nothing which another file could see, and do not look at memory or threads of their process. */
const SHARED = [
  'bind',
  'check',
  'cli',
  'compare',
  'convert',
  'entries',
  'examples',
  'files',
  'graph',
  'hostile',
  'infer',
  'io',
  'kernels',
  'onnxruntime',
  'op-kit',
  'openvino',
  'ops',
  'plan',
  'report',
  'runtime',
  'shapes',
  'tensor',
  'wasm/kernels'
].map(folder => `test/${folder}/**/*.test.ts`)
SHARED.push('test/!(host).test.ts')
// External data are tested by counting the files that the process has open.
SHARED.push('test/onnx/!(external).test.ts', 'test/onnx/*/*.test.ts')
// One of them turns off WebAssembly before the kernels are loaded.
SHARED.push('test/conformance/!(typescript-kernels).test.ts')
// The others look at the memory or the threads of their process, or write what its threads share.
SHARED.push('test/wasm/{binary,dots,modules,remembered,tiling}.test.ts')
SHARED.push('test/scripts/*.test.ts', 'packages/*/test/**/*.test.ts')

// esbuild, which is written in Go, lives for a second in each of the tests' processes that bundle: it collects garbage
// less often, which takes a quarter less processor time.
process.env.GOGC ??= '400'

// Most code of a test runs a few times. Where V8 optimizes it a good deal later than it would, all tests take a quarter
// less processor time. V8 of Node 22 and later counts calls instead.
const optimizesLate = process.versions.v8.startsWith('11.') ? ['--interrupt-budget=1000000'] : []

// As scripts/bundle.mjs puts it in.
const define = { NODEWISE_VERSION: JSON.stringify(version) }

export default defineConfig(({ mode }) => {
  // `npm test` asks for them. Without them stacks name the lines of the sources.
  const plugins = mode === 'compiled' ? [compiledSources(define)] : []
  return {
    define,
    // Examples import the package as users do.
    resolve: { alias: { nodewise: fileURLToPath(new URL('src/index.ts', import.meta.url)) } },
    test: {
      globalSetup: ['test/bundles-setup.ts'],
      setupFiles: ['./test/equality.ts'],
      // Some workers wait for commands, servers and browsers. With one more than there are cores no core idles; each
      // further one compiles once more what the others have compiled (two cores, 143 and 155 s).
      maxWorkers: availableParallelism() + 1,
      // A busy machine is no failure.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
      sequence: { sequencer: LongestFirst },
      projects: [
        {
          extends: true,
          plugins,
          test: {
            name: 'shared',
            include: SHARED,
            // Files share processes and modules: 25 s of processor time for 159 files, where isolated files take 170 s.
            // Threads in place of processes gain nothing.
            isolate: false,
            // Most that tests make is short-lived: with room for it, a sweep of models takes 24 s in place of 26.
            execArgv: ['--max-semi-space-size=64', ...optimizesLate]
          }
        },
        {
          extends: true,
          plugins,
          test: { name: 'apart', include: ['test/**/*.test.ts'], exclude: SHARED, execArgv: optimizesLate }
        },
        {
          extends: true,
          plugins,
          test: {
            // Engines without relaxed SIMD compute with these kernels.
            name: 'plain',
            include: ['test/wasm/kernels/**/*.test.ts', 'test/conformance/contrib.test.ts'],
            env: { NODEWISE_KERNELS: 'plain' },
            isolate: false,
            execArgv: optimizesLate
          }
        }
      ]
    }
  }
})
