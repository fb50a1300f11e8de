import { openFiles } from '../state/actions.ts'
import { FilesButton } from './FilesButton.tsx'

/** A button that opens files. */
export function OpenButton({ isMain = false }: { readonly isMain?: boolean }) {
  return (
    <FilesButton look={isMain ? 'main' : 'plain'} label="Model files" take={openFiles}>
      {isMain ? 'Choose files' : 'Open'}
    </FilesButton>
  )
}
