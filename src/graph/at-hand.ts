import { type Lease, type PendingRead, pendingRead, type Range, type Remote } from '../files/remote.ts'
import { elementCount } from '../tensor/tensor.ts'
import { allGraphs, type Constant, type Graph, type Model } from './graph.ts'
import { exceed } from './limits.ts'

/**
 * Constants of no more elements and bytes are brought to hand when a model is opened: these decide shapes and how the
 * model is planned, and both are worked out synchronously. Values of more elements are not followed (`shapes/fact.ts`).
 */
const FEW_ELEMENTS = 1024
const FEW_BYTES = 2 ** 14

/**
 * Brings what is needed of a model before it runs to hand, for good: small constants, tensors in attributes, and the
 * mean values of inputs. Nothing else has to wait for bytes but a run. Constants that cannot be read are left to who
 * needs them.
 * @throws NodewiseError (as a rejection) what reading throws; `limit-exceeded`
 */
export async function bringToHand(model: Model, signal?: AbortSignal): Promise<void> {
  let constants = [...allGraphs(model)].flatMap(constantsOf)
  const bytes = constants.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const { limits } = model
  if (bytes > limits.structureBytes)
    exceed('structureBytes', limits, `small constants and attributes take ${bytes} bytes`)
  while (constants.length > 0) {
    const pending: PendingRead[] = []
    constants = constants.filter(constant => {
      const read = pendingReadOf(constant)
      if (read) pending.push(read)
      return read !== undefined
    })
    await settleAll(pending, signal)
  }
}

function constantsOf({ nodes, initializers, inputs }: Graph): Constant[] {
  const found = [...initializers.values()].filter(isSmall)
  for (const { type, attributes, constant } of nodes) {
    if (constant && isSmall(constant)) found.push(constant)
    for (const attribute of attributes.values()) {
      const held = attribute.kind === 'tensor' ? [attribute.value] : attribute.kind === 'tensors' ? attribute.value : []
      found.push(...(type === 'Constant' ? held.filter(isSmall) : held))
    }
  }
  return [...found, ...inputs.flatMap(({ mean }) => mean ?? [])]
}

const isSmall = ({ dims, byteLength }: Constant): boolean =>
  elementCount(dims) <= FEW_ELEMENTS && byteLength <= FEW_BYTES

function pendingReadOf(constant: Constant): PendingRead | undefined {
  try {
    constant.read()
    return undefined
  } catch (error) {
    return pendingRead(error)
  }
}

/** Settles reads together by file. What they bring stays. */
async function settleAll(pending: readonly PendingRead[], signal: AbortSignal | undefined): Promise<void> {
  const ranges = new Map<Remote, Range[]>()
  const others: Promise<Lease>[] = []
  for (const read of pending) {
    if (read.missing === undefined) others.push(read.settle(signal))
    else add(ranges, read.missing.remote, read.missing.range)
  }
  await Promise.all([...others, ...[...ranges].map(([remote, wanted]) => remote.fetch(wanted, signal))])
}

function add(ranges: Map<Remote, Range[]>, remote: Remote, range: Range): void {
  const known = ranges.get(remote)
  if (known) known.push(range)
  else ranges.set(remote, [range])
}
