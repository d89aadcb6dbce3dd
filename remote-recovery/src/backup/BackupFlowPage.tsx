import { usePortal, type Vault } from "@relicario/shared/contract";
import { ErrorNotice, LeaveGuard, Loading, Page, Skeleton, useVault, useVaultState } from "@relicario/shared/ui";
import { createHandle } from "@relicario/vault";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Navigate, useLocation } from "react-router-dom";

import { useAccount } from "./useAccount.ts";
import {
  emptyDraft,
  isDirty,
  newImage,
  allImages,
  findPictureProblem,
  findSecretProblems,
  type BackupDraft,
} from "./backup-draft.ts";
import { clearChoices, saveChoices, loadChoices } from "./flow-choices.ts";
import { LockedStep } from "./LockedStep.tsx";
import { PictureStep } from "./PictureStep.tsx";
import { ProcessingStep } from "./ProcessingStep.tsx";
import { SecretStep } from "./SecretStep.tsx";
import type { DraftLossReason } from "./step-props.ts";
import { WelcomeStep } from "./WelcomeStep.tsx";

const stepsByPath = {
  "/provide-image": "picture",
  "/upload-image": "picture",
  "/provide-secret": "secret",
  "/processing": "processing",
} as const;

/** Paths of the flow. Navigation between them keeps the draft. */
const flowPaths: readonly string[] = [
  "/welcome-backup",
  "/welcome",
  "/safeguard",
  "/congrats",
  ...Object.keys(stepsByPath),
];

/**
 * The steps of a backup up to publishing, each at its own route. This page stays mounted across
 * them and holds the draft, which is dropped when the flow is left, on lock, on sign-out and on
 * reload.
 */
export default function BackupFlowPage() {
  const { pathname } = useLocation();
  const { onLock } = usePortal();
  const step = Object.entries(stepsByPath).find(([path]) => path === pathname)?.[1] ?? "welcome";
  const [savedChoices] = useState(loadChoices);
  const [draft, setDraft] = useState<BackupDraft>(() => ({ ...emptyDraft, ...savedChoices }));
  const [lossReason, setLossReason] = useState<DraftLossReason | null>(savedChoices === null ? null : "reload");
  const dirty = isDirty(draft);
  const access = useVault();
  const vault = access.status === "ready" ? access.vault : null;
  const { heldId } = draft.picture;
  useEffect(
    () => () => {
      if (heldId !== null) vault?.releaseOpener(createHandle(heldId));
    },
    [vault, heldId],
  );

  useEffect(
    () =>
      onLock(() => {
        setDraft((current) => {
          if (isDirty(current)) setLossReason("lock");
          return { ...emptyDraft, kind: current.kind, image: current.image };
        });
      }),
    [onLock],
  );
  const { kind, image } = draft;
  useEffect(() => {
    if (dirty) saveChoices({ kind, image });
  }, [dirty, kind, image]);
  useEffect(() => clearChoices, []);

  const updateDraft = (changes: Partial<BackupDraft>) => {
    setLossReason(null);
    setDraft((current) => ({ ...current, ...changes }));
  };
  return (
    <>
      <DraftLeaveGuard dirty={dirty} />
      {step === "welcome" ? (
        <WelcomeStep />
      ) : (
        <DraftStep step={step} draft={draft} lossReason={lossReason} onChange={updateDraft} />
      )}
    </>
  );
}

interface DraftStepProps {
  readonly step: (typeof stepsByPath)[keyof typeof stepsByPath];
  readonly draft: BackupDraft;
  readonly lossReason: DraftLossReason | null;
  readonly onChange: (changes: Partial<BackupDraft>) => void;
}

/** A step after the welcome. Redirects to an earlier step if that is incomplete. */
function DraftStep({ step, draft, lossReason, onChange }: DraftStepProps) {
  const { t } = useTranslation("provide-image");
  const access = useVault();
  const { status } = useVaultState(access);
  const account = useAccount(access, status);
  // Set once, because publishing changes the account while the operation runs.
  const [processingInput, setProcessingInput] = useState<ProcessingInput | null>(null);
  const pendingInput =
    access.status === "ready" && account.status === "ready" && status !== "locked" && step === "processing"
      ? { vault: access.vault, draft }
      : null;
  if (
    processingInput === null &&
    pendingInput !== null &&
    account.status === "ready" &&
    isComplete(draft, account.isEmpty)
  )
    setProcessingInput(pendingInput);
  if (processingInput !== null && (step !== "processing" || lossReason === "lock")) setProcessingInput(null);
  if (processingInput !== null && step === "processing" && lossReason !== "lock")
    return <ProcessingStep {...processingInput} />;

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
  if (status === "locked") return <LockedStep lossReason={lossReason} />;
  const { isEmpty, images } = account;
  const validDraft =
    draft.image === newImage || draft.image === allImages || images.some(({ id }) => id === draft.image)
      ? draft
      : { ...draft, image: newImage };
  const stepProps = { draft: validDraft, lossReason, onChange };
  if (step === "picture") return <PictureStep {...stepProps} vault={access.vault} images={images} />;
  if (findPictureProblem(validDraft) !== null) return <Navigate to="/provide-image" replace />;
  if (step === "secret") return <SecretStep {...stepProps} isFirstSecret={isEmpty} />;
  return <Navigate to="/provide-secret" replace />;
}

interface ProcessingInput {
  readonly vault: Vault;
  readonly draft: BackupDraft;
}

function isComplete(draft: BackupDraft, isFirstSecret: boolean): boolean {
  return findPictureProblem(draft) === null && Object.keys(findSecretProblems(draft, isFirstSecret)).length === 0;
}

function DraftLeaveGuard({ dirty }: { readonly dirty: boolean }) {
  const { t } = useTranslation("provide-secret");
  return (
    <LeaveGuard
      active={dirty}
      title={t("leave.confirm_title")}
      body={t("leave.confirm_body")}
      leaveLabel={t("leave.confirm_action")}
      stayLabel={t("leave.stay_action")}
      isExempt={(pathname) => flowPaths.includes(pathname)}
    />
  );
}
