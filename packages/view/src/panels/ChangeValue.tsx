import { useSignal } from '@preact/signals'
import { changeValue } from '../state/running.ts'
import * as store from '../state/store.ts'

/** Whether a value was just made by the node after which the run waits: nothing has read it yet. */
export function canChange(value: number): boolean {
  const { value: steps } = store.steps
  const isAtEnd = store.cursor.value < 0 || store.cursor.value === steps.length - 1
  return store.runState.value === 'paused' && isAtEnd && steps.at(-1)!.values.some(made => made.value === value)
}

/** Puts another value, or another element, in the place of what the run just made; later nodes read it. */
export function ChangeValue({ value }: { readonly value: number }) {
  const isOver = useSignal(false)
  return (
    <form
      class="change"
      onSubmit={event => {
        event.preventDefault()
        const fields = new FormData(event.currentTarget)
        void changeValue(value, { element: String(fields.get('element')), text: String(fields.get('text')) }).then(
          isDone => (isOver.value = isDone)
        )
      }}
    >
      <label>
        Element <input name="element" type="text" placeholder="0, 3 (empty: all)" />
      </label>
      <label>
        becomes <input name="text" type="text" required placeholder="1.5" />
      </label>
      <button type="submit" class="plain">
        Change
      </button>
      <p class="note small" role="status">
        {isOver.value ? 'Changed: later nodes read this.' : ''}
      </p>
    </form>
  )
}
