export * from "./pages.ts";
export { hasValidSignature, signaturePrefixes, signedBytes, type SignaturePrefix } from "./signed.ts";
