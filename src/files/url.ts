import { fail } from '../errors.ts'

/**
 * The address of a file that a model names, relative to a folder: below it and on its server, as a file on disk must be
 * below the model's folder.
 * @param location path of the file as the model writes it: a name, and no part of a URL
 * @param folder any address in the folder
 * @param what names the file in messages
 * @throws NodewiseError `outside-folder`, `invalid-file` for text that is no file name
 */
export function urlInside(location: string, folder: URL, what: string): URL {
  if (location.includes('\0')) fail('invalid-file', `"${location}" is no file name`)
  if (/^(?:[/\\]|[a-z][a-z0-9+.-]*:)/i.test(location))
    fail('outside-folder', `${what} must be given relative to the model's folder`)
  const segments: string[] = []
  for (const segment of location.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) fail('outside-folder', `${what} is outside the model's folder`)
  }
  if (segments.length === 0) fail('outside-folder', `${what} is no file in the model's folder`)
  const url = new URL(segments.map(encoded).join('/'), folderOf(folder))
  // Whatever parsers make of a name: nothing else is asked for.
  if (
    url.protocol !== folder.protocol ||
    url.host !== folder.host ||
    !url.pathname.startsWith(folderOf(folder).pathname)
  )
    fail('outside-folder', `${what} is outside the model's folder`)
  return url
}

function encoded(segment: string): string {
  try {
    return encodeURIComponent(segment)
  } catch {
    return fail('invalid-file', `"${segment}" is no file name`)
  }
}

/** The folder of a file, or the folder itself where the address ends in a slash. */
function folderOf(url: URL): URL {
  const folder = new URL('.', url)
  folder.search = folder.hash = ''
  return folder
}
