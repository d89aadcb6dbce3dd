import type { CallOptions, OpenedContent, NewSecretInput, Vault } from "@relicario/shared/contract";

interface ReceivedContent {
  readonly openedContent: OpenedContent;
  readonly title: string;
  /** By default all images in use. */
  readonly protection?: NewSecretInput["protection"];
}

/**
 * Protects a received content as a secret of this account, with a new content identity and ticket.
 * The vault limits the lengths of the names that came with the content. Rejects with the codes of
 * {@link Vault.protect}.
 */
export async function protectReceived(
  vault: Vault,
  { openedContent, title, protection = { kind: "openers", openerIds: [] } }: ReceivedContent,
  options: CallOptions,
): Promise<void> {
  const { content, contentKind, name, mime } = openedContent;
  const plainContent = content === null ? await openedContent.save(null, options) : new Blob([content]);
  if (plainContent === null) throw new TypeError("save(null) must return a Blob");
  await vault.protect({ title, tags: [], contentKind, name, mime, content: plainContent, protection }, options);
}
