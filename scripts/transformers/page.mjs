// Pipelines of transformers.js in a page, bundled with an alias for the package that its build for pages asks for.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { reportFrom } from '../browser/serve.mjs'

const ALIAS = { 'onnxruntime-web/webgpu': 'nodewise/onnxruntime' }

const pageOf = filter => `
import * as transformers from '@huggingface/transformers'
import { InferenceSession } from 'onnxruntime-web/webgpu'
import { runPipelines } from '${fileURLToPath(new URL('pipelines.mjs', import.meta.url))}'
Object.assign(transformers.env, {
  allowLocalModels: true,
  allowRemoteModels: false,
  localModelPath: '/models/',
  useBrowserCache: false
})
const running = runPipelines(transformers, InferenceSession, new RegExp(${JSON.stringify(filter)}))
const reports = await running.catch(error => String(error.stack))
await fetch('/report', { method: 'POST', body: JSON.stringify({ reports }) })`

/**
 * Runs the pipelines in a page, with what is installed in a folder.
 * @returns what came out of each, as `runPipelines` gives it
 */
export async function reportInPage(folder, models, browser, filter, at) {
  const { outputFiles } = buildSync({
    stdin: { contents: pageOf(filter), resolveDir: resolve(folder) },
    absWorkingDir: resolve(folder),
    alias: ALIAS,
    bundle: true,
    format: 'esm',
    write: false,
    tsconfigRaw: '{}'
  })
  const files = { 'index.html': '<!doctype html><script type="module" src="page.js"></script>' }
  files['page.js'] = outputFiles[0].contents
  const contentOf = name => {
    const path = name.startsWith('models/') ? join(models, name.slice('models/'.length)) : ''
    return existsSync(path) && statSync(path).isFile() ? readFileSync(path) : files[name]
  }
  const { reports } = await reportFrom(browser, { contentOf, at })
  if (!Array.isArray(reports)) throw new Error(reports)
  return reports
}
