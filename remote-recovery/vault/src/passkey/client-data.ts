import { toBase64url } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { Bytes } from "../seal/bytes.ts";

/** What the browser says about a ceremony (WebAuthn 3, 5.8.1). Other members are ignored. */
const ClientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  /** Older browsers leave these two out. */
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
});

export interface ExpectedCeremony {
  readonly type: "webauthn.create" | "webauthn.get";
  readonly challenge: Bytes;
  /** Of the document that asked. */
  readonly origin: string;
  /** Of the portal's page, which frames that document. */
  readonly portalOrigin: string;
}

/**
 * Checks that a passkey's answer is one to this ceremony, in a frame of the portal's page.
 *
 * @throws PortalError `passkey_rejected`
 */
export function verifyClientData(
  clientDataJson: ArrayBuffer,
  { type, challenge, origin, portalOrigin }: ExpectedCeremony,
): void {
  const clientData = parseClientData(clientDataJson);
  if (
    clientData.type !== type ||
    clientData.challenge !== toBase64url(challenge) ||
    clientData.origin !== origin ||
    clientData.crossOrigin === false ||
    (clientData.topOrigin !== undefined && clientData.topOrigin !== portalOrigin)
  )
    throw new PortalError("passkey_rejected");
}

function parseClientData(clientDataJson: ArrayBuffer): z.infer<typeof ClientData> {
  try {
    return ClientData.parse(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(clientDataJson)));
  } catch (cause) {
    throw new PortalError("passkey_rejected", { cause });
  }
}
