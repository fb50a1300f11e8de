// Browsers that are installed, without a window: started on an address, with a profile and perhaps an extension of
// their own, and ended with all of their processes.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'

const GECKO_ID = 'check@nodewise.example'

/** What a first start of Firefox does besides, and its refusal of extensions that nobody signed. */
const PREFERENCES = {
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.autoDisableScopes': 0,
  'network.captive-portal-service.enabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
  'xpinstall.signatures.required': false
}

function prepareFirefox(profile, extension) {
  mkdirSync(join(profile, 'extensions'), { recursive: true })
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${value});\n`)
  writeFileSync(join(profile, 'user.js'), lines.join(''))
  if (extension) {
    const files = readdirSync(extension).map(name => [name, readFileSync(join(extension, name))])
    writeFileSync(join(profile, 'extensions', `${GECKO_ID}.xpi`), zipSync(Object.fromEntries(files)))
  }
}

/** The browser of WebKitGTK, where Debian's webkit2gtk-driver puts it: below the libraries of the machine's kind. */
function findMiniBrowser() {
  const libraries = existsSync('/usr/lib') ? readdirSync('/usr/lib') : []
  const paths = libraries.map(name => join('/usr/lib', name, 'webkit2gtk-4.1/MiniBrowser'))
  return paths.find(existsSync) ?? 'MiniBrowser'
}

/**
 * How each browser is started, and whether it takes extensions. WebKitGTK has no way to run without a window, so it
 * gets a screen in memory by `xvfb-run`, and its profile is where programs of a desktop look for their folders. It has
 * SharedArrayBuffer, which Safari gives isolated pages, only when it is told so.
 */
export const BROWSERS = {
  chromium: {
    command: process.env.CHROMIUM ?? 'chromium',
    arguments: (profile, extension) => [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      `--user-data-dir=${profile}`,
      ...(extension ? [`--load-extension=${extension}`] : [])
    ],
    extensions: true
  },
  firefox: {
    command: process.env.FIREFOX ?? 'firefox-esr',
    prepare: prepareFirefox,
    arguments: profile => ['--headless', '--no-remote', '--profile', profile],
    extensions: true
  },
  webkit: {
    command: process.env.WEBKIT ?? findMiniBrowser(),
    prepare: profile => mkdirSync(profile, { recursive: true }),
    screen: ['xvfb-run', '--auto-servernum'],
    environment: profile => ({
      XDG_CACHE_HOME: profile,
      XDG_CONFIG_HOME: profile,
      XDG_DATA_HOME: profile,
      GDK_BACKEND: 'x11',
      LIBGL_ALWAYS_SOFTWARE: '1',
      JSC_useSharedArrayBuffer: '1'
    }),
    arguments: () => [],
    extensions: false
  }
}

/** What the browser calls itself; undefined where there is none. */
export function versionOf(name) {
  const { command, screen = [] } = BROWSERS[name]
  const [program, ...rest] = [...screen, command, '--version']
  const { stdout } = spawnSync(program, rest, { encoding: 'utf8' })
  return stdout?.trim()
}

/** Writes the manifest of an extension whose page is opened when it is installed. */
export function writeManifest(folder, policy) {
  const manifest = {
    manifest_version: 3,
    name: 'check',
    version: '1',
    // Chromium takes the one, Firefox the other.
    background: { service_worker: 'background.js', scripts: ['background.js'] },
    browser_specific_settings: { gecko: { id: GECKO_ID } },
    permissions: ['tabs'],
    host_permissions: ['http://localhost/*'],
    ...(policy && { content_security_policy: { extension_pages: policy } })
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  const opening = "chrome.runtime.onInstalled.addListener(() => chrome.tabs.create({ url: 'index.html' }))\n"
  writeFileSync(join(folder, 'background.js'), opening)
}

/** Memory of all processes of a group in MB; what is shared is divided among those that share it. */
export function memoryOf(group) {
  let kilobytes = 0
  for (const id of readdirSync('/proc').filter(name => /^\d+$/.test(name)))
    try {
      const fields = readFileSync(`/proc/${id}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      if (Number(fields[2]) !== group) continue
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
    } catch {
      // It ended meanwhile.
    }
  return Math.round(kilobytes / 1024)
}

/** Starts a browser; gives its group of processes, by which all of them are ended. */
export function openBrowser(name, { profile, url, extension }) {
  const { command, screen = [], prepare, environment, arguments: argumentsOf } = BROWSERS[name]
  prepare?.(profile, extension)
  const [program, ...rest] = [...screen, command, ...argumentsOf(profile, extension), url]
  const env = { ...process.env, ...environment?.(profile) }
  const child = spawn(program, rest, { stdio: 'ignore', detached: true, env })
  return {
    group: child.pid,
    failed: new Promise((_, reject) => {
      child.on('error', reject).on('exit', code => reject(new Error(`the browser ended with ${code}`)))
    }),
    end: () =>
      new Promise(resolve => {
        if (child.exitCode !== null || child.pid === undefined) return resolve()
        child.once('exit', resolve)
        process.kill(-child.pid)
      })
  }
}
