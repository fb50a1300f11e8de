import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { Models } from './models/models.ts'
import type { FailureReason, Statistics } from './models/statistics.ts'

const microseconds = ({ ns }: { readonly ns: number }): number => ns / 1000

/** Triton's counters, by name: what each says, and where it is in the statistics. */
const COUNTERS: readonly (readonly [string, string, (statistics: Statistics) => number])[] = [
  ['nv_inference_request_success', 'Number of successful inference requests', s => s.success.count],
  ['nv_inference_count', 'Number of inferences performed', s => s.inferences],
  ['nv_inference_exec_count', 'Number of model executions performed', s => s.executions],
  [
    'nv_inference_request_duration_us',
    'Cumulative inference request duration in microseconds',
    s => microseconds(s.success)
  ],
  ['nv_inference_queue_duration_us', 'Cumulative queuing duration in microseconds', s => microseconds(s.queue)],
  [
    'nv_inference_compute_input_duration_us',
    'Cumulative compute input duration in microseconds',
    s => microseconds(s.compute_input)
  ],
  [
    'nv_inference_compute_infer_duration_us',
    'Cumulative compute inference duration in microseconds',
    s => microseconds(s.compute_infer)
  ],
  [
    'nv_inference_compute_output_duration_us',
    'Cumulative compute output duration in microseconds',
    s => microseconds(s.compute_output)
  ]
]
const REASONS: readonly FailureReason[] = ['REJECTED', 'CANCELED', 'BACKEND', 'OTHER']
const LABELS = ['model', 'version'] as const

/** Metrics of the process: collected once, whatever asks. */
const processMetrics = new Registry()
collectDefaultMetrics({ register: processMetrics })

/**
 * All metrics in Prometheus' text format. Those of models have Triton's names; they are read from the statistics when
 * they are asked for, so that requests cost nothing.
 */
export async function metricsText(models: Models): Promise<string> {
  const registry = new Registry()
  const registers = [registry]
  const versions = models.loaded
  const labels = versions.map(({ name, version }) => ({ model: name, version }))
  for (const [name, help, read] of COUNTERS) {
    const counter = new Counter({ name, help, labelNames: LABELS, registers })
    versions.forEach(({ queue }, i) => counter.inc(labels[i], read(queue.statistics)))
  }
  const failures = new Counter({
    name: 'nv_inference_request_failure',
    help: 'Number of failed inference requests',
    labelNames: [...LABELS, 'reason'],
    registers
  })
  const waiting = new Gauge({
    name: 'nv_inference_pending_request_count',
    help: 'Number of requests that wait for an engine',
    labelNames: LABELS,
    registers
  })
  const memory = new Gauge({
    name: 'nodewise_model_weight_bytes',
    help: 'Bytes of the weights of a model in all of its engines',
    labelNames: LABELS,
    registers
  })
  versions.forEach(({ queue, memory: bytes }, i) => {
    for (const reason of REASONS) failures.inc({ ...labels[i], reason }, queue.statistics.failures.get(reason) ?? 0)
    waiting.set(labels[i], queue.length)
    memory.set(labels[i], bytes)
  })
  return `${await registry.metrics()}\n${await processMetrics.metrics()}`
}
