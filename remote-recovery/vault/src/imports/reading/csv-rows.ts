/**
 * Limit of failed scans for a closing quotation mark, in multiples of the text's length. A hostile
 * file could cause very many.
 */
const maxFailedScans = 8;

export interface CsvRow {
  readonly cells: readonly string[];
  /** Whether quotation marks do not match, so that cells may have been joined. */
  readonly isDoubtful: boolean;
}

/**
 * Yields the rows of a table (RFC 4180) with lines that end in LF, CRLF or CR, in any mix. Reads an
 * unclosed quotation mark as an ordinary character.
 */
export function* readCsvRows(text: string, delimiter: string): Generator<CsvRow, undefined> {
  const plainCell = new RegExp(`[^${delimiter}\\r\\n]*`, "y");
  let [position, scannedInVain] = [0, 0];
  let [cells, isDoubtful]: [string[], boolean] = [[], false];
  while (position < text.length || cells.length > 0) {
    const isQuoted = text[position] === '"' && scannedInVain <= maxFailedScans * text.length;
    const quoted = isQuoted ? readQuotedCell(text, position, delimiter) : null;
    if (quoted === null) {
      if (isQuoted) {
        scannedInVain += text.length - position;
        isDoubtful = true;
      }
      plainCell.lastIndex = position;
      cells.push(plainCell.exec(text)?.[0] ?? "");
      position = plainCell.lastIndex;
    } else {
      cells.push(quoted.cell);
      position = quoted.end;
      isDoubtful ||= quoted.isDoubtful;
    }
    if (text[position] === delimiter) {
      position += 1;
      if (position < text.length) continue;
      cells.push("");
    }
    yield { cells, isDoubtful };
    [cells, isDoubtful] = [[], false];
    position += text.startsWith("\r\n", position) ? 2 : 1;
  }
}

/** Null if the cell has no closing quotation mark. */
function readQuotedCell(
  text: string,
  start: number,
  delimiter: string,
): { readonly cell: string; readonly end: number; readonly isDoubtful: boolean } | null {
  let isDoubtful = false;
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    const next = text[at + 1];
    if (next === '"') at += 1;
    else if (next === undefined || next === delimiter || next === "\n" || next === "\r")
      return { cell: text.slice(start + 1, at).replaceAll('""', '"'), end: at + 1, isDoubtful };
    else isDoubtful = true; // this quotation mark should have been doubled
  }
  return null;
}
