import { NodewiseError } from '../../errors.ts'
import type { DeclaredDim, Model } from '../../graph/graph.ts'
import { didYouMean } from '../../suggest.ts'
import { badUsage } from '../failure.ts'
import { openDims, splitNamed } from '../options.ts'
import { callerType, type GivenShapes, inputNamed, inputNames } from './inputs.ts'

/** Names that the inputs of a model give to their dims. */
export const dimNames = (model: Model): Set<string> =>
  new Set(
    model.graph.inputs.flatMap(port => {
      const declared = callerType(model, 'input', port)
      return declared?.kind === 'tensor' ? (declared.dims ?? []).filter(dim => typeof dim === 'string') : []
    })
  )

/**
 * `x=2x3` or `x=[2,batch,1..10]` for an input, `batch=8` for a dim that the model names.
 * @throws NodewiseError `bad-usage`, also for what is given twice; `unexpected-input` for a name that the model lacks
 */
export function givenShapes(model: Model, option: string, texts: readonly string[]): GivenShapes {
  const inputs = new Map<string, readonly DeclaredDim[]>()
  const dims = new Map<string, DeclaredDim>()
  const names = inputNames(model)
  const named = dimNames(model)
  for (const text of texts) {
    const { name, value } = splitNamed(option, text, [...names, ...named])
    const isInput = names.includes(name)
    if (!isInput && !named.has(name)) unknownName(model, option, name, named)
    const key = isInput ? inputNamed(model, name).name : name
    if ((isInput ? inputs : dims).has(key)) badUsage(`${option} gives "${key}" twice`)
    if (isInput) inputs.set(key, openDims(`${option} ${name}`, value))
    else dims.set(key, singleDim(`${option} ${name}`, value))
  }
  return { inputs, dims }
}

function singleDim(option: string, value: string): DeclaredDim {
  const found = openDims(option, value.trim().startsWith('[') ? value : `[${value}]`)
  return found.length === 1 ? found[0] : badUsage(`${option}: "${value}" are dims of an input; one size is needed`)
}

function unknownName(model: Model, option: string, name: string, named: ReadonlySet<string>): never {
  const inputs = model.graph.inputs.map(port => `"${port.name}"`).join(', ') || 'none'
  const dims = named.size > 0 ? ` and dims ${[...named].map(dim => `"${dim}"`).join(', ')}` : ''
  throw new NodewiseError(
    'unexpected-input',
    `${option}: the model has no input or dim "${name}"; it has inputs ${inputs}${dims}` +
      didYouMean(name, [...inputNames(model), ...named])
  )
}
