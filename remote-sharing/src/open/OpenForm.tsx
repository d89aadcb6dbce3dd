import type { SharePreview, OpenerHandle, Visitor } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { FieldError, OperationProgress, PasswordField, type VaultOperation } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  SectionTitle,
  SpacedRow,
  Stack,
  useErrorMessage,
  useOpenerHandle,
} from "@relicario/shared/ui";
import { LockOpen } from "lucide-react";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

export interface LinkCredentials {
  readonly password: string | null;
  readonly picture: OpenerHandle | null;
}

interface OpenFormProps {
  readonly visitor: Pick<Visitor, "PictureField" | "releaseOpener">;
  readonly preview: SharePreview;
  readonly operation: VaultOperation;
  readonly onOpen: (credentials: LinkCredentials) => void;
}

/**
 * Asks for what the share requires, a password and a picture, and opens the share. The password is
 * used exactly as typed.
 */
export function OpenForm({ visitor, preview, operation, onOpen }: OpenFormProps) {
  const { t } = useTranslation("beta-recover-share");
  const [password, setPassword] = useState("");
  const { openerHandle, setOpenerHandle } = useOpenerHandle(visitor);
  const [inputMissing, setInputMissing] = useState(false);
  const { running: busy, progress, error, cancel } = operation;
  const problems = useProblems(error);

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    const isIncomplete = (preview.hasPassword && password === "") || (preview.hasPicture && openerHandle === null);
    setInputMissing(isIncomplete);
    if (!isIncomplete && !busy)
      onOpen({ password: preview.hasPassword ? password : null, picture: preview.hasPicture ? openerHandle : null });
  };
  return (
    <form onSubmit={handleSubmit} noValidate>
      <Card data-tour="share-open">
        <Stack $gap={5}>
          <Stack $gap={2} data-tour="share-needs">
            <SectionTitle>{t("look.needs_title")}</SectionTitle>
            <Muted>{t(getRequirementKey(preview))}</Muted>
            {preview.viewsLeft !== null && <Muted>{t("look.counts_body")}</Muted>}
            <Muted>{t("look.history_body")}</Muted>
          </Stack>
          {preview.hasPassword && (
            <PasswordField
              label={t("look.password_label")}
              hint={t("look.password_hint")}
              value={password}
              disabled={busy}
              error={inputMissing && password === "" ? t("look.password_missing_error") : problems.password}
              onChange={(event) => {
                setPassword(event.target.value);
              }}
            />
          )}
          {preview.hasPicture && (
            <Stack $gap={2}>
              <visitor.PictureField
                purpose="share"
                value={openerHandle}
                disabled={busy}
                error={problems.picture}
                onChange={setOpenerHandle}
              />
              {inputMissing && openerHandle === null && <FieldError>{t("look.picture_missing_error")}</FieldError>}
            </Stack>
          )}
          {problems.other !== null && <ErrorNotice error={problems.other} />}
          {busy && <OperationProgress progress={progress} initialPhase="fetching" />}
          <SpacedRow>
            <Button type="submit" size="large" pending={busy} icon={<LockOpen aria-hidden />}>
              {t("look.open_action")}
            </Button>
            {busy && (
              <Button tone="quiet" size="large" onClick={cancel}>
                {t("look.cancel_action")}
              </Button>
            )}
          </SpacedRow>
        </Stack>
      </Card>
    </form>
  );
}

function getRequirementKey({ hasPassword, hasPicture }: SharePreview): string {
  if (hasPassword && hasPicture) return "look.needs_both_body";
  if (hasPassword) return "look.needs_password_body";
  return hasPicture ? "look.needs_picture_body" : "look.needs_nothing_body";
}

/** Assigns a failure to the field that causes it. */
function useProblems(failure: PortalError | null): {
  readonly password: string | null;
  readonly picture: string | null;
  readonly other: PortalError | null;
} {
  const { t } = useTranslation("beta-recover-share");
  const describeError = useErrorMessage();
  const noProblems = { password: null, picture: null, other: null };
  if (failure === null) return noProblems;
  switch (failure.code) {
    case "wrong_password": {
      const triesLeft = failure.details["tries_left"];
      return {
        ...noProblems,
        password:
          typeof triesLeft === "number" ? t("look.wrong_password_error", { count: triesLeft }) : describeError(failure),
      };
    }
    case "not_this_picture":
      return { ...noProblems, picture: t("look.wrong_picture_error") };
    case "picture_needed":
    case "picture_unreadable":
    case "picture_too_large":
      return { ...noProblems, picture: describeError(failure) };
    default:
      return { ...noProblems, other: failure };
  }
}
