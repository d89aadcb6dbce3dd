import type { OpenedSecret } from "@relicario/shared/contract";

/** What "save as age file" writes, and the command that opens it with the standard tool. */
export interface AgeFileDescription {
  readonly sealedName: string;
  readonly identityName: string;
  /** One line for a shell. `head` cuts the padding off. */
  readonly command: string;
}

/** Names are kept to letters that no shell reads in its own way. */
export function describeAgeFile({ name, size }: Pick<OpenedSecret, "name" | "size">): AgeFileDescription {
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

/** The identity file as `age` reads it: one line. */
export function formatIdentityFile(identity: string): string {
  return `${identity}\n`;
}
