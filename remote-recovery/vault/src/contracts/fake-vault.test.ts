import {
  createFakeRequestVisitor,
  createFakeVault,
  createFakeVisitor,
  createPictureFile,
  createOpenerHandle,
  createKeyHandle,
} from "@relicario/shared/testing";

import type { LinkScenario, LinkHarness, Scenario, Harness } from "./describe-vault.harness.ts";
import { describeVault } from "./describe-vault.ts";

/** 16 bytes in base64url. */
const id = "AAAAAAAAAAAAAAAAAAAAAA";
const code = "letter advice cage absurd amount doctor acoustic avoid letter advice cage above";

const makeHandle: Harness["makeHandle"] = (name, passphrase) =>
  createOpenerHandle(createPictureFile(name), passphrase ?? null);

async function createFakeHarness({ requestingDevice, uploads = [], ...scene }: Scenario): Promise<Harness> {
  const fake = createFakeVault({
    ...scene,
    uploads: uploads.map((upload) => ({ ...upload, sent: 1 })),
    ...(requestingDevice === undefined ? {} : { requestingDevice: { ...requestingDevice, code } }),
    ...(scene.unlocked === false && scene.device === undefined ? { device: null } : {}),
  });
  return Promise.resolve({
    vault: fake,
    makeHandle,
    makeKeyHandle: (kind, secret) =>
      createKeyHandle(
        kind === "passkey" ? { kind, prf: new Uint8Array(32).fill(Number(secret)) } : { kind, code: secret },
      ),
    saveElsewhere: async (secretId, change) => {
      await Promise.resolve();
      fake.saveElsewhere(secretId, change);
    },
    answerElsewhere: async (requestId) => {
      await Promise.resolve();
      fake.answerElsewhere(requestId, { content: "number 7", name: "words.txt", note: "As you asked" });
    },
    code,
    admitElsewhere: async () => {
      await Promise.resolve();
      fake.approveElsewhere();
    },
  });
}

async function createFakeLinkHarness({ share, request }: LinkScenario): Promise<LinkHarness> {
  const requests = createFakeRequestVisitor(request);
  const visitor = createFakeVisitor({ requests, ...(share === undefined ? {} : { share }) });
  const endLink = (): Promise<void> => {
    visitor.endShare();
    requests.revokeRequest();
    return Promise.resolve();
  };
  return Promise.resolve({ visitor, id, makeHandle, endLink });
}

describeVault("the vault that remotes are tested with", createFakeHarness, createFakeLinkHarness);
