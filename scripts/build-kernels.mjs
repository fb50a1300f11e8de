// Compiles src/wasm/assembly to WebAssembly. What comes out, for each module of the list below:
//   src/wasm/NAME.wasm     the module, for those who load it themselves
//   src/wasm/binaries.js   all modules as text, so that they are there wherever the code is: in a bundle, in a
//                          browser, in tests; src/wasm/binaries.d.ts declares its exports
// With --quick the code is not optimized, which takes a third of the time: to see whether a kernel is right, not how
// fast it is.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import asc from 'assemblyscript/asc'
import { ALPHABET, encoder, orderOf, pairOf } from './pack-binaries.mjs'

/** Keeps functions apart where a module has so many that a model uses few of them. */
const APART = ['--transform', fileURLToPath(new URL('functions-apart.mjs', import.meta.url))]

/**
 * `entry` may import any file of assembly/; `features` are those that the module needs of an engine, `options` further
 * ones of the compiler.
 */
const MODULES = [
  { name: 'kernels', entry: 'assembly/index.ts', features: 'simd,threads,bulk-memory', options: [] },
  { name: 'compute', entry: 'assembly/compute.ts', features: 'simd,threads,bulk-memory', options: APART },
  // The same with fused multiply-add.
  { name: 'relaxed', entry: 'assembly/compute.ts', features: 'simd,threads,bulk-memory,relaxed-simd', options: APART }
]

const folder = fileURLToPath(new URL('../src/wasm/', import.meta.url))

async function compile({ name, entry, features, options }, isQuick) {
  const { error, stderr } = await asc.main([
    entry,
    '--baseDir',
    folder,
    '--outFile',
    `${name}.wasm`,
    isQuick ? '-O0' : '-O3',
    '--runtime',
    'stub',
    '--noAssert',
    '--importMemory',
    '--sharedMemory',
    '--maximumMemory',
    '65536',
    // Whoever loads a module validates it.
    '--noValidate',
    '--disableWarning',
    ...options,
    '--enable',
    features
  ])
  if (error) throw new Error(`${name}: ${error.message}\n\n${errorsOf(`${stderr}`)}`)
  if (hasData(readFileSync(`${folder}${name}.wasm`)))
    throw new Error(`${name}: has static data, which an instance would write over the heap that it shares`)
}

/** Whether a module has a section of data (id 11 in WebAssembly's binary format), such as a table of NativeMathf. */
function hasData(module) {
  const DATA = 11
  // Behind the magic number and the version: a byte of id, the size in LEB128, the content.
  for (let at = 8; at < module.length;) {
    const id = module[at++]
    let size = 0
    let byte = 128
    for (let shift = 0; byte & 128; shift += 7) {
      byte = module[at++]
      size += (byte & 127) * 2 ** shift
    }
    if (id === DATA) return true
    at += size
  }
  return false
}

/** Of what the compiler said, the blocks that are errors; all of it where none is marked. Blocks end at empty lines. */
function errorsOf(text) {
  const errors = text.split(/\n\s*\n/).filter(block => /^\s*ERROR/.test(block))
  return errors.length > 0 ? errors.join('\n\n') : text
}

/** Compiles modules one after the other in a thread of their own: the first of them takes one core 15 s. */
const compileApart = names =>
  new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), {
      workerData: { names, isQuick: process.argv.includes('--quick') }
    })
    thread.once('exit', resolve)
    thread.once('error', reject)
  })

function textOfAll(kernels, relaxed, compute) {
  const order = orderOf([kernels, relaxed, compute])
  const encode = encoder(order)
  return `// Made by scripts/build-kernels.mjs; do not edit.
export const CODING = ${JSON.stringify({ alphabet: ALPHABET, order })}
export const kernelsText = () => '${encode(kernels)}'
export const computeText = () => (${JSON.stringify(pairOf(relaxed, compute, encode))})
`
}

if (isMainThread) {
  // The smallest comes after another: each thread loads the compiler and warms it up, which takes it longer.
  await Promise.all([['relaxed'], ['compute', 'kernels']].map(compileApart))
  const [kernels, compute, relaxed] = MODULES.map(({ name }) => readFileSync(`${folder}${name}.wasm`))
  writeFileSync(`${folder}binaries.js`, textOfAll(kernels, relaxed, compute))
} else
  for (const name of workerData.names)
    await compile(
      MODULES.find(module => module.name === name),
      workerData.isQuick
    )
