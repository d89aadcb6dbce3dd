import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import { createFakeVault, type FakeVault, type FakeVaultSettings } from "@relicario/shared/testing";
import type { PictureVerdict } from "@relicario/vault";
import { forgetAllShown, forgetShown, requireShown } from "@relicario/vault/shown-image";

import { keepExaminer } from "../picture/examiner.ts";

export interface AreaVaultSettings extends FakeVaultSettings {
  /** What is said of a picture, by its text; green and new, or one of `images`, otherwise. */
  readonly verdicts?: Readonly<Record<string, Partial<PictureVerdict>>>;
}

export interface AreaVault extends FakeVault {
  /** Pictures that were judged. */
  readonly examined: readonly Blob[];
  /** From now on judging rejects so. */
  readonly failExamining: (code: ErrorCode) => void;
}

/**
 * The fake vault as this area's own: it takes the handles of the real field, which may have
 * pictures judged.
 */
export function createAreaVault({ verdicts = {}, ...settings }: AreaVaultSettings = {}): AreaVault {
  const fake = createFakeVault({ ...settings, whatIsShown: requireShown });
  const examined: Blob[] = [];
  let failure: ErrorCode | null = null;
  const vault: AreaVault = Object.freeze({
    ...fake,
    forgetShown,
    lock: async () => {
      forgetAllShown();
      await fake.lock();
    },
    examined,
    failExamining: (code: ErrorCode) => {
      failure = code;
    },
  });
  keepExaminer(vault, async (picture) => {
    examined.push(picture);
    if (failure !== null) throw new PortalError(failure);
    const text = await textOf(picture);
    const given = settings.images?.find((one) => one.picture === text);
    const image = given === undefined ? undefined : (await fake.images()).find(({ name }) => name === given.name);
    const known =
      image === undefined
        ? null
        : ({ kind: "same", image, passphrase: given?.passphrase === undefined ? "none" : "needed" } as const);
    return { level: "green", reasons: [], width: 4000, height: 3000, known, ...verdicts[text] };
  });
  return vault;
}

/** jsdom's Blob has no `text()`. */
function textOf(blob: Blob): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => {
      resolve(typeof reader.result === "string" ? reader.result : "");
    };
    reader.readAsText(blob);
  });
}
