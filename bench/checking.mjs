// How long loading and checking take in one warm process, beside what OpenVINO's read_model and the ONNX checker take
// for the same files.
// npm run build, then: PYTHON=python3 node bench/checking.mjs [--data DIR] [--rounds N] [--only REGEX]
// PYTHON is one that has onnx and openvino. All take turns, so that whatever else the machine does hits them alike.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { check, load } from '../dist/node/index.mjs'
import { writeIrBlocks, writeOnnxBlocks } from './blocks.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' }
  }
})
const rounds = Number(options.rounds)
const only = new RegExp(options.only)

/** Files with how often each is done a round, and before the first round. */
function cases(folder) {
  const files = [
    ...['swin', 'deberta_v2'].map(name => ({
      name: `${name} (IR)`,
      path: `${options.data}/openvino-zoo/${name}/model.xml`,
      runs: 15
    })),
    ...['timm_test_vit', 'swin'].map(name => ({
      name: `${name} (ONNX)`,
      path: `${options.data}/zoo/${name}/model.onnx`,
      runs: 15
    }))
  ]
  const made = [1000, 10_000, 100_000].flatMap(nodes => {
    const path = join(folder, `blocks-${nodes}`)
    const runs = nodes === 100_000 ? 1 : nodes === 10_000 ? 5 : 15
    const title = `${nodes.toLocaleString('en')} nodes`
    return [
      { name: `${title} (IR)`, path: `${path}.xml`, runs, write: () => writeIrBlocks(path, nodes) },
      { name: `${title} (ONNX)`, path: `${path}.onnx`, runs, write: () => writeOnnxBlocks(path, nodes) }
    ]
  })
  return [...files, ...made].filter(({ name }) => only.test(name))
}

function startPeers() {
  const child = spawn(process.env.PYTHON ?? 'python3', [fileURLToPath(new URL('checking.py', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('the peers ended: PYTHON must name a Python that has onnx and openvino')
    return JSON.parse(value)
  }
  return {
    versions: answer(),
    async measure(peer, path, runs) {
      child.stdin.write(`${JSON.stringify({ peer, path, runs })}\n`)
      return answer()
    },
    stop: () => {
      child.stdin.end()
    }
  }
}

const PEERS_OF = { xml: ['read_model'], onnx: ['check_model(path)', 'check_model(proto)', 'load'] }

async function measure(path, runs) {
  const loading = []
  const checking = []
  for (let i = 0; i < runs; i++) {
    const start = performance.now()
    const model = await load(path)
    const loaded = performance.now()
    const { summary } = check(model)
    checking.push(performance.now() - loaded)
    loading.push(loaded - start)
    if (summary.errors > 0) throw new Error(`${path} is not clean`)
  }
  return { loading, checking }
}

const median = times => {
  const sorted = times.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
const shown = times => `${median(times).toFixed(1)} (${Math.min(...times).toFixed(1)})`

const folder = mkdtempSync(join(tmpdir(), 'nodewise-checking-'))
const peers = startPeers()
try {
  const { onnx, openvino } = await peers.versions
  console.log(`Node ${process.version}, onnx ${onnx}, openvino ${openvino}; milliseconds: median (minimum)\n`)
  console.log('| file | load | check | load + check | peers |\n|---|---|---|---|---|')
  for (const { name, path, runs, write } of cases(folder)) {
    write?.()
    const names = PEERS_OF[path.split('.').at(-1)]
    const ours = { loading: [], checking: [] }
    const theirs = new Map(names.map(peer => [peer, []]))
    // Warm means that the compilers are done: for some hundred runs of a small file they are not.
    await measure(path, runs === 15 ? 300 : 3 * runs)
    for (let round = 0; round < rounds; round++) {
      const { loading, checking } = await measure(path, runs)
      ours.loading.push(...loading)
      ours.checking.push(...checking)
      for (const peer of names) theirs.get(peer).push(...(await peers.measure(peer, path, runs)))
    }
    const total = ours.loading.map((time, i) => time + ours.checking[i])
    const besides = [...theirs].map(([peer, times]) => `${peer} ${shown(times)}`).join(', ')
    console.log(`| ${name} | ${shown(ours.loading)} | ${shown(ours.checking)} | ${shown(total)} | ${besides} |`)
  }
} finally {
  peers.stop()
  rmSync(folder, { recursive: true })
}
