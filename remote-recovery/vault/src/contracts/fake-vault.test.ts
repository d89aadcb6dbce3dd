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

/** Id of a share or request: 16 bytes, base64url. */
const linkId = "AAAAAAAAAAAAAAAAAAAAAA";
const code = "letter advice cage absurd amount doctor acoustic avoid letter advice cage above";

const makeHandle: Harness["makeHandle"] = (name, passphrase) =>
  createOpenerHandle(createPictureFile(name), passphrase ?? null);

async function createFakeHarness({ requestingDevice, uploads = [], ...scenario }: Scenario): Promise<Harness> {
  const fakeVault = createFakeVault({
    ...scenario,
    uploads: uploads.map((upload) => ({ ...upload, sentBytes: 1 })),
    ...(requestingDevice === undefined ? {} : { requestingDevice: { ...requestingDevice, code } }),
    ...(scenario.unlocked === false && scenario.device === undefined ? { device: null } : {}),
  });
  return Promise.resolve({
    vault: fakeVault,
    makeHandle,
    makeKeyHandle: (kind, credential) =>
      createKeyHandle(
        kind === "passkey" ? { kind, prf: new Uint8Array(32).fill(Number(credential)) } : { kind, code: credential },
      ),
    saveElsewhere: async (secretId, change) => {
      await Promise.resolve();
      fakeVault.saveElsewhere(secretId, change);
    },
    answerElsewhere: async (requestId) => {
      await Promise.resolve();
      fakeVault.answerElsewhere(requestId, { content: "number 7", name: "words.txt", note: "As you asked" });
    },
    requestingDeviceCode: code,
    admitElsewhere: async () => {
      await Promise.resolve();
      fakeVault.approveElsewhere();
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
  return Promise.resolve({ visitor, id: linkId, makeHandle, endLink });
}

describeVault("the fake vault that remotes are tested with", createFakeHarness, createFakeLinkHarness);
