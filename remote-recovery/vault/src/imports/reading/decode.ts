import { z } from "zod";

import { maxTextBytes } from "./limits.ts";
import { ImportRefusedError } from "./import-refused-error.ts";

/**
 * A file as text: by its byte order mark, else UTF-8, else the Windows encoding of Western Europe
 * that spreadsheets write.
 */
export async function decodeText(file: Blob): Promise<string> {
  if (file.size > maxTextBytes) throw new ImportRefusedError("too_large");
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    if (bytes.includes(0)) throw new ImportRefusedError("unknown_format"); // no text at all
    return new TextDecoder("windows-1252").decode(bytes); // every byte is a character there, so it is said of no file
  }
}

/** @throws Refused `damaged` for what is no JSON, or not of this shape. */
export function parseJsonAs<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new ImportRefusedError("damaged", { cause });
  }
}

/** Text that may be missing; numbers as they are written. */
export const optionalText = z
  .union([z.string(), z.number(), z.boolean()])
  .nullish()
  .transform((value) => (value == null ? null : String(value)));
