import { createHash, randomBytes } from "node:crypto";

import {
  buildPartForm,
  minPartBytes,
  type FinishUploadBody,
  type Json,
  type StartUploadFields,
} from "@relicario/shared/api";
import { v7 as uuidv7 } from "uuid";

import { buildChange, buildLabel, type Person, rememberContent, signTicket } from "./person.ts";

export const sha256B64u = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("base64url");

/** A form as a body with its content type. */
export interface EncodedForm {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export async function encodeForm(form: FormData): Promise<EncodedForm> {
  const response = new Response(form);
  return {
    body: Buffer.from(await response.arrayBuffer()),
    headers: { "content-type": String(response.headers.get("content-type")) },
  };
}

/** A sealed content in parts, and the forms that upload it. */
export interface LargeContent {
  readonly id: string;
  readonly content: Buffer;
  readonly parts: readonly Buffer[];
  buildStartForm(fields?: Readonly<Partial<Record<keyof StartUploadFields, string>>>): Promise<EncodedForm>;
  /** @param number from 1 */
  buildPartForm(
    number: number,
    overrides?: { readonly sha256?: string; readonly data?: Uint8Array<ArrayBuffer> },
  ): Promise<EncodedForm>;
}

export function buildLargeContent({
  id = uuidv7(),
  bytes = minPartBytes + 1_000,
  partSize = minPartBytes,
}: { id?: string; bytes?: number; partSize?: number } = {}): LargeContent {
  const content = randomBytes(bytes);
  const parts = Array.from({ length: Math.ceil(bytes / partSize) }, (_, index) =>
    content.subarray(index * partSize, (index + 1) * partSize),
  );
  return {
    id,
    content,
    parts,
    buildStartForm(fields = {}) {
      const form = new FormData();
      const allFields = { size: String(bytes), part_size: String(partSize), secret_db_id: id, ...fields };
      for (const [name, value] of Object.entries(allFields)) form.set(name, value);
      return encodeForm(form);
    },
    buildPartForm(number, { sha256, data = Uint8Array.from(parts[number - 1] ?? []) } = {}) {
      return encodeForm(buildPartForm({ part: number, sha256: sha256 ?? sha256B64u(data) }, new Blob([data])));
    },
  };
}

/** The body that publishes it as the version after `base`. */
export function buildFinish(
  person: Person,
  { id, content }: LargeContent,
  {
    base = 0,
    change = {},
    ...overrides
  }: { base?: number; change?: Readonly<Record<string, Json | undefined>> } & Partial<FinishUploadBody> = {},
): FinishUploadBody {
  const version = base + 1;
  const { ticket = randomBytes(2_000).toString("base64url") } = overrides;
  rememberContent(person, id, version, content);
  return {
    label: buildLabel(person, id, version),
    ticket,
    ticket_sig: signTicket(person, { secretId: id, version, ticket }),
    content_sha256: sha256B64u(content),
    keyring: buildChange(person, change),
    ...overrides,
  };
}
