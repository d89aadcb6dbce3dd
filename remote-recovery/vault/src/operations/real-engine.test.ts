import "fake-indexeddb/auto";

import { openAsBlob } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";

import { decodePicture } from "@relicario/engine/decoders";
import { loadEngineInNode, loadModulesInNode } from "@relicario/engine/node";
import { estimateStrength } from "@relicario/shared/contract";
import { openDevice } from "../device/device.ts";
import { createService } from "../service/service.ts";
import { openVaultSession, type VaultSession } from "../session/vault-session.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { textSecret, userId } from "../testing/world.ts";
import { examinePicture } from "./examine.ts";
import { protect } from "./protect.ts";
import { openSmallSecret } from "./open-secret.ts";

jest.setTimeout(240_000); // real searches for a picture are slow on a busy machine

const openPhoto = (name: string): Promise<Blob> => openAsBlob(join(process.cwd(), "e2e/fixtures/photos", name));

/** A PNG with a quarter of the pixels: the mean of every block of 2 × 2. */
async function halve(original: Blob): Promise<Blob> {
  const modules = await loadModulesInNode();
  const {
    width,
    height,
    rgba: data,
    release,
  } = await decodePicture(new Uint8Array(await original.arrayBuffer()), () => Promise.resolve(modules.jpeg));
  const [columns, rows] = [Math.floor(width / 2), Math.floor(height / 2)];
  const lines = Buffer.alloc(rows * (1 + columns * 3));
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      for (let channel = 0; channel < 3; channel++) {
        const channelAt = (dx: number, dy: number): number =>
          data[((2 * y + dy) * width + 2 * x + dx) * 4 + channel] ?? 0;
        lines[y * (1 + columns * 3) + 1 + x * 3 + channel] =
          (channelAt(0, 0) + channelAt(1, 0) + channelAt(0, 1) + channelAt(1, 1) + 2) >> 2;
      }
    }
  }
  release();
  const encodeChunk = (type: string, body: Buffer): Buffer => {
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
    const typeAndBody = Buffer.concat([Buffer.from(type), body]);
    length.writeUInt32BE(body.length);
    checksum.writeUInt32BE(crc32(typeAndBody));
    return Buffer.concat([length, typeAndBody, checksum]);
  };
  const size = Buffer.alloc(13);
  size.writeUInt32BE(columns, 0);
  size.writeUInt32BE(rows, 4);
  size.set([8, 2], 8); // 8 bits, RGB
  const png = [
    Buffer.from("89504e470d0a1a0a", "hex"),
    encodeChunk("IHDR", size),
    encodeChunk("IDAT", deflateSync(lines)),
    encodeChunk("IEND", Buffer.alloc(0)),
  ];
  return new Blob(png.map((part) => Uint8Array.from(part)));
}

describe("the vault with the real engine", () => {
  it("protects with a photograph; a small copy opens on another device, and another photograph does not", async () => {
    const service = createFakeService(userId);
    const engine = await loadEngineInNode();
    const open = async (subject: string): Promise<VaultSession> =>
      openVaultSession({
        userId,
        service: createService(service.http),
        engine,
        estimateStrength,
        device: await openDevice({ vendorId: "relicario", issuer: "real", subject }),
        onStateChange: () => undefined,
        confirmMark: () => Promise.resolve(true),
      });
    const laptop = await open("laptop");
    const original = await openPhoto("picos-3264x2448.jpg");
    const copy = await halve(original);
    const { secretId } = await protect(
      laptop,
      textSecret("Real", { picture: original, passphrase: "a long phrase" }),
      {},
    );
    expect((await examinePicture(laptop, copy, {})).known).toMatchObject({ kind: "same" });

    const phone = await open("phone");
    await expect(
      openSmallSecret(phone, secretId, { picture: await openPhoto("coffee.png"), passphrase: "a long phrase" }, {}),
    ).rejects.toMatchObject({ code: "not_this_picture_or_passphrase" });
    const secret = await openSmallSecret(phone, secretId, { picture: copy, passphrase: "a long phrase" }, {});
    expect(new TextDecoder().decode(secret.content)).toBe("content of Real");
  });
});
