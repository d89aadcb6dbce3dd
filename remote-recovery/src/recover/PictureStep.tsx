import type { KeepOpenStatus, OpenerHandle, Vault } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { FieldError, KeptOpenNote } from "@relicario/shared/forms";
import {
  Button,
  ButtonLink,
  Card,
  ErrorNotice,
  Page,
  Skeleton,
  SpacedRow,
  Stack,
  type VaultAccess,
} from "@relicario/shared/ui";
import { createHandle, getHeldId, type SearchHint } from "@relicario/vault";
import { Smartphone } from "lucide-react";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { getVaultElement } from "../elements/vault-elements.tsx";
import { WrongPictureNotice } from "./WrongPictureNotice.tsx";
import type { Purpose } from "./purpose.ts";

/** The presented opener, and how the last attempt ended. */
export interface RecoveryAttempt {
  /** Whether the opener that is kept open is tried, because none was presented. */
  readonly usesKept: boolean;
  readonly openerHandle: OpenerHandle | null;
  /** Handle of the same picture with a search hint; null without a hint. */
  readonly hintedHandle: OpenerHandle | null;
  readonly failure: PortalError | null;
  readonly hint: SearchHint | null;
}

interface PictureStepProps {
  readonly purpose: Purpose;
  readonly attempt: RecoveryAttempt;
  readonly access: VaultAccess;
  readonly onHandleChange: (openerHandle: OpenerHandle | null) => void;
  readonly onAttempt: () => void;
  /** Receives the id of the same picture with a hint, which limits the search to its place. */
  readonly onSearch: (hintedId: string, hint: SearchHint) => void;
}

/**
 * Route `/provide-image-recovery`: takes a copy of the picture and its passphrase, or another
 * opener. Shows the failure of the previous attempt.
 */
export function PictureStep({
  purpose,
  attempt: { openerHandle, failure, hint },
  access,
  onHandleChange,
  onAttempt,
  onSearch,
}: PictureStepProps) {
  const { t } = useTranslation("image-recovery");
  const [openerMissing, setOpenerMissing] = useState(false);
  const { kind } = purpose;
  /** Unlocking needs an opener, although one may be kept open. */
  const getKeepOpenStatus = (): KeepOpenStatus => {
    if (kind === "check_copy" || access.status !== "ready") return "none";
    const status = access.vault.keepOpen.getStatus();
    return kind === "unlock" && status === "open" ? "none" : status;
  };
  const mismatched = failure?.code === "not_this_picture" || failure?.code === "not_this_picture_or_passphrase";

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    const isMissing = openerHandle === null && getKeepOpenStatus() !== "open";
    setOpenerMissing(isMissing);
    if (!isMissing) onAttempt();
  };
  return (
    <Page
      title={t(`provide.${kind}_title`)}
      lead={failure === null ? t(`provide.${kind}_body`) : undefined}
      actions={
        <ButtonLink tone="quiet" size="small" to={kind === "recover" ? "/secrets" : "/home"}>
          {t("provide.back_action")}
        </ButtonLink>
      }
    >
      {kind === "recover" && <FlowSteps flow="recovery" step="picture" />}
      {failure !== null &&
        (mismatched ? (
          <WrongPictureNotice maybeWrongPassphrase={failure.code === "not_this_picture_or_passphrase"} />
        ) : (
          <ErrorNotice error={failure} />
        ))}
      <form onSubmit={handleSubmit} noValidate>
        <Card>
          <Stack $gap={5}>
            {access.status === "loading" && <Skeleton height="377px" />}
            {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
            {access.status === "ready" && (
              <OpenerElement
                vault={access.vault}
                openerHandle={openerHandle}
                search={mismatched ? { previous: hint } : null}
                onHandleChange={(nextHandle) => {
                  onHandleChange(nextHandle);
                  setOpenerMissing(false);
                }}
                onSearch={onSearch}
              />
            )}
            <KeptOpenNote status={getKeepOpenStatus()} />
            {kind === "unlock" && (
              <SpacedRow>
                <ButtonLink
                  tone="plain"
                  size="small"
                  icon={<Smartphone aria-hidden />}
                  to={`/new-device?${new URLSearchParams({ then: purpose.then }).toString()}`}
                >
                  {t("provide.device_action")}
                </ButtonLink>
              </SpacedRow>
            )}
            {openerMissing && <FieldError>{t("provide.missing_error")}</FieldError>}
            <SpacedRow>
              <Button type="submit" size="large" pending={access.status === "loading"} data-tour="recovery-try">
                {t(`provide.${kind}_action`)}
              </Button>
              <ButtonLink
                tone="plain"
                to={
                  kind === "recover"
                    ? `/welcome-recovery?${new URLSearchParams({ secret: purpose.secretId }).toString()}`
                    : "/welcome-recovery"
                }
                data-tour="recovery-help"
              >
                {t("provide.help_action")}
              </ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
      </form>
    </Page>
  );
}

interface OpenerElementProps extends Pick<PictureStepProps, "onHandleChange" | "onSearch"> {
  readonly vault: Vault;
  readonly openerHandle: OpenerHandle | null;
  readonly search: { readonly previous: SearchHint | null } | null;
}

function OpenerElement({ vault, openerHandle, search, onHandleChange, onSearch }: OpenerElementProps) {
  const [VaultElement] = useState(() => getVaultElement(vault));
  return (
    <VaultElement
      field={{ kind: "picture", purpose: "show", pictureOnly: false, keepsDraft: false, search }}
      heldId={openerHandle === null ? null : getHeldId(openerHandle)}
      onChange={({ ready, heldId }) => {
        onHandleChange(ready && heldId !== null ? createHandle(heldId) : null);
      }}
      onSearch={onSearch}
    />
  );
}
