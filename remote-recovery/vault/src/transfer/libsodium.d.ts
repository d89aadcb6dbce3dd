/** libsodium 0.8 has no types; these are the functions in use of its raw build. */
declare module "libsodium" {
  /**
   * The raw build: pointers are offsets into `HEAPU8`, 64-bit lengths are two arguments (low,
   * high).
   */
  export interface Sodium {
    readonly HEAPU8: Uint8Array;
    readonly _malloc: (length: number) => number;
    readonly _free: (pointer: number) => void;
    readonly _crypto_aead_chacha20poly1305_ietf_encrypt: (
      out: number,
      outLength: number,
      plain: number,
      plainLow: number,
      plainHigh: number,
      data: number,
      dataLow: number,
      dataHigh: number,
      secretNonce: number,
      nonce: number,
      key: number,
    ) => number;
    readonly _crypto_aead_chacha20poly1305_ietf_decrypt: (
      out: number,
      outLength: number,
      secretNonce: number,
      sealed: number,
      sealedLow: number,
      sealedHigh: number,
      data: number,
      dataLow: number,
      dataHigh: number,
      nonce: number,
      key: number,
    ) => number;
  }

  const libsodium: (() => Promise<Sodium>) | (Sodium & { readonly ready: Promise<void> });
  export { libsodium as default };
}
