import type { ElementField } from "@relicario/vault/element-protocol";
import type { ElementVault, PresentedOpener } from "@relicario/vault/element";
import { useState } from "react";
import { z } from "zod";

import { listDrivesWithPicture } from "../drives/drive-memory.ts";
import { OpeningMethods, type OpeningMethod } from "../openers/OpeningMethods.tsx";
import { PasskeyField } from "../openers/PasskeyField.tsx";
import { RecoveryCodeField } from "../openers/RecoveryCodeField.tsx";
import { isCapturedPicture } from "../picture/captured-picture.ts";
import { FrameSearch } from "../picture/FrameSearch.tsx";
import {
  emptyPictureDraft,
  findPictureProblem,
  getKnownImage,
  getReadyPicture,
  type PictureDraft,
} from "../picture/picture-draft.ts";
import { PictureForm } from "../picture/PictureForm.tsx";
import type { ElementInput } from "./element-input.ts";

type PictureFieldSettings = Extract<ElementField, { readonly kind: "picture" }>;
type SearchHint = NonNullable<NonNullable<PictureFieldSettings["search"]>["previous"]>;

/** State of the field, which another element can continue. */
export interface PictureElementDraft {
  readonly method: OpeningMethod;
  readonly picture: PictureDraft;
  readonly code: string;
}

const emptyDraft: PictureElementDraft = { method: "picture", picture: emptyPictureDraft, code: "" };

/** A draft that an element of this release has held. */
export const PictureElementDraft = z.custom<PictureElementDraft>(
  (value) => typeof value === "object" && value !== null && "picture" in value,
);

interface PictureElementProps {
  readonly field: PictureFieldSettings;
  readonly portalOrigin: string;
  readonly disabled: boolean;
  readonly initialDraft: PictureElementDraft | null;
  readonly vault: ElementVault;
  readonly onInput: (input: ElementInput) => void;
  readonly onSearch: (opener: PresentedOpener, hint: SearchHint) => void;
}

/**
 * Takes a picture, judges it, and asks for its passphrase. For opening also takes a recovery code
 * or a passkey.
 */
export function PictureElement({
  field: { purpose, pictureOnly, keepsDraft, search },
  portalOrigin,
  disabled,
  initialDraft,
  vault,
  onInput,
  onSearch,
}: PictureElementProps) {
  const [draft, setDraft] = useState<PictureElementDraft>(() => restoreDraft(initialDraft, purpose, keepsDraft));
  const update = (next: PictureElementDraft, opener?: PresentedOpener | null) => {
    setDraft(next);
    onInput(toElementInput(next, opener, keepsDraft));
  };
  const pictureForm = (
    <PictureForm
      purpose={purpose}
      draft={draft.picture}
      disabled={disabled}
      examine={vault.examine}
      onChange={(picture) => {
        update({ ...draft, picture });
      }}
    />
  );
  const readyPicture = getReadyPicture(draft.picture);
  const searchArea = search !== null && draft.method === "picture" && readyPicture !== null && (
    <FrameSearch
      picture={readyPicture.picture}
      previousHint={search.previous}
      disabled={disabled}
      onSearch={(hint) => {
        onSearch({ ...readyPicture, hint }, hint);
      }}
    />
  );
  if (purpose !== "show" || pictureOnly)
    return (
      <>
        {pictureForm}
        {searchArea}
      </>
    );
  return (
    <OpeningMethods
      method={draft.method}
      disabled={disabled}
      onMethodChange={(method) => {
        update({ ...emptyDraft, method });
      }}
    >
      {draft.method === "picture" && pictureForm}
      {draft.method === "recovery_code" && (
        <RecoveryCodeField
          value={draft.code}
          disabled={disabled}
          onChange={(code) => {
            update({ ...draft, code });
          }}
        />
      )}
      {draft.method === "passkey" && (
        <PasskeyField
          portalOrigin={portalOrigin}
          disabled={disabled}
          onPrf={(prf) => {
            update(draft, { kind: "passkey", prf });
          }}
        />
      )}
      {searchArea}
    </OpeningMethods>
  );
}

/** Drops a picture for protecting, which would have to be judged again, unless drafts are kept. */
function restoreDraft(
  initialDraft: PictureElementDraft | null,
  purpose: PictureFieldSettings["purpose"],
  keepsDraft: boolean,
): PictureElementDraft {
  return initialDraft === null || (purpose === "choose" && !keepsDraft) ? emptyDraft : initialDraft;
}

/** @param presentedPasskey only known while it is reported: a draft has no output of a passkey */
function toElementInput(
  draft: PictureElementDraft,
  presentedPasskey: PresentedOpener | null | undefined,
  keepsDraft: boolean,
): ElementInput {
  const { method, picture, code } = draft;
  const opener =
    method === "picture"
      ? getReadyPicture(picture)
      : method === "recovery_code"
        ? code.trim() === ""
          ? null
          : ({ kind: "recovery_code", code } as const)
        : (presentedPasskey ?? null);
  const isStarted = method === "picture" && picture.state.status !== "none" && picture.state.status !== "failed";
  return {
    input: opener !== null || (keepsDraft && isStarted) ? { opener, draft } : null,
    ready: opener !== null,
    kind: opener !== null || isStarted ? method : null,
    problem: method === "picture" ? findPictureProblem(picture) : null,
    examined: picture.state.status === "examined",
    known: method === "picture" ? getKnownImage(picture.state) : null,
    captureSaved: opener !== null && "picture" in opener && isCapturedPicture(opener.picture),
    drivesWithPicture: listDrivesWithPicture(),
    error: null,
  };
}
