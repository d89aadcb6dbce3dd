import { PortalError } from "@relicario/shared/errors";

interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
  readonly stateRev: number;
}

/** Number of attempts to read a list that other devices keep changing. */
const maxReads = 5;

/**
 * Reads all pages of a list, which can be compared with the signed state only as a whole. Starts
 * again if the account's state changes between two pages.
 *
 * @throws PortalError `state_conflict` if the state changed every time, `list_mismatch` for pages
 *   that never end, and errors of reading
 */
export async function readPages<Row>(readPage: (cursor: string | undefined) => Promise<Page<Row>>): Promise<Row[]> {
  for (let read = 0; read < maxReads; read++) {
    const rows = await readOnce(readPage);
    if (rows !== null) return rows;
  }
  throw new PortalError("state_conflict");
}

/** Returns null if the state changed between two pages. */
async function readOnce<Row>(readPage: (cursor: string | undefined) => Promise<Page<Row>>): Promise<Row[] | null> {
  const firstPage = await readPage(undefined);
  const rows = [...firstPage.rows];
  for (let { nextCursor } = firstPage; nextCursor !== null;) {
    const page = await readPage(nextCursor);
    if (page.stateRev !== firstPage.stateRev) return null;
    // an empty page with a cursor, or a repeated cursor, would never end
    if (page.nextCursor !== null && (page.rows.length === 0 || page.nextCursor === nextCursor))
      throw new PortalError("list_mismatch");
    rows.push(...page.rows);
    ({ nextCursor } = page);
  }
  return rows;
}
