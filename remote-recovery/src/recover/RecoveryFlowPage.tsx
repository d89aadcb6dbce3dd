import { usePortal } from "@relicario/shared/contract";
import { useForgetting, useVault } from "@relicario/shared/ui";
import { forgetShown, showPicture, shownPicture } from "@relicario/vault/shown-image";
import { useEffect, useMemo, useState } from "react";
import { Navigate, useLocation, useNavigate, useSearchParams } from "react-router-dom";

import { PictureStep, type Shown } from "./PictureStep.tsx";
import { ProcessingStep } from "./ProcessingStep.tsx";
import { purposeOf } from "./purpose.ts";

/** What this area showed, it forgets itself: the vault may not be there. */
const keeper = { forgetShown };

const nothing: Shown = { image: null, hinted: null, failure: null, hint: null };

/**
 * Shows a picture (`/provide-image-recovery`) and tries it (`/processing-recovery`). The two share
 * this page, which stays on the screen between them and holds what was shown: it goes when they are
 * left, and at a reload. What fails leads back to the picture, so that one after the other can be
 * tried.
 */
export default function RecoveryFlowPage() {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const { onLock } = usePortal();
  const [query] = useSearchParams();
  const asked = query.toString();
  const purpose = useMemo(() => purposeOf(new URLSearchParams(asked)), [asked]);
  const access = useVault();
  const [shown, setShown] = useState<Shown>(nothing);
  const { image, hinted } = shown;
  useForgetting(keeper, image);
  useForgetting(keeper, hinted);
  useEffect(
    () =>
      onLock(() => {
        setShown(nothing); // the vault forgets every handle
      }),
    [onLock],
  );

  const tried = hinted ?? image;
  if (pathname !== "/processing-recovery") {
    return (
      <PictureStep
        purpose={purpose}
        shown={shown}
        loading={access.status === "loading"}
        onImage={(next) => {
          setShown({ ...nothing, image: next });
        }}
        onTry={(hint) => {
          const picture = hint === null || image === null ? null : shownPicture(image);
          setShown({
            ...shown,
            hint,
            hinted: picture === null || hint === null ? null : showPicture({ ...picture, hint }),
          });
          void navigate({ pathname: "/processing-recovery", search });
        }}
      />
    );
  }
  if (tried === null) return <Navigate to={{ pathname: "/provide-image-recovery", search }} replace />;
  return (
    <ProcessingStep
      access={access}
      purpose={purpose}
      image={tried}
      onFailed={(failure) => {
        setShown({ ...shown, failure });
        void navigate(-1);
      }}
      onCancel={() => {
        setShown({ ...nothing, image });
        void navigate(-1);
      }}
    />
  );
}
