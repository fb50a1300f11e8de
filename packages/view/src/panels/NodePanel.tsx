import { useSignal, useSignalEffect } from '@preact/signals'
import { nameOf, typeOf } from '../graph/columns.ts'
import { dimsAt, typeAt } from '../graph/known.ts'
import { childrenOf, isGroup, labelOf, recordOf, sizeOf } from '../graph/tree.ts'
import { select, selectRecord, toggle } from '../state/actions.ts'
import { toggleBreakpoint } from '../state/running.ts'
import * as store from '../state/store.ts'
import { workers } from '../state/workers.ts'
import type { NodeDetails, Port } from '../worker/details.ts'
import { canChange, ChangeValue } from './ChangeValue.tsx'
import { Gathered } from './Gathered.tsx'
import { TensorView } from './TensorView.tsx'
import { counted, dimsText } from './texts.ts'

/** The selected node: what the file says of it and what is known of its values. */
export function NodePanel() {
  const [tree, columns] = [store.tree.value, store.columns.value]
  const { value: item } = store.selected
  if (!tree || !columns) return null
  if (item < 0)
    return (
      <p class="note">
        Press a node in the graph, or search with <kbd>/</kbd>. Arrow keys go from node to node along the values, Enter
        opens a group.
      </p>
    )
  const record = recordOf(tree, item)
  return (
    <>
      {isGroup(tree, item) && (
        <section>
          <h2>{record < 0 ? labelOf(tree, item) : 'Bodies'}</h2>
          <p class="note">{counted(sizeOf(tree, item), 'node')} in this group.</p>
          <div class="row">
            <button type="button" class="main" onClick={() => void toggle(item)}>
              {store.open.value.has(item) ? 'Close' : 'Open'}
            </button>
          </div>
          {record < 0 && <Children item={item} />}
        </section>
      )}
      {record >= 0 && <Details record={record} />}
    </>
  )
}

function Children({ item }: { readonly item: number }) {
  const tree = store.tree.value!
  const columns = store.columns.value!
  const name = (child: number): string =>
    isGroup(tree, child) ? labelOf(tree, child) : `${typeOf(columns, child)} ${nameOf(columns, child)}`
  return (
    <ul class="ports">
      {childrenOf(tree, item)
        .slice(0, 60)
        .map(child => (
          <li key={child}>
            <button type="button" class="link" onClick={() => void select(child)}>
              {name(child)}
            </button>
          </li>
        ))}
    </ul>
  )
}

function Details({ record }: { readonly record: number }) {
  const details = useSignal<NodeDetails | undefined>(undefined)
  const looked = useSignal(-1)
  useSignalEffect(() => {
    const { value: item } = store.selected
    const wanted = item < 0 ? -1 : recordOf(store.tree.value!, item)
    looked.value = -1
    if (wanted < 0) return
    void workers()
      .engine.call.node(wanted)
      .then(found => {
        details.value = found
      })
  })
  const { value: node } = details
  if (node?.record !== record) return null
  return (
    <>
      <Head node={node} />
      <Ports title="Inputs" ports={node.inputs} looked={looked} />
      <Ports title="Outputs" ports={node.outputs} looked={looked} />
      {node.attributes.length > 0 && (
        <section>
          <h2>Attributes</h2>
          <dl class="facts">
            {node.attributes.map(({ name, text }) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{text}</dd>])}
          </dl>
        </section>
      )}
      <Gathered record={record} />
    </>
  )
}

/** What a node is and where, what is wrong with it, and whether a run waits after it. */
function Head({ node }: { readonly node: NodeDetails }) {
  const { record } = node
  const findings = store.findings.value.filter(each => each.record === record && each.severity !== 'note')
  return (
    <section>
      <h2>{node.type}</h2>
      {node.name !== '' && <p class="name">{node.name}</p>}
      <p class="note">
        {[node.domain, node.version, node.place].filter(text => text !== '').join(' · ')}
        {documentation(node) && (
          <>
            {' · '}
            <a href={documentation(node)} target="_blank" rel="noreferrer">
              documentation
            </a>
          </>
        )}
      </p>
      {findings.map(({ message, severity }, i) => (
        <p key={i} class={severity === 'error' ? 'bad' : 'note'}>
          {message}
        </p>
      ))}
      {node.outputs.length > 0 && (
        <label class="check">
          <input
            type="checkbox"
            checked={store.breakpoints.value.has(record)}
            onChange={() => toggleBreakpoint(record)}
          />{' '}
          A run waits after this node
        </label>
      )}
    </section>
  )
}

function documentation({ dialect, domain, type }: NodeDetails): string | undefined {
  if (dialect === 'onnx' && domain === 'ai.onnx') return `https://onnx.ai/onnx/operators/onnx__${type}.html`
  return undefined
}

interface PortsProps {
  readonly title: string
  readonly ports: readonly (Port | undefined)[]
  readonly looked: { value: number }
}

function Ports({ title, ports, looked }: PortsProps) {
  if (ports.length === 0) return null
  return (
    <section>
      <h2>{title}</h2>
      <ul class="ports">
        {ports.map((port, i) => (
          <li key={i}>{port ? <PortLine port={port} looked={looked} /> : <span class="note">left out</span>}</li>
        ))}
      </ul>
    </section>
  )
}

/** A value: its type and dims as inferred, as declared where that differs, who makes and who reads it. */
function PortLine({ port, looked }: { readonly port: Port; readonly looked: { value: number } }) {
  const { value: facts } = store.facts
  const columns = store.columns.value!
  const { value, name, maker, readers, constant } = port
  const run = store.made.value.get(value)
  const dims = constant ? dimsText(constant.dims) : ((facts && dimsAt(facts, value)) ?? '?') || 'scalar'
  const declared = facts?.declared.get(value)
  const canLook = constant !== undefined || run !== undefined
  return (
    <>
      <div class="port">
        <code class="path" title={name}>
          <bdi>{name}</bdi>
        </code>
        <span class="type">
          {(facts && typeAt(facts, value)) || constant?.type} <b>{dims}</b>
        </span>
      </div>
      {declared !== undefined && (
        <p class={store.falseValues.value.has(value) ? 'bad small' : 'note small'}>declared {declared || 'scalar'}</p>
      )}
      {run && (
        <p class="note small">
          in the run {run.type} {dimsText(run.dims)}
        </p>
      )}
      <div class="row small">
        {maker >= 0 && maker !== recordOf(store.tree.value!, store.selected.value) && (
          <button type="button" class="link" onClick={() => void selectRecord(maker)}>
            from {typeOf(columns, maker)}
          </button>
        )}
        {maker >= 0 &&
          maker === recordOf(store.tree.value!, store.selected.value) &&
          readers.slice(0, 12).map(reader => (
            <button type="button" class="link" key={reader} onClick={() => void selectRecord(reader)}>
              to {typeOf(columns, reader)}
            </button>
          ))}
        {canLook && (
          <button
            type="button"
            class="link"
            aria-expanded={looked.value === value}
            onClick={() => (looked.value = looked.value === value ? -1 : value)}
          >
            {constant ? 'weights' : 'values'}
          </button>
        )}
      </div>
      {looked.value === value && <TensorView value={value} />}
      {looked.value === value && canChange(value) && <ChangeValue value={value} />}
    </>
  )
}
