import { usePortal, type OpenedShare, type Vault } from "@relicario/shared/contract";
import { OperationProgress, DeviceQuestion, FieldError } from "@relicario/shared/forms";
import {
  Button,
  ButtonLink,
  Card,
  ErrorNotice,
  Loading,
  Muted,
  Notice,
  SectionTitle,
  Skeleton,
  SpacedRow,
  Stack,
  useOpenerHandle,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { Vault as VaultIcon } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { refreshQuery } from "../data/sharing.ts";
import { protectReceived } from "../vault/protect-received.ts";
import { useOperation } from "../vault/useOperation.ts";

interface ProtectPanelProps {
  readonly share: OpenedShare;
  /** Never empty, whatever the share says. */
  readonly title: string;
}

/**
 * "Keep it in my vault", for somebody who is signed in. The vault is loaded when it is asked for.
 */
export function ProtectPanel({ share, title }: ProtectPanelProps) {
  const { t } = useTranslation("beta-recover-share");
  const [isRequested, setIsRequested] = useState(false);
  const [isProtected, setIsProtected] = useState(false);
  return (
    <>
      <Card>
        <Stack $gap={4}>
          <SectionTitle>{t("keep.title")}</SectionTitle>
          <Muted>{t("keep.body")}</Muted>
          {isProtected ? (
            <Notice
              tone="success"
              role="status"
              actions={
                <ButtonLink tone="quiet" size="small" to="/secrets">
                  {t("keep.list_action")}
                </ButtonLink>
              }
            >
              {t("keep.kept_status")}
            </Notice>
          ) : isRequested ? (
            <VaultLoader
              share={share}
              title={title}
              onProtected={() => {
                setIsProtected(true);
              }}
            />
          ) : (
            <SpacedRow>
              <Button
                icon={<VaultIcon aria-hidden />}
                onClick={() => {
                  setIsRequested(true);
                }}
              >
                {t("keep.action")}
              </Button>
            </SpacedRow>
          )}
        </Stack>
      </Card>
      {isProtected && <PendingDeviceQuestion />}
    </>
  );
}

/** Whoever keeps something may unlock here for the first time, or have had no keys before. */
function PendingDeviceQuestion() {
  const access = useVault();
  const state = useVaultState(access);
  return access.status === "ready" && state.status === "unlocked" && state.device === null ? (
    <DeviceQuestion vault={access.vault} />
  ) : null;
}

interface VaultLoaderProps extends ProtectPanelProps {
  readonly onProtected: () => void;
}

function VaultLoader(props: VaultLoaderProps) {
  const access = useVault();
  if (access.status === "failed") return <ErrorNotice error={access.error} onRetry={access.retry} />;
  return access.status === "ready" ? <VaultStateLoader vault={access.vault} {...props} /> : <VaultSkeleton />;
}

interface VaultStateLoaderProps extends VaultLoaderProps {
  readonly vault: Vault;
}

function VaultStateLoader({ vault, ...formProps }: VaultStateLoaderProps) {
  const { user } = usePortal();
  const { status } = useVaultState({ status: "ready", vault });
  const refresh = useQuery(refreshQuery(vault, user.userId));
  if (refresh.isError) return <ErrorNotice error={refresh.error} onRetry={() => void refresh.refetch()} />;
  // Keeping it unlocks the vault, or makes it: the same form stays, and what it began goes on.
  return status === "unknown" ? <VaultSkeleton /> : <ProtectForm vault={vault} status={status} {...formProps} />;
}

function VaultSkeleton() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <Loading label={t("keep.loading_status")}>
      <Skeleton height="44px" width="220px" />
    </Loading>
  );
}

interface ProtectFormProps extends VaultStateLoaderProps {
  readonly status: "empty" | "locked" | "unlocked";
}

/**
 * Takes the pictures in use; a locked vault asks for one of them, and one where nothing is kept yet
 * for its first.
 */
function ProtectForm({ vault, share, title, status, onProtected }: ProtectFormProps) {
  const { t } = useTranslation("beta-recover-share");
  const { openerHandle, setOpenerHandle } = useOpenerHandle(vault);
  const [pictureMissing, setPictureMissing] = useState(false);
  const { state, run, cancel } = useOperation();
  const running = state.status === "running";
  const handleProtect = () => {
    const needsPicture = status !== "unlocked" && openerHandle === null;
    setPictureMissing(needsPicture);
    if (needsPicture) return;
    run(async (options) => {
      if (status === "locked" && openerHandle !== null) await vault.unlock(openerHandle, options);
      const firstProtection =
        status === "empty" && openerHandle !== null
          ? { protection: { kind: "picture" as const, picture: openerHandle, name: t("keep.first_picture_name") } }
          : {};
      await protectReceived(vault, { opened: share, title, ...firstProtection }, options);
      if (!options.signal.aborted) onProtected();
    });
  };
  return (
    <Stack $gap={4}>
      {status === "empty" && (
        <Notice tone="warn" title={t("keep.first_title")}>
          {t("keep.first_body")}
        </Notice>
      )}
      {status === "locked" && <Muted>{t("keep.locked_body")}</Muted>}
      {status !== "unlocked" && (
        <vault.PictureField
          purpose={status === "empty" ? "choose" : "show"}
          value={openerHandle}
          disabled={running}
          onChange={setOpenerHandle}
        />
      )}
      {pictureMissing && openerHandle === null && <FieldError>{t("look.picture_missing_error")}</FieldError>}
      {state.status === "failed" && <ErrorNotice error={state.error} />}
      {running && <OperationProgress progress={state.progress} initialPhase="sealing" />}
      <SpacedRow>
        <Button pending={running} onClick={handleProtect}>
          {t(status === "unlocked" ? "keep.confirm_action" : "keep.picture_action")}
        </Button>
        {running && (
          <Button tone="quiet" onClick={cancel}>
            {t("look.cancel_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}
