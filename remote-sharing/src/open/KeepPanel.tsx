import { usePortal, type OpenedShare, type Vault } from "@relicario/shared/contract";
import { ActProgress, DeviceQuestion, FieldError } from "@relicario/shared/forms";
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
  useShownImage,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { Vault as VaultIcon } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { refreshQuery } from "../data/sharing.ts";
import { keepOpened } from "../vault/keep-opened.ts";
import { useAct } from "../vault/useAct.ts";

interface KeepPanelProps {
  readonly share: OpenedShare;
  /** Never empty, whatever the share says. */
  readonly title: string;
}

/**
 * "Keep it in my vault", for somebody who is signed in. The vault is loaded when it is asked for.
 */
export function KeepPanel({ share, title }: KeepPanelProps) {
  const { t } = useTranslation("beta-recover-share");
  const [wanted, setWanted] = useState(false);
  const [kept, setKept] = useState(false);
  return (
    <>
      <Card>
        <Stack $gap={4}>
          <SectionTitle>{t("keep.title")}</SectionTitle>
          <Muted>{t("keep.body")}</Muted>
          {kept ? (
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
          ) : wanted ? (
            <Loaded
              share={share}
              title={title}
              onKept={() => {
                setKept(true);
              }}
            />
          ) : (
            <SpacedRow>
              <Button
                icon={<VaultIcon aria-hidden />}
                onClick={() => {
                  setWanted(true);
                }}
              >
                {t("keep.action")}
              </Button>
            </SpacedRow>
          )}
        </Stack>
      </Card>
      {kept && <AskedOnce />}
    </>
  );
}

/** Whoever keeps something may unlock here for the first time, or have had no keys before. */
function AskedOnce() {
  const access = useVault();
  const state = useVaultState(access);
  return access.status === "ready" && state.status === "unlocked" && state.device === null ? (
    <DeviceQuestion vault={access.vault} />
  ) : null;
}

interface LoadedProps extends KeepPanelProps {
  readonly onKept: () => void;
}

function Loaded(props: LoadedProps) {
  const vault = useVault();
  if (vault.status === "failed") return <ErrorNotice error={vault.error} onRetry={vault.retry} />;
  return vault.status === "ready" ? <Known vault={vault.vault} {...props} /> : <Waiting />;
}

interface KnownProps extends LoadedProps {
  readonly vault: Vault;
}

function Known({ vault, ...kept }: KnownProps) {
  const { user } = usePortal();
  const { status } = useVaultState({ status: "ready", vault });
  const refresh = useQuery(refreshQuery(vault, user.userId));
  if (refresh.isError) return <ErrorNotice error={refresh.error} onRetry={() => void refresh.refetch()} />;
  // Keeping it unlocks the vault, or makes it: the same form stays, and what it began goes on.
  return status === "unknown" ? <Waiting /> : <KeepForm vault={vault} status={status} {...kept} />;
}

function Waiting() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <Loading label={t("keep.loading_status")}>
      <Skeleton height="44px" width="220px" />
    </Loading>
  );
}

interface KeepFormProps extends KnownProps {
  readonly status: "empty" | "locked" | "unlocked";
}

/**
 * Takes the pictures in use; a locked vault asks for one of them, and one where nothing is kept yet
 * for its first.
 */
function KeepForm({ vault, share, title, status, onKept }: KeepFormProps) {
  const { t } = useTranslation("beta-recover-share");
  const { shown, setShown } = useShownImage(vault);
  const [missing, setMissing] = useState(false);
  const { state, run, cancel } = useAct();
  const running = state.status === "running";
  const handleKeep = () => {
    const lacks = status !== "unlocked" && shown === null;
    setMissing(lacks);
    if (lacks) return;
    run(async (options) => {
      if (status === "locked" && shown !== null) await vault.unlock(shown, options);
      const first =
        status === "empty" && shown !== null
          ? { protection: { kind: "picture" as const, shown, name: t("keep.first_picture_name") } }
          : {};
      await keepOpened(vault, { opened: share, title, ...first }, options);
      if (!options.signal.aborted) onKept();
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
          value={shown}
          disabled={running}
          onChange={setShown}
        />
      )}
      {missing && shown === null && <FieldError>{t("look.picture_missing_error")}</FieldError>}
      {state.status === "failed" && <ErrorNotice error={state.error} />}
      {running && <ActProgress progress={state.progress} first="sealing" />}
      <SpacedRow>
        <Button pending={running} onClick={handleKeep}>
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
