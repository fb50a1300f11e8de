import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import * as store from '../state/store.ts'
import { workers } from '../state/workers.ts'
import type { GatherView } from '../worker/gathering.ts'
import { counted, numberText } from './texts.ts'

/** What a gather of the last run did: which rows of its table it chose. */
export function Gathered({ record }: { readonly record: number }) {
  const view = useSignal<GatherView | undefined>(undefined)
  useEffect(() => {
    view.value = undefined
    let isOver = false
    void workers()
      .engine.call.gather(record)
      .then(found => {
        if (!isOver) view.value = found
      })
    return () => {
      isOver = true
    }
  }, [record, store.runState.value])
  const { value: found } = view
  if (!found) return null
  const most = Math.max(1, ...found.picks)
  return (
    <section class="gather">
      <h2>Rows that were taken</h2>
      <p class="note">
        {counted(found.count, 'index', 'indices')} into {counted(found.size, 'row')} along axis {found.axis}.
      </p>
      <svg
        viewBox={`0 0 ${found.picks.length} 10`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Where along the axis rows were taken"
      >
        {found.picks.map((count, i) => (
          <rect key={i} x={i} y={0} width={0.9} height={10} opacity={count === 0 ? 0.08 : 0.3 + 0.7 * (count / most)} />
        ))}
      </svg>
      <div class="scroll" tabIndex={0} role="region" aria-label="Rows of the table">
        <table>
          <tbody>
            {found.rows.map(({ index, times, values }) => (
              <tr key={index} class={times > 0 ? 'taken' : ''}>
                <th scope="row">{index}</th>
                <td>{times > 0 ? `${times}×` : ''}</td>
                {values.map((value, i) => (
                  <td key={i}>{numberText(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
