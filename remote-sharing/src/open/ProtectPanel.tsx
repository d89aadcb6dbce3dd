import { usePortal, type NewSecretInput, type OpenedShare, type Vault } from "@relicario/shared/contract";
import { DeviceQuestion, OpenerPrompt, OperationProgress, useVaultOperation } from "@relicario/shared/forms";
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
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { Vault as VaultIcon } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { refreshQuery } from "../data/sharing.ts";

interface ProtectPanelProps {
  readonly share: OpenedShare;
  /** Never empty. */
  readonly title: string;
}

/**
 * "Keep it in my vault", for signed-in people. Loads the vault only when the person asks for it.
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

/**
 * Asks whose device this is, if that is not known yet: protecting may be the first unlock on this
 * device, or create the account's keys.
 */
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
  // Protecting unlocks or creates the vault, and the form must stay mounted meanwhile.
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
 * Protects the share with the images in use. A locked vault asks for an opener; an empty vault asks
 * for its first image.
 */
function ProtectForm({ vault, share, title, status, onProtected }: ProtectFormProps) {
  const { t } = useTranslation("beta-recover-share");
  const operation = useVaultOperation({ vault, asksOpener: status !== "unlocked" });
  const { running, progress, error, asksOpener, cancel } = operation;
  const label = t(status === "unlocked" ? "keep.confirm_action" : "keep.picture_action");
  const handleProtect = () => {
    operation.start({
      run: async (options, opener) => {
        if (status === "locked" && opener !== null) await vault.unlock(opener, options);
        const protection: NewSecretInput["protection"] =
          status === "empty" && opener !== null
            ? { kind: "picture", picture: opener, name: t("keep.first_picture_name") }
            : { kind: "openers", openerIds: [] };
        await vault.protectOpened(share.handle, { title, tags: [], protection }, options);
      },
      onDone: onProtected,
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
      {asksOpener ? (
        <OpenerPrompt
          vault={vault}
          operation={operation}
          label={label}
          purpose={status === "empty" ? "choose" : "show"}
          initialPhase="sealing"
          onSubmit={handleProtect}
        />
      ) : (
        <>
          <ErrorNotice error={error} />
          {running && <OperationProgress progress={progress} initialPhase="sealing" />}
          <SpacedRow>
            <Button pending={running} onClick={handleProtect}>
              {label}
            </Button>
            {running && (
              <Button tone="quiet" onClick={cancel}>
                {t("look.cancel_action")}
              </Button>
            )}
          </SpacedRow>
        </>
      )}
    </Stack>
  );
}
