import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { given } from '../state/files.ts'

interface FilesButtonProps {
  readonly look: 'main' | 'plain'
  /** What the field of files is called for who does not see the button. */
  readonly label: string
  readonly take: (files: ReturnType<typeof given>) => Promise<void>
  readonly children: ComponentChildren
}

/** A button that asks for files. */
export function FilesButton({ look, label, take, children }: FilesButtonProps) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" class={look} onClick={() => field.current?.click()}>
        {children}
      </button>
      <input
        ref={field}
        class="aside"
        type="file"
        multiple
        tabIndex={-1}
        aria-label={label}
        onChange={({ currentTarget }) => {
          if (currentTarget.files) void take(given(currentTarget.files))
          currentTarget.value = ''
        }}
      />
    </>
  )
}
