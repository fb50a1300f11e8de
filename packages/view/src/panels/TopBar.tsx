import * as store from '../state/store.ts'
import { changeTheme, isDark, themeChanged } from '../state/theme.ts'
import { OpenButton } from './Open.tsx'
import { Search } from './Search.tsx'

const SUN = 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1'

/** The bar at the top: whose page it is, which model is open, the search, and what may always be done. */
export function TopBar() {
  const { value: opened } = store.opened
  void themeChanged.value
  return (
    <header class="bar">
      <a class="brand" href="./" aria-label="Nodewise, start">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M10 9v14M10 11v4a3 3 0 0 0 3 3h6a3 3 0 0 1 3 3v2" />
          <circle cx="10" cy="8" r="3.4" />
          <circle cx="10" cy="24" r="3.4" />
          <circle cx="22" cy="24" r="3.4" />
        </svg>
        <b>Nodewise</b>
      </a>
      {opened && (
        <div class="file" title={opened.overview.file}>
          <h1>{opened.overview.file.split('/').at(-1)}</h1>
          <em>{opened.overview.format}</em>
        </div>
      )}
      {opened ? <Search /> : <span class="gap" />}
      {store.busy.value !== '' && (
        <p class="busy" role="status">
          {store.busy.value}
        </p>
      )}
      <nav aria-label="Page">
        {opened && <OpenButton />}
        <button
          type="button"
          class="icon"
          aria-label={isDark() ? 'Light colours' : 'Dark colours'}
          onClick={changeTheme}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            {isDark() ? <path d={SUN} /> : <path d="M13.5 9.5A6 6 0 1 1 6.5 2.5a5 5 0 0 0 7 7z" />}
          </svg>
        </button>
        {opened && (
          <button
            type="button"
            class="icon"
            aria-label="Side panel"
            aria-pressed={store.isPanelOpen.value}
            onClick={() => (store.isPanelOpen.value = !store.isPanelOpen.value)}
          >
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d="M2 3h12v10H2zM10 3v10" />
            </svg>
          </button>
        )}
      </nav>
    </header>
  )
}
