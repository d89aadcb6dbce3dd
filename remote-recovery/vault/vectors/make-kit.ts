/**
 * Makes a kit as the portal does, over a service in memory and with the real engine: `node
 * make-kit.ts <picture> <template> [passphrase]` prints it. Its secrets are fixed; everything
 * random differs at every run. `kit.html` is of `picos-1200x900.jpg`, of a template without a
 * program, and of the passphrase "correct horse".
 */
import "fake-indexeddb/auto";

import { openAsBlob, readFileSync } from "node:fs";

import { loadEngineInNode } from "@relicario/engine/node";
import { estimateStrength } from "@relicario/shared/contract";

import { createKit } from "../src/operations/create-kit.ts";
import { protect } from "../src/operations/protect.ts";
import { openDevice } from "../src/device/device.ts";
import { createService } from "../src/service/service.ts";
import { createFakeService } from "../src/testing/fake-service.ts";
import { openVaultSession } from "../src/session/vault-session.ts";

const [picturePath = "", templatePath = "", passphrase = null] = process.argv.slice(2);
const userId = "019a9e2c-7c1e-7abc-8def-0123456789ab";
const vault = await openVaultSession({
  userId,
  service: createService(createFakeService(userId).http),
  engine: await loadEngineInNode(),
  estimateStrength,
  device: await openDevice({ vendorId: "relicario", issuer: "https://id.example", subject: "vectors" }),
  onStateChange: () => undefined,
  confirmMark: () => Promise.resolve(true),
});
const presentedPicture = { picture: await openAsBlob(picturePath), passphrase };
const common = {
  tags: ["paper"],
  protection: { kind: "picture", picture: presentedPicture, name: "Vectors" },
} as const;
const text = await protect(
  vault,
  {
    ...common,
    title: "Árbol 🌳",
    contentKind: "text",
    name: "secret.txt",
    mime: "text/plain",
    content: new Blob(["abandon ability able\n"]),
  },
  {},
);
const file = await protect(
  vault,
  {
    ...common,
    title: "A file",
    contentKind: "file",
    name: "bytes.bin",
    mime: "application/octet-stream",
    content: new Blob([Uint8Array.of(0, 1, 2, 254, 255)]),
  },
  {},
);
const hostile = await protect(
  vault,
  {
    ...common,
    title: "</script><img src=x onerror=alert(1)>",
    contentKind: "text",
    name: "../../.profile",
    mime: "text/html",
    content: new Blob(["<script>alert(1)</script>"]),
  },
  {},
);
const rejectLarge = () => Promise.reject(new Error("nothing here is large"));
const { file: kit } = await createKit(
  vault,
  {
    range: rejectLarge,
    openSink: rejectLarge,
    retryPolicy: { wait: () => Promise.resolve() },
    loadReleaseFile: (name) => Promise.resolve(new Uint8Array(name === "kit" ? readFileSync(templatePath) : [])),
  },
  [text.secretId, file.secretId, hostile.secretId],
  presentedPicture,
  { note: "In the drawer" },
);
process.stdout.write(new Uint8Array(await kit.arrayBuffer()));
process.exit();
