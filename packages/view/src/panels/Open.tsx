import { useRef } from 'preact/hooks'
import { openFiles } from '../state/actions.ts'
import { given } from '../state/files.ts'

/** A button that opens files. */
export function OpenButton({ isMain = false }: { readonly isMain?: boolean }) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" class={isMain ? 'main' : 'plain'} onClick={() => field.current?.click()}>
        {isMain ? 'Choose files' : 'Open'}
      </button>
      <input
        ref={field}
        class="aside"
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Model files"
        onChange={({ currentTarget }) => {
          if (currentTarget.files) void openFiles(given(currentTarget.files))
          currentTarget.value = ''
        }}
      />
    </>
  )
}
