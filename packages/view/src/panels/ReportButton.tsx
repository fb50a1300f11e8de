import { saveReport } from '../state/saving.ts'
import { reportRequest } from './report.ts'

/** Saves what is known and what is seen as one page. */
export const ReportButton = () => (
  <button type="button" class="plain" onClick={() => void saveReport(reportRequest())}>
    Report .html
  </button>
)
