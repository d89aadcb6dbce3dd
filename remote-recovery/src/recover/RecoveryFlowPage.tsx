import { usePortal } from "@relicario/shared/contract";
import { useReleaseOpener, useVault, type OpenerHandleOwner } from "@relicario/shared/ui";
import { createHandle } from "@relicario/vault";
import { useEffect, useMemo, useState } from "react";
import { Navigate, useLocation, useNavigate, useSearchParams } from "react-router-dom";

import { PictureStep, type RecoveryAttempt } from "./PictureStep.tsx";
import { ProcessingStep } from "./ProcessingStep.tsx";
import { parsePurpose } from "./purpose.ts";

/** While the vault loads there is no handle to release. */
const noOwner: OpenerHandleOwner = { releaseOpener: () => undefined };

const emptyAttempt: RecoveryAttempt = {
  usesKept: false,
  openerHandle: null,
  hintedHandle: null,
  failure: null,
  hint: null,
};

/**
 * Presents an opener (`/provide-image-recovery`) and tries it (`/processing-recovery`). This page
 * stays mounted across both routes and holds the opener. Leaving both routes releases the opener; a
 * failure returns to the first route.
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
  const handleOwner = access.status === "ready" ? access.vault : noOwner;
  useReleaseOpener(handleOwner, openerHandle);
  useReleaseOpener(handleOwner, hintedHandle);
  useEffect(
    () =>
      onLock(() => {
        setAttempt(emptyAttempt); // the vault releases all handles
      }),
    [onLock],
  );

  const handleToTry = hintedHandle ?? openerHandle;
  if (pathname !== "/processing-recovery") {
    return (
      <PictureStep
        purpose={purpose}
        attempt={attempt}
        access={access}
        onHandleChange={(nextHandle) => {
          setAttempt({ ...emptyAttempt, openerHandle: nextHandle });
        }}
        onAttempt={() => {
          setAttempt({ ...attempt, usesKept: openerHandle === null, hint: null, hintedHandle: null });
          void navigate({ pathname: "/processing-recovery", search });
        }}
        onSearch={(hintedId, hint) => {
          setAttempt({ ...attempt, hint, hintedHandle: createHandle(hintedId) });
          void navigate({ pathname: "/processing-recovery", search });
        }}
      />
    );
  }
  if (handleToTry === null && !attempt.usesKept)
    return <Navigate to={{ pathname: "/provide-image-recovery", search }} replace />;
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
