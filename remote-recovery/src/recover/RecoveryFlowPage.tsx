import { usePortal } from "@relicario/shared/contract";
import { useReleaseOpener, useVault } from "@relicario/shared/ui";
import { releaseOpener, presentPicture, getPresentedPicture } from "@relicario/vault/presented-opener";
import { useEffect, useMemo, useState } from "react";
import { Navigate, useLocation, useNavigate, useSearchParams } from "react-router-dom";

import { PictureStep, type RecoveryAttempt } from "./PictureStep.tsx";
import { ProcessingStep } from "./ProcessingStep.tsx";
import { parsePurpose } from "./purpose.ts";

/** What this area showed, it forgets itself: the vault may not be there. */
const handleOwner = { releaseOpener };

const emptyAttempt: RecoveryAttempt = { openerHandle: null, hintedHandle: null, failure: null, hint: null };

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
  const queryString = query.toString();
  const purpose = useMemo(() => parsePurpose(new URLSearchParams(queryString)), [queryString]);
  const access = useVault();
  const [attempt, setAttempt] = useState<RecoveryAttempt>(emptyAttempt);
  const { openerHandle, hintedHandle } = attempt;
  useReleaseOpener(handleOwner, openerHandle);
  useReleaseOpener(handleOwner, hintedHandle);
  useEffect(
    () =>
      onLock(() => {
        setAttempt(emptyAttempt); // the vault forgets every handle
      }),
    [onLock],
  );

  const handleToTry = hintedHandle ?? openerHandle;
  if (pathname !== "/processing-recovery") {
    return (
      <PictureStep
        purpose={purpose}
        attempt={attempt}
        loading={access.status === "loading"}
        onHandleChange={(nextHandle) => {
          setAttempt({ ...emptyAttempt, openerHandle: nextHandle });
        }}
        onAttempt={(hint) => {
          const picture = hint === null || openerHandle === null ? null : getPresentedPicture(openerHandle);
          setAttempt({
            ...attempt,
            hint,
            hintedHandle: picture === null || hint === null ? null : presentPicture({ ...picture, hint }),
          });
          void navigate({ pathname: "/processing-recovery", search });
        }}
      />
    );
  }
  if (handleToTry === null) return <Navigate to={{ pathname: "/provide-image-recovery", search }} replace />;
  return (
    <ProcessingStep
      access={access}
      purpose={purpose}
      openerHandle={handleToTry}
      onFailed={(failure) => {
        setAttempt({ ...attempt, failure });
        void navigate(-1);
      }}
      onCancel={() => {
        setAttempt({ ...emptyAttempt, openerHandle });
        void navigate(-1);
      }}
    />
  );
}
