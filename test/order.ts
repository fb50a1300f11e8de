import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that run for 8 s or more though they are short: they start before the rest of their project, so that no core
 * idles at the end. Vitest starts the largest files first where it knows no durations, as in a fresh clone.
 */
const LONG = new RegExp(
  `/(${[
    'cli/kill',
    'conformance/(check|contrib|convert|inspect|onnx-node|openvino-op|write)',
    'hostile/(memory|protobuf|xml)',
    'openvino/(write/)?data',
    'ops/training/derivatives',
    'score/test/score',
    'scripts/fuzz',
    'view/test/(page|zoo)',
    'wasm/kernels/byte-conv'
  ].join('|')})\\.test\\.ts$`
)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap(project => {
      const own = sorted.filter(file => file.project === project)
      const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId)
      return [...own.filter(isLong), ...own.filter(file => !isLong(file))]
    })
  }
}
