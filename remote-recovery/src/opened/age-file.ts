import type { ShownContent } from "@relicario/vault/element";

/** File names of the age export, and the command that opens it with the standard tool. */
export interface AgeFileDescription {
  readonly sealedName: string;
  readonly identityName: string;
  /** One shell line. `head` removes the padding after the content. */
  readonly command: string;
}

/** Removes characters that shells may interpret from the names. */
export function describeAgeFile({ name, size }: Pick<ShownContent, "name" | "size">): AgeFileDescription {
  const sanitized = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 80);
  const stem = sanitized === "" ? "secret" : sanitized;
  const sealedName = `${stem}.age`;
  const identityName = `${stem}.identity.txt`;
  return { sealedName, identityName, command: `age -d -i ${identityName} ${sealedName} | head -c ${String(size)}` };
}

/** Identity file in the format of `age`: one line. */
export function formatIdentityFile(identity: string): string {
  return `${identity}\n`;
}
