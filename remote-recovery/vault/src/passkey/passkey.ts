import { PortalError } from "@relicario/shared/errors";

import { copyOf, equalBytes, randomBytes, sha256, utf8, wipe, type Bytes } from "../seal/bytes.ts";

/**
 * Passkeys of the page (WebAuthn 3). What one gives is the output of its PRF extension (10.1.4), 32
 * bytes that its device makes for this origin alone: the vault's worker makes an opener of it.
 * Nothing of it is stored.
 */

/** Input of the PRF: the same at creation and at each use. */
const prfInput = sha256(utf8("relicario/v1/prf"));

/** ES256 and RS256. No signature of a passkey is ever looked at. */
const coseAlgorithms = [-7, -257];

interface PasskeyOptions {
  /** What the person calls it; shown by the device that keeps it. */
  readonly name: string;
  readonly productName: string;
}

/**
 * Makes a passkey on this device, or another one that the person chooses, and proves it: it is
 * asked once more, and has to give the same.
 *
 * @throws PortalError `passkey_without_prf`, `cancelled` when the person did not agree.
 */
export async function createPasskey({ name, productName }: PasskeyOptions): Promise<Bytes> {
  const created = await requestCredential(() =>
    navigator.credentials.create({
      publicKey: {
        rp: { name: productName },
        user: { id: randomBytes(16), name, displayName: name }, // of its own: a device keeps one passkey for each
        challenge: randomBytes(32),
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
    const verifiedPrfOutput = await evaluatePrf([{ type: "public-key", id: created.rawId }]);
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
 * Asks for any passkey of this origin.
 *
 * @throws PortalError `passkey_without_prf`, `cancelled` when the person did not agree or has none.
 */
export function requestPasskey(): Promise<Bytes> {
  return evaluatePrf([]);
}

async function evaluatePrf(allowCredentials: PublicKeyCredentialDescriptor[]): Promise<Bytes> {
  const assertion = await requestCredential(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: randomBytes(32),
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

async function requestCredential(ceremony: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  if (!("credentials" in navigator) || !("PublicKeyCredential" in globalThis))
    throw new PortalError("passkey_without_prf");
  try {
    const credential = await ceremony();
    if (credential instanceof PublicKeyCredential) return credential;
    throw new PortalError("cancelled");
  } catch (cause) {
    if (cause instanceof PortalError) throw cause;
    const isDeclined =
      cause instanceof DOMException && (cause.name === "NotAllowedError" || cause.name === "AbortError");
    throw new PortalError(isDeclined ? "cancelled" : "passkey_without_prf", { cause });
  }
}

/** Tells the device that this passkey opens nothing, where its browser can pass that on. */
async function discardPasskey(credentialId: string): Promise<void> {
  if (!("signalUnknownCredential" in PublicKeyCredential)) return;
  try {
    await PublicKeyCredential.signalUnknownCredential({ rpId: location.hostname, credentialId });
  } catch {
    return; // it stays in the person's list of passkeys, and opens nothing
  }
}
