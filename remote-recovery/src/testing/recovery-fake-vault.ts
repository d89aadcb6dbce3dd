import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import { createFakeVault, type FakeVault, type FakeVaultSettings } from "@relicario/shared/testing";
import type { PictureVerdict } from "@relicario/vault";
import { releaseAllOpeners, releaseOpener, requirePresented } from "@relicario/vault/presented-opener";

import { registerExaminer } from "../picture/examiner.ts";

export interface RecoveryFakeVaultSettings extends FakeVaultSettings {
  /** What is said of a picture, by its text; green and new, or one of `images`, otherwise. */
  readonly verdicts?: Readonly<Record<string, Partial<PictureVerdict>>>;
}

export interface RecoveryFakeVault extends FakeVault {
  /** Pictures that were judged. */
  readonly examinedPictures: readonly Blob[];
  /** From now on judging rejects so. */
  readonly failExaminations: (code: ErrorCode) => void;
}

/**
 * The fake vault as this area's own: it takes the handles of the real field, which may have
 * pictures judged.
 */
export function createRecoveryFakeVault({
  verdicts = {},
  ...settings
}: RecoveryFakeVaultSettings = {}): RecoveryFakeVault {
  const fake = createFakeVault({ ...settings, resolveHandle: requirePresented });
  const examinedPictures: Blob[] = [];
  let failure: ErrorCode | null = null;
  const vault: RecoveryFakeVault = Object.freeze({
    ...fake,
    releaseOpener,
    lock: async () => {
      releaseAllOpeners();
      await fake.lock();
    },
    examinedPictures,
    failExaminations: (code: ErrorCode) => {
      failure = code;
    },
  });
  registerExaminer(vault, async (picture) => {
    examinedPictures.push(picture);
    if (failure !== null) throw new PortalError(failure);
    const text = await readText(picture);
    const knownImage = settings.images?.find((candidate) => candidate.picture === text);
    const image =
      knownImage === undefined ? undefined : (await fake.listImages()).find(({ name }) => name === knownImage.name);
    const known =
      image === undefined
        ? null
        : ({ kind: "same", image, passphrase: knownImage?.passphrase === undefined ? "none" : "needed" } as const);
    return { level: "green", reasons: [], width: 4000, height: 3000, known, ...verdicts[text] };
  });
  return vault;
}

/** jsdom's Blob has no `text()`. */
function readText(blob: Blob): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => {
      resolve(typeof reader.result === "string" ? reader.result : "");
    };
    reader.readAsText(blob);
  });
}
