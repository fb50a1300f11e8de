// Makes a mutant smaller for as long as it shows the same failure.
import { messagesIn, parseWire, writeWire } from './wire.mjs'
import { elementsIn, parseXml, writeXml } from './xml.mjs'

/** Most tries for a hang: each costs ten seconds. */
const TRIES_OF_HANG = 12

/** What makes two failures the same: the kind, the message without its numbers and names, and where it was thrown. */
export function signatureOf({ kind, message, frames = [] }) {
  const place = frames
    .slice(0, 2)
    .map(frame => /^at (?:async )?(\S+)/.exec(frame)?.[1] ?? '')
    .join(' < ')
  const bare =
    kind === 'untyped' || kind === 'crash'
      ? message.replace(/"[^"]*"|\[[^\]]*\]|-?\d[\d.e+]*n?/g, '#')
      : message.replace(/"[^"]*"|\[[^\]]*\]|-?\d[\d.e+]*n?|[uif]?(?:int|float)\d+/g, '#').slice(0, 80)
  return `${kind}: ${bare}${place && ` @ ${place}`}`
}

/**
 * @param plan of the mutant
 * @param problem that it shows
 * @param ask runs a plan, or files in its place: what `lone` gives
 * @param most tries
 * @returns `{ plan, answer }` of the smallest that was found; `answer.files` are its files
 */
export async function minimise(plan, problem, ask, most) {
  const wanted = signatureOf(problem)
  let tries = problem.kind === 'hang' ? Math.min(most, TRIES_OF_HANG) : most
  let best
  const attempt = async (candidate, files) => {
    if (tries-- <= 0) return false
    const answer = await ask(candidate, files)
    if (!answer.problem || signatureOf(answer.problem) !== wanted) return false
    best = {
      plan: candidate,
      answer: { ...answer, files: answer.files ?? files, told: answer.told ?? best?.answer.told }
    }
    return true
  }
  if (!(await attempt(plan))) return undefined
  for (let i = plan.edits.length - 1; i >= 0; i--)
    await attempt({ ...best.plan, edits: best.plan.edits.filter((_, j) => j !== i) })
  if (plan.kind !== 'mutant' || best.answer.files === undefined) return best
  await attempt({ ...best.plan, fill: { how: 'zeros', seed: 0 } })
  if (best.plan.fill.how === 'zeros') await attempt({ ...best.plan, blank: true })
  const tree = treeOf(best.plan.format, Buffer.from(best.answer.files.model, 'base64'))
  if (tree && (await attempt(best.plan, filesOf(best, tree.write()))))
    await pruneTree(tree, model => attempt(best.plan, filesOf(best, model)))
  else
    await pruneBytes(Buffer.from(best.answer.files.model, 'base64'), model => attempt(best.plan, filesOf(best, model)))
  if (best.answer.files.bin !== undefined)
    await pruneBytes(Buffer.from(best.answer.files.bin, 'base64'), bin =>
      attempt(best.plan, { ...best.answer.files, bin: bin.toString('base64') })
    )
  return best
}

const filesOf = ({ answer }, model) => ({ ...answer.files, model: model.toString('base64') })

/** A file as a tree, where it still is one that is written as it was read. */
function treeOf(format, bytes) {
  try {
    if (format === 'onnx') {
      const root = parseWire(bytes)
      return { write: () => writeWire(root), lists: () => messagesIn(root).map(message => message.fields) }
    }
    const root = parseXml(bytes.toString())
    return (
      root && {
        write: () => Buffer.from(writeXml(root)),
        lists: () => elementsIn(root).flatMap(found => [found.children, found.attributes])
      }
    )
  } catch {
    return undefined
  }
}

/** Takes parts out of the lists of a tree, the outer ones first, until no part can go. */
async function pruneTree({ write, lists }, accept) {
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    const seen = new Set()
    for (let list; (list = lists().find(one => !seen.has(one))) !== undefined;) {
      seen.add(list)
      for (let size = Math.max(1, list.length >> 1); size >= 1; size >>= 1) {
        for (let at = list.length - size; at >= 0; at -= size) {
          const taken = list.splice(at, size)
          if (await accept(write())) isSmaller = true
          else list.splice(at, 0, ...taken)
        }
      }
    }
  }
}

/** Takes runs of bytes out, long ones first. */
async function pruneBytes(bytes, accept) {
  for (let size = bytes.length; size >= 1; size >>= 1) {
    for (let at = bytes.length - size; at >= 0; at -= size) {
      const less = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + size)])
      if (await accept(less)) bytes = less
    }
  }
}
