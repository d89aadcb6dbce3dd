import type { SharePreview, OpenerHandle, VaultProgress, Visitor } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { OperationProgress, FieldError, PasswordField } from "@relicario/shared/forms";
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

/** What a link asks for beside itself. */
export interface LinkCredentials {
  readonly password: string | null;
  readonly picture: OpenerHandle | null;
}

interface OpenFormProps {
  readonly visitor: Pick<Visitor, "PictureField" | "releaseOpener">;
  readonly offer: SharePreview;
  /** Null while nothing is being opened. */
  readonly running: { readonly progress: VaultProgress | null } | null;
  readonly failure: PortalError | null;
  readonly onOpen: (credentials: LinkCredentials) => void;
  readonly onCancel: () => void;
}

/**
 * The button that opens, and what the share asks for: a password, used exactly as typed, and a
 * picture.
 */
export function OpenForm({ visitor, offer, running, failure, onOpen, onCancel }: OpenFormProps) {
  const { t } = useTranslation("beta-recover-share");
  const [password, setPassword] = useState("");
  const { openerHandle, setOpenerHandle } = useOpenerHandle(visitor);
  const [inputMissing, setInputMissing] = useState(false);
  const problems = useProblems(failure);
  const busy = running !== null;

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    const isIncomplete = (offer.hasPassword && password === "") || (offer.hasPicture && openerHandle === null);
    setInputMissing(isIncomplete);
    if (!isIncomplete && !busy)
      onOpen({ password: offer.hasPassword ? password : null, picture: offer.hasPicture ? openerHandle : null });
  };
  return (
    <form onSubmit={handleSubmit} noValidate>
      <Card data-tour="share-open">
        <Stack $gap={5}>
          <Stack $gap={2} data-tour="share-needs">
            <SectionTitle>{t("look.needs_title")}</SectionTitle>
            <Muted>{t(getRequirementKey(offer))}</Muted>
            {offer.viewsLeft !== null && <Muted>{t("look.counts_body")}</Muted>}
          </Stack>
          {offer.hasPassword && (
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
          {offer.hasPicture && (
            <Stack $gap={2}>
              <visitor.PictureField
                purpose="show"
                value={openerHandle}
                disabled={busy}
                error={problems.picture}
                onChange={setOpenerHandle}
              />
              {inputMissing && openerHandle === null && <FieldError>{t("look.picture_missing_error")}</FieldError>}
            </Stack>
          )}
          {problems.other !== null && <ErrorNotice error={problems.other} />}
          {running !== null && <OperationProgress progress={running.progress} initialPhase="fetching" />}
          <SpacedRow>
            <Button type="submit" size="large" pending={busy} icon={<LockOpen aria-hidden />}>
              {t("look.open_action")}
            </Button>
            {busy && (
              <Button tone="quiet" size="large" onClick={onCancel}>
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

/** A failure beside the field that it is about. */
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
