/**
 * Signatures of the vault's documents. Apart from the other schemas and calls, because pages need
 * none of it and it brings an implementation of Ed25519.
 */
export { hasValidAuthorSignature, hasValidTicketSignature, isSelfSigned } from "./authority.ts";
export { buildSignedMessage, hasValidSignature, signaturePrefixes, type SignaturePrefix } from "./signed.ts";
