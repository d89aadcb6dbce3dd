import { usePortal, type Vault } from "@relicario/shared/contract";
import { ErrorNotice, LeaveGuard, Loading, Page, Skeleton, useVault, useVaultState } from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Navigate, useLocation } from "react-router-dom";

import { useAccount } from "./account.ts";
import {
  emptyDraft,
  isDirty,
  newImage,
  allImages,
  pictureProblem,
  secretProblems,
  type BackupDraft,
} from "./backup-draft.ts";
import { forgetChoices, keepChoices, readChoices } from "./kept-choices.ts";
import { LockedStep } from "./LockedStep.tsx";
import { PictureStep } from "./PictureStep.tsx";
import { ProcessingStep } from "./ProcessingStep.tsx";
import { SecretStep } from "./SecretStep.tsx";
import type { Lost } from "./step-props.ts";
import { WelcomeStep } from "./WelcomeStep.tsx";

const steps = {
  "/provide-image": "picture",
  "/upload-image": "picture",
  "/provide-secret": "secret",
  "/processing": "processing",
} as const;

/** The next screens of the flow: nothing is lost on the way there. */
const inside: readonly string[] = ["/welcome-backup", "/welcome", "/safeguard", "/congrats", ...Object.keys(steps)];

/**
 * The steps of a backup up to publishing, each at its own route. They share this page, which stays
 * on the screen between them and holds the draft: it goes when the flow is left, when the portal
 * locks or signs out, and at a reload.
 */
export default function BackupFlowPage() {
  const { pathname } = useLocation();
  const { onLock } = usePortal();
  const step = Object.entries(steps).find(([path]) => path === pathname)?.[1] ?? "welcome";
  const [before] = useState(readChoices);
  const [draft, setDraft] = useState<BackupDraft>(() => ({ ...emptyDraft, ...before }));
  const [lost, setLost] = useState<Lost | null>(before === null ? null : "reload");
  const dirty = isDirty(draft);

  useEffect(
    () =>
      onLock(() => {
        setDraft((now) => {
          if (isDirty(now)) setLost("lock");
          return { ...emptyDraft, kind: now.kind, image: now.image };
        });
      }),
    [onLock],
  );
  const { kind, image } = draft;
  useEffect(() => {
    if (dirty) keepChoices({ kind, image });
  }, [dirty, kind, image]);
  useEffect(() => forgetChoices, []);

  const change = (part: Partial<BackupDraft>) => {
    setLost(null);
    setDraft((now) => ({ ...now, ...part }));
  };
  return (
    <>
      <Guard dirty={dirty} />
      {step === "welcome" ? <WelcomeStep /> : <Started step={step} draft={draft} lost={lost} onChange={change} />}
    </>
  );
}

interface StartedProps {
  readonly step: (typeof steps)[keyof typeof steps];
  readonly draft: BackupDraft;
  readonly lost: Lost | null;
  readonly onChange: (part: Partial<BackupDraft>) => void;
}

/** A step behind the welcome. One whose steps before are not done leads back to them. */
function Started({ step, draft, lost, onChange }: StartedProps) {
  const { t } = useTranslation("provide-image");
  const access = useVault();
  const { status } = useVaultState(access);
  const account = useAccount(access, status);
  // Taken once: publishing changes the account while it is still under way.
  const [began, setBegan] = useState<Began | null>(null);
  const ready =
    access.status === "ready" && account.status === "ready" && status !== "locked" && step === "processing"
      ? { vault: access.vault, draft }
      : null;
  if (began === null && ready !== null && account.status === "ready" && isWhole(draft, account.first)) setBegan(ready);
  if (began !== null && (step !== "processing" || lost === "lock")) setBegan(null);
  if (began !== null && step === "processing" && lost !== "lock") return <ProcessingStep {...began} />;

  if (access.status === "failed" || account.status === "failed") {
    const { error, retry } =
      access.status === "failed"
        ? access
        : account.status === "failed"
          ? account
          : { error: null, retry: () => undefined };
    return (
      <Page title={t("page.title")}>
        <ErrorNotice error={error} onRetry={retry} />
      </Page>
    );
  }
  if (access.status === "loading" || account.status === "loading") {
    return (
      <Page title={t("page.title")}>
        <Loading label={t("page.loading_status")}>
          <Skeleton height="420px" />
        </Loading>
      </Page>
    );
  }
  if (status === "locked") return <LockedStep lost={lost} />;
  const { first, images } = account;
  const chosen =
    draft.image === newImage || draft.image === allImages || images.some(({ id }) => id === draft.image)
      ? draft
      : { ...draft, image: newImage };
  const shown = { draft: chosen, lost, onChange };
  if (step === "picture") return <PictureStep {...shown} images={images} />;
  if (pictureProblem(chosen) !== null) return <Navigate to="/provide-image" replace />;
  if (step === "secret") return <SecretStep {...shown} first={first} />;
  return <Navigate to="/provide-secret" replace />;
}

interface Began {
  readonly vault: Vault;
  readonly draft: BackupDraft;
}

function isWhole(draft: BackupDraft, first: boolean): boolean {
  return pictureProblem(draft) === null && Object.keys(secretProblems(draft, first)).length === 0;
}

/** Asks before what was chosen and typed is lost. */
function Guard({ dirty }: { readonly dirty: boolean }) {
  const { t } = useTranslation("provide-secret");
  return (
    <LeaveGuard
      guarding={dirty}
      title={t("leave.confirm_title")}
      body={t("leave.confirm_body")}
      leave={t("leave.confirm_action")}
      stay={t("leave.stay_action")}
      passes={(pathname) => inside.includes(pathname)}
    />
  );
}
