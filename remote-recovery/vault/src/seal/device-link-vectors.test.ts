import { readFileSync } from "node:fs";
import { join } from "node:path";

import { fromBase64url, toBase64url } from "@relicario/shared/api";

import {
  encodeDeviceCode,
  deriveDeviceLinkId,
  openLinkAnswer,
  openLinkRequest,
  parseDeviceCode,
  sealLinkAnswer,
  sealLinkRequest,
  toSlotTarget,
  type LinkAnswer,
  type LinkRequest,
} from "./device-link.ts";
import { AccountKey } from "./account-key.ts";
import { parseUnverifiedHeader } from "./document.ts";
import { deriveOpenerFromSeed, openSlot, derivePasskeySeed, sealSlot } from "./opener.ts";

/** Made by remote-recovery/vault/vectors/make_device_link_vectors.py. */
interface Vectors {
  code: { bytes: string; words: string[]; link_id: string };
  request: { document: LinkRequest; jwe: string };
  answer: { document: LinkAnswer; jwe: string };
  slot: { prf: string; account_key: string; sealed: string };
}
const vectors = JSON.parse(
  readFileSync(join(process.cwd(), "remote-recovery/vault/vectors/device-links.json"), "utf8"),
) as Vectors;

describe("vectors of another device made by other tools", () => {
  const code = fromBase64url(vectors.code.bytes);
  const { user_id: userId } = vectors.request.document;
  const { id: openerId } = vectors.request.document.opener;
  const context = { userId, keyEpoch: 1 };

  it("gives the words of a code, reads them back, and derives its mailbox", () => {
    expect(encodeDeviceCode(code)).toEqual(vectors.code.words);
    expect(toBase64url(parseDeviceCode(vectors.code.words.join(" ")))).toBe(vectors.code.bytes);
    expect(deriveDeviceLinkId(code)).toBe(vectors.code.link_id);
  });

  it("opens the request of a new device and the answer, but neither in place of the other", async () => {
    expect(await openLinkRequest(code, userId, vectors.request.jwe)).toEqual(vectors.request.document);
    expect(await openLinkAnswer(code, userId, vectors.answer.jwe)).toEqual(vectors.answer.document);
    await expect(openLinkRequest(code, userId, vectors.answer.jwe)).rejects.toMatchObject({
      code: "decryption_failed",
    });
    await expect(openLinkAnswer(code, userId, vectors.request.jwe)).rejects.toMatchObject({
      code: "decryption_failed",
    });
  });

  it("seals with exactly the documented header", async () => {
    const header = {
      alg: "dir",
      enc: "A256GCM",
      typ: "relicario-link-device",
      user_id: userId,
      id: vectors.code.link_id,
    };
    for (const jwe of [
      await sealLinkRequest(code, vectors.request.document),
      await sealLinkAnswer(code, vectors.answer.document),
    ])
      expect(parseUnverifiedHeader(jwe)).toEqual(header);
  });

  it("opens a slot that another tool made for the passkey, and a slot made only from the request", async () => {
    const opener = await deriveOpenerFromSeed(openerId, derivePasskeySeed(fromBase64url(vectors.slot.prf)));
    expect(opener).toMatchObject({
      recipient: vectors.request.document.opener.recipient,
      slotAuth: fromBase64url(vectors.request.document.opener.slot_auth),
    });
    const sealedSlot = await sealSlot(
      toSlotTarget(vectors.request.document),
      userId,
      new AccountKey(fromBase64url(vectors.slot.account_key), 1),
    );
    for (const sealed of [fromBase64url(vectors.slot.sealed), sealedSlot])
      expect((await openSlot(opener, context, sealed)).withBytes(toBase64url)).toBe(vectors.slot.account_key);
  });
});
