import type { OfferedShare, ShownImage, VaultProgress, Visitor } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { ActProgress, FieldError, PasswordField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  SectionTitle,
  SpacedRow,
  Stack,
  useErrorSentence,
  useShownImage,
} from "@relicario/shared/ui";
import { LockOpen } from "lucide-react";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

/** What a link asks for beside itself. */
export interface Answers {
  readonly password: string | null;
  readonly picture: ShownImage | null;
}

interface OpenFormProps {
  readonly keeper: Pick<Visitor, "PictureField" | "forgetShown">;
  readonly offer: OfferedShare;
  /** Null while nothing is being opened. */
  readonly running: { readonly progress: VaultProgress | null } | null;
  readonly failure: PortalError | null;
  readonly onOpen: (answers: Answers) => void;
  readonly onCancel: () => void;
}

/**
 * The button that opens, and what the share asks for: a password, used exactly as typed, and a
 * picture.
 */
export function OpenForm({ keeper, offer, running, failure, onOpen, onCancel }: OpenFormProps) {
  const { t } = useTranslation("beta-recover-share");
  const [password, setPassword] = useState("");
  const { shown, setShown } = useShownImage(keeper);
  const [missing, setMissing] = useState(false);
  const problems = useProblems(failure);
  const busy = running !== null;

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    const lacks = (offer.password && password === "") || (offer.picture && shown === null);
    setMissing(lacks);
    if (!lacks && !busy) onOpen({ password: offer.password ? password : null, picture: offer.picture ? shown : null });
  };
  return (
    <form onSubmit={handleSubmit} noValidate>
      <Card data-tour="share-open">
        <Stack $gap={5}>
          <Stack $gap={2} data-tour="share-needs">
            <SectionTitle>{t("look.needs_title")}</SectionTitle>
            <Muted>{t(needOf(offer))}</Muted>
            {offer.viewsLeft !== null && <Muted>{t("look.counts_body")}</Muted>}
          </Stack>
          {offer.password && (
            <PasswordField
              label={t("look.password_label")}
              hint={t("look.password_hint")}
              value={password}
              disabled={busy}
              error={missing && password === "" ? t("look.password_missing_error") : problems.password}
              onChange={(event) => {
                setPassword(event.target.value);
              }}
            />
          )}
          {offer.picture && (
            <Stack $gap={2}>
              <keeper.PictureField
                purpose="show"
                value={shown}
                disabled={busy}
                error={problems.picture}
                onChange={setShown}
              />
              {missing && shown === null && <FieldError>{t("look.picture_missing_error")}</FieldError>}
            </Stack>
          )}
          {problems.other !== null && <ErrorNotice error={problems.other} />}
          {running !== null && <ActProgress progress={running.progress} first="fetching" />}
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

function needOf({ password, picture }: OfferedShare): string {
  if (password && picture) return "look.needs_both_body";
  if (password) return "look.needs_password_body";
  return picture ? "look.needs_picture_body" : "look.needs_nothing_body";
}

/** A failure beside the field that it is about. */
function useProblems(failure: PortalError | null): {
  readonly password: string | null;
  readonly picture: string | null;
  readonly other: PortalError | null;
} {
  const { t } = useTranslation("beta-recover-share");
  const sentence = useErrorSentence();
  const none = { password: null, picture: null, other: null };
  if (failure === null) return none;
  switch (failure.code) {
    case "wrong_password": {
      const left = failure.details["tries_left"];
      return {
        ...none,
        password: typeof left === "number" ? t("look.wrong_password_error", { count: left }) : sentence(failure),
      };
    }
    case "not_this_picture":
      return { ...none, picture: t("look.wrong_picture_error") };
    case "picture_needed":
    case "picture_unreadable":
    case "picture_too_large":
      return { ...none, picture: sentence(failure) };
    default:
      return { ...none, other: failure };
  }
}
