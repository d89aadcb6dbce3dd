import { createHash } from "node:crypto";

import { ed25519 } from "@noble/curves/ed25519.js";

import { hasValidSignature, buildSignedMessage } from "./signed.ts";
import { toBase64url } from "./wire.ts";

const secretKey = new Uint8Array(32).fill(7);
const publicKey = ed25519.getPublicKey(secretKey);
const document = { v: 1, user_id: "u", b: null, sig: "" };
const signed = { ...document, sig: toBase64url(ed25519.sign(buildSignedMessage("put", document), secretKey)) };

describe("buildSignedMessage", () => {
  it("joins the prefix, a line feed, and the SHA-256 of the JCS of all members but sig", () => {
    const message = Buffer.from(buildSignedMessage("put", signed));
    expect(message.subarray(0, 17).toString()).toBe("relicario/v1/put\n");
    expect(message.subarray(17)).toEqual(createHash("sha256").update('{"b":null,"user_id":"u","v":1}').digest());
  });

  it("stays short for a document of 64 KiB, of which WebKitGTK signs no more", () => {
    expect(buildSignedMessage("put", { ...document, state: "s".repeat(65_536) })).toHaveLength(49);
  });
});

describe("hasValidSignature", () => {
  it("accepts a document signed by the key", () => {
    expect(hasValidSignature("put", signed, publicKey)).toBe(true);
  });

  it("refuses a document with another prefix, member, key or signature", () => {
    expect(hasValidSignature("key", signed, publicKey)).toBe(false);
    expect(hasValidSignature("put", { ...signed, user_id: "w" }, publicKey)).toBe(false);
    expect(hasValidSignature("put", { ...signed, more: 1 }, publicKey)).toBe(false);
    expect(hasValidSignature("put", signed, ed25519.getPublicKey(new Uint8Array(32).fill(8)))).toBe(false);
    expect(hasValidSignature("put", { ...signed, sig: toBase64url(new Uint8Array(64)) }, publicKey)).toBe(false);
    expect(hasValidSignature("put", { ...signed, sig: "not base64url*" }, publicKey)).toBe(false);
    expect(hasValidSignature("put", signed, new Uint8Array(5))).toBe(false);
  });

  it("refuses a key of small order, with which looser rules than RFC 8032 (5.1.7) verify any message", () => {
    const identity = new Uint8Array(32);
    identity[0] = 1;
    const forged = new Uint8Array(64);
    forged[0] = 1; // R = identity, s = 0
    expect(hasValidSignature("put", { ...signed, sig: toBase64url(forged) }, identity)).toBe(false);
  });
});
