import { usePortal, type PictureFieldProps, type ShownImage } from "@relicario/shared/contract";
import { Skeleton } from "@relicario/shared/ui";
import { forgetShown, shownKey, showPicture, shownPicture } from "@relicario/vault/shown-image";
import { Suspense, useEffect, useEffectEvent, useState } from "react";

import { CodeField } from "../openers/CodeField.tsx";
import { OpeningWays, type OpeningWay } from "../openers/OpeningWays.tsx";
import { PasskeyField } from "../openers/PasskeyField.tsx";
import { imageOf, noPicture, type PictureDraft, type PictureStanding } from "./picture-draft.ts";
import { PictureForm } from "./PictureForm.tsx";
import { savedPictureOf } from "./saved-picture.ts";

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
  const [way, setWay] = useState<OpeningWay>(() => (value === null ? null : shownKey(value)?.kind) ?? "picture");
  if (purpose !== "show" || pictureOnly) return <OnlyPicture {...props} />;
  const change = (next: ShownImage | null) => {
    if (value !== null) forgetShown(value);
    onChange(next);
  };
  return (
    <OpeningWays
      way={way}
      disabled={disabled}
      onWay={(next) => {
        change(null);
        setWay(next);
      }}
    >
      {way === "picture" && <OnlyPicture {...props} />}
      {way === "recovery_code" && <CodeField value={value} disabled={disabled} error={error} onChange={change} />}
      {way === "passkey" && <PasskeyField value={value} disabled={disabled} error={error} onChange={change} />}
    </OpeningWays>
  );
}

function OnlyPicture({ purpose, value, onChange, onKnown, disabled = false, error }: PictureFieldProps) {
  const portal = usePortal();
  const [draft, setDraft] = useState<PictureDraft>(() => {
    const before = value === null ? null : shownPicture(value);
    if (before === null) return noPicture;
    return { ...noPicture, standing: standingBefore(purpose, before.picture), passphrase: before.passphrase ?? "" };
  });
  const change = (next: PictureDraft) => {
    setDraft(next);
    if (value !== null) forgetShown(value);
    const shown = savedPictureOf(next);
    onChange(shown === null ? null : showPicture(shown));
    onKnown?.(imageOf(next.standing));
  };
  // The vault forgets every handle: what it stood for goes from the screen, too.
  const handleLock = useEffectEvent(() => {
    change(noPicture);
  });
  useEffect(
    () =>
      portal.onLock(() => {
        handleLock();
      }),
    [portal],
  );
  return <PictureForm purpose={purpose} draft={draft} disabled={disabled} error={error ?? null} onChange={change} />;
}

/** A picture for protecting would have to be judged again. */
function standingBefore(purpose: PictureFieldProps["purpose"], picture: Blob): PictureStanding {
  if (purpose === "choose") return { status: "none" };
  return purpose === "show" ? { status: "shown", picture } : { status: "of_share", picture };
}
