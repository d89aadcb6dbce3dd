import { openAsBlob, readFileSync } from "node:fs";
import { join } from "node:path";

import { loadEngineInNode } from "@relicario/engine/node";

import { parseKitFile } from "./kit-file.ts";
import { openEmbeddedContent, openKit } from "./open-kit.ts";

jest.unmock("../seal/kdf.ts"); // use the product's costs
jest.setTimeout(240_000); // the real engine and 64 MiB of Argon2id are slow on a busy machine

describe("a stored kit", () => {
  it("opens with its photograph and passphrase, and with no other passphrase", async () => {
    const kit = parseKitFile(readFileSync(join(process.cwd(), "remote-recovery/vault/vectors/kit.html")));
    const picture = await openAsBlob(join(process.cwd(), "e2e/fixtures/photos/picos-1200x900.jpg"));
    const engine = await loadEngineInNode();
    const { identity, secrets } = await openKit(engine, kit, { picture, passphrase: "correct horse" });
    expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    const contents = await Promise.all(
      secrets.map(async (secret) =>
        secret === null
          ? null
          : [
              secret.ticket.title,
              secret.ticket.name,
              secret.signatureStatus,
              new TextDecoder("latin1").decode(await openEmbeddedContent(secret)),
            ],
      ),
    );
    expect(contents).toEqual([
      ["Árbol 🌳", "secret.txt", "verified", "abandon ability able\n"],
      ["A file", "bytes.bin", "verified", "\0\u0001\u0002þÿ"],
      ["</script><img src=x onerror=alert(1)>", "../../.profile", "verified", "<script>alert(1)</script>"],
    ]);
    await expect(openKit(engine, kit, { picture, passphrase: "correct horse " })).rejects.toMatchObject({
      code: "not_this_picture_or_passphrase",
    });
  });
});
