import { PortalError } from "@relicario/shared/errors";

import { copyOf, equalBytes, randomBytes, sha256, utf8, wipe, type Bytes } from "../seal/bytes.ts";
import { verifyClientData, type ExpectedCeremony } from "./client-data.ts";

/**
 * Creates and uses passkeys in an element (WebAuthn 3). The PRF extension (10.1.4) returns 32 bytes
 * that are unique to the passkey and its RP ID, the vault's host. The vault's worker derives an
 * opener from these bytes. The element stores neither the PRF output nor the credential id.
 */

/** PRF input, the same at creation and at each use. */
const prfInput = sha256(utf8("relicario/v1/prf"));

/** ES256 and RS256. Any algorithm would do, because signatures of passkeys are never verified. */
const coseAlgorithms = [-7, -257];

export interface PasskeyContext {
  /** Of the page that frames this document. */
  readonly portalOrigin: string;
}

interface PasskeyOptions extends PasskeyContext {
  /** Name chosen by the person, which the authenticator displays. */
  readonly name: string;
  readonly productName: string;
}

/**
 * Creates a passkey on this device, or on another one that the person chooses. Then uses the
 * passkey to verify its PRF output.
 *
 * @throws PortalError `passkey_without_prf`; `passkey_rejected` for an answer to another request;
 * `cancelled` if the person declines
 */
export async function createPasskey({ name, productName, portalOrigin }: PasskeyOptions): Promise<Bytes> {
  const created = await requestCredential("webauthn.create", portalOrigin, (challenge) =>
    navigator.credentials.create({
      publicKey: {
        rp: { id: location.hostname, name: productName },
        // a random id, because an authenticator keeps one passkey per user id
        user: { id: randomBytes(16), name, displayName: name },
        challenge,
        pubKeyCredParams: coseAlgorithms.map((alg) => ({ type: "public-key", alg })),
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
        extensions: { prf: { eval: { first: prfInput } } },
      },
    }),
  );
  const { prf } = created.getClientExtensionResults();
  const createdPrfOutput = prf?.results === undefined ? null : copyBufferSource(prf.results.first);
  try {
    if (prf?.enabled !== true) throw new PortalError("passkey_without_prf");
    const verifiedPrfOutput = await evaluatePrf([{ type: "public-key", id: created.rawId }], portalOrigin);
    if (createdPrfOutput !== null && !equalBytes(createdPrfOutput, verifiedPrfOutput))
      throw new PortalError("passkey_without_prf");
    return verifiedPrfOutput;
  } catch (error) {
    await discardPasskey(created.id);
    throw error;
  } finally {
    wipe(createdPrfOutput);
  }
}

/**
 * Asks for any passkey of this RP ID.
 *
 * @throws PortalError `passkey_without_prf`; `passkey_rejected` for an answer to another request;
 * `cancelled` if the person declines or has none
 */
export function requestPasskey({ portalOrigin }: PasskeyContext): Promise<Bytes> {
  return evaluatePrf([], portalOrigin);
}

async function evaluatePrf(allowCredentials: PublicKeyCredentialDescriptor[], portalOrigin: string): Promise<Bytes> {
  const assertion = await requestCredential("webauthn.get", portalOrigin, (challenge) =>
    navigator.credentials.get({
      publicKey: {
        challenge,
        rpId: location.hostname,
        allowCredentials,
        userVerification: "required",
        extensions: { prf: { eval: { first: prfInput } } },
      },
    }),
  );
  const prfResult = assertion.getClientExtensionResults().prf?.results?.first;
  const prfOutput = prfResult === undefined ? null : copyBufferSource(prfResult);
  if (prfOutput?.length !== 32) throw new PortalError("passkey_without_prf");
  return prfOutput;
}

function copyBufferSource(source: BufferSource): Bytes {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  return copyOf(bytes);
}

/** Runs a ceremony and checks what the browser says about it. */
async function requestCredential(
  type: ExpectedCeremony["type"],
  portalOrigin: string,
  ceremony: (challenge: Bytes) => Promise<Credential | null>,
): Promise<PublicKeyCredential> {
  if (!("credentials" in navigator) || !("PublicKeyCredential" in globalThis))
    throw new PortalError("passkey_without_prf");
  try {
    const challenge = randomBytes(32);
    const credential = await ceremony(challenge);
    if (!(credential instanceof PublicKeyCredential)) throw new PortalError("cancelled");
    verifyClientData(credential.response.clientDataJSON, { type, challenge, origin: location.origin, portalOrigin });
    return credential;
  } catch (cause) {
    if (cause instanceof PortalError) throw cause;
    const isDeclined =
      cause instanceof DOMException && (cause.name === "NotAllowedError" || cause.name === "AbortError");
    throw new PortalError(isDeclined ? "cancelled" : "passkey_without_prf", { cause });
  }
}

/** Tells the authenticator, if the browser can, that this passkey is unusable. */
async function discardPasskey(credentialId: string): Promise<void> {
  if (!("signalUnknownCredential" in PublicKeyCredential)) return;
  try {
    await PublicKeyCredential.signalUnknownCredential({ rpId: location.hostname, credentialId });
  } catch {
    return; // the passkey stays in the person's list but opens nothing
  }
}
