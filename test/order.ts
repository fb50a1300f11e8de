import { BaseSequencer, type TestSpecification } from 'vitest/node'

const pattern = (...files: readonly string[]): RegExp => new RegExp(`/(${files.join('|')})\\.test\\.ts$`)

/** Files that run for a minute, most of which they wait for other processes: they start before all others. */
const WAITING = pattern('hostile/xml', 'scripts/fuzz', 'view/test/page')

/**
 * Files that run for 8 s or more though they are short: they start before the rest of their project, so that no core
 * idles at the end. Vitest starts the largest files first where it knows no durations, as in a fresh clone.
 */
const LONG = pattern(
  'cli/kill',
  'conformance/(check|contrib|convert|inspect|onnx-node|openvino-op|write)',
  'hostile/(memory|protobuf)',
  'openvino/(write/)?data',
  'ops/training/derivatives',
  'score/test/(packed-columns|score)',
  'view/test/zoo',
  'wasm/kernels/byte-conv'
)

/** Files of lower rank start first. Those that are isolated come one after the other while others wait. */
function rankOf({ moduleId, project }: TestSpecification): number {
  if (WAITING.test(moduleId)) return 0
  if (project.config.isolate) return 1
  return LONG.test(moduleId) ? 2 : 3
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}
