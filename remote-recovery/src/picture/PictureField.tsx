import { usePortal, type PictureFieldProps, type OpenerHandle } from "@relicario/shared/contract";
import { Skeleton } from "@relicario/shared/ui";
import { releaseOpener, getPresentedKey, presentPicture, getPresentedPicture } from "@relicario/vault/presented-opener";
import { Suspense, useEffect, useEffectEvent, useState } from "react";

import { RecoveryCodeField } from "../openers/RecoveryCodeField.tsx";
import { OpeningMethods, type OpeningMethod } from "../openers/OpeningMethods.tsx";
import { PasskeyField } from "../openers/PasskeyField.tsx";
import { knownImageOf, emptyPictureDraft, type PictureDraft, type PictureState } from "./picture-draft.ts";
import { PictureForm } from "./PictureForm.tsx";
import { readyPictureOf } from "./ready-picture.ts";

/**
 * Chooses or drops a picture, judges it, asks for its passphrase. Drawn inside the forms of other
 * remotes: it relies on nothing but the portal, the texts and the theme, and gives them a handle in
 * place of what it holds.
 */
export function PictureField(props: PictureFieldProps) {
  return (
    <Suspense fallback={<Skeleton height={props.purpose === "choose" ? "560px" : "200px"} />}>
      <LoadedPictureField {...props} />
    </Suspense>
  );
}

/** A picture or, for opening, what takes its place. */
function LoadedPictureField(props: PictureFieldProps) {
  const { purpose, pictureOnly = false, value, onChange, disabled = false, error = null } = props;
  const [method, setMethod] = useState<OpeningMethod>(
    () => (value === null ? null : getPresentedKey(value)?.kind) ?? "picture",
  );
  if (purpose !== "show" || pictureOnly) return <PictureOnlyField {...props} />;
  const handleChange = (next: OpenerHandle | null) => {
    if (value !== null) releaseOpener(value);
    onChange(next);
  };
  return (
    <OpeningMethods
      method={method}
      disabled={disabled}
      onMethodChange={(next) => {
        handleChange(null);
        setMethod(next);
      }}
    >
      {method === "picture" && <PictureOnlyField {...props} />}
      {method === "recovery_code" && (
        <RecoveryCodeField value={value} disabled={disabled} error={error} onChange={handleChange} />
      )}
      {method === "passkey" && <PasskeyField value={value} disabled={disabled} error={error} onChange={handleChange} />}
    </OpeningMethods>
  );
}

function PictureOnlyField({ purpose, value, onChange, onRecognise, disabled = false, error }: PictureFieldProps) {
  const portal = usePortal();
  const [draft, setDraft] = useState<PictureDraft>(() => {
    const initialPicture = value === null ? null : getPresentedPicture(value);
    if (initialPicture === null) return emptyPictureDraft;
    return {
      ...emptyPictureDraft,
      state: initialPictureState(purpose, initialPicture.picture),
      passphrase: initialPicture.passphrase ?? "",
    };
  });
  const handleChange = (next: PictureDraft) => {
    setDraft(next);
    if (value !== null) releaseOpener(value);
    const readyPicture = readyPictureOf(next);
    onChange(readyPicture === null ? null : presentPicture(readyPicture));
    onRecognise?.(knownImageOf(next.state));
  };
  // The vault forgets every handle: what it stood for goes from the screen, too.
  const handleLock = useEffectEvent(() => {
    handleChange(emptyPictureDraft);
  });
  useEffect(
    () =>
      portal.onLock(() => {
        handleLock();
      }),
    [portal],
  );
  return (
    <PictureForm purpose={purpose} draft={draft} disabled={disabled} error={error ?? null} onChange={handleChange} />
  );
}

/** A picture for protecting would have to be judged again. */
function initialPictureState(purpose: PictureFieldProps["purpose"], picture: Blob): PictureState {
  if (purpose === "choose") return { status: "none" };
  return purpose === "show" ? { status: "shown", picture } : { status: "of_share", picture };
}
