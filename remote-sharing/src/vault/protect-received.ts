import type { CallOptions, OpenedContent, NewSecretInput, Vault } from "@relicario/shared/contract";

interface ReceivedContent {
  readonly opened: OpenedContent;
  readonly title: string;
  /** The pictures in use unless told otherwise. */
  readonly protection?: NewSecretInput["protection"];
}

/**
 * Protects what somebody sent as one's own, under the names it came with, which the vault holds to
 * its limits: a new content identity, a new ticket, one's own pictures. Errors as those of {@link
 * Vault.protect}.
 */
export async function protectReceived(
  vault: Vault,
  { opened, title, protection = { kind: "openers", openers: [] } }: ReceivedContent,
  options: CallOptions,
): Promise<void> {
  const { content, contentKind, name, mime } = opened;
  const plainContent = content === null ? await opened.save(null, options) : new Blob([content]);
  if (plainContent === null) throw new TypeError("a content that was saved elsewhere");
  await vault.protect({ title, tags: [], contentKind, name, mime, content: plainContent, protection }, options);
}
