import {
  createFakeAnswering,
  createFakeVault,
  createFakeVisitor,
  picture,
  shownImage,
  shownKey,
} from "@relicario/shared/testing";

import type { LinkScene, LinkStage, Scene, Stage } from "./describe-vault.stage.ts";
import { describeVault } from "./describe-vault.ts";

/** 16 bytes in base64url. */
const id = "AAAAAAAAAAAAAAAAAAAAAA";
const code = "letter advice cage absurd amount doctor acoustic avoid letter advice cage above";

const shown: Stage["shown"] = (text, passphrase) => shownImage(picture(text), passphrase ?? null);

async function fakeVault({ asking, uploads = [], ...scene }: Scene): Promise<Stage> {
  const fake = createFakeVault({
    ...scene,
    uploads: uploads.map((upload) => ({ ...upload, sent: 1 })),
    ...(asking === undefined ? {} : { asking: { ...asking, code } }),
    ...(scene.unlocked === false && scene.device === undefined ? { device: null } : {}),
  });
  return Promise.resolve({
    vault: fake,
    shown,
    shownKey: (kind, secret) =>
      shownKey(kind === "passkey" ? { kind, prf: new Uint8Array(32).fill(Number(secret)) } : { kind, code: secret }),
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
      fake.admitElsewhere();
    },
  });
}

async function fakeVisitor({ share, request }: LinkScene): Promise<LinkStage> {
  const requests = createFakeAnswering(request);
  const visitor = createFakeVisitor({ requests, ...(share === undefined ? {} : { share }) });
  const endLink = (): Promise<void> => {
    visitor.endShare();
    requests.endRequest();
    return Promise.resolve();
  };
  return Promise.resolve({ visitor, id, shown, endLink });
}

describeVault("the vault that remotes are tested with", fakeVault, fakeVisitor);
